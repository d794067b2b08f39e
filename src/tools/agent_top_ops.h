// The heaviest ops for agents.
//
//   get_top_hlo_ops       ops of op_profile by time, by operations and by bytes
//   get_hlo_stats         rows of hlo_stats, sorted and filtered
//   get_profile_summary   the ten heaviest nodes of op_profile, also as a markdown table
//
// Ops carry module id and instruction name as fields of their own, so that nobody has to take paths
// apart. Cost: that of op_profile or hlo_stats.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetTopHloOpsTool();
ToolDescriptor MakeGetHloStatsTool();
ToolDescriptor MakeGetProfileSummaryTool();

}  // namespace strobe::tools
