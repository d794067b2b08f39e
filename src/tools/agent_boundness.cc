#include "src/tools/agent_boundness.h"

#include <algorithm>
#include <array>

#include "src/base/text.h"
#include "src/tools/agent_event_walk.h"
#include "src/tools/agent_profile_tree.h"

namespace strobe::tools {
namespace {

constexpr double kIdlePercent = 10.0;
constexpr double kMxuIdlePercent = 70.0;
constexpr double kHbmPercent = 30.0;
constexpr double kIciPercent = 30.0;
constexpr double kDutyCyclePercent = 50.0;

// Time of ops by what they keep busy, ps over all cores.
struct OpTimes {
  double compute_ps = 0;
  double hbm_ps = 0;
  double ici_ps = 0;
};

void AddOpTimes(const Value& node, int depth, OpTimes* times) {
  static const std::vector<std::string_view> kIci = {"all-reduce",           "all-gather",
                                                     "all-to-all",           "reduce-scatter",
                                                     "collective-broadcast", "collective-permute"};
  if (depth > kMaxProfileDepth) return;
  for (const Value& child : ChildrenOf(node)) AddOpTimes(child, depth + 1, times);
  const Value* metrics = ObjectIn(node, "metrics");
  if (!ChildrenOf(node).empty() || metrics == nullptr || NumberIn(*metrics, "occurrences") <= 0) {
    return;
  }
  const Value* xla = ObjectIn(node, "xla");
  const std::string text = AsciiLower(TextIn(node, "name")) + "\n" +
                           (xla == nullptr ? "" : AsciiLower(TextIn(*xla, "category")));
  double* sum = &times->compute_ps;
  if (ContainsAnyOf(text, kIci)) {
    sum = &times->ici_ps;
  } else if (text.find("copy") != std::string::npos) {
    sum = &times->hbm_ps;
  }
  *sum += RawTimePs(node);
}

// Mean length of the events "barrier-cores" of the first device, ms; 0: there are none.
double MeanBarrierMs(const AgentContext& context) {
  double total_ps = 0;
  int64_t count = 0;
  const Status status = ForEachTrack(context, [&](const Track& track) {
    const std::string_view plane = track.plane().name;
    if (track.host_index() != context.question.hosts[0] ||
        (plane != "/device:TPU:0" && plane != "/device:GPU:0")) {
      return OkStatus();
    }
    const auto& metadata = track.plane().event_metadata;
    if (std::ranges::none_of(metadata, [](const auto& m) { return m.name == "barrier-cores"; })) {
      return OkStatus();
    }
    for (uint32_t e = 0; e < track.columns().event_count(); ++e) {
      if (track.RawName(e) != "barrier-cores") continue;
      total_ps += static_cast<double>(track.columns().duration_ps[e]);
      ++count;
    }
    return OkStatus();
  });
  return status.ok() && count > 0 ? total_ps / static_cast<double>(count) / 1e9 : 0;
}

struct UnitUse {
  bool measured = false;
  double mxu_idle = 0;
  double hbm = 0;
  double ici_read = 0;
  double ici_write = 0;
};

UnitUse UnitUseOf(const AgentContext& context) {
  UnitUse use;
  for (const size_t host : context.question.hosts) {
    const Result<ToolResult> viewer = context.AskHost("get_utilization_viewer", host);
    if (!viewer.ok() || viewer->document.Find("status") != nullptr) continue;
    use.measured = true;
    use.mxu_idle = NumberIn(viewer->document, "idleness_percent");
    use.hbm = NumberIn(viewer->document, "hbm_bandwidth_utilization_percent");
    use.ici_read = NumberIn(viewer->document, "ici_read_utilization_percent");
    use.ici_write = NumberIn(viewer->document, "ici_write_utilization_percent");
    break;
  }
  return use;
}

// What the overview says of steps.
struct StepFacts {
  double duty_cycle_percent = 0;
  double step_ms = 0;
  int64_t steps = 0;
  int64_t cores = 1;
};

StepFacts StepFactsOf(const std::vector<Table>& tables) {
  StepFacts facts;
  for (const Table& table : tables) {
    const auto read = [&](std::string_view name, double* into) {
      const std::string* text = table.FindProperty(name);
      return text != nullptr && ParseNumberText(*text, into);
    };
    read("device_duty_cycle_percent", &facts.duty_cycle_percent);
    double cores = 0;
    if (read("device_core_count", &cores)) {
      facts.cores = std::max<int64_t>(1, static_cast<int64_t>(cores));
    }
    if (facts.step_ms == 0) read("steptime_ms_average", &facts.step_ms);
    if (facts.step_ms == 0) read("sc_step_time_ms_average", &facts.step_ms);
    if (table.ColumnIndex("stepnum") < table.columns().size()) {
      facts.steps = static_cast<int64_t>(table.rows().size());
    }
  }
  return facts;
}

struct Boundness {
  StepFacts steps;
  UnitUse units;
  bool has_ops = false;
  double compute_ms = 0;
  double hbm_ms = 0;
  double ici_ms = 0;
  double barrier_ms = 0;
  double idle_ms = 0;
  double total_ms = 0;

  double idle_fraction() const {
    return has_ops && total_ms > 0 ? std::clamp(idle_ms / total_ms, 0.0, 1.0) : 0;
  }
  double idle_percent() const { return idle_fraction() * 100; }
  double idle_to_active() const {
    const double active = total_ms - idle_ms;
    return has_ops && active > 0 ? idle_ms / active : 0;
  }
  double idle_chips() const { return static_cast<double>(steps.cores) * idle_fraction(); }
};

Value MetricsValue(const Boundness& facts) {
  Value value = Value::Object();
  const auto set = [&](std::string_view name, double number, int places = 2) {
    value.Set(name, Value::Double(RoundTo(number, places)));
  };
  set("tpu_duty_cycle_percent", facts.steps.duty_cycle_percent);
  set("idle_time_ratio_percent", facts.idle_percent());
  set("idle_to_active_compute_ratio", facts.idle_to_active(), 4);
  set("equivalent_idle_chips", facts.idle_chips());
  set("mxu_idleness_percent", facts.units.mxu_idle);
  set("hbm_bandwidth_utilization_percent", facts.units.hbm);
  set("ici_read_utilization_percent", facts.units.ici_read);
  set("ici_write_utilization_percent", facts.units.ici_write);
  set("scaled_compute_time_ms", facts.compute_ms);
  set("scaled_hbm_time_ms", facts.hbm_ms);
  set("scaled_ici_time_ms", facts.ici_ms);
  set("scaled_barrier_time_ms", facts.barrier_ms);
  set("pure_idle_time_ms", facts.idle_ms);
  set("total_duration_ms", facts.total_ms);
  value.Set("number_of_steps", Value::Int64(facts.steps.steps));
  value.Set("core_count", Value::Int64(facts.steps.cores));
  value.Set("counters_measured", Value::Bool(facts.units.measured));
  return value;
}

struct Verdict {
  std::string status;
  Value reasons = Value::List();
  Value recommendations = Value::List();

  void Reason(const std::string& text) { reasons.Add(Value::String(text)); }
  void Recommend(const std::string& text) { recommendations.Add(Value::String(text)); }
};

std::string Percent(double value) { return FixedText(value, 1) + "%"; }

Verdict Judge(const Boundness& facts, bool as_xprof) {
  Verdict verdict;
  const bool idle = facts.idle_percent() > kIdlePercent;
  const bool mxu_idle = facts.units.mxu_idle > kMxuIdlePercent;
  const bool hbm_low = facts.units.hbm < kHbmPercent;
  const bool ici_low = facts.units.ici_read < kIciPercent && facts.units.ici_write < kIciPercent;
  const bool by_idle_alone = !facts.units.measured && !as_xprof;
  if (idle && hbm_low && ici_low && (mxu_idle || by_idle_alone)) {
    verdict.status = "HOST_BOUND";
    verdict.Reason("Devices idle " + Percent(facts.idle_percent()) + " of step time, over " +
                   Percent(kIdlePercent) + ".");
    if (by_idle_alone) {
      verdict.Reason("Judged by idle time alone: no hardware counters were recorded.");
    }
    verdict.Recommend("As much as " + FixedText(facts.idle_chips(), 1) +
                      " chips do nothing: that is what can be won.");
    verdict.Recommend("Look at the input pipeline and at host work between steps.");
    return verdict;
  }
  if (facts.steps.duty_cycle_percent > kDutyCyclePercent && (!facts.has_ops || !idle)) {
    verdict.status = facts.has_ops ? "NOT_HOST_BOUND" : "UNKNOWN";
    verdict.Reason(
        "The duty cycle is " + Percent(facts.steps.duty_cycle_percent) +
        (facts.has_ops ? " and idle time is low." : ", but no HLO ops were recorded to judge by."));
    return verdict;
  }
  verdict.status = "NOT_HOST_BOUND";
  verdict.Reason("Not all conditions of a host-bound program hold:");
  if (!idle) {
    verdict.Reason("- Idle time is " + Percent(facts.idle_percent()) + ", at most " +
                   Percent(kIdlePercent) + ".");
  }
  if (!mxu_idle) {
    verdict.Reason("- Matrix units idle " + Percent(facts.units.mxu_idle) + ", at most " +
                   Percent(kMxuIdlePercent) + ".");
  }
  if (!hbm_low) verdict.Reason("- HBM is used " + Percent(facts.units.hbm) + ".");
  if (!ici_low) {
    verdict.Reason("- ICI is used " + Percent(facts.units.ici_read) + " for reading, " +
                   Percent(facts.units.ici_write) + " for writing.");
  }
  return verdict;
}

Result<ToolResult> RunCheckHostBoundness(const ToolQuestion& question, ToolInput& input,
                                         const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const ToolResult overview, context.Ask("overview_page"));
  Boundness facts;
  facts.steps = StepFactsOf(overview.tables);
  facts.total_ms = facts.steps.step_ms * static_cast<double>(facts.steps.steps);
  Value document = Value::Object();
  if (facts.total_ms == 0) {
    document.Set("status", Value::String("INSUFFICIENT_DATA"));
    document.Set("reasons", Value::List())
        .Add(Value::String("The overview has no steps with a duration."));
    document.Set("recommendations", Value::List())
        .Add(Value::String("Capture while the program runs steps, with step markers."));
    return DocumentResult(std::move(document));
  }
  const Result<ToolResult> profile = context.Ask("op_profile", {{"group_by", "category"}});
  STROBE_RETURN_IF_ERROR(cancel.Check());
  const Value* root = profile.ok() ? ObjectIn(profile->document, "byCategory") : nullptr;
  facts.has_ops = root != nullptr;
  if (root != nullptr) {
    OpTimes times;
    AddOpTimes(*root, 0, &times);
    const double per_core = 1e9 * static_cast<double>(facts.steps.cores);
    facts.compute_ms = times.compute_ps / per_core;
    facts.hbm_ms = times.hbm_ps / per_core;
    facts.ici_ms = times.ici_ps / per_core;
    facts.barrier_ms = MeanBarrierMs(context) * static_cast<double>(facts.steps.steps);
    const double busy = facts.compute_ms + facts.hbm_ms + facts.ici_ms;
    facts.idle_ms = std::max(0.0, facts.total_ms - busy - facts.barrier_ms);
  }
  facts.units = UnitUseOf(context);
  Verdict verdict = Judge(facts, question.as_xprof);
  document.Set("status", Value::String(verdict.status));
  document.Set("metrics", MetricsValue(facts));
  document.Set("reasons", std::move(verdict.reasons));
  document.Set("recommendations", std::move(verdict.recommendations));
  Value& thresholds = document.Set("thresholds", Value::Object());
  thresholds.Set("idle_time_ratio_percent", Value::Double(kIdlePercent));
  thresholds.Set("mxu_idleness_percent", Value::Double(kMxuIdlePercent));
  thresholds.Set("hbm_bandwidth_utilization_percent", Value::Double(kHbmPercent));
  thresholds.Set("ici_utilization_percent", Value::Double(kIciPercent));
  return DocumentResult(std::move(document), overview);
}

Result<ToolResult> RunGetSmartSuggestions(const ToolQuestion& question, ToolInput& input,
                                          const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(ToolResult rules, context.Ask("smart_suggestion"));
  Value suggestions = Value::List();
  if (const Value* list = rules.document.Find("suggestions")) {
    for (const Value& item : list->items()) {
      Value& one = suggestions.Add(Value::Object());
      for (size_t i = 0; i < item.names().size(); ++i) {
        const std::string& name = item.names()[i];
        const std::string_view shown = name == "ruleName"         ? "rule_name"
                                       : name == "suggestionText" ? "suggestion_text"
                                                                  : std::string_view(name);
        const Value& value = item.items()[i];
        one.Set(shown, value.kind() == Value::Kind::kString
                           ? Value::String(WithoutTags(value.string_value()))
                           : value);
      }
    }
  }
  Value document = Value::Object();
  document.Set("suggestions", std::move(suggestions));
  rules.shape = ToolResult::Shape::kDocument;
  rules.document = std::move(document);
  return rules;
}

}  // namespace

std::string WithoutTags(std::string_view html) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEntities = {
      {{"&lt;", "<"},
       {"&gt;", ">"},
       {"&quot;", "\""},
       {"&#39;", "'"},
       {"&nbsp;", " "},
       {"&amp;", "&"}}};
  std::string text;
  for (size_t i = 0; i < html.size(); ++i) {
    if (html[i] == '<') {
      const size_t end = html.find('>', i);
      if (end != std::string_view::npos) {
        i = end;
        continue;
      }
    }
    const auto entity = std::ranges::find_if(
        kEntities, [&](const auto& known) { return html.substr(i).starts_with(known.first); });
    if (entity != kEntities.end()) {
      text += entity->second;
      i += entity->first.size() - 1;
    } else {
      text += html[i];
    }
  }
  return text;
}

ToolDescriptor MakeCheckHostBoundnessTool() {
  ToolDescriptor tool =
      AgentTool("check_host_boundness", "Is it the host?", "Do the devices wait for the host?",
                {{.name = "func_name", .description = "Accepted for compatibility."}});
  tool.run = RunCheckHostBoundness;
  return tool;
}

ToolDescriptor MakeGetSmartSuggestionsTool() {
  ToolDescriptor tool = AgentTool("get_smart_suggestions", "Suggestions for agents",
                                  "What should be changed first?", {});
  tool.run = RunGetSmartSuggestions;
  return tool;
}

}  // namespace strobe::tools
