#include "src/tools/op_tool_input.h"

#include <fmt/format.h>

#include <algorithm>

namespace strobe::tools {

using analysis::HardwareType;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using analysis::OpStats;

namespace {

// Flops a second over the peak, of the time in which devices worked.
double ShareOfPeak(double flops, const OpStats& stats) {
  constexpr double kPicosPerSecond = 1e12;
  constexpr double kTera = 1e12;
  const double seconds = static_cast<double>(stats.device_ops.total_op_time_ps) / kPicosPerSecond;
  return analysis::SafeDivide(flops, seconds * stats.perf.peak_tera_flops_per_second * kTera);
}

// Whoever knows XProf's figure of the same profile sees why ours is another.
void NoteCostsBeyondXprof(const OpStats& stats, std::vector<Notice>* notices) {
  double all_flops = 0;
  double their_flops = 0;
  int64_t time_ps = 0;
  for (const OpMetrics& op : stats.device_ops.ops) {
    all_flops += op.flops;
    if (!op.reference_lacks_cost) their_flops += op.flops;
    if (op.reference_lacks_cost && op.flops > 0) time_ps += op.self_time_ps;
  }
  if (all_flops <= their_flops) return;
  const double time_share = analysis::SafeDivide(
      static_cast<double>(time_ps), static_cast<double>(stats.device_ops.total_op_time_ps));
  notices->push_back(
      {Notice::Severity::kInfo, "COSTS_BEYOND_XPROF",
       fmt::format(
           "The devices reach {:.1f} % of their peak flop rate while they work. XProf shows "
           "{:.2f} %: it counts nothing for programs with a library call whose "
           "configuration it does not know, and ops of such programs take {:.1f} % of the "
           "time.",
           100 * ShareOfPeak(all_flops, stats), 100 * ShareOfPeak(their_flops, stats),
           100 * time_share),
       "XProf's numbers: as_xprof=true, or --as-xprof on the command line."});
}

}  // namespace

Result<OpToolInput> ReadOpToolInput(const ToolQuestion& question, ToolInput& input,
                                    OpToolNeeds needs, const CancelToken& cancel) {
  OpToolInput ops;
  STROBE_ASSIGN_OR_RETURN(ops.stats, needs == OpToolNeeds::kOps
                                         ? input.CombinedOps(question.hosts, cancel)
                                         : input.CombinedOpStats(question.hosts, cancel));
  for (const size_t host : question.hosts) {
    const ToolHost& asked = input.hosts()[host];
    // Combining says so of a host that could not be read after all.
    const bool failed = std::ranges::any_of(
        ops.stats->diagnostics.errors,
        [&](const std::string& error) { return error.starts_with(asked.name + ": "); });
    if (asked.file != nullptr && !failed) continue;
    ops.partial = true;
    ops.notices.push_back({Notice::Severity::kWarning, "HOST_UNREADABLE",
                           "Host " + asked.name + " could not be read and is left out.",
                           "Capture it again, or choose the other hosts only."});
  }
  if (!question.as_xprof) NoteCostsBeyondXprof(*ops.stats, &ops.notices);
  if (question.as_xprof &&
      std::ranges::any_of(ops.stats->device_ops.ops, &OpMetrics::reference_lacks_cost)) {
    auto copy = std::make_shared<OpMetricsDb>(ops.stats->device_ops);
    DropCostsThatReferenceLacks(copy.get());
    ops.reference_device_ops = std::move(copy);
  }
  return ops;
}

void NoteNoDeviceOps(const OpStats& stats, std::vector<Notice>* notices) {
  const bool any = std::ranges::any_of(stats.device_ops.ops,
                                       [](const OpMetrics& op) { return op.occurrences > 0; });
  if (any) return;
  switch (stats.run.hardware) {
    case HardwareType::kTpu:
      notices->push_back({Notice::Severity::kInfo, "NO_DEVICE_OPS",
                          "No operation ran on the TPU while the profile was taken.",
                          "Capture while a step runs, or for longer."});
      break;
    case HardwareType::kGpu:
      notices->push_back({Notice::Severity::kInfo, "NO_DEVICE_OPS",
                          "No kernel of the profile belongs to an HLO operation that is known.",
                          "Capture with enable_hlo_proto=true, so that the profile carries the "
                          "programs that ran."});
      break;
    default:
      notices->push_back({Notice::Severity::kInfo, "NO_DEVICE",
                          "The profile is of a host without TPU or GPU, so there are no device "
                          "operations.",
                          "Capture on an accelerator, or look at the host's threads in the "
                          "timeline."});
      break;
  }
}

}  // namespace strobe::tools
