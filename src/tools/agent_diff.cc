#include "src/tools/agent_diff.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace strobe::tools {
namespace {

constexpr size_t kShownKernels = 20;

struct Side {
  DiffSide answers;
  double total_us = 0;
  std::map<std::string, double> kernel_us;
};

Side SideOf(DiffSide answers) {
  Side side;
  side.total_us = NumberIn(answers.kernel_stats, "total_device_duration_us");
  if (const Value* records = answers.kernel_stats.Find("kernel_records")) {
    for (const Value& record : records->items()) {
      side.kernel_us[TextIn(record, "kernel_name")] += NumberIn(record, "total_duration_us");
    }
  }
  side.answers = std::move(answers);
  return side;
}

std::string Signed(double value) {
  const std::string text = FixedText(value, 2);
  return text.starts_with('-') ? text : "+" + text;
}

double PercentOf(double delta, double baseline) {
  return baseline > 0 ? RoundTo(delta / baseline * 100.0, 2) : 0;
}

double TimeIn(const std::map<std::string, double>& kernels, const std::string& name) {
  const auto found = kernels.find(name);
  return found == kernels.end() ? 0 : found->second;
}

std::vector<std::string> MostChanged(const Side& baseline, const Side& optimized) {
  std::map<std::string, double> all = baseline.kernel_us;
  all.insert(optimized.kernel_us.begin(), optimized.kernel_us.end());
  std::vector<std::string> names;
  for (const auto& [name, us] : all) {
    if (!name.empty()) names.push_back(name);
  }
  std::ranges::stable_sort(names, std::greater(), [&](const std::string& name) {
    return std::fabs(TimeIn(optimized.kernel_us, name) - TimeIn(baseline.kernel_us, name));
  });
  names.resize(std::min(names.size(), kShownKernels));
  return names;
}

Value PairValue(Value baseline, Value optimized) {
  Value value = Value::Object();
  value.Set("baseline", std::move(baseline));
  value.Set("optimized", std::move(optimized));
  return value;
}

Value DiffDocument(Side baseline, Side optimized) {
  const double delta_us = RoundTo(optimized.total_us - baseline.total_us, 4);
  const double delta_percent = PercentOf(delta_us, baseline.total_us);
  std::string text = "# Session Diff: `" + baseline.answers.name + "` vs `" +
                     optimized.answers.name +
                     "`\n\n- **Baseline Total Device Time**: " + FixedText(baseline.total_us, 2) +
                     " us\n- **Optimized Total Device Time**: " + FixedText(optimized.total_us, 2) +
                     " us\n- **Delta**: " + Signed(delta_us) + " us (" + Signed(delta_percent) +
                     "%)\n\n| Kernel | Baseline (us) | Optimized (us) | Delta (us) | Delta (%) |\n"
                     "| :--- | ---: | ---: | ---: | ---: |";
  Value kernels = Value::List();
  for (const std::string& name : MostChanged(baseline, optimized)) {
    const double before = TimeIn(baseline.kernel_us, name);
    const double after = TimeIn(optimized.kernel_us, name);
    const double delta = RoundTo(after - before, 4);
    Value& value = kernels.Add(Value::Object());
    value.Set("kernel_name", Value::String(name));
    value.Set("baseline_duration_us", Value::Double(RoundTo(before, 4)));
    value.Set("optimized_duration_us", Value::Double(RoundTo(after, 4)));
    value.Set("delta_duration_us", Value::Double(delta));
    value.Set("delta_percent", Value::Double(PercentOf(delta, before)));
    text += "\n| `" + name + "` | " + FixedText(before, 2) + " | " + FixedText(after, 2) + " | " +
            Signed(delta) + " | " + Signed(PercentOf(delta, before)) + "% |";
  }
  Value document = Value::Object();
  document.Set("baseline_session_id", Value::String(baseline.answers.name));
  document.Set("optimized_session_id", Value::String(optimized.answers.name));
  document.Set("baseline_total_device_duration_us", Value::Double(RoundTo(baseline.total_us, 4)));
  document.Set("optimized_total_device_duration_us", Value::Double(RoundTo(optimized.total_us, 4)));
  document.Set("total_device_duration_delta_us", Value::Double(delta_us));
  document.Set("total_device_duration_delta_pct", Value::Double(delta_percent));
  document.Set("kernel_diffs", std::move(kernels));
  document.Set("kpi_metrics",
               PairValue(std::move(baseline.answers.kpi), std::move(optimized.answers.kpi)));
  document.Set("hlo_stats", PairValue(std::move(baseline.answers.hlo_stats),
                                      std::move(optimized.answers.hlo_stats)));
  document.Set("markdown_summary", Value::String(text));
  return document;
}

Result<ToolResult> RunAlone(const ToolQuestion&, ToolInput&, const CancelToken&) {
  return InvalidArgumentError("SECOND_SESSION_MISSING", "This tool compares two sessions.")
      .Hint("Name both: strobe diff_sessions BASELINE OPTIMIZED.");
}

}  // namespace

Value DiffOfSides(DiffSide baseline, DiffSide optimized) {
  return DiffDocument(SideOf(std::move(baseline)), SideOf(std::move(optimized)));
}

ToolDescriptor MakeDiffSessionsTool() {
  ToolDescriptor tool = AgentTool("diff_sessions", "Difference of two sessions",
                                  "What changed from one session to another?", {});
  tool.stored = false;
  tool.run = RunAlone;
  return tool;
}

}  // namespace strobe::tools
