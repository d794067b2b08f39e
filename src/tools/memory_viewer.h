// Memory of one compiled program over its run: heap curve, peak and what is in it, buffers that
// live as long as the program, and the allocation timeline as blocks or as a page.
//
//   module_name | program_id          which module (module_choice.h)
//   memory_space                      0 main memory; on TPU 1 VMEM, 5 host; not a number: 0
//   view_memory_allocation_timeline   any text: the page instead of the document
//
// The document has the fields of XProf's PreprocessResult; what is zero or empty is left out, as
// there. A session without modules gives {} for the marker NO_MODULE; a module without buffer
// assignment gives its names only, and a notice that says why. Errors: those of ChooseModule and
// of hlo::ReplayMemory (HLO_TRACE_*, HLO_LIMIT_BUFFERS).
//
// Cost: linear in buffers and events; 30 ms for a module of 37,026 instructions.
#pragma once

#include <string>

#include "src/hlo/buffer_assignment.h"
#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeMemoryViewerTool();

// The allocation timeline of a replayed module as DOT text with places (for neato -n), and as a
// page with a drawing of its own.
std::string AllocationTimelineDot(const hlo::HloModule& module, const hlo::MemoryUse& use);
std::string AllocationTimelinePage(const hlo::HloModule& module, const hlo::MemoryUse& use,
                                   bool as_xprof);
// What is shown when nothing was allocated.
std::string NoTimelinePage(bool as_xprof);

// Colours that buffers of a timeline get, in the order of `use.blocks`; white for allocations.
std::vector<std::string_view> BlockColors(const hlo::MemoryUse& use);

}  // namespace strobe::tools
