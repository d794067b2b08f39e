// Tool `op_profile`: the time of the devices as a tree, by program, by category or by provenance,
// with and without idle time; fusions carry the instructions inside.
//
//   const ToolDescriptor tool = MakeOpProfileTool();
//
// The document has the fields of XProf's op_profile.Profile. Of each category at most 100 children
// are kept; `numChildren` says how many there are. Cost: that of the op stats, 2 us a node.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeOpProfileTool();

}  // namespace strobe::tools
