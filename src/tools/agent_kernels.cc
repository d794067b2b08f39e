#include "src/tools/agent_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include "src/base/text.h"
#include "src/tools/agent_event_walk.h"

namespace strobe::tools {
namespace {

enum class LineUse : uint8_t { kKernels, kRegions, kModules, kOther };

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

LineUse UseOf(std::string_view plane, std::string_view line) {
  const std::string name = Upper(line);
  if (Upper(plane).find("TPU") == std::string::npos) {
    return ContainsAnyOf(name, {"COUNTER", "MODULES", "OVERLAY", "SYNC FLAG", "SENSOR"})
               ? LineUse::kOther
               : LineUse::kKernels;
  }
  if (name == "XLA OPS" || name == "PALLAS") return LineUse::kKernels;
  if (name == "LLO OPS" || name == "PALLAS PRIMITIVES" || name.ends_with(" INSTRUCTIONS")) {
    return LineUse::kRegions;
  }
  return name.find("XLA MODULES") != std::string::npos ? LineUse::kModules : LineUse::kOther;
}

struct KernelSum {
  double total_us = 0;
  int64_t count = 0;
};

class KernelSums {
 public:
  explicit KernelSums(const AgentContext& context)
      : context_(context),
        kernel_(context.options().Text("kernel_name")),
        regions_too_(context.options().Flag("include_intra_kernel_regions")) {}

  Status Run();
  bool empty() const { return sums_.empty(); }
  Value Records(size_t limit) const;
  size_t record_count() const { return sums_.size(); }
  Value Summary(Value records) const;
  double outermost_us() const { return outermost_us_; }
  int64_t limit() const { return kernel_.empty() ? context_.options().Integer("limit") : 0; }

 private:
  Status Add(const Track& track);
  void AddKernels(const Track& track, bool is_region);
  std::vector<std::pair<std::string, bool>> SortedKeys() const;

  const AgentContext& context_;
  const std::string kernel_;
  const bool regions_too_;
  std::map<std::pair<std::string, bool>, KernelSum> sums_;
  double outermost_us_ = 0;
  std::vector<Interval> all_ns_;
  std::map<std::string, std::vector<Interval>> line_ns_;
  std::map<std::string, std::vector<Interval>> device_ns_;
  std::vector<Interval> custom_call_ns_;
  std::vector<double> module_us_;
  std::set<std::string> left_out_lines_;
};

Interval NanosecondsOf(const Track& track, uint32_t event) {
  const int64_t start = track.StartPs(event) / 1000;
  return {.start = start, .end = start + track.columns().duration_ps[event] / 1000};
}

Status KernelSums::Run() {
  return ForEachTrack(context_, [this](const Track& track) { return Add(track); });
}

Status KernelSums::Add(const Track& track) {
  if (!track.plane().name.starts_with("/device:")) return OkStatus();
  const std::string line(track.line().name);
  const xplane::LineColumns& columns = track.columns();
  std::vector<Interval>& intervals = line_ns_[line];
  for (uint32_t event = 0; event < columns.event_count(); ++event) {
    intervals.push_back(NanosecondsOf(track, event));
  }
  switch (UseOf(track.plane().name, line)) {
    case LineUse::kKernels:
      AddKernels(track, false);
      break;
    case LineUse::kRegions:
      if (regions_too_) {
        AddKernels(track, true);
      } else {
        left_out_lines_.insert(line);
      }
      break;
    case LineUse::kModules:
      for (const uint32_t event : InTimeOrder(columns)) {
        module_us_.push_back(static_cast<double>(columns.duration_ps[event]) / 1e6);
      }
      break;
    case LineUse::kOther:
      break;
  }
  return OkStatus();
}

void KernelSums::AddKernels(const Track& track, bool is_region) {
  const xplane::LineColumns& columns = track.columns();
  const bool knows_framework_op = std::ranges::any_of(
      track.plane().stat_metadata,
      [](const xplane::StatMetadata& stat) { return stat.name == "tf_op_name"; });
  std::vector<xplane::Stat> framework_ops;
  if (knows_framework_op) {
    framework_ops =
        track.file().EventStatColumn(track.plane_index(), track.line_index(), "tf_op_name");
  }
  std::vector<Interval>& device =
      device_ns_[track.host_name() + ":" + std::string(track.plane().name)];
  int64_t covered_ns = std::numeric_limits<int64_t>::min();
  for (const uint32_t event : InTimeOrder(columns)) {
    std::string name;
    if (!framework_ops.empty()) name = framework_ops[event].text;
    if (name.empty()) name = track.EventName(event);
    if (!kernel_.empty() && name != kernel_) continue;
    const double duration_us = static_cast<double>(columns.duration_ps[event]) / 1e6;
    const Interval span = NanosecondsOf(track, event);
    const std::string lower = AsciiLower(name);
    KernelSum& sum = sums_[{std::move(name), is_region}];
    sum.total_us += duration_us;
    ++sum.count;
    if (is_region) continue;
    if (span.start >= covered_ns) outermost_us_ += duration_us;
    covered_ns = std::max(covered_ns, span.end);
    all_ns_.push_back(span);
    device.push_back(span);
    if (lower.starts_with("custom-call") || ContainsAnyOf(lower, {"custom_call", "pallas"}) ||
        track.line().name == "Pallas") {
      custom_call_ns_.push_back(span);
    }
  }
}

std::vector<std::pair<std::string, bool>> KernelSums::SortedKeys() const {
  std::vector<std::pair<std::string, bool>> keys;
  for (const auto& [key, sum] : sums_) keys.push_back(key);
  std::ranges::stable_sort(keys, std::greater(),
                           [&](const auto& key) { return sums_.at(key).total_us; });
  return keys;
}

// "%fusion.3 = f32[8] fusion(...)" or "jit(f)/dot:Dot" to what comes before blank and colon.
std::string Canonical(std::string_view name) {
  name = Trimmed(name);
  name = Trimmed(name.substr(0, name.find(':')));
  return std::string(name.substr(0, name.find_first_of(" \t\n")));
}

Value KernelSums::Records(size_t limit) const {
  Value records = Value::List();
  for (const auto& key : SortedKeys()) {
    if (records.items().size() >= limit) break;
    const KernelSum& sum = sums_.at(key);
    const std::string canonical = Canonical(key.first);
    Value& value = records.Add(Value::Object());
    value.Set("kernel_name", Value::String(key.first));
    value.Set("canonical_name", Value::String(canonical));
    value.Set("short_name", Value::String(canonical));
    value.Set("hlo_op_name", Value::String(canonical));
    value.Set("raw_name", Value::String(key.first));
    value.Set("total_duration_us", Value::Double(RoundTo(sum.total_us, 4)));
    value.Set("execution_count", Value::Int64(sum.count));
    value.Set("avg_duration_us",
              Value::Double(RoundTo(sum.total_us / static_cast<double>(sum.count), 4)));
    value.Set("is_intra_kernel_region", Value::Bool(key.second));
  }
  return records;
}

Value KernelSums::Summary(Value records) const {
  const int64_t total_ns = TotalOf(MergedIntervals(all_ns_));
  const int64_t custom_ns = TotalOf(MergedIntervals(custom_call_ns_));
  const size_t returned = records.items().size();
  Value value = Value::Object();
  value.Set("total_device_duration_ns", Value::Int64(total_ns));
  value.Set("total_device_duration_us", Value::Double(static_cast<double>(total_ns) / 1e3));
  value.Set("total_device_duration_ms", Value::Double(static_cast<double>(total_ns) / 1e6));
  Value& lines = value.Set("by_line_duration_ns", Value::Object());
  for (const auto& [line, intervals] : line_ns_) {
    if (!intervals.empty()) lines.Set(line, Value::Int64(TotalOf(MergedIntervals(intervals))));
  }
  value.Set("custom_call_duration_us",
            Value::Double(RoundTo(static_cast<double>(custom_ns) / 1e3, 4)));
  value.Set("custom_call_share_pct",
            Value::Double(total_ns > 0 ? RoundTo(static_cast<double>(custom_ns) /
                                                     static_cast<double>(total_ns) * 100,
                                                 2)
                                       : 0));
  value.Set("kernel_records", std::move(records));
  Value& steps = value.Set("step_durations_us", Value::List());
  for (const double us : module_us_) steps.Add(Value::Double(us));
  Value& stats = value.Set("stats", Value::Object());
  stats.Set("mean_us",
            Value::Double(RoundTo(
                module_us_.empty() ? static_cast<double>(total_ns) / 1e3 : MeanOf(module_us_), 4)));
  stats.Set("std_us", Value::Double(RoundTo(SampleDeviationOf(module_us_), 4)));
  SetTruncation(sums_.size(), returned, &value);
  value.Set("top_level_records", Value::Int64(std::ranges::count_if(
                                     sums_, [](const auto& sum) { return !sum.first.second; })));
  value.Set("total_duration_us_all_records", Value::Double(outermost_us_));
  Value& devices = value.Set("devices", Value::List());
  double busy_us = 0;
  for (const auto& [device, intervals] : device_ns_) {
    const double us = static_cast<double>(TotalOf(MergedIntervals(intervals))) / 1e3;
    busy_us += us;
    Value& one = devices.Add(Value::Object());
    one.Set("device", Value::String(device));
    one.Set("busy_us", Value::Double(us));
  }
  if (!device_ns_.empty()) {
    value.Set("mean_device_duration_us",
              Value::Double(busy_us / static_cast<double>(device_ns_.size())));
  }
  if (!left_out_lines_.empty()) {
    Value& lines_out = value.Set("excluded_intra_kernel_region_lines", Value::List());
    for (const std::string& line : left_out_lines_) lines_out.Add(Value::String(line));
    value.Set("note", Value::String("Regions inside kernels are left out, since their time is "
                                    "their kernel's; --include_intra_kernel_regions=true lists "
                                    "them."));
  }
  return value;
}

std::string Markdown(const Value& records, const KernelSums& sums, const std::string& kernel) {
  std::string text =
      kernel.empty() ? "# Top Kernels by Duration" : "# Kernel Stats for `" + kernel + "`";
  text +=
      "\n\n| Kernel | Total Duration (us) | Execution Count | Avg Duration (us) |\n"
      "| :--- | ---: | ---: | ---: |";
  for (const Value& record : records.items()) {
    text += "\n| `" + TextIn(record, "kernel_name") + "` | " +
            FixedText(NumberIn(record, "total_duration_us"), 2) + " | " +
            FixedText(NumberIn(record, "execution_count"), 0) + " | " +
            FixedText(NumberIn(record, "avg_duration_us"), 2) + " |";
  }
  if (records.items().size() < sums.record_count()) {
    text += "\n\n" + std::to_string(records.items().size()) + " of " +
            std::to_string(sums.record_count()) + " kernels; all outermost ones together took " +
            FixedText(sums.outermost_us(), 2) + " us, summed over devices.";
  }
  return text;
}

Result<ToolResult> Run(const AgentContext& context, bool summary) {
  const std::string& kernel = context.options().Text("kernel_name");
  const bool markdown = context.options().Text("output_format") == "markdown";
  KernelSums sums(context);
  STROBE_RETURN_IF_ERROR(sums.Run());
  if (sums.empty()) {
    const std::string message = "The session has no device kernel" +
                                (kernel.empty() ? std::string() : " of the name " + kernel) + ".";
    if (markdown) return TextResult("# Info\n" + message + "\n");
    Value document = Value::Object();
    document.Set("info", Value::String(message));
    return DocumentResult(std::move(document));
  }
  Value records = sums.Records(LimitOf(sums.limit(), sums.record_count()));
  if (summary) return DocumentResult(sums.Summary(std::move(records)));
  if (markdown) {
    ToolResult text = TextResult(Markdown(records, sums, kernel));
    text.content_type = "text/markdown";
    return text;
  }
  ToolResult result = DocumentResult(std::move(records));
  if (result.document.items().size() < sums.record_count()) {
    result.notices.push_back(
        {.severity = Notice::Severity::kInfo,
         .name = "TRUNCATED",
         .message = std::to_string(result.document.items().size()) + " of " +
                    std::to_string(sums.record_count()) + " kernels are listed.",
         .hint = "--limit=0 lists all; --include_summary=true adds the totals."});
  }
  return result;
}

Result<ToolResult> RunGetKernelStats(const ToolQuestion& question, ToolInput& input,
                                     const CancelToken& cancel) {
  return Run({question, input, cancel}, question.options.Flag("include_summary"));
}

Result<ToolResult> RunGetDeviceTimeAttribution(const ToolQuestion& question, ToolInput& input,
                                               const CancelToken& cancel) {
  return Run({question, input, cancel}, question.options.Flag("include_summary"));
}

}  // namespace

ToolDescriptor MakeGetKernelStatsTool() {
  ToolDescriptor tool = AgentTool(
      "get_kernel_stats", "Kernels for agents", "Which kernels did the devices run, for how long?",
      {{.name = "kernel_name", .description = "Only the kernel of exactly this name."},
       {.name = "limit",
        .type = OptionType::kInteger,
        .default_value = "10",
        .description = "How many kernels; 0: all."},
       MarkdownOption(),
       {.name = "include_summary",
        .type = OptionType::kBoolean,
        .default_value = "false",
        .description = "Totals by line and device, module times."},
       {.name = "include_intra_kernel_regions",
        .type = OptionType::kBoolean,
        .default_value = "false",
        .description = "Also regions inside kernels."}});
  tool.run = RunGetKernelStats;
  return tool;
}

ToolDescriptor MakeGetDeviceTimeAttributionTool() {
  ToolDescriptor tool = AgentTool("get_device_time_attribution", "Device time by line",
                                  "What did each line of the devices take, counting no time twice?",
                                  {{.name = "include_summary",
                                    .type = OptionType::kBoolean,
                                    .default_value = "true",
                                    .description = "The totals; else kernels alone."},
                                   {.name = "limit",
                                    .type = OptionType::kInteger,
                                    .default_value = "10",
                                    .description = "Kernels to list; 0 and less: all."}});
  tool.run = RunGetDeviceTimeAttribution;
  return tool;
}

}  // namespace strobe::tools
