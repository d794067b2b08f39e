#include "src/tools/registry.h"

namespace strobe::tools {
namespace {

std::vector<ToolDescriptor> MakeAll() {
  std::vector<ToolDescriptor> tools;
  return tools;
}

}  // namespace

const std::vector<ToolDescriptor>& AllTools() {
  static const std::vector<ToolDescriptor> tools = MakeAll();
  return tools;
}

const ToolDescriptor* FindTool(std::string_view id) {
  if (id.ends_with('^')) id.remove_suffix(1);
  for (const ToolDescriptor& tool : AllTools()) {
    if (tool.id == id) return &tool;
    for (const std::string& alias : tool.aliases) {
      if (alias == id) return &tool;
    }
  }
  return nullptr;
}

}  // namespace strobe::tools
