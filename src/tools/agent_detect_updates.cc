// detect_unfused_updates: chains and groups of small ops that one fusion could do.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "src/hlo/shape.h"
#include "src/tools/agent_detect.h"

namespace strobe::tools {
namespace {

// Less time than this is no finding.
constexpr double kMinSelfTimeMs = 0.001;
constexpr uint32_t kSmallFusionOps = 4;
constexpr size_t kMaxReached = 1'000;
constexpr double kOccurrenceTolerance = 0.2;

bool IsPassedThrough(std::string_view opcode) {
  return opcode == "tuple" || opcode == "get-tuple-element" || opcode == "bitcast" ||
         opcode == "constant" || opcode == "parameter";
}

bool IsSmallOpcode(std::string_view opcode) {
  constexpr std::array kSmall = {"abs",
                                 "add",
                                 "and",
                                 "atan2",
                                 "cbrt",
                                 "ceil",
                                 "clamp",
                                 "clz",
                                 "compare",
                                 "complex",
                                 "concatenate",
                                 "convert",
                                 "copy",
                                 "cosine",
                                 "divide",
                                 "dynamic-slice",
                                 "dynamic-update-slice",
                                 "exponential",
                                 "exponential-minus-one",
                                 "floor",
                                 "imag",
                                 "is-finite",
                                 "log",
                                 "log-plus-one",
                                 "logistic",
                                 "maximum",
                                 "minimum",
                                 "multiply",
                                 "negate",
                                 "not",
                                 "or",
                                 "pad",
                                 "popcnt",
                                 "power",
                                 "real",
                                 "reduce",
                                 "reduce-precision",
                                 "remainder",
                                 "reverse",
                                 "round-nearest-afz",
                                 "round-nearest-even",
                                 "rsqrt",
                                 "select",
                                 "shift-left",
                                 "shift-right-arithmetic",
                                 "shift-right-logical",
                                 "sign",
                                 "sine",
                                 "slice",
                                 "sqrt",
                                 "subtract",
                                 "tan",
                                 "tanh",
                                 "transpose",
                                 "xor"};
  return std::ranges::any_of(kSmall, [&](const char* small) { return opcode == small; });
}

bool IsSmall(const DataFlow& flow, uint32_t instruction) {
  const std::string_view opcode = flow.Opcode(instruction);
  if (opcode != "fusion") return IsSmallOpcode(opcode);
  uint32_t inside = 0;
  for (const uint32_t called : flow.module().calls(instruction)) {
    const hlo::Range range = flow.module().computation(called).instructions;
    for (uint32_t i = range.first; i < range.first + range.count; ++i) {
      inside += IsPassedThrough(flow.Opcode(i)) ? 0 : 1;
    }
  }
  return inside > 0 && inside <= kSmallFusionOps;
}

class UpdateSearch {
 public:
  UpdateSearch(const DataFlow& flow, const hlo::ModuleSet::Entry& entry, const OpCosts& costs)
      : flow_(flow), entry_(entry), costs_(costs) {}

  void Run(std::vector<Finding>* findings);

 private:
  void CollectOps();
  void Connect();
  uint32_t RootOf(uint32_t op);
  std::map<uint32_t, std::vector<uint32_t>> Components();
  bool IsChain(const std::vector<uint32_t>& members) const;
  std::vector<std::vector<uint32_t>> ParallelGroups(const std::vector<uint32_t>& singles) const;
  void Report(std::vector<uint32_t> members, std::string_view type,
              std::vector<Finding>* findings) const;
  const OpCost* CostOf(uint32_t op) const {
    return costs_.Find(entry_.program_id, flow_.module().instruction(op).name);
  }

  const DataFlow& flow_;
  const hlo::ModuleSet::Entry& entry_;
  const OpCosts& costs_;
  std::set<uint32_t> ops_;
  std::map<uint32_t, std::vector<uint32_t>> edges_;
  std::map<uint32_t, int> incoming_;
  std::map<uint32_t, uint32_t> parents_;
};

void UpdateSearch::CollectOps() {
  for (uint32_t i = 0; i < flow_.module().instructions().size(); ++i) {
    if (flow_.InsideFusion(i) || !IsSmall(flow_, i)) continue;
    const OpCost* cost = CostOf(i);
    if (cost != nullptr && cost->self_time_ms >= kMinSelfTimeMs) ops_.insert(i);
  }
}

void UpdateSearch::Connect() {
  for (const uint32_t op : ops_) {
    parents_[op] = op;
    std::vector<uint32_t> reached = {op};
    std::set<uint32_t> seen = {op};
    for (size_t at = 0; at < reached.size() && seen.size() < kMaxReached; ++at) {
      for (const uint32_t user : flow_.module().users(reached[at])) {
        if (!seen.insert(user).second) continue;
        if (ops_.contains(user)) {
          edges_[op].push_back(user);
          ++incoming_[user];
        } else if (IsPassedThrough(flow_.Opcode(user))) {
          reached.push_back(user);
        }
      }
    }
  }
}

uint32_t UpdateSearch::RootOf(uint32_t op) {
  while (parents_[op] != op) op = parents_[op] = parents_[parents_[op]];
  return op;
}

std::map<uint32_t, std::vector<uint32_t>> UpdateSearch::Components() {
  for (const auto& [from, users] : edges_) {
    for (const uint32_t to : users) parents_[RootOf(from)] = RootOf(to);
  }
  std::map<uint32_t, std::vector<uint32_t>> components;
  for (const uint32_t op : ops_) components[RootOf(op)].push_back(op);
  return components;
}

bool UpdateSearch::IsChain(const std::vector<uint32_t>& members) const {
  return std::ranges::all_of(members, [&](uint32_t op) {
    const auto users = edges_.find(op);
    const auto given = incoming_.find(op);
    return (users == edges_.end() || users->second.size() <= 1) &&
           (given == incoming_.end() || given->second <= 1);
  });
}

// Ops of one computation and shape that run about equally often.
std::vector<std::vector<uint32_t>> UpdateSearch::ParallelGroups(
    const std::vector<uint32_t>& singles) const {
  std::vector<std::vector<uint32_t>> groups;
  for (const uint32_t op : singles) {
    const auto same = [&](const std::vector<uint32_t>& group) {
      const hlo::Instruction& a = flow_.module().instruction(group[0]);
      const hlo::Instruction& b = flow_.module().instruction(op);
      const auto first = static_cast<double>(CostOf(group[0])->occurrences);
      const auto second = static_cast<double>(CostOf(op)->occurrences);
      return a.computation == b.computation && a.shape == b.shape &&
             std::abs(first - second) <= kOccurrenceTolerance * std::max(first, second);
    };
    const auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) {
      groups.push_back({op});
    } else {
      group->push_back(op);
    }
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return groups;
}

void UpdateSearch::Report(std::vector<uint32_t> members, std::string_view type,
                          std::vector<Finding>* findings) const {
  Finding finding;
  Value names = Value::List();
  Value shapes = Value::List();
  int64_t occurrences = 0;
  for (const uint32_t op : members) {
    const OpCost* cost = CostOf(op);
    finding.self_time_ms += cost->self_time_ms;
    finding.bytes += cost->bytes;
    occurrences = std::max(occurrences, cost->occurrences);
    names.Add(Value::String(flow_.module().instruction(op).name));
    shapes.Add(Value::String(hlo::ShapeText(flow_.module().shape_of(op))));
  }
  finding.value = FindingValue(flow_, entry_, members[0], CostOf(members[0]));
  Value& value = finding.value;
  value.Set("total_self_time_ms", Value::Double(finding.self_time_ms));
  value.Set("bytes_accessed", Value::Double(finding.bytes));
  value.Set("occurrences", Value::Int64(occurrences));
  value.Set("unfused_sequence", Value::Bool(true));
  value.Set("unfused_type", Value::String(type));
  value.Set("group_members", std::move(names));
  value.Set("member_shapes", std::move(shapes));
  value.Set("recommendation",
            Value::String("Do these in one function under one jit, so that the compiler can fuse "
                          "them: each by itself reads and writes all of its data."));
  findings->push_back(std::move(finding));
}

void UpdateSearch::Run(std::vector<Finding>* findings) {
  CollectOps();
  Connect();
  std::vector<uint32_t> singles;
  for (auto& [root, members] : Components()) {
    if (members.size() < 2) {
      singles.push_back(members[0]);
      continue;
    }
    const bool chain = IsChain(members);
    Report(std::move(members), chain ? "topological_chain" : "unfused_cluster", findings);
  }
  for (std::vector<uint32_t>& group : ParallelGroups(singles)) {
    Report(std::move(group), "parallel_group", findings);
  }
}

Result<ToolResult> RunUpdates(const ToolQuestion& question, ToolInput& input,
                              const CancelToken& cancel) {
  return RunDetector(
      {question, input, cancel},
      [](const DataFlow& flow, const hlo::ModuleSet::Entry& entry, const OpCosts& costs,
         std::vector<Finding>* findings) { UpdateSearch(flow, entry, costs).Run(findings); });
}

}  // namespace

ToolDescriptor MakeDetectUnfusedUpdatesTool() {
  ToolDescriptor tool = AgentTool("detect_unfused_updates", "Small ops that are not fused",
                                  "Which chains and groups of small ops could be one?",
                                  {{.name = "limit",
                                    .type = OptionType::kInteger,
                                    .default_value = "50",
                                    .description = "How many to list; 0: all."}});
  tool.cost = CostClass::kModules;
  tool.run = RunUpdates;
  return tool;
}

}  // namespace strobe::tools
