// Chrome's trace event format, as JSON.
#include <charconv>
#include <utility>

#include "src/base/hash.h"
#include "src/base/json_writer.h"
#include "src/engine/trace_writer.h"

namespace strobe::engine {
namespace {

using xplane::Stat;
using xplane::StatType;

constexpr int64_t kPsPerUs = 1'000'000;
constexpr int kDigitsBehindUs = 6;

// Picoseconds as decimal microseconds, exact.
std::string Micros(int64_t time_ps) {
  const bool negative = time_ps < 0;
  const uint64_t amount =
      negative ? ~static_cast<uint64_t>(time_ps) + 1 : static_cast<uint64_t>(time_ps);
  char buffer[40];
  char* at = buffer;
  if (negative) *at++ = '-';
  at = std::to_chars(at, buffer + sizeof(buffer), amount / kPsPerUs).ptr;
  uint64_t rest = amount % kPsPerUs;
  if (rest == 0) return std::string(buffer, at);
  *at++ = '.';
  int digits = kDigitsBehindUs;
  for (; rest % 10 == 0; rest /= 10) --digits;
  for (int i = digits; i-- > 0; rest /= 10) at[i] = static_cast<char>('0' + rest % 10);
  return std::string(buffer, at + digits);
}

void WriteValue(JsonWriter& json, const Stat& stat) {
  switch (stat.type) {
    case StatType::kNone:
      json.Null();
      return;
    case StatType::kDouble:
      json.Double(stat.number);
      return;
    case StatType::kUint64:
      json.SafeUint(stat.uint64_value);
      return;
    case StatType::kInt64:
      json.SafeInt(stat.int64_value);
      return;
    case StatType::kString:
    case StatType::kRef:
      json.String(stat.text);
      return;
    case StatType::kBytes:
      json.String(BytesText(stat.text));
      return;
  }
}

class ChromeTraceWriter final : public TraceWriter {
 public:
  explicit ChromeTraceWriter(TraceWriterOptions options) : options_(std::move(options)) {
    JsonWriter head;
    head.BeginObject();
    head.Key("displayTimeUnit").String("ns");
    if (options_.origin_unix_ns) head.Key("baseTimeNanoseconds").Int(*options_.origin_unix_ns);
    head.EndObject();
    text_ = head.TakeText();
    text_.pop_back();  // the object goes on
    text_ += ",\"traceEvents\":[";
  }

  uint64_t AddProcess(std::string_view name) override {
    const uint64_t process = ++last_process_;
    Describe("process_name", process, 0, name, std::nullopt);
    Describe("process_sort_index", process, 0, "", static_cast<int64_t>(process));
    return process;
  }

  uint64_t AddTrack(uint64_t process, std::string_view name) override {
    tracks_.push_back({.process = process, .thread = tracks_.size() + 1});
    const Track& track = tracks_.back();
    Describe("thread_name", process, track.thread, name, std::nullopt);
    Describe("thread_sort_index", process, track.thread, "", static_cast<int64_t>(track.thread));
    return tracks_.size() - 1;
  }

  // The series of one name are one picture there; every sample is an event of its own all the same.
  uint64_t AddCounter(uint64_t process, std::string_view name, std::string_view series) override {
    tracks_.push_back({.process = process,
                       .thread = 0,
                       .name = std::string(name),
                       .series = std::string(series.empty() ? "value" : series)});
    return tracks_.size() - 1;
  }

  void Slice(const TraceSlice& slice) override {
    const Track& track = tracks_[slice.track];
    JsonWriter json;
    Begin(json, "X", track, slice.start_ps);
    json.Key("dur").Raw(Micros(slice.duration_ps));
    json.Key("name").String(slice.name);
    if (!slice.arguments.empty()) {
      json.Key("args").BeginObject();
      for (size_t i = 0; i < slice.arguments.size(); ++i) {
        json.Key(ArgumentName(slice.arguments, i));
        WriteValue(json, slice.arguments[i]);
      }
      json.EndObject();
    }
    End(json);
    for (const TraceFlow& flow : slice.flows) {
      JsonWriter arrow;
      Begin(arrow, flow.begins ? "s" : "f", track, slice.start_ps);
      if (!flow.begins) arrow.Key("bp").String("e");
      arrow.Key("id").String("0x" + ToHex64(flow.id));
      arrow.Key("cat").String("flow");
      arrow.Key("name").String("flow");
      End(arrow);
    }
  }

  void Count(uint64_t counter, int64_t time_ps, double value) override {
    const Track& track = tracks_[counter];
    JsonWriter json;
    Begin(json, "C", track, time_ps);
    json.Key("name").String(track.name);
    json.Key("args").BeginObject();
    json.Key(track.series).Double(value);
    json.EndObject();
    End(json);
  }

  void Finish(const TraceTotals& totals) override {
    JsonWriter json;
    json.BeginObject();
    json.Key("session").String(options_.session);
    json.Key("events").SafeUint(totals.events);
    json.Key("events_without_time").SafeUint(totals.events_without_time);
    json.Key("hosts_not_read").BeginArray();
    for (const std::string& host : totals.hosts_not_read) json.String(host);
    json.EndArray();
    json.EndObject();
    text_ += "\n],\"otherData\":" + json.TakeText() + "}\n";
  }

  size_t pending_bytes() const override { return text_.size(); }
  std::string Take() override { return std::exchange(text_, {}); }

 private:
  struct Track {
    uint64_t process = 0;
    uint64_t thread = 0;
    std::string name = {};  // of a counter
    std::string series = {};
  };

  static void Begin(JsonWriter& json, std::string_view phase, const Track& track, int64_t time_ps) {
    json.BeginObject();
    json.Key("ph").String(phase);
    json.Key("pid").Uint(track.process);
    json.Key("tid").Uint(track.thread);
    json.Key("ts").Raw(Micros(time_ps));
  }

  void End(JsonWriter& json) {
    json.EndObject();
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_ += json.text();
  }

  void Describe(std::string_view what, uint64_t process, uint64_t thread, std::string_view name,
                std::optional<int64_t> sort_index) {
    JsonWriter json;
    json.BeginObject();
    json.Key("ph").String("M");
    json.Key("pid").Uint(process);
    if (thread != 0) json.Key("tid").Uint(thread);
    json.Key("name").String(what);
    json.Key("args").BeginObject();
    if (sort_index) {
      json.Key("sort_index").Int(*sort_index);
    } else {
      json.Key("name").String(name);
    }
    json.EndObject();
    End(json);
  }

  const TraceWriterOptions options_;
  std::string text_;
  std::vector<Track> tracks_;
  uint64_t last_process_ = 0;
  bool first_ = true;
};

}  // namespace

std::string ArgumentName(std::span<const Stat> arguments, size_t index) {
  size_t before = 0;
  for (size_t i = 0; i < index; ++i) before += arguments[i].name == arguments[index].name ? 1 : 0;
  std::string name(arguments[index].name);
  if (before > 0) name += " #" + std::to_string(before + 1);
  return name;
}

std::string BytesText(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = std::to_string(bytes.size()) + " bytes: ";
  for (const char c : bytes.substr(0, kMaxShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::unique_ptr<TraceWriter> MakeChromeTraceWriter(TraceWriterOptions options) {
  return std::make_unique<ChromeTraceWriter>(std::move(options));
}

}  // namespace strobe::engine
