// What is around an instruction of an HLO module.
//
//   get_hlo_neighborhood: instructions within `radius` steps of one, as text, markdown or a graph
//   of nodes and edges (fmt=json)
//
// Without a module's name the first module that has the instruction is taken. Cost: decoding
// modules until the name is found, then linear in what is shown. Limits: kMaxNeighbourhoodNodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/hlo/hlo_printer.h"
#include "src/hlo/module_set.h"
#include "src/tools/agent_common.h"

namespace strobe::tools {

inline constexpr int64_t kMaxNeighbourhoodNodes = 10'000;

ToolDescriptor MakeGetHloNeighborhoodTool();

// The options that say which neighbourhood, and the answer to them.
std::vector<OptionSpec> NeighbourhoodSpecs();
Result<ToolResult> NeighbourhoodAnswer(const AgentContext& context, const std::string& instruction,
                                       const std::string& format);

// XProf's short or long form of HLO text.
hlo::PrintOptions HloTextOptions(bool metadata);
// Whether the compiler cannot fuse past the instruction, and why; "": it can.
std::string_view FusionBlockerReason(const hlo::HloModule& module, uint32_t instruction);

}  // namespace strobe::tools
