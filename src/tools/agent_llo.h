// The compiler's schedule of TPU kernels (LLO), where the profile carries it.
//
//   get_llo_analysis         opcodes, registers and units of every kernel
//   get_llo_debug_string     a kernel's regions and instructions as text
//   get_llo_static_analysis  list_ops, region_tree, opcodes, bundle_util of one kernel
//
// Everything is the compiler's plan: nothing of it was measured, and the answers say so. A profile
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
