// All tools that answer under the names of XProf's command line, for agents.
//
//   AddAgentTools(&tools);      // registry.cc, after those that they ask
//
// They are commands (src/cli/agent_command.h) and answer over our own API; no page lists them, for
// what they say the pages show better.
#pragma once

#include <string_view>
#include <vector>

#include "src/tools/tool.h"

namespace strobe::tools {

void AddAgentTools(std::vector<ToolDescriptor>* tools);
bool IsAgentTool(std::string_view id);

}  // namespace strobe::tools
