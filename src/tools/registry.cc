#include "src/tools/registry.h"

#include "src/tools/agent_tools.h"
#include "src/tools/framework_op_stats.h"
#include "src/tools/graph_viewer.h"
#include "src/tools/hlo_graph.h"
#include "src/tools/hlo_modules.h"
#include "src/tools/hlo_stats.h"
#include "src/tools/inference_profile.h"
#include "src/tools/input_pipeline_analyzer.h"
#include "src/tools/kernel_stats.h"
#include "src/tools/kernel_utilization.h"
#include "src/tools/megascale_stats.h"
#include "src/tools/memory_profile.h"
#include "src/tools/memory_viewer.h"
#include "src/tools/op_profile.h"
#include "src/tools/overview_page.h"
#include "src/tools/perf_counters.h"
#include "src/tools/pod_viewer.h"
#include "src/tools/roofline_model.h"
#include "src/tools/smart_suggestion.h"
#include "src/tools/trace_viewer.h"
#include "src/tools/utilization_viewer.h"

namespace strobe::tools {
namespace {

std::vector<ToolDescriptor> MakeAll() {
  std::vector<ToolDescriptor> tools;
  tools.push_back(MakeOverviewPageTool());
  tools.push_back(MakeStreamingTraceViewerTool());
  tools.push_back(MakeTraceViewerTool());
  tools.push_back(MakeOpProfileTool());
  tools.push_back(MakeInputPipelineAnalyzerTool());
  tools.push_back(MakeKernelStatsTool());
  tools.push_back(MakeRooflineModelTool());
  tools.push_back(MakeFrameworkOpStatsTool());
  tools.push_back(MakeHloStatsTool());
  tools.push_back(MakePodViewerTool());
  tools.push_back(MakeInferenceProfileTool());
  tools.push_back(MakeSmartSuggestionTool());
  tools.push_back(MakeGraphViewerTool());
  tools.push_back(MakeMemoryViewerTool());
  tools.push_back(MakeMemoryProfileTool());
  tools.push_back(MakePerfCountersTool());
  tools.push_back(MakeMegascaleStatsTool());
  tools.push_back(MakeKernelUtilizationTool());
  tools.push_back(MakeUtilizationViewerTool());
  tools.push_back(MakeHloGraphTool());
  tools.push_back(MakeHloModulesTool());
  AddAgentTools(&tools);
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
