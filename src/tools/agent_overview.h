// The first questions an agent asks of a session: how it went, on what, on which hosts.
//
//   get_overview (get_xprof_overview)   key figures and environment, from overview_page
//   get_kpi_metrics                     the five figures of a headline
//   get_device_information              the hardware's ceilings, from roofline_model
//   get_hosts                           hosts, their files, planes and cores
//
// Answers are documents with XProf's fields and texts ("86.5%"); `performance_values` repeats them
// as numbers. Step times over several hosts are per-step maxima: per_host_step_time_ms has each
// host's own. Cost: that of overview_page and roofline_model.
#pragma once

#include <vector>

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeGetOverviewTool();
ToolDescriptor MakeGetKpiMetricsTool();
ToolDescriptor MakeGetDeviceInformationTool();
ToolDescriptor MakeGetHostsTool();

// The step times of each chosen host by itself, ms: for each step its slowest core. Empty when
// fewer than two hosts have steps.
struct HostStepTimes {
  std::string host;
  std::vector<double> step_ms;
};
Result<std::vector<HostStepTimes>> StepTimesByHost(const AgentContext& context);

}  // namespace strobe::tools
