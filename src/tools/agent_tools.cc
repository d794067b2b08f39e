#include "src/tools/agent_tools.h"

#include <set>
#include <string>

#include "src/tools/agent_boundness.h"
#include "src/tools/agent_counters.h"
#include "src/tools/agent_detect.h"
#include "src/tools/agent_diff.h"
#include "src/tools/agent_events.h"
#include "src/tools/agent_hlo_query.h"
#include "src/tools/agent_kernels.h"
#include "src/tools/agent_llo.h"
#include "src/tools/agent_llo_events.h"
#include "src/tools/agent_memory.h"
#include "src/tools/agent_modules.h"
#include "src/tools/agent_neighborhood.h"
#include "src/tools/agent_op_profile.h"
#include "src/tools/agent_overlap.h"
#include "src/tools/agent_overview.h"
#include "src/tools/agent_roofline.h"
#include "src/tools/agent_sql.h"
#include "src/tools/agent_steps.h"
#include "src/tools/agent_top_ops.h"

namespace strobe::tools {

void AddAgentTools(std::vector<ToolDescriptor>* tools) {
  tools->push_back(MakeGetOverviewTool());
  tools->push_back(MakeGetStepTraceTool());
  tools->push_back(MakeGetAvgStepTimeTool());
  tools->push_back(MakeGetKpiMetricsTool());
  tools->push_back(MakeGetDeviceInformationTool());
  tools->push_back(MakeGetHostsTool());
  tools->push_back(MakeGetProfileSummaryTool());
  tools->push_back(MakeGetUtilizationViewerTool());
  tools->push_back(MakeGetSmartSuggestionsTool());
  tools->push_back(MakeGetRooflineModelTool());
  tools->push_back(MakeGetHloOpProfileTool());
  tools->push_back(MakeGetTopHloOpsTool());
  tools->push_back(MakeGetHloStatsTool());
  tools->push_back(MakeGetKernelStatsTool());
  tools->push_back(MakeGetDeviceTimeAttributionTool());
  tools->push_back(MakeGetMemoryProfileTool());
  tools->push_back(MakeGetPeakAllocationsTool());
  tools->push_back(MakeListHloModulesTool());
  tools->push_back(MakeGetHloModuleContentTool());
  tools->push_back(MakeGetHloTextTool());
  tools->push_back(MakeGetHloNeighborhoodTool());
  tools->push_back(MakeGetGraphViewerTool());
  tools->push_back(MakeQueryHloGraphTool());
  tools->push_back(MakeGetLloAnalysisTool());
  tools->push_back(MakeGetLloDebugStringTool());
  tools->push_back(MakeGetLloStaticAnalysisTool());
  tools->push_back(MakeLloQueryTool());
  tools->push_back(MakeLloLoadTool());
  tools->push_back(MakeListXplaneEventsTool());
  tools->push_back(MakeAggregateXplaneEventsTool());
  tools->push_back(MakeInspectCaptureTool());
  tools->push_back(MakeQueryEventsDbTool());
  tools->push_back(MakeCreateEventsDbTool());
  tools->push_back(MakeAnalyzeAsyncOverlapTool());
  tools->push_back(MakeCheckHostBoundnessTool());
  tools->push_back(MakeGetPerfCountersTool());
  tools->push_back(MakeGetKernelUtilizationTool());
  tools->push_back(MakeDiffSessionsTool());
  tools->push_back(MakeDetectLayoutMismatchCopiesTool());
  tools->push_back(MakeDetectUnfusedReshapesTool());
  tools->push_back(MakeDetectUnfusedUpdatesTool());
  tools->push_back(MakeDetectUnnecessaryConvertReduceTool());
  tools->push_back(MakeDetectUnnecessaryConvertDynamicScaleTool());
}

bool IsAgentTool(std::string_view id) {
  static const std::set<std::string, std::less<>>* const known = [] {
    std::vector<ToolDescriptor> tools;
    AddAgentTools(&tools);
    auto* ids = new std::set<std::string, std::less<>>;
    for (const ToolDescriptor& tool : tools) ids->insert(tool.id);
    return ids;
  }();
  return known->contains(id);
}

}  // namespace strobe::tools
