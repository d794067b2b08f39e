// overview_page: the profile on one page. What limits the steps, how well the hardware is used, the
// heaviest operations, the machine, what to look at next.
//
//   const ToolDescriptor tool = MakeOverviewPageTool();
//
// Seven tables in XProf's order: analysis, steps, run environment, recommendation, latency of
// requests, an empty one, diagnostics.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeOverviewPageTool();

}  // namespace strobe::tools
