#include "src/tools/op_tool_input.h"

#include <algorithm>

namespace strobe::tools {

using analysis::HardwareType;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using analysis::OpStats;

Result<OpToolInput> ReadOpToolInput(const ToolQuestion& question, ToolInput& input,
                                    const CancelToken& cancel) {
  OpToolInput ops;
  STROBE_ASSIGN_OR_RETURN(ops.stats, input.CombinedOpStats(question.hosts, cancel));
  for (const size_t host : question.hosts) {
    const ToolHost& asked = input.hosts()[host];
    if (asked.file != nullptr) continue;
    ops.partial = true;
    ops.notices.push_back({Notice::Severity::kWarning, "HOST_UNREADABLE",
                           "Host " + asked.name + " could not be read and is left out.",
                           "Capture it again, or choose the other hosts only."});
  }
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
