#include "src/tools/input_pipeline_analyzer.h"

#include <memory>
#include <utility>

#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/step_tables.h"
#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

using analysis::OpStats;
using analysis::TpuStepDetails;

// One column a step, as XProf's page wants it.
Table MakeLongestInfeedTable(const InputPipelineAnalysis& analysis, const OpStats& stats) {
  Table table("longest_infeed_cores", "Cores that waited longest for input");
  if (!analysis.is_tpu) return table;
  table.AddColumn(TextColumn("index", "Index"));
  std::vector<Cell> numbers = {Cell("Step number")};
  std::vector<Cell> cores = {Cell("Core name")};
  for (size_t i = 0; i < analysis.tpu_steps.size(); ++i) {
    const TpuStepDetails& step = analysis.tpu_steps[i];
    table.AddColumn(TextColumn(std::to_string(i), std::to_string(i)));
    numbers.emplace_back(std::to_string(step.step_number));
    std::string name = "unknown";
    if (step.longest_infeed_core) {
      const auto core = stats.cores.find(*step.longest_infeed_core);
      if (core != stats.cores.end()) {
        name = core->second.hostname + ":" + std::to_string(core->second.device_ordinal);
      }
    }
    cores.emplace_back(std::move(name));
  }
  table.AddRow(std::move(numbers));
  table.AddRow(std::move(cores));
  return table;
}

Table MakeHostOpTable(const InputPipelineAnalysis& analysis) {
  Table table("input_ops", "Input operations of the host");
  table.AddColumn(TextColumn("opName", "Input Op"));
  table.AddColumn({.id = "count", .label = "Count", .unit = "count", .description = "Executions."});
  table.AddColumn({.id = "timeInMs",
                   .label = "Total Time (in ms)",
                   .unit = "ms",
                   .description = "Time of the operation with what it calls."});
  table.AddColumn({.id = "timeInPercent",
                   .label = "Total Time (as % of total input-processing time)",
                   .unit = "fraction",
                   .description = "Total time over the self time of all input operations."});
  table.AddColumn({.id = "selfTimeInMs",
                   .label = "Total Self Time (in ms)",
                   .unit = "ms",
                   .description = "Time of the operation without what it calls."});
  table.AddColumn({.id = "selfTimeInPercent",
                   .label = "Total Self Time (as % of total input-processing time)",
                   .unit = "fraction",
                   .description = "Self time over the self time of all input operations."});
  table.AddColumn(TextColumn("category", "Category"));
  const InputTime& time = analysis.input_time;
  table.SetProperty("enqueue_us", FixedDigits(time.enqueue_us, 3));
  table.SetProperty("demanded_file_read_us", FixedDigits(time.demanded_file_read_us, 3));
  table.SetProperty("advanced_file_read_us", FixedDigits(time.advanced_file_read_us, 3));
  table.SetProperty("preprocessing_us", FixedDigits(time.preprocessing_us, 3));
  table.SetProperty("unclassified_nonequeue_us", FixedDigits(time.unclassified_us, 3));
  for (const InputOp& op : analysis.input_ops) {
    RowSubject subject;
    subject.op_name = op.name;
    table.AddRow({Cell(op.name), Cell(op.count), Cell(op.time_ms), Cell(op.time_fraction),
                  Cell(op.self_time_ms), Cell(op.self_time_fraction),
                  Cell(InputOpCategoryName(op.category))},
                 std::move(subject));
  }
  return table;
}

Table MakeAdviceTable(const ToolQuestion& question) {
  Table table("advice", "Advice");
  table.AddColumn(TextColumn("link", "link"));
  for (std::string& advice : InputAdvice()) {
    table.AddRow({Cell(std::move(advice))});
  }
  return table;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const OpStats> stats,
                          input.CombinedOpStats(question.hosts, cancel));
  const std::span<const analysis::Step> steps = VisibleSteps(*stats, question);
  const InputPipelineAnalysis analysis = AnalyzeInputPipeline(*stats, steps);
  ToolResult result;
  result.shape = ToolResult::Shape::kTables;
  result.tables.push_back(MakeLongestInfeedTable(analysis, *stats));
  result.tables.push_back(MakeStepTable(analysis, question));
  result.tables.push_back(MakeHostOpTable(analysis));
  result.tables.push_back(MakeAdviceTable(question));
  DiagnosticTexts diagnostics;
  if (question.as_xprof) diagnostics.warnings = StepWarnings(stats->steps, steps.size());
  result.tables.push_back(MakeDiagnosticsTable(diagnostics));
  result.notices = StepNotices(*stats, question);
  AddHostNotices(*stats, &result);
  return result;
}

}  // namespace

ToolDescriptor MakeInputPipelineAnalyzerTool() {
  ToolDescriptor tool;
  tool.id = "input_pipeline_analyzer";
  tool.aliases = {"input_pipeline"};
  tool.title = "Input pipeline";
  tool.question = "Does the program wait for its input, and what makes the input slow?";
  tool.scope = HostScope::kSelection;
  tool.offers_all_hosts = true;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
