#include "src/tools/step_tables.h"

#include <utility>

#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

using analysis::TpuStepDetails;

Column Tooltip() {
  Column column = TextColumn("tooltip", "tooltip");
  column.properties.emplace_back("role", "tooltip");
  return column;
}

RowSubject StepSubject(int64_t number) {
  RowSubject subject;
  subject.step = number;
  return subject;
}

void SetStepTime(const StepSummary& summary, int digits, Table* table) {
  table->SetProperty("steptime_ms_average", FixedDigits(summary.average, digits));
  table->SetProperty("steptime_ms_standard_deviation",
                     FixedDigits(summary.standard_deviation, digits));
  table->SetProperty("steptime_ms_minimum", FixedDigits(summary.minimum, digits));
  table->SetProperty("steptime_ms_maximum", FixedDigits(summary.maximum, digits));
}

template <typename Member>
std::vector<double> ValuesOf(const std::vector<TpuStepDetails>& steps, Member member) {
  std::vector<double> values;
  values.reserve(steps.size());
  for (const TpuStepDetails& step : steps) values.push_back(step.*member);
  return values;
}

void AddTpuColumns(bool has_sparse_core, Table* table) {
  table->AddColumn(TextColumn("stepnum", "stepnum"));
  table->AddColumn(NumberColumn("tcComputeTimeMs", "TensorCore compute (in ms)", "ms",
                                "The step less what its fastest core waited for the host."));
  if (!has_sparse_core) {
    table->AddColumn(NumberColumn("scv0ComputeTimeMs", "SparseCoreV0 compute (in ms)", "ms",
                                  "Longest wait of a TensorCore for SparseCoreV0."));
    table->AddColumn(NumberColumn("scv0InfeedTimeMs", "SparseCoreV0 input (in ms)", "ms",
                                  "The part of that wait that was input of SparseCoreV0."));
  }
  table->AddColumn(NumberColumn("tcInfeedTimeMs", "TensorCore input (in ms)", "ms",
                                "Infeed of the core that waited longest."));
  table->AddColumn(NumberColumn("tcOutfeedTimeMs", "TensorCore output (in ms)", "ms",
                                "Outfeed, mean over the cores."));
  table->AddColumn(
      NumberColumn("tcIdleTimeMs", "TensorCore idle (in ms)", "ms",
                   "Shortest core's step less compute, input and output; not below 0."));
  table->AddColumn(NumberColumn("hostTransferTimeMs", "Host transfer (in ms)", "ms",
                                "Host send and receive of the core with most of it."));
  table->AddColumn(Tooltip());
  table->AddColumn(NumberColumn("infeedPercentAverage", "% step time waiting for input data",
                                "percent", "Infeed over step time, mean over the cores."));
  Column least = NumberColumn("infeedPercentMin", "Infeed percent min", "percent",
                              "Infeed over step time of the core with least.");
  least.properties.emplace_back("role", "interval");
  table->AddColumn(std::move(least));
  Column most = NumberColumn("infeedPercentMax", "Infeed percent max", "percent",
                             "Infeed over step time of the core with most.");
  most.properties.emplace_back("role", "interval");
  table->AddColumn(std::move(most));
}

void SetTpuProperties(const InputPipelineAnalysis& analysis, Table* table) {
  const auto average = [&](double TpuStepDetails::* member) {
    return FixedDigits(Summarize(ValuesOf(analysis.tpu_steps, member)).average, 2);
  };
  table->SetProperty("hardware_type", analysis.hardware_type);
  SetStepTime(analysis.step_time_ms, 2, table);
  const StepSummary& input = analysis.input_percent;
  table->SetProperty("infeed_percent_average", FixedDigits(input.average, 1));
  table->SetProperty("infeed_percent_standard_deviation", FixedDigits(input.standard_deviation, 1));
  table->SetProperty("infeed_percent_minimum", FixedDigits(input.minimum, 1));
  table->SetProperty("infeed_percent_maximum", FixedDigits(input.maximum, 1));
  std::string graph = "stepnum,tcComputeTimeMs,";
  if (!analysis.has_sparse_core) graph += "scv0ComputeTimeMs,scv0InfeedTimeMs,";
  graph += "tcInfeedTimeMs,tcOutfeedTimeMs,tcIdleTimeMs,hostTransferTimeMs,tooltip";
  table->SetProperty("step_time_graph_column_ids", std::move(graph));
  if (!analysis.has_sparse_core) {
    table->SetProperty("scv0_compute_ms_average", average(&TpuStepDetails::scv0_compute_ms));
    table->SetProperty("scv0_infeed_ms_average", average(&TpuStepDetails::scv0_infeed_ms));
  }
  table->SetProperty("tc_compute_ms_average", average(&TpuStepDetails::tc_compute_ms));
  table->SetProperty("tc_infeed_ms_average", average(&TpuStepDetails::tc_infeed_ms));
  table->SetProperty("tc_outfeed_ms_average", average(&TpuStepDetails::tc_outfeed_ms));
  table->SetProperty("tc_idle_ms_average", average(&TpuStepDetails::tc_idle_ms));
  table->SetProperty("host_transfer_ms_average", average(&TpuStepDetails::host_transfer_ms));
  table->SetProperty("tc_active_ms_average", average(&TpuStepDetails::tc_busy_ms));
  table->SetProperty("active_steptime_ms_average", average(&TpuStepDetails::tc_busy_ms));
  const StepSummary sparse = Summarize(ValuesOf(analysis.tpu_steps, &TpuStepDetails::sc_step_ms));
  if (sparse.minimum > 0) {
    table->SetProperty("sc_compute_ms_average", average(&TpuStepDetails::sc_compute_ms));
    table->SetProperty("sc_infeed_ms_average", average(&TpuStepDetails::sc_infeed_ms));
    table->SetProperty("sc_outfeed_ms_average", average(&TpuStepDetails::sc_outfeed_ms));
    table->SetProperty("sc_idle_ms_average", average(&TpuStepDetails::sc_idle_ms));
    table->SetProperty("sc_step_time_ms_average", FixedDigits(sparse.average, 1));
  }
  table->SetProperty("input_conclusion", InputStatement(analysis.bottleneck));
  table->SetProperty("output_conclusion", OutputStatement(analysis.bottleneck));
  table->SetProperty("summary_nextstep", NextStep(analysis.bottleneck, analysis.input_time));
}

Table MakeTpuTable(const InputPipelineAnalysis& analysis) {
  Table table("steps", "Steps");
  AddTpuColumns(analysis.has_sparse_core, &table);
  SetTpuProperties(analysis, &table);
  for (const TpuStepDetails& step : analysis.tpu_steps) {
    const std::string number = std::to_string(step.step_number);
    std::vector<Cell> row = {Cell(number), Cell(step.tc_compute_ms)};
    if (!analysis.has_sparse_core) {
      row.emplace_back(step.scv0_compute_ms);
      row.emplace_back(step.scv0_infeed_ms);
    }
    row.emplace_back(step.tc_infeed_ms);
    row.emplace_back(step.tc_outfeed_ms);
    row.emplace_back(step.tc_idle_ms);
    row.emplace_back(step.host_transfer_ms);
    row.emplace_back(
        "step " + number + ":\nTime waiting for input data = " + FixedDigits(step.InfeedMs(), 3) +
        " ms, Step time = " + FixedDigits(step.StepMs() - step.AllReduceMs(), 3) + " ms");
    row.emplace_back(step.infeed_percent_average);
    row.emplace_back(step.infeed_percent_minimum);
    row.emplace_back(step.infeed_percent_maximum);
    table.AddRow(std::move(row), StepSubject(step.step_number));
  }
  return table;
}

void AddGenericColumns(Table* table) {
  table->AddColumn(TextColumn("stepnum", "Step number"));
  const auto add = [&](std::string_view id, std::string_view label, std::string_view what) {
    table->AddColumn(NumberColumn(id, label, "ms", what));
  };
  add("deviceComputeTimeMs", "Device compute", "Kernels of the device.");
  add("deviceToDeviceTimeMs", "Device to device", "Copies between devices, waits for another.");
  add("deviceCollectivesTimeMs", "Device collective communication", "NCCL and the like.");
  add("hostComputeTimeMs", "Host compute", "Work of host threads that is nothing else.");
  add("kernelLaunchTimeMs", "Kernel launch", "Host work that launches kernels.");
  add("infeedTimeMs", "Input", "Waiting for input, and sending it to the device.");
  add("outfeedTimeMs", "Output", "Copies from the device to the host.");
  add("compileTimeMs", "Compilation", "Compilation on the host.");
  add("otherTimeMs", "All others", "Time of the step in which nothing is recorded.");
  table->AddColumn(Tooltip());
  add("stepTimeMs", "Step time", "From the step's own marker.");
}

void SetGenericProperties(const InputPipelineAnalysis& analysis, bool as_xprof, Table* table) {
  table->SetProperty(
      "step_time_graph_column_ids",
      "stepnum,deviceComputeTimeMs,deviceToDeviceTimeMs,deviceCollectivesTimeMs,hostComputeTimeMs,"
      "kernelLaunchTimeMs,infeedTimeMs,outfeedTimeMs,compileTimeMs,otherTimeMs, tooltip");
  table->SetProperty("hardware_type", analysis.hardware_type);
  SetStepTime(analysis.step_time_ms, 1, table);
  const auto set = [&](const std::string& prefix, auto value) {
    std::vector<double> values;
    for (const GenericStep& step : analysis.generic_steps) values.push_back(value(step));
    const StepSummary summary = Summarize(values);
    table->SetProperty(prefix + "_time_ms_avg", FixedDigits(summary.average, 1));
    const bool undefined = summary.undefined_deviation() && as_xprof;
    table->SetProperty(prefix + "_time_ms_sdv",
                       undefined ? "-nan" : FixedDigits(summary.standard_deviation, 1));
  };
  set("device_compute", [](const GenericStep& step) { return step.device_compute_ms; });
  set("device_to_device", [](const GenericStep& step) { return step.device_to_device_ms; });
  set("device_collectives", [](const GenericStep& step) { return step.device_collectives_ms; });
  set("infeed", [](const GenericStep& step) { return step.InputMs(); });
  set("outfeed", [](const GenericStep& step) { return step.output_ms; });
  set("host_compute", [](const GenericStep& step) { return step.host_compute_ms; });
  set("kernel_launch", [](const GenericStep& step) { return step.host_prepare_ms; });
  set("compile", [](const GenericStep& step) { return step.host_compile_ms; });
  set("other", [](const GenericStep& step) { return step.unknown_ms; });
  const Bottleneck& bottleneck = analysis.bottleneck;
  const std::string collectives = CollectivesStatement(bottleneck);
  const std::string launch = KernelLaunchStatement(bottleneck);
  const std::string other = AllOtherStatement(bottleneck);
  table->SetProperty("input_conclusion", InputStatement(bottleneck));
  table->SetProperty("device_collectives_bottleneck", collectives);
  table->SetProperty("device_collectives_statement", collectives);
  table->SetProperty("kernel_launch_bottleneck", launch);
  table->SetProperty("kernel_launch_statement", launch);
  table->SetProperty("all_other_bottleneck", other);
  table->SetProperty("all_other_statement", other);
  table->SetProperty("summary_nextstep", NextStep(bottleneck, analysis.input_time));
}

std::string GenericTooltip(const GenericStep& step) {
  std::string text = "Step " + step.name + ", duration: " + FixedDigits(step.step_ms, 2) + " ms";
  const auto add = [&](std::string_view label, double value_ms) {
    text += "\n-";
    text += label;
    text += ": " + FixedDigits(value_ms, 2) + " ms";
  };
  add("All others", step.unknown_ms);
  add("Compilation", step.host_compile_ms);
  add("Output", step.output_ms);
  add("Input", step.InputMs());
  add("Kernel launch", step.host_prepare_ms);
  add("Host compute", step.host_compute_ms);
  add("Device collectives", step.device_collectives_ms);
  add("Device to device", step.device_to_device_ms);
  add("Device compute", step.device_compute_ms);
  return text;
}

Table MakeGenericTable(const InputPipelineAnalysis& analysis, bool as_xprof) {
  Table table("steps", "Steps");
  AddGenericColumns(&table);
  SetGenericProperties(analysis, as_xprof, &table);
  for (const GenericStep& step : analysis.generic_steps) {
    table.AddRow(
        {Cell(step.name), Cell(step.device_compute_ms), Cell(step.device_to_device_ms),
         Cell(step.device_collectives_ms), Cell(step.host_compute_ms), Cell(step.host_prepare_ms),
         Cell(step.InputMs()), Cell(step.output_ms), Cell(step.host_compile_ms),
         Cell(step.unknown_ms), Cell(GenericTooltip(step)), Cell(step.step_ms)},
        StepSubject(step.number));
  }
  return table;
}

}  // namespace

Table MakeStepTable(const InputPipelineAnalysis& analysis, const ToolQuestion& question) {
  return analysis.is_tpu ? MakeTpuTable(analysis) : MakeGenericTable(analysis, question.as_xprof);
}

Table MakeDiagnosticsTable(const DiagnosticTexts& texts) {
  Table table("diagnostics", "Diagnostics");
  table.AddColumn(TextColumn("severity", "Severity"));
  table.AddColumn(TextColumn("message", "Message"));
  for (const std::string& text : texts.info) table.AddRow({Cell("INFO"), Cell(text)});
  for (const std::string& text : texts.warnings) table.AddRow({Cell("WARNING"), Cell(text)});
  for (const std::string& text : texts.errors) table.AddRow({Cell("ERROR"), Cell(text)});
  return table;
}

}  // namespace strobe::tools
