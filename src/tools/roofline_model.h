// Tool `roofline_model`: how close the program and its heaviest operations come to what the device
// can do, for the whole profile, the mean step and each step; with and without infeed and outfeed.
//
//   const ToolDescriptor tool = MakeRooflineModelTool();
//
// Two tables: the rows, and notes on the steps. At most 1,000 operations; steps have a row for the
// program only. Nothing for hosts without an accelerator. Cost: that of the op stats, 1 us a row.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeRooflineModelTool();

}  // namespace strobe::tools
