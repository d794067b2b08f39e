#include "src/tools/agent_steps.h"

#include <algorithm>
#include <array>
#include <map>

#include "src/base/text.h"

namespace strobe::tools {
namespace {

struct StepParts {
  std::string step;  // as the source says it, a number mostly
  double step_ms = 0;
  double compute_ms = 0;
  double communication_ms = 0;
  double infeed_ms = 0;
  double outfeed_ms = 0;
  double idle_ms = 0;
  double infeed_percent = 0;
  std::string bottleneck;
  struct Communication {
    double all_reduce_ms = 0;
    double send_ms = 0;
    double recv_ms = 0;
  };
  std::optional<Communication> communication;

  double PercentOf(double part_ms) const {
    return step_ms > 0 ? RoundTo(part_ms / step_ms * 100, 2) : 0;
  }
  double known_ms() const { return compute_ms + communication_ms + infeed_ms + outfeed_ms; }
};

struct StepTrace {
  std::string source;
  std::vector<StepParts> steps;
};

// A step number as a number, another name as a text.
Value StepNumber(const std::string& text) {
  double number = 0;
  if (text.empty()) return Value::Null();
  return ParseNumberText(text, &number) ? Value::Int64(static_cast<int64_t>(number))
                                        : Value::String(text);
}

bool StepWanted(const AgentContext& context, const std::string& step) {
  const std::string& wanted = context.options().Text("step_num");
  return wanted.empty() || wanted == step;
}

// ---- pod_viewer: podStatsSequence.podStatsMap[].podStatsPerCore{core: record} ----

// Names of what a core waited for, as pod_viewer has them, in an agent's five classes.
std::string BottleneckClass(const std::string& name) {
  if (name == "Device compute") return "Compute";
  if (name == "Device collective communication" || name == "Device to device") {
    return "Communication";
  }
  if (name == "Input") return "Input / Infeed";
  if (name == "Output") return "Output / Outfeed";
  if (name == "All others" || name == "Host compute" || name == "Kernel launch" ||
      name == "Compilation") {
    return "Idle / Other";
  }
  return name;
}

double MeanMs(const std::vector<const Value*>& cores, std::string_view field) {
  double sum_us = 0;
  for (const Value* core : cores) sum_us += NumberIn(*core, field);
  return RoundTo(sum_us / static_cast<double>(cores.size()) / 1000.0, 4);
}

double MeanBreakdownMs(const std::vector<const Value*>& cores, std::string_view event_type) {
  double sum_us = 0;
  for (const Value* core : cores) {
    if (const Value* parts = ObjectIn(*core, "stepBreakdownUs")) {
      sum_us += NumberIn(*parts, event_type);
    }
  }
  return RoundTo(sum_us / static_cast<double>(cores.size()) / 1000.0, 4);
}

// What most say; of equally many what came first.
std::string MostFrequent(const std::vector<std::string>& names) {
  std::string best;
  std::ptrdiff_t most = 0;
  for (const std::string& name : names) {
    const std::ptrdiff_t count = std::ranges::count(names, name);
    if (count > most) {
      most = count;
      best = name;
    }
  }
  return best;
}

std::string LargestPart(const StepParts& step) {
  const double compute = step.PercentOf(step.compute_ms);
  const double communication = step.PercentOf(step.communication_ms);
  const double infeed = step.PercentOf(step.infeed_ms);
  const double outfeed = step.PercentOf(step.outfeed_ms);
  if (communication > compute && communication > infeed && communication > outfeed) {
    return "Communication";
  }
  if (infeed > compute && infeed > outfeed) return "Input / Infeed";
  return outfeed > compute ? "Output / Outfeed" : "Compute";
}

bool PodStep(const std::vector<const Value*>& cores, StepParts* step) {
  step->step_ms = MeanMs(cores, "totalDurationUs");
  StepParts::Communication communication;
  step->compute_ms = MeanBreakdownMs(cores, "1");
  communication.all_reduce_ms = MeanBreakdownMs(cores, "3");
  step->communication_ms = RoundTo(communication.all_reduce_ms + MeanBreakdownMs(cores, "2"), 4);
  step->infeed_ms = MeanBreakdownMs(cores, "6");
  step->outfeed_ms = MeanBreakdownMs(cores, "7");
  if (step->known_ms() == 0) {  // profiles of older runtimes
    step->compute_ms = MeanMs(cores, "highFlopsComputeUs");
    communication.all_reduce_ms = MeanMs(cores, "crsDurationUs");
    communication.send_ms = MeanMs(cores, "sendDurationUs");
    communication.recv_ms = MeanMs(cores, "recvDurationUs");
    step->communication_ms =
        RoundTo(communication.all_reduce_ms + communication.send_ms + communication.recv_ms, 4);
    step->infeed_ms = MeanMs(cores, "hostInfeedDurationUs");
    step->outfeed_ms = MeanMs(cores, "hostOutfeedDurationUs");
  }
  if (step->known_ms() == 0) return false;
  step->communication = communication;
  step->idle_ms = RoundTo(std::max(0.0, step->step_ms - step->known_ms()), 4);
  step->infeed_percent = step->PercentOf(step->infeed_ms);
  std::vector<std::string> waited;
  for (const Value* core : cores) {
    if (const std::string name = TextIn(*core, "bottleneck"); !name.empty()) {
      waited.push_back(BottleneckClass(name));
    }
  }
  step->bottleneck = waited.empty() ? LargestPart(*step) : MostFrequent(waited);
  return true;
}

StepTrace FromPodViewer(const AgentContext& context, const Value& document) {
  StepTrace trace{.source = "pod_viewer", .steps = {}};
  const Value* sequence = ObjectIn(document, "podStatsSequence");
  const Value* entries = sequence == nullptr ? nullptr : sequence->Find("podStatsMap");
  if (entries == nullptr) return trace;
  const std::string& core = context.options().Text("device_core");
  for (const Value& entry : entries->items()) {
    StepParts step;
    const Value* number = entry.Find("stepNum");
    // Zero is left out of protobuf's JSON.
    step.step = std::to_string(number == nullptr ? 0 : static_cast<int64_t>(number->AsNumber()));
    const Value* per_core = ObjectIn(entry, "podStatsPerCore");
    if (!StepWanted(context, step.step) || per_core == nullptr) continue;
    std::vector<const Value*> cores;
    for (size_t i = 0; i < per_core->names().size(); ++i) {
      if (core.empty() || per_core->names()[i] == core) cores.push_back(&per_core->items()[i]);
    }
    if (!cores.empty() && PodStep(cores, &step)) trace.steps.push_back(std::move(step));
  }
  return trace;
}

// ---- input_pipeline_analyzer: the table of steps ----

double SumOf(const TableRow& row, std::initializer_list<std::string_view> columns) {
  double sum = 0;
  for (const std::string_view column : columns) sum += row.Number(column);
  return sum;
}

StepParts InputStep(const TableRow& row) {
  StepParts step;
  step.step = row.Text("stepnum");
  const double compute =
      SumOf(row, {"tcComputeTimeMs", "scv0ComputeTimeMs", "deviceComputeTimeMs"});
  const double communication = SumOf(row, {"deviceToDeviceTimeMs", "deviceCollectivesTimeMs"});
  const double infeed = SumOf(row, {"tcInfeedTimeMs", "scv0InfeedTimeMs", "infeedTimeMs"});
  const double outfeed = SumOf(row, {"tcOutfeedTimeMs", "outfeedTimeMs"});
  const double other = SumOf(row, {"tcIdleTimeMs", "hostTransferTimeMs", "hostComputeTimeMs",
                                   "kernelLaunchTimeMs", "compileTimeMs", "otherTimeMs"});
  const double known = compute + communication + infeed + outfeed;
  const bool has_total = row.Find("stepTimeMs") != nullptr;
  step.step_ms = RoundTo(has_total ? row.Number("stepTimeMs") : known + other, 4);
  step.compute_ms = RoundTo(compute, 4);
  step.communication_ms = RoundTo(communication, 4);
  step.infeed_ms = RoundTo(infeed, 4);
  step.outfeed_ms = RoundTo(outfeed, 4);
  step.idle_ms = RoundTo(std::max(other, step.step_ms - known), 4);
  step.infeed_percent = row.Find("infeedPercentAverage") != nullptr
                            ? RoundTo(row.Number("infeedPercentAverage"), 2)
                            : step.PercentOf(infeed);
  const std::array<std::pair<std::string_view, double>, 5> parts = {
      {{"Compute", compute},
       {"Communication", communication},
       {"Input / Infeed", infeed},
       {"Output / Outfeed", outfeed},
       {"Idle / Other", other}}};
  step.bottleneck =
      std::ranges::max_element(parts, {}, [](const auto& part) { return part.second; })->first;
  return step;
}

StepTrace FromInputPipeline(const AgentContext& context, const ToolResult& result) {
  StepTrace trace{.source = "input_pipeline_analyzer", .steps = {}};
  for (const Table& table : result.tables) {
    if (table.ColumnIndex("stepnum") >= table.columns().size()) continue;
    for (size_t i = 0; i < table.rows().size(); ++i) {
      StepParts step = InputStep(TableRow(table, i));
      if (StepWanted(context, step.step)) trace.steps.push_back(std::move(step));
    }
    break;
  }
  return trace;
}

// ---- The answer ----

Value StepValue(const StepParts& step) {
  Value value = Value::Object();
  value.Set("step_num", StepNumber(step.step));
  value.Set("step_time_ms", Value::Double(step.step_ms));
  value.Set("compute_time_ms", Value::Double(step.compute_ms));
  value.Set("compute_percent", Value::Double(step.PercentOf(step.compute_ms)));
  value.Set("communication_time_ms", Value::Double(step.communication_ms));
  value.Set("communication_percent", Value::Double(step.PercentOf(step.communication_ms)));
  value.Set("infeed_time_ms", Value::Double(step.infeed_ms));
  value.Set("infeed_percent", Value::Double(step.infeed_percent));
  value.Set("outfeed_time_ms", Value::Double(step.outfeed_ms));
  value.Set("outfeed_percent", Value::Double(step.PercentOf(step.outfeed_ms)));
  value.Set("bottleneck", Value::String(step.bottleneck));
  value.Set("idle_time_ms", Value::Double(step.idle_ms));
  value.Set("idle_percent", Value::Double(step.PercentOf(step.idle_ms)));
  if (step.communication) {
    Value& parts = value.Set("communication_breakdown_ms", Value::Object());
    parts.Set("all_reduce_ms", Value::Double(step.communication->all_reduce_ms));
    parts.Set("send_ms", Value::Double(step.communication->send_ms));
    parts.Set("recv_ms", Value::Double(step.communication->recv_ms));
  }
  return value;
}

void SetAverage(std::string_view name, double average_ms, double step_ms, Value* summary) {
  average_ms = RoundTo(average_ms, 4);
  summary->Set(std::string(name) + "_time_ms_average", Value::Double(average_ms));
  summary->Set(std::string(name) + "_percent",
               Value::Double(step_ms > 0 ? RoundTo(average_ms / step_ms * 100, 2) : 0));
}

Value SummaryOf(const std::vector<StepParts>& steps) {
  const auto column = [&](double StepParts::* member) {
    std::vector<double> values;
    for (const StepParts& step : steps) values.push_back(step.*member);
    return values;
  };
  const std::vector<double> times = column(&StepParts::step_ms);
  const double average = RoundTo(MeanOf(times), 4);
  std::vector<std::string> bottlenecks;
  for (const StepParts& step : steps) bottlenecks.push_back(step.bottleneck);
  Value summary = Value::Object();
  summary.Set("total_steps", Value::Int64(static_cast<int64_t>(steps.size())));
  summary.Set("step_time_ms_average", Value::Double(average));
  summary.Set("step_time_ms_min", Value::Double(RoundTo(std::ranges::min(times), 4)));
  summary.Set("step_time_ms_max", Value::Double(RoundTo(std::ranges::max(times), 4)));
  summary.Set("step_time_ms_stddev", Value::Double(RoundTo(SampleDeviationOf(times), 4)));
  SetAverage("compute", MeanOf(column(&StepParts::compute_ms)), average, &summary);
  SetAverage("communication", MeanOf(column(&StepParts::communication_ms)), average, &summary);
  SetAverage("infeed", MeanOf(column(&StepParts::infeed_ms)), average, &summary);
  SetAverage("outfeed", MeanOf(column(&StepParts::outfeed_ms)), average, &summary);
  summary.Set("primary_bottleneck", Value::String(MostFrequent(bottlenecks)));
  SetAverage("idle", MeanOf(column(&StepParts::idle_ms)), average, &summary);
  summary.Set("is_aggregate", Value::Bool(false));
  return summary;
}

double PropertyOf(const std::vector<Table>& tables, std::string_view name,
                  std::string_view otherwise = "") {
  double number = 0;
  for (const Table& table : tables) {
    const std::string* text = table.FindProperty(name);
    if (text == nullptr && !otherwise.empty()) text = table.FindProperty(otherwise);
    if (text != nullptr && ParseNumberText(*text, &number)) return number;
  }
  return 0;
}

// Averages without single steps; null when there are none either.
Value SummaryOfOverview(const std::vector<Table>& tables) {
  const double average = PropertyOf(tables, "steptime_ms_average");
  if (average <= 0) return Value::Null();
  const double infeed = PropertyOf(tables, "tc_infeed_ms_average", "sc_infeed_ms_average");
  const double outfeed = PropertyOf(tables, "tc_outfeed_ms_average", "sc_outfeed_ms_average");
  const double idle = PropertyOf(tables, "tc_idle_ms_average", "sc_idle_ms_average");
  constexpr double kMostlyInfeed = 0.5;
  Value summary = Value::Object();
  summary.Set("total_steps", Value::Null());
  summary.Set("step_time_ms_average", Value::Double(RoundTo(average, 4)));
  summary.Set("step_time_ms_min", Value::Double(RoundTo(average, 4)));
  summary.Set("step_time_ms_max", Value::Double(RoundTo(average, 4)));
  summary.Set("step_time_ms_stddev",
              Value::Double(RoundTo(PropertyOf(tables, "steptime_ms_standard_deviation"), 4)));
  SetAverage("compute", std::max(0.0, average - infeed - outfeed - idle), average, &summary);
  SetAverage("communication", 0, average, &summary);
  SetAverage("infeed", infeed, average, &summary);
  SetAverage("outfeed", outfeed, average, &summary);
  summary.Set("primary_bottleneck",
              Value::String(infeed > kMostlyInfeed * average ? "Input / Infeed" : "Compute"));
  SetAverage("idle", idle, average, &summary);
  summary.Set("is_aggregate", Value::Bool(true));
  summary.Set("note", Value::String("Averages of the overview; single steps are not known."));
  return summary;
}

Result<StepTrace> FindSteps(const AgentContext& context) {
  StepTrace trace;
  if (const Result<ToolResult> pods = context.Ask("pod_viewer"); pods.ok()) {
    trace = FromPodViewer(context, pods->document);
  }
  STROBE_RETURN_IF_ERROR(context.cancel.Check());
  if (!trace.steps.empty()) return trace;
  const Result<ToolResult> inputs = context.Ask("input_pipeline_analyzer");
  if (inputs.ok()) trace = FromInputPipeline(context, *inputs);
  STROBE_RETURN_IF_ERROR(context.cancel.Check());
  return trace;
}

Result<ToolResult> RunGetStepTrace(const ToolQuestion& question, ToolInput& input,
                                   const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const StepTrace trace, FindSteps(context));
  Value document = Value::Object();
  Value summary = Value::Null();
  std::string source = trace.source;
  if (!trace.steps.empty()) {
    summary = SummaryOf(trace.steps);
  } else if (const Result<ToolResult> overview = context.Ask("overview_page"); overview.ok()) {
    summary = SummaryOfOverview(overview->tables);
    source = "overview_page";
  }
  const bool nothing = summary.kind() == Value::Kind::kNull;
  if (nothing) {
    document = NoData(
        "The session has no steps: no step markers were recorded. "
        "list_xplane_events shows what was.");
  } else {
    if (question.options.Flag("include_summary")) document.Set("summary", std::move(summary));
  }
  const size_t shown = LimitOf(question.options.Integer("limit"), trace.steps.size());
  Value& steps = document.Set("step_breakdown", Value::List());
  for (size_t i = 0; i < shown; ++i) steps.Add(StepValue(trace.steps[i]));
  SetTruncation(trace.steps.size(), shown, &document);
  if (!nothing) document.Set("source", Value::String(source));
  return DocumentResult(std::move(document));
}

Result<ToolResult> RunGetAvgStepTime(const ToolQuestion& question, ToolInput& input,
                                     const CancelToken& cancel) {
  const std::string& function = question.options.Text("func_name");
  double total_ps = 0;
  int64_t count = 0;
  for (const size_t host : question.hosts) {
    const xplane::ProfileFile* file = input.hosts()[host].file;
    if (file == nullptr) continue;
    for (size_t p = 0; p < file->planes().size(); ++p) {
      const xplane::Plane& plane = file->planes()[p];
      if (!plane.name.starts_with("/device:")) continue;
      for (size_t l = 0; l < plane.lines.size(); ++l) {
        if (AsciiLower(plane.lines[l].label()).find("xla modules") == std::string::npos) continue;
        STROBE_RETURN_IF_ERROR(cancel.Check());
        const xplane::LineColumns& line = file->Line(p, l);
        for (size_t e = 0; e < line.event_count(); ++e) {
          const std::string_view name = plane.event_metadata[line.name[e]].name;
          if (name.find(function) == std::string_view::npos) continue;
          total_ps += static_cast<double>(line.duration_ps[e]);
          ++count;
        }
      }
    }
  }
  if (count == 0) {
    return DocumentResult(NoData("No event on an XLA Modules line of a device matches."));
  }
  Value document = Value::Object();
  document.Set("avg_step_time_ms",
               Value::Double(RoundTo(total_ps / static_cast<double>(count) / 1e9, 4)));
  document.Set("step_count", Value::Int64(count));
  return DocumentResult(std::move(document));
}

}  // namespace

ToolDescriptor MakeGetStepTraceTool() {
  ToolDescriptor tool = AgentTool(
      "get_step_trace", "Steps for agents", "How long did each step take, and what held it up?",
      {{.name = "step_num", .description = "Only this step."},
       {.name = "limit",
        .type = OptionType::kInteger,
        .default_value = "20",
        .description = "How many steps to list; 0: all. The summary is over all."},
       {.name = "device_core", .description = "Only this core's times, else means over cores."},
       {.name = "include_summary",
        .type = OptionType::kBoolean,
        .default_value = "true",
        .description = "Averages over the steps."}});
  tool.run = RunGetStepTrace;
  return tool;
}

ToolDescriptor MakeGetAvgStepTimeTool() {
  ToolDescriptor tool =
      AgentTool("get_avg_step_time", "Mean step time", "How long does one run of the module take?",
                {{.name = "func_name", .description = "Only modules whose name contains this."}});
  tool.run = RunGetAvgStepTime;
  return tool;
}

}  // namespace strobe::tools
