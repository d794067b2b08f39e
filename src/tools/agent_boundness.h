// Verdicts for agents.
//
//   check_host_boundness    whether the devices wait for the host
//   get_smart_suggestions   what the rules of smart_suggestion say, as plain text
//
// HOST_BOUND when more than 10% of step time is idle while matrix units idle over 70% and HBM and
// ICI are used under 30%; thresholds are XProf's and stand in the answer. Where no counters were
// recorded XProf takes the units as busy and so never says HOST_BOUND; ours then judges by idle
// time alone and says so. Cost: that of overview_page, op_profile and utilization_viewer.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeCheckHostBoundnessTool();
ToolDescriptor MakeGetSmartSuggestionsTool();

// The text between tags, entities resolved.
std::string WithoutTags(std::string_view html);

}  // namespace strobe::tools
