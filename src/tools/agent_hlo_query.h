// Questions about the graph of one HLO module.
//
//   query_hlo_graph --mode=summary | opcode_stats | fusion_blockers | critical_path | call_tree |
//                          shortest_path | find
//
// Costs are XLA's own estimates (src/hlo/cost.h), not measurements; of the kernels alone, that is
// what does not lie inside a fusion, unless a computation is named. Any other mode finds
// instructions by opcode, computation, name or category. SQL, which XProf has as a mode, is not
// understood here. Cost: one walk over the module. Limits: kMaxListedRecords rows.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeQueryHloGraphTool();

}  // namespace strobe::tools
