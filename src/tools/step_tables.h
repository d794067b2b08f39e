// Tables that several step tools show: the steps with their breakdown, the diagnostics.
//
//   Table steps = MakeStepTable(analysis, question);   // XProf's step-time graph
//
// Columns, order and properties are XProf's; units, descriptions and row subjects are ours.
#pragma once

#include <string>
#include <vector>

#include "src/analysis/op_stats.h"
#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/table.h"
#include "src/tools/tool.h"

namespace strobe::tools {

Table MakeStepTable(const InputPipelineAnalysis& analysis, const ToolQuestion& question);

struct DiagnosticTexts {
  std::vector<std::string> info;
  std::vector<std::string> warnings;
  std::vector<std::string> errors;
};
Table MakeDiagnosticsTable(const DiagnosticTexts& texts);

}  // namespace strobe::tools
