// The compiler's schedule of TPU kernels (LLO), where the profile carries it.
//
//   get_llo_analysis         opcodes, registers and units of every kernel
//   get_llo_debug_string     a kernel's regions and instructions as text
//   get_llo_static_analysis  one kernel: regions, bundles, opcodes, registers, spills, stalls,
//                            target, source lines (llo_static.h)
//
// Modules come from the profile (stat `llo_proto`) and from the files *.llo_module.pb of a dump.
// Everything is the compiler's plan: nothing of it was measured, and the answers say so. A session
// without LLO answers UNAVAILABLE with the capture options that record it. Cost and limits:
// llo_module.h; kMaxLloTextBytes.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

inline constexpr size_t kMaxLloTextBytes = 4 * 1024 * 1024;

ToolDescriptor MakeGetLloAnalysisTool();
ToolDescriptor MakeGetLloDebugStringTool();
ToolDescriptor MakeGetLloStaticAnalysisTool();

}  // namespace strobe::tools
