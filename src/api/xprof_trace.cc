#include "src/api/xprof_trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "src/base/utf8.h"

namespace strobe::api {

using tools::TraceView;

namespace {

using Argument = TraceView::Argument;
using Event = TraceView::Event;

// What JavaScript keeps exactly; larger integers are written as text.
constexpr uint64_t kExactInteger = uint64_t{1} << 53;
constexpr double kPicosecondsPerMicrosecond = 1e6;
constexpr double kPicosecondsPerMillisecond = 1e9;
// A complete event without a length would be drawn to the end of the trace.
constexpr int64_t kShortestDurationPs = 1;
// Bytes of a typical event, to reserve memory once.
constexpr size_t kTypicalEventBytes = 140;

// Appends the pieces of the trace's JSON to one string.
class JsonText {
 public:
  explicit JsonText(size_t expected_bytes) { text_.reserve(expected_bytes); }

  JsonText& Raw(std::string_view text) {
    text_.append(text);
    return *this;
  }
  JsonText& Unsigned(uint64_t value) { return Number(value); }
  JsonText& Signed(int64_t value) { return Number(value); }
  // 17 significant digits, as protobuf's JSON has doubles.
  JsonText& Double(double value) {
    char buffer[40];
    const auto end =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, 17).ptr;
    text_.append(buffer, end);
    return *this;
  }
  JsonText& Format(const char* format, double value) {
    char buffer[400];
    const int size = std::snprintf(buffer, sizeof(buffer), format, value);
    text_.append(buffer, static_cast<size_t>(std::clamp<int>(size, 0, sizeof(buffer) - 1)));
    return *this;
  }
  JsonText& Micros(int64_t time_ps) {
    return Double(static_cast<double>(time_ps) / kPicosecondsPerMicrosecond);
  }
  JsonText& Quoted(std::string_view text);

  std::string Take() { return std::move(text_); }

 private:
  template <typename Integer>
  JsonText& Number(Integer value) {
    char buffer[24];
    text_.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
    return *this;
  }
  void Escape(unsigned char byte);

  std::string text_;
};

void JsonText::Escape(unsigned char byte) {
  switch (byte) {
    case '"':
      text_.append("\\\"");
      return;
    case '\\':
      text_.append("\\\\");
      return;
    case '\b':
      text_.append("\\b");
      return;
    case '\f':
      text_.append("\\f");
      return;
    case '\n':
      text_.append("\\n");
      return;
    case '\r':
      text_.append("\\r");
      return;
    case '\t':
      text_.append("\\t");
      return;
    default: {
      constexpr char kHex[] = "0123456789abcdef";
      const char code[] = {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
      text_.append(code, sizeof(code));
    }
  }
}

bool NeedsEscape(unsigned char byte) {
  return byte < 0x20 || byte == '"' || byte == '\\' || byte == '<' || byte == '>' || byte == '&';
}

// XProf also escapes what could end a script element, and the two line separators of JavaScript.
JsonText& JsonText::Quoted(std::string_view text) {
  text_.push_back('"');
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      if (NeedsEscape(byte)) {
        Escape(byte);
      } else {
        text_.push_back(text[at]);
      }
      ++at;
      continue;
    }
    const size_t size = ValidUtf8Length(text.substr(at));
    if (size == 0) {
      text_.append("\xef\xbf\xbd");
      ++at;
      continue;
    }
    const std::string_view character = text.substr(at, size);
    if (character == "\xe2\x80\xa8") {
      text_.append("\\u2028");
    } else if (character == "\xe2\x80\xa9") {
      text_.append("\\u2029");
    } else {
      text_.append(character);
    }
    at += size;
  }
  text_.push_back('"');
  return *this;
}

// The texts of a view as they stand in JSON, each made at its first use: most stand there often.
class QuotedTexts {
 public:
  explicit QuotedTexts(const TraceView& view) : view_(view), quoted_(view.text_count()) {}

  std::string_view Of(uint32_t text) {
    std::string& quoted = quoted_[text];
    if (quoted.empty()) quoted = JsonText(0).Quoted(view_.Text(text)).Take();
    return quoted;
  }

 private:
  const TraceView& view_;
  std::vector<std::string> quoted_;  // empty: not made yet; made, it has its quotes at least
};

// Names of counters that are shares or rates are written with two digits.
bool IsRateName(std::string_view name) {
  return name.ends_with("(util %)") || name.ends_with(" (MB/sec)");
}

class StreamingJson {
 public:
  explicit StreamingJson(const TraceView& view)
      : view_(view), texts_(view), json_(view.events.size() * kTypicalEventBytes + 4096) {
    frame_numbers_.resize(view.text_count());
    for (size_t i = 0; i < view.stack_frames.size(); ++i) {
      frame_numbers_[view.stack_frames[i]] = static_cast<uint32_t>(i + 1);
    }
  }

  std::string Write() {
    WriteHead();
    json_.Raw("\"traceEvents\":[");
    for (const TraceView::Process& process : view_.processes) WriteProcess(process);
    bool counter_open = false;
    for (const Event& event : view_.events) {
      const bool counter = event.kind == TraceView::EventKind::kCounter;
      if (counter_open && (!counter || !SameCounter(event))) {
        json_.Raw("]}");
        counter_open = false;
      }
      if (!counter) {
        WriteEvent(event, /*end_of_pair=*/false);
        continue;
      }
      WriteCounter(event, counter_open);
      counter_open = true;
    }
    if (counter_open) json_.Raw("]}");
    json_.Raw("], \"showCounterMessage\": \"\" ,\"totalCounterEvents\":").Unsigned(counters_);
    json_.Raw("}");
    return json_.Take();
  }

 private:
  void Separate() {
    if (!first_) json_.Raw(",");
    first_ = false;
  }

  void WriteHead() {
    json_.Raw(
        "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true}, "
        "\"codeLink\":\"\",\"useNewBackend\": false,");
    if (!view_.details.empty()) {
      json_.Raw("\"details\":[");
      for (size_t i = 0; i < view_.details.size(); ++i) {
        json_.Raw(i == 0 ? "{\"name\":" : ",{\"name\":").Quoted(view_.details[i].first);
        json_.Raw(view_.details[i].second ? ",\"value\":true}" : ",\"value\":false}");
      }
      json_.Raw("],");
    }
    json_.Raw("\"returnedEventsSize\":").Unsigned(view_.events.size());
    json_.Raw(",\"filteredByVisibility\":")
        .Raw(view_.filtered_by_visibility ? "true" : "false")
        .Raw(",\"fullTimespan\":[");
    json_.Format("%g", static_cast<double>(view_.full_start_ps) / kPicosecondsPerMillisecond);
    json_.Raw(",");
    json_.Format("%g", static_cast<double>(view_.full_end_ps) / kPicosecondsPerMillisecond);
    json_.Raw("],\"stackFrames\":{");
    for (size_t i = 0; i < view_.stack_frames.size(); ++i) {
      json_.Raw(i == 0 ? "\"" : ",\"").Unsigned(i + 1).Raw("\":{\"name\":");
      json_.Quoted(view_.Text(view_.stack_frames[i])).Raw("}");
    }
    json_.Raw("},");
  }

  void WriteProcess(const TraceView::Process& process) {
    Separate();
    json_.Raw("{\"args\":{\"name\":").Quoted(process.name);
    json_.Raw("},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":").Unsigned(process.id);
    json_.Raw(",\"thread_count\":").Unsigned(process.threads.size()).Raw("},");
    json_.Raw("{\"args\":{\"sort_index\":").Unsigned(process.id);
    json_.Raw("},\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":").Unsigned(process.id);
    json_.Raw("}");
    for (const TraceView::Thread& thread : process.threads) {
      json_.Raw(",{\"args\":{\"name\":").Quoted(thread.name);
      json_.Raw("},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":").Unsigned(process.id);
      json_.Raw(",\"tid\":").Unsigned(thread.id).Raw("},{\"args\":{\"sort_index\":");
      json_.Unsigned(thread.id).Raw("},\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":");
      json_.Unsigned(process.id).Raw(",\"tid\":").Unsigned(thread.id).Raw("}");
    }
  }

  void WriteEvent(const Event& event, bool end_of_pair) {
    Separate();
    const bool complete = event.kind == TraceView::EventKind::kComplete;
    json_.Raw("{\"pid\":").Unsigned(event.process);
    if (complete) json_.Raw(",\"tid\":").Unsigned(event.thread);
    json_.Raw(",\"name\":").Raw(texts_.Of(event.name));
    json_.Raw(",\"ts\":").Micros(end_of_pair ? event.start_ps + event.duration_ps : event.start_ps);
    if (complete) {
      json_.Raw(",\"dur\":").Micros(std::max(event.duration_ps, kShortestDurationPs));
      if (event.flow != TraceView::FlowDirection::kNone) WriteFlow(event);
      json_.Raw(",\"ph\":\"X\"");
    } else {
      WritePair(event, end_of_pair);
    }
    WriteArguments(event, !end_of_pair);
    if (event.serial > 0) json_.Raw(",\"z\":").Unsigned(event.serial);
    json_.Raw("}");
    if (!complete && !end_of_pair && event.flow == TraceView::FlowDirection::kThrough) {
      WriteEvent(event, /*end_of_pair=*/true);
    }
  }

  void WriteFlow(const Event& event) {
    json_.Raw(",\"bind_id\":").Unsigned(event.flow_id);
    const std::string_view category = TraceView::CategoryName(event.flow_category);
    if (!category.empty()) json_.Raw(",\"cat\":\"").Raw(category).Raw("\"");
    if (event.flow != TraceView::FlowDirection::kOut) json_.Raw(",\"flow_in\":true");
    if (event.flow != TraceView::FlowDirection::kIn) json_.Raw(",\"flow_out\":true");
  }

  void WritePair(const Event& event, bool end_of_pair) {
    json_.Raw(",\"id\":").Unsigned(event.flow_id);
    json_.Raw(",\"cat\":\"").Raw(TraceView::CategoryName(event.flow_category)).Raw("\"");
    const bool ends = end_of_pair || event.flow == TraceView::FlowDirection::kIn;
    json_.Raw(ends ? ",\"ph\":\"e\"" : ",\"ph\":\"b\"");
  }

  void WriteArguments(const Event& event, bool with_stats) {
    const bool stats = with_stats && event.has_arguments;
    if (!event.has_group && !stats) return;
    json_.Raw(",\"args\":{");
    bool first = true;
    if (event.has_group) {
      json_.Raw("\"group_id\":").Signed(event.group);
      first = false;
    }
    uint32_t frame = 0;
    for (uint32_t i = 0; stats && i < event.argument_count; ++i) {
      const Argument& argument = view_.arguments[event.first_argument + i];
      if (argument.stack_frame && frame == 0) {
        frame = frame_numbers_[argument.text];
        continue;
      }
      if (!first) json_.Raw(",");
      first = false;
      json_.Raw(texts_.Of(argument.name)).Raw(":");
      WriteValue(argument);
    }
    json_.Raw("}");
    if (frame != 0) json_.Raw(",\"sf\":").Unsigned(frame);
  }

  void WriteValue(const Argument& argument) {
    switch (argument.kind) {
      case Argument::Kind::kText:
        if (argument.stack_frame) {
          json_.Quoted("@@" + std::string(view_.Text(argument.text)));
        } else {
          json_.Raw(texts_.Of(argument.text));
        }
        return;
      case Argument::Kind::kInt64: {
        const bool exact = argument.integer <= static_cast<int64_t>(kExactInteger) &&
                           argument.integer >= -static_cast<int64_t>(kExactInteger);
        if (!exact) json_.Raw("\"");
        json_.Signed(argument.integer);
        if (!exact) json_.Raw("\"");
        return;
      }
      case Argument::Kind::kUint64: {
        const bool exact = argument.unsigned_integer <= kExactInteger;
        if (!exact) json_.Raw("\"");
        json_.Unsigned(argument.unsigned_integer);
        if (!exact) json_.Raw("\"");
        return;
      }
      case Argument::Kind::kDouble:
        WriteDouble(argument);
    }
  }

  void WriteDouble(const Argument& argument) {
    if (std::isnan(argument.number)) {
      json_.Raw("\"NaN\"");
    } else if (std::isinf(argument.number)) {
      json_.Raw("\"Infinity\"");
    } else if (IsRateName(view_.Text(argument.name))) {
      json_.Format("%.2f", argument.number);
    } else {
      json_.Double(argument.number);
    }
  }

  bool SameCounter(const Event& event) const {
    return counter_->process == event.process && counter_->name == event.name;
  }

  // One object a counter, its values in a list. An event without a value is counted only.
  void WriteCounter(const Event& event, bool open) {
    ++counters_;
    if (!open) {
      Separate();
      counter_ = &event;
      first_entry_ = true;
      json_.Raw("{\"pid\":").Unsigned(event.process).Raw(",\"name\":");
      json_.Quoted(view_.Text(event.name)).Raw(",\"ph\":\"C\"");
      if (event.argument_count > 0) {
        json_.Raw(",\"event_stats\":");
        json_.Quoted(view_.Text(view_.arguments[event.first_argument].name));
      }
      json_.Raw(",\"entries\":[");
    }
    if (event.argument_count == 0) return;
    if (!first_entry_) json_.Raw(",");
    first_entry_ = false;
    json_.Raw("[").Micros(event.start_ps);
    for (uint32_t i = 0; i < event.argument_count; ++i) {
      json_.Raw(",");
      const Argument& argument = view_.arguments[event.first_argument + i];
      if (argument.kind == Argument::Kind::kInt64) {
        json_.Signed(argument.integer);
      } else if (argument.kind == Argument::Kind::kUint64) {
        json_.Unsigned(argument.unsigned_integer);
      } else {
        WriteValue(argument);
      }
    }
    json_.Raw("]");
  }

  const TraceView& view_;
  QuotedTexts texts_;
  JsonText json_;
  std::vector<uint32_t> frame_numbers_;  // by text; 0: not a frame
  const Event* counter_ = nullptr;
  uint64_t counters_ = 0;
  bool first_ = true;
  bool first_entry_ = true;
};

// The older viewer: one event a line, keys sorted, every argument a text.
class LegacyJson {
 public:
  explicit LegacyJson(const TraceView& view)
      : view_(view), texts_(view), json_(BytesOf(view) + 4096) {}

  std::string Write() {
    json_.Raw(
        "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},\n\"traceEvents\":[\n");
    for (const TraceView::Process& process : view_.processes) WriteProcess(process);
    for (const Event& event : view_.events) WriteEvent(event);
    json_.Raw("{}]}\n");
    return json_.Take();
  }

 private:
  void WriteName(std::string_view what, uint32_t process, const TraceView::Thread* thread,
                 std::string_view name) {
    json_.Raw("{\"args\": {\"name\": ").Quoted(name).Raw("}, \"name\": ").Quoted(what);
    json_.Raw(", \"ph\": \"M\", \"pid\": ").Unsigned(process);
    if (thread != nullptr) json_.Raw(", \"tid\": ").Unsigned(thread->id);
    json_.Raw("},\n");
  }
  void WriteSortIndex(std::string_view what, uint32_t process, const TraceView::Thread* thread) {
    json_.Raw("{\"args\": {\"sort_index\": ").Unsigned(thread != nullptr ? thread->id : process);
    json_.Raw("}, \"name\": ").Quoted(what).Raw(", \"ph\": \"M\", \"pid\": ").Unsigned(process);
    if (thread != nullptr) json_.Raw(", \"tid\": ").Unsigned(thread->id);
    json_.Raw("},\n");
  }
  void WriteProcess(const TraceView::Process& process) {
    if (!process.name.empty()) WriteName("process_name", process.id, nullptr, process.name);
    WriteSortIndex("process_sort_index", process.id, nullptr);
    for (const TraceView::Thread& thread : process.threads) {
      if (!thread.name.empty()) WriteName("thread_name", process.id, &thread, thread.name);
      WriteSortIndex("thread_sort_index", process.id, &thread);
    }
  }

  void WriteEvent(const Event& event) {
    json_.Raw("{");
    if (event.argument_count > 0) {
      json_.Raw("\"args\": {");
      for (uint32_t i = 0; i < event.argument_count; ++i) {
        const Argument& argument = view_.arguments[event.first_argument + i];
        json_.Raw(i == 0 ? "" : ", ").Raw(texts_.Of(argument.name)).Raw(": ");
        WriteText(argument);
      }
      json_.Raw("}, ");
    }
    const bool instant = event.duration_ps == 0;
    if (!instant) json_.Raw("\"dur\": ").Raw(PythonFloat(event.duration_ps)).Raw(", ");
    json_.Raw("\"name\": ").Raw(texts_.Of(event.name));
    json_.Raw(instant ? ", \"ph\": \"i\", \"pid\": " : ", \"ph\": \"X\", \"pid\": ");
    json_.Unsigned(event.process);
    if (instant) json_.Raw(", \"s\": \"t\"");
    json_.Raw(", \"tid\": ").Unsigned(event.thread);
    json_.Raw(", \"ts\": ").Raw(PythonFloat(event.start_ps)).Raw("},\n");
  }

  // Nearly what will be written, so that memory is asked for once.
  static size_t BytesOf(const TraceView& view) {
    constexpr size_t kNumberBytes = 20;
    size_t bytes = view.events.size() * kTypicalEventBytes;
    for (const Argument& argument : view.arguments) {
      bytes += 8 + view.Text(argument.name).size();
      bytes +=
          argument.kind == Argument::Kind::kText ? view.Text(argument.text).size() : kNumberBytes;
    }
    return bytes;
  }

  void WriteText(const Argument& argument) {
    switch (argument.kind) {
      case Argument::Kind::kText:
        json_.Raw(texts_.Of(argument.text));
        return;
      case Argument::Kind::kInt64:
        json_.Raw("\"").Signed(argument.integer).Raw("\"");
        return;
      case Argument::Kind::kUint64:
        json_.Raw("\"").Unsigned(argument.unsigned_integer).Raw("\"");
        return;
      case Argument::Kind::kDouble:
        json_.Raw("\"").Format("%g", argument.number).Raw("\"");
    }
  }

  // As Python prints a float: the shortest text that reads back, with ".0" when it is whole.
  std::string PythonFloat(int64_t time_ps) {
    const double value = static_cast<double>(time_ps) / kPicosecondsPerMicrosecond;
    char buffer[40];
    const double magnitude = std::abs(value);
    const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, format).ptr;
    std::string text(buffer, end);
    if (plain && text.find('.') == std::string::npos) text += ".0";
    return text;
  }

  const TraceView& view_;
  QuotedTexts texts_;
  JsonText json_;
};

}  // namespace

std::string XprofTraceJson(const TraceView& view) {
  return view.form == TraceView::Form::kLegacy ? LegacyJson(view).Write()
                                               : StreamingJson(view).Write();
}

}  // namespace strobe::api
