// What the compiler and the hardware recorded below HLO (LLO): whether a session has it at all.
//
//   get_llo_analysis, get_llo_debug_string, get_llo_static_analysis
//
// A capture carries LLO modules only when the program ran with the flags named in the answer; then
// the metadata plane knows the stat llo_proto. Without it the answer is UNAVAILABLE with reason
// LLO_DATA_ABSENT, XProf's own. With it get_llo_analysis names the modules and their sizes; what is
// inside them is not decoded here, and the answer says so (LLO_NOT_DECODED). Cost: metadata only.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetLloAnalysisTool();
ToolDescriptor MakeGetLloDebugStringTool();
ToolDescriptor MakeGetLloStaticAnalysisTool();

}  // namespace strobe::tools
