#include "src/tools/overview_page.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "src/tools/host_input.h"
#include "src/tools/inference_stats.h"
#include "src/tools/input_pipeline_analysis.h"
#include "src/tools/op_tool_input.h"
#include "src/tools/overview_analysis.h"
#include "src/tools/step_tables.h"
#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

using analysis::HardwareType;
using analysis::OpStats;
using analysis::TpuStepDetails;

// Six significant digits, as XProf prints large numbers.
std::string General(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

void SetTpuSteps(const InputPipelineAnalysis& steps, const ToolQuestion& question, Table* table) {
  if (steps.tpu_steps.empty()) return;
  const auto average = [&](double TpuStepDetails::* member) {
    std::vector<double> values;
    for (const TpuStepDetails& step : steps.tpu_steps) values.push_back(step.*member);
    return Summarize(values).average;
  };
  const std::string active = FixedDigits(average(&TpuStepDetails::tc_busy_ms), 2);
  table->SetProperty("active_steptime_ms_average", active);
  table->SetProperty("tc_active_ms_average", active);
  const double sparse_ms = average(&TpuStepDetails::sc_step_ms);
  if (question.as_xprof || sparse_ms <= 0) return;
  table->SetProperty("sc_steptime_average", FixedDigits(sparse_ms, 1));
  table->SetProperty("sc_idle_time_avg", FixedDigits(average(&TpuStepDetails::sc_idle_ms), 1));
}

void SetDeviceProperties(const OverviewAnalysis& analysis, const ToolQuestion& question,
                         Table* table) {
  // XProf's open build does not know the limits and prints 0.
  const HardwareUse use = question.as_xprof ? HardwareUse() : analysis.use.value_or(HardwareUse());
  const bool known = question.as_xprof || analysis.use.has_value();
  table->SetProperty("flop_rate_utilization_relative_to_roofline",
                     Percent(known ? use.roofline_percent : -1));
  table->SetProperty("memory_bw_utilization_relative_to_hw_limit",
                     Percent(known ? use.hbm_percent : -1));
  if (!question.as_xprof && known) {
    table->SetProperty("program_goodput_percent", Percent(use.goodput_percent));
  }
  table->SetProperty("device_idle_time_percent", Percent(analysis.device_idle_percent));
  table->SetProperty("device_duty_cycle_percent", Percent(analysis.device_duty_cycle_percent));
  table->SetProperty("device_duty_cycle_high_confidence_percent",
                     Percent(analysis.device_duty_cycle_high_confidence_percent));
  if (analysis.idle_high_confidence_ps > 0) {
    table->SetProperty("idle_time_high_confidence_ps",
                       General(static_cast<double>(analysis.idle_high_confidence_ps)));
  }
  table->SetProperty("host_idle_time_percent", Percent(analysis.host_idle_percent));
}

void SetCommonProperties(const OpStats& stats, const OverviewAnalysis& analysis,
                         const ToolQuestion& question, Table* table) {
  // A counter that was not recorded: 0 as XProf prints it, unknown as it is.
  const double none = question.as_xprof ? 0 : -1;
  table->SetProperty("host_trace_level", std::to_string(stats.run.host_trace_level));
  table->SetProperty("host_tf_op_percent", Percent(analysis.host_op_percent));
  table->SetProperty("device_tf_op_percent", Percent(analysis.device_op_percent));
  table->SetProperty("host_op_time_eager_percent", Percent(analysis.host_eager_percent));
  table->SetProperty("device_op_time_eager_percent", Percent(analysis.device_eager_percent));
  table->SetProperty("remark_text", "");
  table->SetProperty("remark_color", "");
  table->SetProperty("mxu_utilization_percent",
                     Percent(stats.counters.matrix_unit_utilization_percent.value_or(none)));
  table->SetProperty("hbm_utilization_percent",
                     Percent(stats.counters.hbm_utilization_percent.value_or(none)));
}

void AddTopOpColumns(bool is_gpu, Table* table) {
  table->AddColumn({.id = "selfTimePercent",
                    .label = "Time (%)",
                    .unit = "fraction",
                    .description = "Self time over the time of all ops."});
  table->AddColumn({.id = "cumulativeTimePercent",
                    .label = "Cumulative time (%)",
                    .unit = "fraction",
                    .description = "That of this and the rows above."});
  table->AddColumn(TextColumn("category", "Category"));
  table->AddColumn(TextColumn("operation", "Operation"));
  table->AddColumn({.id = "flopRate",
                    .label = is_gpu ? "GFLOPs/Sec" : "Bf16 Normalized Flop Rate(GFLOPs/Sec)",
                    .unit = "GFLOP/s",
                    .description = "Floating point operations over total time."});
  if (!is_gpu) return;
  table->AddColumn({.id = "tcEligibility",
                    .label = "TensorCore eligibility",
                    .type = ColumnType::kBoolean,
                    .description = "The op could run on matrix units."});
  table->AddColumn({.id = "tcUtilization",
                    .label = "Op is using TensorCore",
                    .type = ColumnType::kBoolean,
                    .description = "A kernel of the op does."});
}

Table MakeAnalysisTable(const OpStats& stats, const OverviewAnalysis& analysis,
                        const InputPipelineAnalysis& steps, const ToolQuestion& question) {
  Table table("analysis", "Performance summary");
  const bool is_gpu = HardwareOfDevice(stats.run.device_type) == HardwareType::kGpu;
  SetCommonProperties(stats, analysis, question, &table);
  if (is_gpu) {
    table.SetProperty("device_compute_16bit_percent", Percent(analysis.compute_16bit_percent));
    table.SetProperty("device_compute_32bit_percent", Percent(analysis.compute_32bit_percent));
  } else {
    SetDeviceProperties(analysis, question, &table);
    SetTpuSteps(steps, question, &table);
  }
  AddTopOpColumns(is_gpu, &table);
  for (const TopOp& op : analysis.top_ops) {
    std::vector<Cell> row = {Cell(op.self_time_fraction), Cell(op.cumulative_fraction),
                             Cell(op.category), Cell(op.name), Cell(op.flop_rate_gflops)};
    if (is_gpu) {
      row.emplace_back(op.tensor_core_eligible);
      row.emplace_back(op.uses_tensor_core);
    }
    RowSubject subject;
    subject.framework_op = op.name;
    subject.side = RowSubject::Side::kDevice;
    table.AddRow(std::move(row), std::move(subject));
  }
  return table;
}

Table MakeRunTable(const OpStats& stats, const ToolQuestion& question) {
  const analysis::RunEnvironment& run = stats.run;
  Table table("run_environment", "Run environment");
  for (const std::string_view id : {"host_id", "command_line", "start_time", "bns_address"}) {
    table.AddColumn(TextColumn(id, id));
  }
  table.SetProperty("host_count", std::to_string(run.host_count));
  std::string tasks = std::to_string(run.task_count);
  if (run.task_count > 0 && run.host_count > 0) {
    tasks += " (num tasks per host = " + std::to_string(run.task_count / run.host_count) + ")";
  }
  table.SetProperty("task_count", std::move(tasks));
  table.SetProperty("device_type", run.device_type);
  std::string cores = std::to_string(run.device_core_count);
  if (run.replica_count > 0 && run.num_cores_per_replica > 0) {
    cores += " (Replica count = " + std::to_string(run.replica_count) +
             ", num cores per replica = " + std::to_string(run.num_cores_per_replica) + ")";
  }
  table.SetProperty("device_core_count", std::move(cores));
  table.SetProperty("is_training", run.is_training ? "true" : "false");
  if (question.as_xprof) return table;  // it knows no host in the open build
  for (const std::string& host : run.hostnames) {
    RowSubject subject;
    subject.host = host;
    table.AddRow({Cell(host), Cell(), Cell(), Cell()}, std::move(subject));
  }
  return table;
}

// What XProf's generic judgement makes of these steps: it cannot read those of a TPU.
struct Recommendation {
  std::string bottleneck;
  std::string statement;
  std::string collectives, collectives_statement;
  std::string launch, launch_statement;
  std::string other, other_statement;
  std::string idle_statement, all_reduce_statement;  // ours, TPU
};

Recommendation Recommend(const InputPipelineAnalysis& steps, const ToolQuestion& question) {
  Recommendation made;
  if (question.as_xprof && !steps.tpu_steps.empty()) return made;
  const Bottleneck& bottleneck = steps.bottleneck;
  made.bottleneck = VerdictWord(bottleneck.input);
  made.statement = InputStatement(bottleneck);
  made.collectives = LevelWord(bottleneck.collectives);
  made.collectives_statement = CollectivesStatement(bottleneck);
  made.launch = LevelWord(bottleneck.kernel_launch);
  made.launch_statement = KernelLaunchStatement(bottleneck);
  made.other = LevelWord(bottleneck.all_other);
  made.other_statement = AllOtherStatement(bottleneck);
  made.idle_statement = IdleStatement(bottleneck);
  made.all_reduce_statement = AllReduceStatement(bottleneck);
  return made;
}

struct Tip {
  std::string type, link, description;
};

std::vector<Tip> TipsFor(HardwareType hardware) {
  return {{"host", "input_pipeline_analyzer", "What the host does to bring input."},
          {"host", "trace_viewer", "What the host's threads do while the device waits."},
          {"device", hardware == HardwareType::kGpu ? "kernel_stats" : "hlo_stats",
           "Which operations take the device's time."},
          {"device", "roofline_model", "What limits each operation: compute or memory."}};
}

Table MakeRecommendationTable(const OpStats& stats, const InputPipelineAnalysis& steps,
                              const ToolQuestion& question) {
  Table table("recommendation", "Recommendation");
  for (const std::string_view id : {"tip_type", "link", "description"}) {
    table.AddColumn(TextColumn(id, id));
  }
  const Recommendation made = Recommend(steps, question);
  table.SetProperty("bottleneck", made.bottleneck);
  table.SetProperty("statement", made.statement);
  table.SetProperty("kernel_launch_bottleneck", made.launch);
  table.SetProperty("kernel_launch_statement", made.launch_statement);
  table.SetProperty("all_other_bottleneck", made.other);
  table.SetProperty("all_other_statement", made.other_statement);
  table.SetProperty("precision_statement", PrecisionStatement(stats.device_ops.precision));
  table.SetProperty("device_collectives_bottleneck", made.collectives);
  table.SetProperty("device_collectives_statement", made.collectives_statement);
  std::string_view others;  // tips that do not help with this bottleneck
  if (made.bottleneck == "host") others = "device";
  if (made.bottleneck == "device") others = "host";
  table.SetProperty("non_bottleneck_tip_types", std::string(others));
  if (!question.as_xprof) {
    table.SetProperty("idle_statement", made.idle_statement);
    table.SetProperty("all_reduce_statement", made.all_reduce_statement);
  }
  const HardwareType hardware = HardwareOfDevice(stats.run.device_type);
  for (const Tip& tip : TipsFor(hardware)) {
    table.AddRow({Cell(tip.type), Cell(tip.link), Cell(tip.description)});
  }
  return table;
}

Table MakeLatencyTable(const InferenceStats& stats) {
  Table table("latency", "Latency of requests");
  table.AddColumn(TextColumn("percentile", "percentile"));
  const auto add = [&](std::string_view id, std::string_view label, std::string_view what) {
    table.AddColumn({.id = std::string(id),
                     .label = std::string(label),
                     .unit = "ms",
                     .description = std::string(what)});
  };
  add("hostTimeMs", "Host time (in ms)", "Latency less device and communication.");
  add("deviceTimeMs", "Device time (in ms)", "Runs of XLA modules.");
  add("communicationTimeMs", "Host-device communication time (in ms)", "Reads and writes.");
  add("totalTimeMs", "Total latency (in ms)", "First to last host event of the request.");
  for (const LatencyRow& row : LatencyRows(stats)) {
    table.AddRow({Cell(row.label), Cell(row.host_ms), Cell(row.device_ms),
                  Cell(row.communication_ms), Cell(row.total_ms)});
  }
  return table;
}

Table MakeOverviewDiagnostics(const OpStats& stats, const ToolQuestion& question) {
  DiagnosticTexts texts;
  texts.errors = stats.diagnostics.errors;
  std::ranges::sort(texts.errors);
  const bool no_trace = stats.run.device_type != "CPU" && stats.run.device_core_count == 0;
  if (texts.errors.empty() && no_trace && question.as_xprof) {
    texts.errors.emplace_back(kNoDeviceTrace);
  }
  texts.warnings = stats.diagnostics.warnings;
  if (question.as_xprof) {
    for (std::string& text : StepWarnings(stats.steps, VisibleSteps(stats, question).size())) {
      texts.warnings.push_back(std::move(text));
    }
  }
  return MakeDiagnosticsTable(texts);
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const OpToolInput ops,
                          ReadOpToolInput(question, input, OpToolNeeds::kStepsToo, cancel));
  const OpStats& stats = *ops.stats;
  STROBE_ASSIGN_OR_RETURN(
      const InputPipelineAnalysis steps,
      AnalyzeSteps(question, input, stats, VisibleSteps(stats, question), cancel));
  InferenceStats inference;
  if (!stats.run.is_training) {
    std::vector<size_t> readable;
    for (const size_t host : question.hosts) {
      if (input.hosts()[host].file != nullptr) readable.push_back(host);
    }
    STROBE_ASSIGN_OR_RETURN(inference, MakeInferenceStats(input, readable, cancel));
  }
  ToolResult result;
  result.shape = ToolResult::Shape::kTables;
  result.tables.push_back(
      MakeAnalysisTable(stats, AnalyzeOverview(stats, ops.device_ops()), steps, question));
  result.tables.push_back(MakeStepTable(steps, question));
  result.tables.push_back(MakeRunTable(stats, question));
  result.tables.push_back(MakeRecommendationTable(stats, steps, question));
  result.tables.push_back(MakeLatencyTable(inference));
  result.tables.emplace_back();
  result.tables.push_back(MakeOverviewDiagnostics(stats, question));
  result.partial = ops.partial;
  result.notices = ops.notices;
  for (Notice& notice : StepNotices(stats, question)) result.notices.push_back(std::move(notice));
  return result;
}

}  // namespace

ToolDescriptor MakeOverviewPageTool() {
  ToolDescriptor tool;
  tool.id = "overview_page";
  tool.version = 2;
  tool.title = "Overview";
  tool.question = "How well does the program use the machine, and what should be looked at first?";
  tool.scope = HostScope::kAllHosts;
  tool.offers_all_hosts = true;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
