// input_pipeline_analyzer: does the program wait for its input, in which steps, and what of the
// host's work makes the input slow.
//
//   const ToolDescriptor tool = MakeInputPipelineAnalyzerTool();
//
// Tables, in XProf's order: the core that waited longest in each step (TPU), the steps, the input
// operations of the host, advice, diagnostics.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeInputPipelineAnalyzerTool();

}  // namespace strobe::tools
