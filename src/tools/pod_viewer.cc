#include "src/tools/pod_viewer.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

using analysis::CoreStep;
using analysis::EventType;
using analysis::OpStats;
using analysis::Step;

enum PodKind : size_t {
  kDeviceCompute,
  kDeviceToDevice,
  kCollectives,
  kHostCompute,
  kKernelLaunch,
  kInput,
  kOutput,
  kCompilation,
  kAllOthers
};

constexpr std::string_view kNames[kPodKinds] = {
    "Device compute", "Device to device", "Device collective communication",
    "Host compute",   "Kernel launch",    "Input",
    "Output",         "Compilation",      "All others"};

PodKind KindOf(EventType type) {
  switch (type) {
    case EventType::kDeviceCompute32:
    case EventType::kDeviceCompute16:
      return kDeviceCompute;
    case EventType::kDeviceToDevice:
    case EventType::kDeviceWaitDevice:
      return kDeviceToDevice;
    case EventType::kDeviceCollectives:
      return kCollectives;
    case EventType::kHostCompute:
      return kHostCompute;
    case EventType::kHostPrepare:
      return kKernelLaunch;
    case EventType::kHostWaitInput:
    case EventType::kHostToDevice:
    case EventType::kDeviceWaitHost:
      return kInput;
    case EventType::kDeviceToHost:
      return kOutput;
    case EventType::kHostCompile:
      return kCompilation;
    default:
      return kAllOthers;
  }
}

template <size_t N>
bool OneOf(std::string_view text, const std::string_view (&all)[N]) {
  return std::ranges::find(all, text) != std::end(all);
}

// As XProf sorts the categories of a TPU; ours knows more collectives.
PodKind KindOfCategory(std::string_view category, bool as_xprof) {
  constexpr std::string_view kXprofCollectives[] = {"all-reduce", "all-reduce fusion",
                                                    "all-to-all"};
  constexpr std::string_view kInputs[] = {"infeed",
                                          "host recv",
                                          "host recv-done",
                                          "sparsecorev0 infeed",
                                          "sparsecorev0 infeed wait",
                                          "sparsecorev0 infeed transform"};
  constexpr std::string_view kOutputs[] = {"outfeed", "host send", "host send-done",
                                           "sparsecorev0 outfeed"};
  constexpr std::string_view kTransfers[] = {"send",      "send-done",  "recv",
                                             "recv-done", "async-done", "megacore fusion"};
  if (category == analysis::kIdle) return kAllOthers;
  if (OneOf(category, kInputs)) return kInput;
  if (OneOf(category, kOutputs)) return kOutput;
  if (OneOf(category, kTransfers)) return kDeviceToDevice;
  if (OneOf(category, kXprofCollectives)) return kCollectives;
  return !as_xprof && IsCollectiveCategory(category) ? kCollectives : kDeviceCompute;
}

std::string HostOf(const OpStats& stats, uint32_t core) {
  const auto found = stats.cores.find(core);
  return found == stats.cores.end() ? std::string() : found->second.hostname;
}

double Microseconds(uint64_t ps) { return static_cast<double>(ps) / 1e6; }

Value MakeRecord(const OpStats& stats, uint32_t core, const CoreStep& step, bool as_xprof) {
  const PodTimes times = PodTimesOf(step, as_xprof);
  Value record = Value::Object();
  record.Set("hostName", Value::String(HostOf(stats, core)));
  record.Set("chipId", Value::Int32(0));
  record.Set("nodeId", Value::Int32(0));
  record.Set("stepNum", Value::Int32(step.step_num));
  record.Set("totalDurationUs", Value::Double(Microseconds(step.duration_ps)));
  record.Set("bottleneck", Value::String(times.bottleneck));
  Value& breakdown = record.Set("stepBreakdownUs", Value::Object());
  for (size_t kind = 0; kind < kPodKinds; ++kind) {
    breakdown.Set(std::to_string(kind + 1), Value::Double(Microseconds(times.time_ps[kind])));
  }
  return record;
}

Value MakeStep(const OpStats& stats, const Step& step, bool as_xprof) {
  Value value = Value::Object();
  value.Set("stepNum", Value::Int32(step.step_num));
  Value& cores = value.Set("podStatsPerCore", Value::Object());
  for (const auto& [core, part] : step.cores) {
    cores.Set(std::to_string(core), MakeRecord(stats, core, part, as_xprof));
  }
  value.Set("channelDb", Value::List());
  value.Set("coreIdToReplicaIdMap", Value::Object());
  value.Set("allReduceOpDb", Value::List());
  return value;
}

Value TextList(const std::vector<std::string>& texts) {
  Value list = Value::List();
  for (const std::string& text : texts) list.Add(Value::String(text));
  return list;
}

Value MakeDocument(const OpStats& stats, std::span<const Step> steps, bool as_xprof) {
  Value document = Value::Object();
  Value& sequence = document.Set("podStatsSequence", Value::Object());
  Value& maps = sequence.Set("podStatsMap", Value::List());
  for (const Step& step : steps) maps.Add(MakeStep(stats, step, as_xprof));
  Value& diagnostics = document.Set("diagnostics", Value::Object());
  diagnostics.Set("info", Value::List());
  diagnostics.Set("warnings",
                  as_xprof ? TextList(StepWarnings(stats.steps, steps.size())) : Value::List());
  diagnostics.Set("errors", Value::List());
  Value& kinds = document.Set("stepBreakdownEvents", Value::List());
  for (size_t kind = 0; kind < kPodKinds; ++kind) {
    Value& event = kinds.Add(Value::Object());
    event.Set("id", Value::Int32(static_cast<int64_t>(kind) + 1));
    event.Set("name", Value::String(kNames[kind]));
  }
  document.Set("deviceType", Value::String(stats.run.device_type));
  return document;
}

// Ids of the kinds in our own table.
constexpr std::string_view kColumnIds[kPodKinds] = {
    "deviceComputeUs", "deviceToDeviceUs", "collectivesUs", "hostComputeUs", "kernelLaunchUs",
    "inputUs",         "outputUs",         "compilationUs", "allOthersUs"};

Table MakeTable(const OpStats& stats, std::span<const Step> steps) {
  Table table("step_cores", "Steps by core");
  table.SetProperty("device_type", stats.run.device_type);
  table.AddColumn({.id = "stepNum", .label = "Step", .description = "Number of the step."});
  table.AddColumn({.id = "stepName", .label = "Step name", .type = ColumnType::kString});
  table.AddColumn({.id = "coreId",
                   .label = "Core",
                   .description = "1000 times the host's place plus the id of the core's plane."});
  table.AddColumn({.id = "hostName", .label = "Host", .type = ColumnType::kString});
  table.AddColumn({.id = "totalDurationUs",
                   .label = "Step time",
                   .unit = "us",
                   .description = "Length of the step."});
  for (size_t kind = 0; kind < kPodKinds; ++kind) {
    table.AddColumn({.id = std::string(kColumnIds[kind]),
                     .label = std::string(kNames[kind]),
                     .unit = "us",
                     .description = "Part of the step time."});
  }
  table.AddColumn({.id = "bottleneck",
                   .label = "Largest part",
                   .type = ColumnType::kString,
                   .description = "What most of the step time went into."});
  for (const Step& step : steps) {
    for (const auto& [core, part] : step.cores) {
      const PodTimes times = PodTimesOf(part, /*as_xprof=*/false);
      std::vector<Cell> row = {Cell(part.step_num), Cell(part.step_name), Cell(core),
                               Cell(HostOf(stats, core)), Cell(Microseconds(part.duration_ps))};
      for (const uint64_t ps : times.time_ps) row.emplace_back(Microseconds(ps));
      row.emplace_back(times.bottleneck);
      RowSubject subject;
      subject.step = part.step_num;
      subject.host = HostOf(stats, core);
      table.AddRow(std::move(row), std::move(subject));
    }
  }
  return table;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const OpStats> stats,
                          input.CombinedOpStats(question.hosts, cancel));
  const std::span<const Step> steps = VisibleSteps(*stats, question);
  ToolResult result;
  result.shape = question.as_xprof ? ToolResult::Shape::kDocument : ToolResult::Shape::kTables;
  if (question.as_xprof) {
    result.document = MakeDocument(*stats, steps, true);
  } else {
    result.tables.push_back(MakeTable(*stats, steps));
  }
  result.notices = StepNotices(*stats, question);
  AddHostNotices(*stats, &result);
  return result;
}

}  // namespace

std::string_view PodKindName(size_t kind) { return kNames[kind]; }

bool IsCollectiveCategory(std::string_view category) {
  constexpr std::string_view kCollectiveCategories[] = {"all-reduce",
                                                        "all-reduce fusion",
                                                        "all-reduce-start",
                                                        "all-reduce-done",
                                                        "all-gather",
                                                        "all-gather fusion",
                                                        "all-gather-start",
                                                        "all-gather-done",
                                                        "all-to-all",
                                                        "all-to-all fusion",
                                                        "ragged-all-to-all",
                                                        "collective-broadcast",
                                                        "collective-permute",
                                                        "reduce-scatter",
                                                        "collective-permute-start",
                                                        "reduce-scatter fusion",
                                                        "collective-permute-done",
                                                        "all-reduce-scatter fusion",
                                                        "collective-permute fusion"};
  return OneOf(category, kCollectiveCategories);
}

PodTimes PodTimesOf(const CoreStep& step, bool as_xprof) {
  PodTimes times;
  if (step.is_tpu) {
    for (const auto& [category, ps] : step.category_ps) {
      times.time_ps[KindOfCategory(category, as_xprof)] += ps;
    }
  } else {
    for (size_t type = 0; type < analysis::kEventTypes; ++type) {
      // Time that XProf's breakdown has no kind for belongs to none of them.
      const auto event = static_cast<EventType>(type);
      const PodKind kind = KindOf(event);
      if (kind == kAllOthers && event != EventType::kUnknown) continue;
      times.time_ps[kind] += step.type_ps[type];
    }
  }
  size_t largest = 0;
  for (size_t kind = 1; kind < kPodKinds; ++kind) {
    const bool more = times.time_ps[kind] > times.time_ps[largest];
    const bool same = times.time_ps[kind] == times.time_ps[largest];
    if (more || (same && kNames[kind] > kNames[largest])) largest = kind;
  }
  times.bottleneck = kNames[largest];
  return times;
}

ToolDescriptor MakePodViewerTool() {
  ToolDescriptor tool;
  tool.id = "pod_viewer";
  tool.title = "Pod viewer";
  tool.question = "What does each core of each host do in each step, and which one is slow?";
  tool.scope = HostScope::kAllHosts;
  tool.offers_all_hosts = true;
  tool.listed_by_xprof = false;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
