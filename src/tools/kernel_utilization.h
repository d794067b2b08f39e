// Utilization of each profiled kernel of a TPU host: how busy the matrix units were, with which
// kinds of numbers, and the other units in percent.
//
// A kernel is a counter sample (tpu_utilization.h). Percentages have two digits and end at 100, as
// XProf has them; what a unit without cycles did is left out. Exactly one host.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeKernelUtilizationTool();

}  // namespace strobe::tools
