// Device kernels for agents, added up from the timeline.
//
//   get_kernel_stats              kernels by total time
//   get_device_time_attribution   the same with totals by line
//
// Nested ops count by themselves in their own record; the totals count no instant twice:
// total_device_duration_* is the union over all devices together, as XProf gives it, and `devices`
// has each device's own. Regions inside kernels (LLO, Pallas primitives) are left out unless asked
// for. Cost: one pass over device lines, sorted: some 150 ns an event.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetKernelStatsTool();
ToolDescriptor MakeGetDeviceTimeAttributionTool();

}  // namespace strobe::tools
