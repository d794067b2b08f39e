#include "src/tools/input_pipeline_analyzer.h"

#include <memory>
#include <utility>

#include "src/tools/host_input.h"
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
    subject.side = RowSubject::Side::kHost;
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

Table MakeHostInputTable(const HostInput& waiting) {
  Table table("host_input", "Input on the host, by step");
  table.AddColumn(NumberColumn("step", "Step", "", "As the program numbers it."));
  table.AddColumn(NumberColumn("stepTimeMs", "Step time", "ms", "Of the host's own annotation."));
  table.AddColumn(NumberColumn("inputMs", "In input functions", "ms",
                               "Time of the step's thread inside functions that bring input."));
  table.AddColumn(NumberColumn("waitedMs", "Devices waited", "ms",
                               "The part of it in which no device worked."));
  table.AddColumn(NumberColumn("waitedPercent", "Devices waited, of the step", "percent",
                               "That part over the step time."));
  for (const HostInputStep& step : waiting.steps) {
    constexpr double kPicosPerMilli = 1e9;
    RowSubject subject;
    subject.step = step.number;
    table.AddRow({Cell(static_cast<double>(step.number)),
                  Cell(static_cast<double>(step.duration_ps) / kPicosPerMilli),
                  Cell(static_cast<double>(step.input_ps) / kPicosPerMilli),
                  Cell(static_cast<double>(step.waited_ps) / kPicosPerMilli),
                  Cell(100.0 * analysis::SafeDivide(static_cast<double>(step.waited_ps),
                                                    static_cast<double>(step.duration_ps)))},
                 std::move(subject));
  }
  return table;
}

Table MakeInputFunctionTable(const HostInput& waiting) {
  Table table("host_input_functions", "Functions that brought input");
  table.AddColumn(TextColumn("name", "Function"));
  table.AddColumn(NumberColumn("count", "Calls", "count", "Inside steps."));
  table.AddColumn(NumberColumn("totalMs", "Total time", "ms",
                               "Of all calls; calls inside others "
                               "count in both."));
  for (const HostInputEvents& events : waiting.events) {
    RowSubject subject;
    subject.op_name = events.name;
    subject.side = RowSubject::Side::kHost;
    table.AddRow(
        {Cell(events.name), Cell(events.count), Cell(static_cast<double>(events.total_ps) / 1e9)},
        std::move(subject));
  }
  return table;
}

// What the host did for input, or what would make it known.
void AddHostInputTables(const HostInput& waiting, ToolResult* result) {
  if (waiting.any()) {
    result->tables.push_back(MakeHostInputTable(waiting));
    result->tables.push_back(MakeInputFunctionTable(waiting));
    return;
  }
  result->notices.push_back(
      {Notice::Severity::kInfo, "NO_INPUT_EVENTS",
       "Nothing that the steps' threads did is called like an input function, so that time spent "
       "on input on the host cannot be told from other time.",
       "Put jax.profiler.TraceAnnotation(\"load_batch\") around it, or name it with input_events, "
       "a regular expression."});
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const OpStats> stats,
                          input.CombinedOpStats(question.hosts, cancel));
  const std::span<const analysis::Step> steps = VisibleSteps(*stats, question);
  HostInput waiting;
  STROBE_ASSIGN_OR_RETURN(const InputPipelineAnalysis analysis,
                          AnalyzeSteps(question, input, *stats, steps, cancel,
                                       question.options.Text("input_events"), &waiting));
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
  if (!question.as_xprof && !waiting.steps.empty()) AddHostInputTables(waiting, &result);
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
  tool.version = 2;
  tool.options = {{.name = "input_events",
                   .description = "Regular expression for names of host events that bring input; "
                                  "none: load_batch, next_batch, tokenize and the like."}};
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
