// Tool `kernel_stats`: the kernels of the GPUs by total time, at most OpStats::kMaxKernels.
//
//   const ToolDescriptor tool = MakeKernelStatsTool();
//
// Cost: that of the op stats, which are shared with other tools.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeKernelStatsTool();

}  // namespace strobe::tools
