#include "src/tools/agent_overview.h"

#include <algorithm>
#include <array>
#include <map>

#include "src/tools/agent_roofline.h"

namespace strobe::tools {
namespace {

constexpr std::array kSummaryKeys = {
    "steptime_ms_average",          "steptime_ms_standard_deviation",
    "active_steptime_ms_average",   "tc_active_ms_average",
    "tc_idle_ms_average",           "tc_infeed_ms_average",
    "tc_outfeed_ms_average",        "host_transfer_ms_average",
    "mxu_utilization_percent",      "flop_rate_utilization_relative_to_roofline",
    "device_duty_cycle_percent",    "memory_bw_utilization_relative_to_hw_limit",
    "program_goodput_percent",      "host_tf_op_percent",
    "device_tf_op_percent",         "host_op_time_eager_percent",
    "device_op_time_eager_percent", "device_idle_time_percent",
    "hbm_bw_utilization_percent",   "host_idle_time_percent",
};

constexpr std::array kEnvironmentKeys = {
    "is_training", "profile_start_time", "profile_duration_ms", "host_count", "task_count",
    "device_type", "device_core_count",  "change_list",         "build_time", "build_target",
};

// An accelerator's share of time in kernels that no cost model sees; above it a warning is due.
constexpr double kCustomCallSharePercent = 10.0;

using Properties = std::vector<std::pair<std::string, std::string>>;

// Of all tables together; a later table's value replaces an earlier one's.
Properties AllProperties(const std::vector<Table>& tables) {
  Properties all;
  for (const Table& table : tables) {
    for (const auto& [name, value] : table.properties()) {
      const auto known = std::ranges::find(all, name, [](const auto& pair) { return pair.first; });
      if (known == all.end()) {
        all.emplace_back(name, value);
      } else {
        known->second = value;
      }
    }
  }
  return all;
}

template <typename Keys>
bool Among(const Keys& keys, std::string_view name) {
  return std::ranges::any_of(keys, [&](const char* key) { return name == key; });
}

bool IsZeroText(const Value* value) {
  if (value == nullptr || value->string_value().empty()) return true;
  const std::string& text = value->string_value();
  return text == "0.0%" || text == "0%" || text == "0.0";
}

// What the overview cannot say (XProf's open build has no hardware limits) the roofline can.
void FillFromRoofline(const Table& roofline, Value* summary) {
  if (roofline.rows().empty()) return;
  const TableRow program(roofline, 0);
  const bool needs_flops = IsZeroText(summary->Find("flop_rate_utilization_relative_to_roofline"));
  const bool needs_memory =
      IsZeroText(summary->Find("memory_bw_utilization_relative_to_hw_limit")) &&
      IsZeroText(summary->Find("hbm_bw_utilization_percent"));
  if (needs_flops) {
    const Value efficiency = Value::String(PercentText(program.Number("roofline_efficiency")));
    summary->Set("roofline_efficiency_percent", efficiency);
    summary->Set("flop_rate_utilization_relative_to_roofline", efficiency);
    summary->Set("compute_efficiency_percent",
                 Value::String(PercentText(program.Number("compute_efficiency"))));
  }
  if (needs_memory) {
    const Value share = Value::String(PercentText(program.Number("max_mem_bw_utilization")));
    summary->Set("max_mem_bw_utilization_percent", share);
    summary->Set("memory_bw_utilization_relative_to_hw_limit", share);
    summary->Set("hbm_bw_utilization_percent", share);
  }
  if (needs_flops || needs_memory) {
    if (const std::string bound = program.Text("bound_by"); !bound.empty()) {
      summary->Set("bound_by", Value::String(bound));
    }
    summary->Set("operational_intensity_flop_per_byte",
                 Value::Double(RoundTo(program.Number("operational_intensity"), 4)));
  }
  const double share = CustomCallSharePercent(roofline);
  if (share < kCustomCallSharePercent) return;
  summary->Set("custom_call_share_pct", Value::Double(share));
  summary->Set("custom_call_warning", Value::String(CustomCallWarning(share)));
}

std::string StepTimeWarning(std::string_view fields, size_t hosts) {
  return std::string(fields) + ": of each step the slowest core on any of the " +
         std::to_string(hosts) +
         " hosts counts, so this is neither one host's time nor a mean over hosts. "
         "per_host_step_time_ms has each host by itself; one slow host shows there only.";
}

Value HostStepTimesValue(const std::vector<HostStepTimes>& hosts) {
  Value all = Value::Object();
  for (const HostStepTimes& host : hosts) {
    Value& one = all.Set(host.host, Value::Object());
    one.Set("steptime_ms_average", Value::String(FixedText(MeanOf(host.step_ms), 2)));
    one.Set("steptime_ms_standard_deviation",
            Value::String(FixedText(SampleDeviationOf(host.step_ms), 2)));
    one.Set("steptime_ms_minimum", Value::String(FixedText(std::ranges::min(host.step_ms), 2)));
    one.Set("steptime_ms_maximum", Value::String(FixedText(std::ranges::max(host.step_ms), 2)));
  }
  return all;
}

Status AddHostStepTimes(const AgentContext& context, Value* summary) {
  if (context.question.hosts.size() < 2) return OkStatus();
  STROBE_ASSIGN_OR_RETURN(const std::vector<HostStepTimes> hosts, StepTimesByHost(context));
  if (!hosts.empty()) summary->Set("per_host_step_time_ms", HostStepTimesValue(hosts));
  if (hosts.empty() && summary->Find("steptime_ms_average") == nullptr) return OkStatus();
  summary->Set("step_time_scope", Value::String("per_step_max_across_hosts"));
  summary->Set("step_time_warning",
               Value::String(StepTimeWarning("steptime_ms_average, steptime_ms_standard_deviation",
                                             context.question.hosts.size())));
  return OkStatus();
}

void AddRunRow(const std::vector<Table>& tables, bool include_command, Value* environment) {
  for (const Table& table : tables) {
    if (table.ColumnIndex("host_id") >= table.columns().size() || table.rows().empty()) continue;
    const TableRow row(table, 0);
    if (const std::string host = row.Text("host_id"); !host.empty()) {
      environment->Set("hostname", Value::String(host));
    }
    if (const std::string bns = row.Text("bns_address"); !bns.empty()) {
      environment->Set("bns", Value::String(bns));
    }
    const std::string command = row.Text("command_line");
    if (include_command && !command.empty() && environment->Find("run_command") == nullptr) {
      environment->Set("run_command", Value::String(command));
    }
    return;
  }
}

// Every figure that is a text of a number, as a number.
Value NumbersOf(const Value& summary) {
  Value numbers = Value::Object();
  for (size_t i = 0; i < summary.names().size(); ++i) {
    const Value& value = summary.items()[i];
    double number = value.AsNumber();
    if (value.kind() == Value::Kind::kString && !ParseNumberText(value.string_value(), &number)) {
      continue;
    }
    if (value.kind() == Value::Kind::kObject) continue;
    numbers.Set(summary.names()[i], Value::Double(number));
  }
  return numbers;
}

Result<ToolResult> RunGetOverview(const ToolQuestion& question, ToolInput& input,
                                  const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const ToolResult overview, context.Ask("overview_page"));
  const bool include_command = question.options.Flag("include_command");
  Value summary = Value::Object();
  Value environment = Value::Object();
  for (const auto& [name, value] : AllProperties(overview.tables)) {
    if (name.starts_with("stat_") || name.starts_with("sc_") || Among(kSummaryKeys, name)) {
      summary.Set(name, Value::String(value));
    }
    if (name == "run_command" && !include_command) continue;
    if (name.starts_with("run_") || Among(kEnvironmentKeys, name)) {
      environment.Set(name, Value::String(value));
    }
  }
  const Result<ToolResult> roofline = context.Ask("roofline_model");
  if (roofline.ok() && !roofline->tables.empty()) FillFromRoofline(roofline->tables[0], &summary);
  if (!roofline.ok() && roofline.status().code() == StatusCode::kCancelled) {
    return roofline.status();
  }
  AddRunRow(overview.tables, include_command, &environment);
  STROBE_RETURN_IF_ERROR(AddHostStepTimes(context, &summary));
  Value document = Value::Object();
  Value numbers = NumbersOf(summary);
  document.Set("performance_summary", std::move(summary));
  document.Set("run_environment", std::move(environment));
  document.Set("performance_values", std::move(numbers));
  return DocumentResult(std::move(document), overview);
}

Value MemberOr(const Value* object, std::string_view name) {
  const Value* member = object == nullptr ? nullptr : object->Find(name);
  return member == nullptr ? Value::String("N/A") : *member;
}

// Step times of each host, of the summary of get_overview: averages only.
void CopyHostStepTimes(const Value& summary, Value* document) {
  if (const Value* scope = summary.Find("step_time_scope")) {
    document->Set("step_time_scope", *scope);
    const Value* hosts = summary.Find("per_host_step_time_ms");
    document->Set("step_time_warning",
                  Value::String(StepTimeWarning("step_time_ms",
                                                hosts == nullptr ? 0 : hosts->names().size())));
  }
  if (const Value* hosts = ObjectIn(summary, "per_host_step_time_ms")) {
    Value averages = Value::Object();
    for (size_t i = 0; i < hosts->names().size(); ++i) {
      averages.Set(hosts->names()[i], MemberOr(&hosts->items()[i], "steptime_ms_average"));
    }
    document->Set("per_host_step_time_ms", std::move(averages));
  }
}

Result<ToolResult> RunGetKpiMetrics(const ToolQuestion& question, ToolInput& input,
                                    const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(ToolResult overview, context.Ask("get_overview"));
  const Result<ToolResult> memory = context.Ask("get_memory_profile");
  const Result<ToolResult> roofline = context.Ask("get_roofline_model");
  STROBE_RETURN_IF_ERROR(cancel.Check());
  const Value* summary = ObjectIn(overview.document, "performance_summary");
  const Value* environment = ObjectIn(overview.document, "run_environment");
  Value utilization = MemberOr(summary, "flop_rate_utilization_relative_to_roofline");
  std::string provenance = "xla_cost_model";
  double derived = 0;
  if (roofline.ok()) {
    if (const Value* program = ObjectIn(roofline->document, "program")) {
      if (const std::string text = TextIn(*program, "flops_provenance"); !text.empty()) {
        provenance = text;
      }
      derived = NumberIn(*program, "derived_flops_fraction");
      if (provenance == "derived_from_shapes" || provenance == "mixed") {
        utilization = MemberOr(program, "roofline_efficiency_percent");
      }
    }
  }
  Value document = Value::Object();
  document.Set("step_time_ms", MemberOr(summary, "steptime_ms_average"));
  document.Set("duty_cycle_percent", MemberOr(summary, "device_duty_cycle_percent"));
  document.Set("mxu_utilization_percent", MemberOr(summary, "mxu_utilization_percent"));
  document.Set("roofline_utilization", std::move(utilization));
  document.Set("flops_provenance", Value::String(provenance));
  document.Set("derived_flops_fraction", Value::Double(derived));
  document.Set("peak_hbm_gib",
               MemberOr(memory.ok() ? &memory->document : nullptr, "peak_memory_usage_gib"));
  Value& accelerator = document.Set("accelerator_info", Value::Object());
  accelerator.Set("device_type", MemberOr(environment, "device_type"));
  accelerator.Set("device_core_count", MemberOr(environment, "device_core_count"));
  if (summary != nullptr && summary->Find("custom_call_warning") != nullptr) {
    document.Set("custom_call_share_pct", MemberOr(summary, "custom_call_share_pct"));
    document.Set("custom_call_warning", MemberOr(summary, "custom_call_warning"));
  }
  if (summary != nullptr) CopyHostStepTimes(*summary, &document);
  Value numbers = NumbersOf(document);
  document.Set("values", std::move(numbers));
  return DocumentResult(std::move(document), overview);
}

Result<ToolResult> RunGetDeviceInformation(const ToolQuestion& question, ToolInput& input,
                                           const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(ToolResult roofline, context.Ask("roofline_model"));
  if (roofline.tables.empty()) {
    return NotFoundError("DEVICE_UNKNOWN", "The profile says nothing about its devices.");
  }
  return DocumentResult(DeviceInformation(roofline.tables[0]), roofline);
}

Value PlaneValue(const xplane::Plane& plane) {
  Value value = Value::Object();
  value.Set("name", Value::String(plane.name));
  value.Set("lines", Value::Int64(static_cast<int64_t>(plane.lines.size())));
  return value;
}

Result<ToolResult> RunGetHosts(const ToolQuestion& question, ToolInput& input,
                               const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(cancel.Check());
  Value document = Value::Object();
  Value& hosts = document.Set("hosts", Value::List());
  for (const size_t index : question.hosts) {
    const ToolHost& host = input.hosts()[index];
    Value& one = hosts.Add(Value::Object());
    one.Set("hostname", Value::String(host.name));
    one.Set("host_index", Value::Int64(static_cast<int64_t>(index)));
    if (host.error) one.Set("error", Value::String(host.error->ToString()));
    if (host.file == nullptr) continue;
    Value devices = Value::List();
    int64_t cores = 0;
    for (const xplane::Plane& plane : host.file->planes()) {
      if (!plane.name.starts_with("/device:")) continue;
      devices.Add(PlaneValue(plane));
      if (plane.name.starts_with("/device:TPU:") || plane.name.starts_with("/device:GPU:")) {
        ++cores;
      }
    }
    one.Set("device_count", Value::Int64(cores));
    one.Set("device_planes", std::move(devices));
    one.Set("plane_count", Value::Int64(static_cast<int64_t>(host.file->planes().size())));
    one.Set("shift_ps", Value::Int64(host.shift_ps));
  }
  return DocumentResult(std::move(document));
}

}  // namespace

Result<std::vector<HostStepTimes>> StepTimesByHost(const AgentContext& context) {
  std::vector<HostStepTimes> hosts;
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::OpStats> stats,
                          context.input.CombinedOpStats(context.question.hosts, context.cancel));
  // After combining, a core's id is 1000 * place of its host + its own id.
  constexpr uint32_t kCoresPerHost = 1000;
  std::map<uint32_t, std::vector<double>> by_host;
  for (const analysis::Step& step : stats->steps.steps) {
    std::map<uint32_t, uint64_t> slowest;
    for (const auto& [core, part] : step.cores) {
      if (core >= analysis::kSparseCoreIndexStart || part.duration_ps == 0) continue;
      uint64_t& known = slowest[core / kCoresPerHost];
      known = std::max(known, part.duration_ps);
    }
    for (const auto& [host, duration_ps] : slowest) {
      by_host[host].push_back(static_cast<double>(duration_ps) / 1e9);
    }
  }
  if (by_host.size() < 2) return hosts;
  for (auto& [place, step_ms] : by_host) {
    if (place >= context.question.hosts.size()) continue;
    hosts.push_back(
        {context.input.hosts()[context.question.hosts[place]].name, std::move(step_ms)});
  }
  return hosts;
}

ToolDescriptor MakeGetOverviewTool() {
  ToolDescriptor tool = AgentTool("get_overview", "Overview for agents",
                                  "How did the session go, and on what did it run?",
                                  {{.name = "include_command",
                                    .type = OptionType::kBoolean,
                                    .default_value = "false",
                                    .description = "Also the program's command line."}});
  tool.aliases = {"get_xprof_overview"};
  tool.run = RunGetOverview;
  return tool;
}

ToolDescriptor MakeGetKpiMetricsTool() {
  ToolDescriptor tool = AgentTool("get_kpi_metrics", "Key figures",
                                  "What are the headline figures of the session?", {});
  tool.run = RunGetKpiMetrics;
  return tool;
}

ToolDescriptor MakeGetDeviceInformationTool() {
  ToolDescriptor tool = AgentTool("get_device_information", "Device ceilings",
                                  "What can the hardware do at most?", {});
  tool.run = RunGetDeviceInformation;
  return tool;
}

ToolDescriptor MakeGetHostsTool() {
  ToolDescriptor tool =
      AgentTool("get_hosts", "Hosts", "Which hosts does the session have, with which devices?", {});
  tool.cost = CostClass::kMetadata;
  tool.run = RunGetHosts;
  return tool;
}

}  // namespace strobe::tools
