// Steps for agents: how long each took and what it waited for.
//
//   get_step_trace      {summary{...}, step_breakdown[...]}
//   get_avg_step_time   mean length of the events on XLA Modules lines
//
// The breakdown comes from pod_viewer (averages over cores), else from the step table of
// input_pipeline_analyzer, else from the averages of the overview, as XProf's command line does it;
// `source` says which. Times in ms with 4 digits, percent with 2. Cost: that of those tools.
#pragma once

#include <optional>

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetStepTraceTool();
ToolDescriptor MakeGetAvgStepTimeTool();

}  // namespace strobe::tools
