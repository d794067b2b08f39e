#include "src/tools/agent_profile_tree.h"

#include <algorithm>
#include <functional>

namespace strobe::tools {

const Value& MetricsOf(const Value& node) {
  static const Value kNone = Value::Object();
  const Value* metrics = ObjectIn(node, "metrics");
  return metrics == nullptr ? kNone : *metrics;
}

double RawTimePs(const Value& node) { return NumberIn(MetricsOf(node), "rawTime"); }

const std::vector<Value>& ChildrenOf(const Value& node) {
  static const std::vector<Value> kNone;
  const Value* children = node.Find("children");
  return children == nullptr ? kNone : children->items();
}

bool IsLeafOp(const Value& node) {
  return std::ranges::none_of(ChildrenOf(node),
                              [](const Value& child) { return RawTimePs(child) > 0; });
}

const Value* OpProfileRoot(const Value& profile) {
  for (const std::string_view name : {"byCategory", "byProgram", "byProvenance"}) {
    const Value* root = ObjectIn(profile, name);
    if (root != nullptr && RawTimePs(*root) > 0) return root;
  }
  return nullptr;
}

std::map<std::string, std::string> OpExpressions(const Value& profile) {
  std::map<std::string, std::string> expressions;
  std::function<void(const Value&, int)> collect = [&](const Value& node, int depth) {
    if (depth > kMaxProfileDepth) return;
    const Value* xla = ObjectIn(node, "xla");
    const std::string name = TextIn(node, "name");
    if (xla != nullptr && !name.empty()) {
      if (std::string text = TextIn(*xla, "expression"); !text.empty()) {
        if (name.starts_with('%')) expressions[name.substr(1)] = text;
        expressions[name] = std::move(text);
      }
    }
    for (const Value& child : ChildrenOf(node)) collect(child, depth + 1);
  };
  for (const std::string_view root : {"byProgram", "byCategory"}) {
    if (const Value* node = ObjectIn(profile, root)) collect(*node, 0);
  }
  return expressions;
}

Normalization NormalizationOf(const AgentContext& context) {
  Normalization normalization;
  const Result<std::shared_ptr<const analysis::OpStats>> stats =
      context.input.CombinedOpStats(context.question.hosts, context.cancel);
  if (!stats.ok()) return normalization;
  normalization.steps = static_cast<int64_t>((*stats)->steps.steps.size());
  normalization.cores = (*stats)->run.device_core_count;
  return normalization;
}

Value NormalizationValue(const Normalization& normalization) {
  Value value = Value::Object();
  value.Set("steps", Value::Int64(normalization.steps));
  value.Set("cores", Value::Int64(normalization.cores));
  value.Set("basis",
            Value::String("total_* are sums over all profiled steps and all cores; per_step_* are "
                          "totals over steps, per_step_per_core_* also over cores. Time outside "
                          "steps counts as well."));
  return value;
}

void SetPerStep(const Normalization& normalization, double total_ms, Value* value) {
  if (normalization.steps <= 0) return;
  const double per_step = total_ms / static_cast<double>(normalization.steps);
  value->Set("per_step_time_ms", Value::Double(RoundTo(per_step, 6)));
  if (normalization.cores <= 0) return;
  value->Set("per_step_per_core_time_ms",
             Value::Double(RoundTo(per_step / static_cast<double>(normalization.cores), 6)));
}

}  // namespace strobe::tools
