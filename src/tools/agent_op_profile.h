// The op profile for agents: where the device time goes, by category, flat or as a tree.
//
//   get_hlo_op_profile: grouped, category, summary, flat or tree view of op_profile
//
// Times are sums over all profiled steps and over the cores as op_profile combines them;
// `normalization` says over how many, and per_step_* fields divide by it. Custom calls take their
// operations from shapes where these tell. Cost: that of op_profile.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetHloOpProfileTool();

}  // namespace strobe::tools
