// Tool `framework_op_stats`: operations as the model's framework names them, on devices and on the
// host, with and without idle time; at most 500 of each.
//
//   const ToolDescriptor tool = MakeFrameworkOpStatsTool();
//
// Cost: that of the op stats, and 1 us an op.
#pragma once

#include "src/analysis/op_metrics.h"
#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeFrameworkOpStatsTool();

// Device ops by framework op; IDLE is one of them.
analysis::OpMetricsDb GroupByFrameworkOp(const analysis::OpMetricsDb& device);

}  // namespace strobe::tools
