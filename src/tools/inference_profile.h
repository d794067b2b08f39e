// inference_profile: latency and throughput of the requests that the program served, by model.
//
//   const ToolDescriptor tool = MakeInferenceProfileTool();
//
// Tables: the models; then for each model its requests (a sample by percentile of `request_column`,
// averages by batch size, the average) and, with batching, its batches.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeInferenceProfileTool();

}  // namespace strobe::tools
