// Hardware counters for agents.
//
//   get_utilization_viewer                      percent of each unit's peak over the capture
//   get_perf_counters                           counters, filtered, the largest first
//   get_kernel_utilization (compute_utilization) percent by kernel
//
// Read from utilization_viewer, perf_counters and kernel_utilization. Percentages are cycle
// weighted: sum of what was achieved over sum of the peaks; a sample that is all ones is no
// measurement. Cost: that of those tools.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetUtilizationViewerTool();
ToolDescriptor MakeGetPerfCountersTool();
ToolDescriptor MakeGetKernelUtilizationTool();

}  // namespace strobe::tools
