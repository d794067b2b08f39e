// Tool `hlo_stats`: every HLO operation of the devices with its times, rates and what bounds it,
// heaviest first; operations of SparseCores below the one that started them.
//
//   const ToolDescriptor tool = MakeHloStatsTool();
//
// Cost: that of the op stats, and 1 us an op.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeHloStatsTool();

}  // namespace strobe::tools
