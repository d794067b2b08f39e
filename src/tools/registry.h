// All tools there are.
//
//   for (const ToolDescriptor& tool : AllTools()) ...
//   const ToolDescriptor* tool = FindTool("trace_viewer@");   // ids and aliases; "^" at the end is
//   cut
//
// The order is that in which they are shown. To add a tool: write MakeXTool() in a pair of files of
// its own and name it in registry.cc; everything else is made from the entry.
#pragma once

#include <string_view>
#include <vector>

#include "src/tools/tool.h"

namespace strobe::tools {

const std::vector<ToolDescriptor>& AllTools();
const ToolDescriptor* FindTool(std::string_view id);  // nullptr: no such tool

}  // namespace strobe::tools
