#include "src/tools/smart_suggestion.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "src/analysis/op_totals.h"
#include "src/tools/event_time_fraction.h"
#include "src/tools/host_input.h"
#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/overview_analysis.h"
#include "src/tools/pod_viewer.h"
#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

using analysis::OpMetrics;
using analysis::OpStats;
using analysis::PreparedHost;
using analysis::Step;
using xplane::Stat;

constexpr std::string_view kBarrier = "barrier-cores";
constexpr std::string_view kDebugPrint = "debug_print";

// Beside the collectives between cores, what waits for the host or the other half of a chip.
bool IsCollective(std::string_view category) {
  constexpr std::string_view kWaits[] = {"megacore fusion", "host recv", "host recv-done",
                                         "host send", "host send-done"};
  return IsCollectiveCategory(category) || std::ranges::find(kWaits, category) != std::end(kWaits);
}

bool IsShuffle(std::string_view category) {
  constexpr std::string_view kShuffles[] = {"broadcast",
                                            "concatenate",
                                            "data formatting",
                                            "dynamic-slice",
                                            "dynamic-update-slice",
                                            "gather",
                                            "pad",
                                            "reverse",
                                            "scatter",
                                            "select",
                                            "shuffle",
                                            "slice",
                                            "sort",
                                            "select-and-scatter"};
  return std::ranges::find(kShuffles, category) != std::end(kShuffles);
}

// Mean over the steps of the time of such ops over the time of all TensorCores.
std::optional<double> CategoryPercent(std::span<const Step> steps,
                                      bool (*wanted)(std::string_view)) {
  double sum = 0;
  size_t count = 0;
  for (const Step& step : steps) {
    uint64_t step_ps = 0;
    uint64_t wanted_ps = 0;
    for (const auto& [core, part] : step.cores) {
      if (!part.is_tpu || core >= analysis::kSparseCoreIndexStart) continue;
      step_ps += part.duration_ps;
      for (const auto& [category, ps] : part.category_ps) {
        if (wanted(category)) wanted_ps += ps;
      }
    }
    if (step_ps == 0) continue;
    sum += static_cast<double>(wanted_ps) / static_cast<double>(step_ps);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return 100.0 * sum / static_cast<double>(count);
}

// Ops that end an asynchronous collective, over all op time.
std::optional<double> AsyncDonePercent(const OpStats& stats) {
  constexpr std::string_view kNames[] = {"all-gather",        "all-reduce",    "all-to-all",
                                         "ragged-all-to-all", "reduce-gather", "reduce-scatter"};
  if (stats.device_ops.total_op_time_ps == 0) return std::nullopt;
  uint64_t waiting_ps = 0;
  for (const OpMetrics& op : stats.device_ops.ops) {
    if (op.category != "async-done") continue;
    const std::string_view name = std::string_view(op.name).substr(0, op.name.find('.'));
    if (std::ranges::find(kNames, name) != std::end(kNames)) waiting_ps += op.self_time_ps;
  }
  return 100.0 * static_cast<double>(waiting_ps) /
         static_cast<double>(stats.device_ops.total_op_time_ps);
}

// Peak of what the allocators of one host had in use, and what they have.
struct MemoryUse {
  double peak_bytes = 0;
  double capacity_bytes = 0;
};

MemoryUse MemoryUseOf(const PreparedHost& host) {
  std::map<std::pair<int64_t, std::string>, MemoryUse> allocators;
  const std::vector<xplane::Plane>& planes = host.file().planes();
  for (size_t p = 0; p < planes.size(); ++p) {
    if (planes[p].name != "/host:CPU") continue;
    std::vector<uint8_t> marked;
    bool any = false;
    for (const xplane::EventMetadata& event : planes[p].event_metadata) {
      marked.push_back(event.name == "MemoryAllocation" || event.name == "MemoryDeallocation");
      any |= marked.back() != 0;
    }
    for (size_t l = 0; any && l < planes[p].lines.size(); ++l) {
      const xplane::LineColumns& line = host.file().Line(p, l);
      for (uint32_t e = 0; e < line.event_count(); ++e) {
        if (marked[line.name[e]] == 0) continue;
        const std::vector<Stat> stats = host.file().EventStats(p, l, e);
        const auto bytes = [&](std::string_view name) {
          const Stat* stat = analysis::FindStat(stats, name);
          return stat == nullptr ? 0.0 : static_cast<double>(stat->IntOrUint());
        };
        const Stat* name = analysis::FindStat(stats, "allocator_name");
        MemoryUse& use = allocators[{static_cast<int64_t>(bytes("index_on_host")),
                                     name == nullptr ? std::string() : std::string(name->text)}];
        const double in_use = bytes("bytes_reserved") + bytes("bytes_allocated");
        use.peak_bytes = std::max({use.peak_bytes, in_use, bytes("peak_bytes_in_use")});
        use.capacity_bytes = std::max(use.capacity_bytes, in_use + bytes("bytes_available"));
      }
    }
  }
  MemoryUse all;
  for (const auto& [allocator, use] : allocators) {
    all.peak_bytes += use.peak_bytes;
    all.capacity_bytes += use.capacity_bytes;
  }
  return all;
}

Result<std::optional<double>> MemoryPercent(ToolInput& input, std::span<const size_t> hosts,
                                            const CancelToken& cancel) {
  MemoryUse all;
  if (input.facts().has_allocations) {
    for (const size_t host : hosts) {
      STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const PreparedHost> prepared,
                              input.Prepared(host, cancel));
      const MemoryUse use = MemoryUseOf(*prepared);
      all.peak_bytes += use.peak_bytes;
      all.capacity_bytes += use.capacity_bytes;
    }
  }
  if (all.capacity_bytes <= 0) return std::optional<double>();
  return std::optional<double>(100.0 * all.peak_bytes / all.capacity_bytes);
}

std::map<std::string, double> HostMeans(const EventTimeFractions& found) {
  std::map<std::string, double> means;
  for (const auto& [host, fractions] : found.by_host) {
    if (fractions.empty()) continue;
    const double sum = std::accumulate(fractions.begin(), fractions.end(), 0.0);
    means[host] = 100.0 * sum / static_cast<double>(fractions.size());
  }
  return means;
}

// The share of such events in the steps, and the hosts that stand out; nullopt without any.
Status AddEventShare(ToolInput& input, std::span<const size_t> hosts, std::string_view event_name,
                     const CancelToken& cancel, std::optional<double>* percent,
                     std::vector<std::string>* stragglers) {
  STROBE_ASSIGN_OR_RETURN(const EventTimeFractions found,
                          FindEventTimeFractions(input, hosts, event_name, cancel));
  if (found.by_chip.empty()) return OkStatus();
  *percent = found.MeanPercent();
  for (const Straggler& host : FindStragglers(HostMeans(found))) stragglers->push_back(host.host);
  return OkStatus();
}

void AddStepSignals(const OpStats& stats, const InputPipelineAnalysis& steps,
                    std::span<const Step> all, SuggestionSignals* signals) {
  if (steps.bottleneck.measured) signals->input_percent = steps.bottleneck.input_percent;
  const InputTime& time = steps.input_time;
  const double input_us = time.enqueue_us + time.NonEnqueueUs();
  signals->enqueue_percent = 100.0 * analysis::SafeDivide(time.enqueue_us, input_us);
  signals->non_enqueue_percent = 100.0 * analysis::SafeDivide(time.NonEnqueueUs(), input_us);
  signals->collective_percent = CategoryPercent(all, IsCollective);
  signals->shuffle_percent = CategoryPercent(all, IsShuffle);
  signals->async_done_percent = AsyncDonePercent(stats);
  if (steps.tpu_steps.empty() || steps.step_time_ms.average <= 0) return;
  double idle_ms = 0, sparse_ms = 0;
  for (const analysis::TpuStepDetails& step : steps.tpu_steps) {
    idle_ms += step.tc_idle_ms;
    sparse_ms += step.sc_step_ms;
  }
  const auto count = static_cast<double>(steps.tpu_steps.size());
  signals->idle_percent = 100.0 * idle_ms / count / steps.step_time_ms.average;
  if (steps.has_sparse_core) {
    signals->sparse_core_percent = 100.0 * sparse_ms / count / steps.step_time_ms.average;
  }
}

Result<SuggestionSignals> ReadSignals(const ToolQuestion& question, ToolInput& input,
                                      std::span<const size_t> hosts, const CancelToken& cancel) {
  SuggestionSignals signals;
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const OpStats> stats,
                          input.CombinedOpStats(hosts, cancel));
  const std::span<const Step> all = VisibleSteps(*stats, question);
  ToolQuestion here = question;
  here.hosts.assign(hosts.begin(), hosts.end());
  STROBE_ASSIGN_OR_RETURN(const InputPipelineAnalysis steps,
                          AnalyzeSteps(here, input, *stats, all, cancel));
  AddStepSignals(*stats, steps, all, &signals);
  const std::optional<HardwareUse> use = HardwareUseOf(*stats, stats->device_ops);
  signals.mxu_percent = stats->counters.matrix_unit_utilization_percent;
  signals.hbm_percent = stats->counters.hbm_utilization_percent;
  // Without counters the matrix unit is as busy as the flops of the ops make it.
  if (use && !signals.mxu_percent) signals.mxu_percent = use->goodput_percent;
  if (use) signals.hbm_percent = use->hbm_percent;
  STROBE_ASSIGN_OR_RETURN(signals.memory_percent, MemoryPercent(input, hosts, cancel));
  STROBE_RETURN_IF_ERROR(AddEventShare(input, hosts, kDebugPrint, cancel,
                                       &signals.debug_print_percent,
                                       &signals.debug_print_stragglers));
  return signals;
}

Value MakeDocument(const std::vector<RuleOutcome>& outcomes) {
  Value document = Value::Object();
  Value& suggestions = document.Set("suggestions", Value::List());
  for (const RuleOutcome& outcome : outcomes) {
    if (!outcome.applies) continue;
    Value& suggestion = suggestions.Add(Value::Object());
    suggestion.Set("ruleName", Value::String(outcome.rule));
    suggestion.Set("suggestionText", Value::String(outcome.suggestion));
  }
  return document;
}

Table MakeRuleTable(const std::vector<RuleOutcome>& outcomes) {
  Table table("rules", "Rules");
  const auto add = [&](std::string_view id, std::string_view label, std::string_view what) {
    table.AddColumn({.id = std::string(id),
                     .label = std::string(label),
                     .type = ColumnType::kString,
                     .description = std::string(what)});
  };
  add("rule", "Rule", "Name, as XProf has it.");
  table.AddColumn({.id = "applies",
                   .label = "Applies",
                   .type = ColumnType::kBoolean,
                   .description = "Empty: the profile does not tell what the rule needs."});
  add("signal", "Measured", "What the rule looked at.");
  add("threshold", "Threshold", "When it applies.");
  add("suggestion", "Suggestion", "What to try.");
  for (const RuleOutcome& outcome : outcomes) {
    table.AddRow({Cell(outcome.rule), outcome.known ? Cell(outcome.applies) : Cell(),
                  Cell(outcome.signal), Cell(outcome.threshold), Cell(outcome.suggestion)});
  }
  return table;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  ToolResult result;
  std::vector<size_t> readable;
  for (const size_t host : question.hosts) {
    if (input.hosts()[host].file != nullptr) {
      readable.push_back(host);
      continue;
    }
    result.partial = true;
    result.notices.push_back({Notice::Severity::kWarning, "HOST_UNREADABLE",
                              "Host " + input.hosts()[host].name + " could not be read.",
                              "Capture it again."});
  }
  SuggestionSignals signals;
  if (!question.as_xprof && !readable.empty()) {
    STROBE_ASSIGN_OR_RETURN(signals, ReadSignals(question, input, readable, cancel));
  }
  STROBE_RETURN_IF_ERROR(AddEventShare(input, readable, kBarrier, cancel, &signals.barrier_percent,
                                       &signals.barrier_stragglers));
  const std::vector<RuleOutcome> outcomes = JudgeSuggestions(signals);
  result.document = MakeDocument(outcomes);
  result.shape = question.as_xprof ? ToolResult::Shape::kDocument : ToolResult::Shape::kTables;
  if (!question.as_xprof) result.tables.push_back(MakeRuleTable(outcomes));
  return result;
}

}  // namespace

ToolDescriptor MakeSmartSuggestionTool() {
  ToolDescriptor tool;
  tool.id = "smart_suggestion";
  tool.version = 2;
  tool.title = "Suggestions";
  tool.question = "What probably limits the program, and what should be tried?";
  tool.scope = HostScope::kAllHosts;
  tool.offers_all_hosts = true;
  tool.listed_by_xprof = false;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
