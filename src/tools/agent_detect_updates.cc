// detect_unfused_updates: chains and groups of small ops that one fusion could do.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>

#include "src/hlo/shape.h"
#include "src/tools/agent_detect.h"

namespace strobe::tools {
namespace {

// Less time than this is no finding.
constexpr double kMinSelfTimeMs = 0.001;
constexpr uint32_t kSmallFusionOps = 4;
constexpr size_t kMaxReached = 1'000;
constexpr double kOccurrenceTolerance = 0.2;
// Compared with one another, and shown to people: more of them help nobody.
constexpr size_t kMaxLoneOps = 2'000;

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

// An op that no other of its module reaches or is reached by. Holds no module, because these are
// let go one by one.
struct LoneOp {
  std::string module;
  uint64_t program_id = 0;
  uint32_t computation = 0;
  std::string name;
  std::string shape;
  OpCost cost;
  Value value;  // as of a finding of this op alone
};

// "add.12.clone" -> "add".
std::string_view BaseName(std::string_view name) { return name.substr(0, name.find('.')); }

bool Alike(const LoneOp& a, const LoneOp& b) {
  const auto first = static_cast<double>(a.cost.occurrences);
  const auto second = static_cast<double>(b.cost.occurrences);
  return (a.shape == b.shape || BaseName(a.name) == BaseName(b.name)) &&
         std::abs(first - second) <= kOccurrenceTolerance * std::max(first, second);
}

constexpr std::string_view kParallel = "parallel_group";
constexpr std::string_view kEager = "eager_unfused_group";

Finding FindingOf(std::span<LoneOp> members, std::string_view type) {
  Finding finding;
  Value names = Value::List();
  Value shapes = Value::List();
  int64_t occurrences = 0;
  for (const LoneOp& op : members) {
    finding.self_time_ms += op.cost.self_time_ms;
    finding.bytes += op.cost.bytes;
    occurrences = std::max(occurrences, op.cost.occurrences);
    names.Add(Value::String(type == kEager ? op.module + "/" + op.name : op.name));
    shapes.Add(Value::String(op.shape));
  }
  finding.value = std::move(members[0].value);
  Value& value = finding.value;
  value.Set("total_self_time_ms", Value::Double(finding.self_time_ms));
  value.Set("bytes_accessed", Value::Double(finding.bytes));
  value.Set("occurrences", Value::Int64(occurrences));
  value.Set("unfused_sequence", Value::Bool(true));
  value.Set("unfused_type", Value::String(type));
  value.Set("group_members", std::move(names));
  value.Set("member_shapes", std::move(shapes));
  value.Set("recommendation",
            Value::String(type == kEager
                              ? "These are programs of one small op each: put the function that "
                                "calls them under jit, so that they become one program."
                              : "Do these in one function under one jit, so that the compiler can "
                                "fuse them: each by itself reads and writes all of its data."));
  return finding;
}

// Groups of ops for which `belongs` holds with the first of the group; what stays alone is left in
// `ops`.
template <typename Belongs>
std::vector<std::vector<LoneOp>> TakeGroups(std::vector<LoneOp>* ops, const Belongs& belongs) {
  std::vector<std::vector<LoneOp>> groups;
  for (LoneOp& op : *ops) {
    const auto group = std::ranges::find_if(
        groups, [&](const std::vector<LoneOp>& members) { return belongs(members[0], op); });
    if (group == groups.end()) {
      groups.emplace_back();
      groups.back().push_back(std::move(op));
    } else {
      group->push_back(std::move(op));
    }
  }
  ops->clear();
  std::erase_if(groups, [&](std::vector<LoneOp>& members) {
    if (members.size() > 1) return false;
    ops->push_back(std::move(members[0]));
    return true;
  });
  return groups;
}

// Across modules: what a program in a loop of the host calls one op at a time.
void ReportEager(std::vector<LoneOp>* ops, std::vector<Finding>* findings) {
  for (std::vector<LoneOp>& group : TakeGroups(ops, Alike)) {
    const bool several = std::ranges::any_of(
        group, [&](const LoneOp& op) { return op.program_id != group[0].program_id; });
    if (several) findings->push_back(FindingOf(group, kEager));
  }
}

class UpdateSearch {
 public:
  UpdateSearch(const DataFlow& flow, const hlo::ModuleSet::Entry& entry, const OpCosts& costs)
      : flow_(flow), entry_(entry), costs_(costs) {}

  // What belongs to no group of this module is added to `alone`.
  void Run(std::vector<Finding>* findings, std::vector<LoneOp>* alone);

 private:
  void CollectOps();
  void Connect();
  uint32_t RootOf(uint32_t op);
  std::map<uint32_t, std::vector<uint32_t>> Components();
  bool IsChain(const std::vector<uint32_t>& members) const;
  LoneOp OpOf(uint32_t op) const;
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

LoneOp UpdateSearch::OpOf(uint32_t op) const {
  const hlo::Instruction& record = flow_.module().instruction(op);
  return {.module = entry_.key,
          .program_id = entry_.program_id,
          .computation = record.computation,
          .name = std::string(record.name),
          .shape = hlo::ShapeText(flow_.module().shape_of(op)),
          .cost = *CostOf(op),
          .value = FindingValue(flow_, entry_, op, CostOf(op))};
}

void UpdateSearch::Run(std::vector<Finding>* findings, std::vector<LoneOp>* alone) {
  CollectOps();
  Connect();
  std::vector<LoneOp> singles;
  for (const auto& [root, members] : Components()) {
    std::vector<LoneOp> ops;
    for (const uint32_t op : members) ops.push_back(OpOf(op));
    if (ops.size() < 2) {
      singles.push_back(std::move(ops[0]));
    } else {
      findings->push_back(
          FindingOf(ops, IsChain(members) ? "topological_chain" : "unfused_cluster"));
    }
  }
  const auto beside = [](const LoneOp& a, const LoneOp& b) {
    return a.computation == b.computation && Alike(a, b);
  };
  for (std::vector<LoneOp>& group : TakeGroups(&singles, beside)) {
    findings->push_back(FindingOf(group, kParallel));
  }
  for (LoneOp& op : singles) {
    if (alone->size() < kMaxLoneOps) alone->push_back(std::move(op));
  }
}

Result<ToolResult> RunUpdates(const ToolQuestion& question, ToolInput& input,
                              const CancelToken& cancel) {
  std::vector<LoneOp> alone;
  return RunDetector(
      {question, input, cancel},
      [&](const DataFlow& flow, const hlo::ModuleSet::Entry& entry, const OpCosts& costs,
          std::vector<Finding>* findings) {
        UpdateSearch(flow, entry, costs).Run(findings, &alone);
      },
      [&](std::vector<Finding>* findings) { ReportEager(&alone, findings); });
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
