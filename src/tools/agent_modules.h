// HLO modules for agents: names, text, neighbourhoods.
//
//   list_hlo_modules         names, with sizes
//   get_hlo_module_content   a module's text, up to max_lines
//   get_hlo_text             the text of a module or of what is around an op
//   get_graph_viewer         the graph_viewer tool, the module found by part of its name
//
// A module is asked by its key ("jit_f(3)"), its name or the beginning of either, if only one
// begins so; without a name it is the first one, or for a neighbourhood the first that has the
// instruction. Cost: decoding one module and printing what is shown. Limits:
// kMaxNeighbourhoodNodes.
#pragma once

#include "src/hlo/module_set.h"
#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeListHloModulesTool();
ToolDescriptor MakeGetHloModuleContentTool();
ToolDescriptor MakeGetHloTextTool();
ToolDescriptor MakeGetGraphViewerTool();

// The module of a name or part of one. NO_MODULES, MODULE_UNKNOWN, MODULE_AMBIGUOUS.
Result<size_t> ResolveModule(const hlo::ModuleSet& set, std::string_view name);

}  // namespace strobe::tools
