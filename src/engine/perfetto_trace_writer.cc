// Perfetto's protobuf.
#include <algorithm>
#include <utility>

#include "src/base/utf8.h"
#include "src/engine/trace_writer.h"
#include "src/timeline/rows.h"
#include "src/tools/perfetto_writer.h"

namespace strobe::engine {
namespace {

using timeline::SaturatingAdd;
using tools::PerfettoArgument;
using tools::PerfettoFlows;
using tools::PerfettoWriter;
using xplane::Stat;
using xplane::StatType;

constexpr int64_t kPsPerNs = 1000;

int64_t FloorNs(int64_t time_ps) { return time_ps / kPsPerNs - (time_ps % kPsPerNs < 0 ? 1 : 0); }

void AddValue(const Stat& stat, PerfettoArgument* argument) {
  switch (stat.type) {
    case StatType::kNone:
      argument->value = std::string();
      return;
    case StatType::kDouble:
      argument->value = stat.number;
      return;
    case StatType::kUint64:
      argument->value = stat.uint64_value;
      return;
    case StatType::kInt64:
      argument->value = stat.int64_value;
      return;
    case StatType::kString:
    case StatType::kRef:
      argument->value = ToValidUtf8(stat.text);
      return;
    case StatType::kBytes:
      argument->value = BytesText(stat.text);
      return;
  }
}

class PerfettoTraceWriter final : public TraceWriter {
 public:
  explicit PerfettoTraceWriter(TraceWriterOptions options)
      : offset_ns_(options.first_ps < 0 ? -FloorNs(options.first_ps) : 0) {}

  uint64_t AddProcess(std::string_view name) override {
    return trace_.AddTrack(ToValidUtf8(name), PerfettoWriter::kNoTrack);
  }
  uint64_t AddTrack(uint64_t process, std::string_view name) override {
    return trace_.AddTrack(ToValidUtf8(name), process);
  }
  uint64_t AddCounter(uint64_t process, std::string_view name, std::string_view series) override {
    std::string full = ToValidUtf8(name);
    if (!series.empty()) full += ": " + ToValidUtf8(series);
    return trace_.AddCounterTrack(full, process, "", "");
  }

  void Slice(const TraceSlice& slice) override {
    std::vector<PerfettoArgument> arguments;
    arguments.reserve(slice.arguments.size() + 2);
    for (size_t i = 0; i < slice.arguments.size(); ++i) {
      PerfettoArgument& argument = arguments.emplace_back();
      argument.name = ToValidUtf8(ArgumentName(slice.arguments, i));
      AddValue(slice.arguments[i], &argument);
    }
    const int64_t end_ps = SaturatingAdd(slice.start_ps, slice.duration_ps);
    const int64_t start_ns = TimeNs(slice.start_ps);
    const int64_t end_ns = std::max(start_ns, TimeNs(end_ps));
    const bool exact = slice.start_ps % kPsPerNs == 0 && slice.duration_ps % kPsPerNs == 0 &&
                       start_ns - offset_ns_ == FloorNs(slice.start_ps);
    if (!exact) {
      arguments.push_back({"start_ps", slice.start_ps});
      arguments.push_back({"duration_ps", slice.duration_ps});
    }
    PerfettoFlows flows;
    flows.leave_at_begin = true;
    for (const TraceFlow& flow : slice.flows) {
      (flow.begins ? flows.out : flows.in).push_back(flow.id);
    }
    trace_.Slice(slice.track, start_ns, end_ns, ToValidUtf8(slice.name), arguments, flows);
    if (trace_.interned_bytes() > kMaxInternedBytes) trace_.ForgetTexts();
  }

  void Count(uint64_t counter, int64_t time_ps, double value) override {
    trace_.Count(counter, TimeNs(time_ps), value);
  }
  void Finish(const TraceTotals&) override {}  // there is no place for them

  size_t pending_bytes() const override { return trace_.pending_bytes(); }
  std::string Take() override { return trace_.Take(); }

 private:
  // Unsigned there.
  int64_t TimeNs(int64_t time_ps) const {
    return std::max<int64_t>(0, FloorNs(time_ps) + offset_ns_);
  }

  const int64_t offset_ns_;
  PerfettoWriter trace_;
};

}  // namespace

std::unique_ptr<TraceWriter> MakePerfettoTraceWriter(TraceWriterOptions options) {
  return std::make_unique<PerfettoTraceWriter>(std::move(options));
}

}  // namespace strobe::engine
