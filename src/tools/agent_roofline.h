// The roofline for agents: what bounds the program and its heaviest ops, in plain numbers.
//
//   get_roofline_model: {program{...}, device_info{...}, top_operations[...], ...}
//
// Read from the roofline_model tool; custom calls, to which XLA gives no operations, get them from
// their shapes where these tell (agent_custom_call.h), and are called opaque where not. The program
// row is then worked out anew with those operations. Cost: that of roofline_model and op_profile.
#pragma once

#include <string>

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetRooflineModelTool();

// The table's properties as numbers, with units; bandwidths say theirs in the name.
Value DeviceInformation(const Table& roofline);
// Percent of device self time in custom calls, 2 digits, at most 100.
double CustomCallSharePercent(const Table& roofline);
std::string CustomCallWarning(double share_percent);

}  // namespace strobe::tools
