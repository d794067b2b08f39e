// Device memory for agents: how full it was, and with what.
//
//   get_memory_profile     capacity and peak of the fullest allocator, in GiB
//   get_peak_allocations   the largest buffers of each module at its peak
//
// Read from memory_profile (the runtime's own allocations) and memory_viewer (the compiler's plan).
// -1.0 means not measured, as XProf writes it; `measured` says so plainly. The risk of running out
// of memory is judged from both (OomRisk); its inputs stand beside it. Cost: that of those tools,
// memory_viewer once a module.
#pragma once

#include <string_view>

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetMemoryProfileTool();
ToolDescriptor MakeGetPeakAllocationsTool();

// HIGH from 95% of capacity in use, or from 85% when what is free is in pieces too small for the
// largest buffer; MEDIUM from 80%, or when fragmentation is 20% and more at 60% in use; UNKNOWN
// when nothing was measured. All three as fractions, sizes in bytes; the rule is ours.
std::string_view OomRisk(double capacity_bytes, double peak_bytes, double fragmentation,
                         double largest_buffer_bytes);

}  // namespace strobe::tools
