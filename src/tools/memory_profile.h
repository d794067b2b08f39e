// Memory of the devices of one host over time, as its allocators logged it: the curve, the peak and
// what was allocated there, by allocator.
//
// From the MemoryAllocation and MemoryDeallocation events of the host plane. Times of the curve
// count from the start of the event's line, as XProf has them. Active allocations are those of the
// step in which the peak lies, equal ones merged; what the step did not allocate itself is one
// "unused preallocated device memory".
//
// Document: XProf's MemoryProfile with all fields. Exactly one host (MEMORY_PROFILE_ONE_HOST).
// Cost: one walk over the host plane's events. Limits: the curve has at most kMaxMemorySamples
// points (the highest of each stretch is kept), the table what one step allocates.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

inline constexpr int64_t kMaxMemorySamples = 1000;  // XProf's; no screen shows more

ToolDescriptor MakeMemoryProfileTool();

}  // namespace strobe::tools
