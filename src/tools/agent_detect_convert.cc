// detect_unnecessary_convert_reduce: sums that were raised to f32 and are lowered again at once.
//
// A finding is a convert from bf16 or f16 to f32 whose value only feeds one reduction to f32 whose
// result only reaches converts back to 16 bits. Sums of squares and of values that cannot be
// negative pass, for they lose little; sums of signed values are left alone, as are modules that
// look like training.
#include <algorithm>
#include <array>
#include <deque>
#include <set>

#include "src/base/text.h"
#include "src/hlo/shape.h"
#include "src/tools/agent_detect.h"

namespace strobe::tools {
namespace {

constexpr size_t kMaxVisited = 10'000;
constexpr int kMaxSummandDepth = 8;

bool IsHalf(hlo::ElementType type) {
  return type == hlo::ElementType::kBf16 || type == hlo::ElementType::kF16;
}

// Opcodes through which a value keeps its meaning for this question.
bool IsCarrier(std::string_view opcode) {
  constexpr std::array kCarriers = {"abs",
                                    "negate",
                                    "add",
                                    "subtract",
                                    "multiply",
                                    "divide",
                                    "exponential",
                                    "log",
                                    "maximum",
                                    "minimum",
                                    "select",
                                    "compare",
                                    "power",
                                    "sine",
                                    "cosine",
                                    "floor",
                                    "ceil",
                                    "sign",
                                    "sqrt",
                                    "rsqrt",
                                    "tanh",
                                    "reshape",
                                    "broadcast",
                                    "transpose",
                                    "slice",
                                    "concatenate",
                                    "bitcast",
                                    "dynamic-slice",
                                    "dynamic-update-slice",
                                    "copy",
                                    "parameter",
                                    "get-tuple-element",
                                    "fusion",
                                    "convert",
                                    "tuple",
                                    "round-nearest-afz",
                                    "round-nearest-even"};
  return std::ranges::any_of(kCarriers, [&](const char* known) { return opcode == known; });
}

bool LooksLikeTraining(const hlo::HloModule& module) {
  static const std::vector<std::string_view> kWords = {"grad", "backward", "loss",  "optimizer",
                                                       "adam", "sgd",      "update"};
  return std::ranges::any_of(module.computations(), [](const hlo::Computation& computation) {
    return ContainsAnyOf(AsciiLower(computation.name), kWords);
  });
}

enum class SumKind : uint8_t { kSquares, kNonNegative, kOther };

class ConvertSearch {
 public:
  ConvertSearch(const DataFlow& flow, const hlo::ModuleSet::Entry& entry, const OpCosts& costs)
      : flow_(flow), module_(flow.module()), entry_(entry), costs_(costs) {}

  void Run(std::vector<Finding>* findings) {
    if (LooksLikeTraining(module_)) return;
    for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
      if (flow_.Opcode(i) == "reduce" && module_.shape_of(i).type == hlo::ElementType::kF32) {
        Consider(i, findings);
      }
    }
  }

 private:
  void Consider(uint32_t reduce, std::vector<Finding>* findings) const;
  SumKind KindOf(uint32_t reduce) const;
  bool NonNegative(uint32_t instruction, int depth) const;
  uint32_t Upcast(uint32_t reduce) const;
  bool OnlyReaches(uint32_t from, uint32_t stop) const;
  std::vector<uint32_t> Before(uint32_t instruction) const;
  std::vector<uint32_t> After(uint32_t instruction) const;
  bool IsLowering(uint32_t instruction) const {
    return flow_.Opcode(instruction) == "convert" && IsHalf(module_.shape_of(instruction).type);
  }
  double ReducedElements(uint32_t reduce) const;

  const DataFlow& flow_;
  const hlo::HloModule& module_;
  const hlo::ModuleSet::Entry& entry_;
  const OpCosts& costs_;
};

// Through a fusion's border as well: parameters to its operands, its result to its users.
std::vector<uint32_t> ConvertSearch::Before(uint32_t instruction) const {
  std::vector<uint32_t> before;
  if (flow_.Opcode(instruction) == "fusion") {
    for (const uint32_t called : module_.calls(instruction)) {
      const uint32_t root = module_.computation(called).root;
      if (root != hlo::kNone) before.push_back(root);
    }
    return before;
  }
  for (const FlowState& state : flow_.Producers({instruction, {}})) {
    before.push_back(state.instruction);
  }
  return before;
}

std::vector<uint32_t> ConvertSearch::After(uint32_t instruction) const {
  std::vector<uint32_t> after;
  for (const FlowState& state : flow_.Consumers({instruction, {}})) {
    const uint32_t user = state.instruction;
    if (flow_.Opcode(user) != "fusion") {
      after.push_back(user);
      continue;
    }
    const auto operands = module_.operands(user);
    for (const uint32_t called : module_.calls(user)) {
      const hlo::Range inside = module_.computation(called).instructions;
      for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
        const auto number =
            static_cast<size_t>(std::max<int64_t>(0, module_.instruction(i).number));
        if (flow_.Opcode(i) == "parameter" && number < operands.size() &&
            operands[number] == instruction) {
          after.push_back(i);
        }
      }
    }
  }
  const hlo::Computation& computation =
      module_.computation(module_.instruction(instruction).computation);
  if (computation.is_fusion && computation.root == instruction &&
      computation.caller != hlo::kNone) {
    after.push_back(computation.caller);
  }
  return after;
}

bool ConvertSearch::NonNegative(uint32_t instruction, int depth) const {
  if (depth > kMaxSummandDepth) return false;
  const std::string_view opcode = flow_.Opcode(instruction);
  const auto operands = module_.operands(instruction);
  if (opcode == "abs" || opcode == "exponential") return true;
  if (opcode == "multiply" && operands.size() == 2) {
    return operands[0] == operands[1] ||
           (NonNegative(operands[0], depth + 1) && NonNegative(operands[1], depth + 1));
  }
  const bool keeps = opcode == "reshape" || opcode == "broadcast" || opcode == "transpose" ||
                     opcode == "copy" || opcode == "convert" || opcode == "bitcast" ||
                     opcode == "slice";
  return keeps && !operands.empty() && NonNegative(operands[0], depth + 1);
}

SumKind ConvertSearch::KindOf(uint32_t reduce) const {
  const auto called = module_.calls(reduce);
  if (called.empty()) return SumKind::kOther;
  const uint32_t root = module_.computation(called[0]).root;
  if (root == hlo::kNone || flow_.Opcode(root) != "add") return SumKind::kOther;
  const auto operands = module_.operands(reduce);
  if (operands.empty() || !NonNegative(operands[0], 0)) return SumKind::kOther;
  const uint32_t summand = operands[0];
  const auto factors = module_.operands(summand);
  const bool square =
      flow_.Opcode(summand) == "multiply" && factors.size() == 2 && factors[0] == factors[1];
  return square ? SumKind::kSquares : SumKind::kNonNegative;
}

uint32_t ConvertSearch::Upcast(uint32_t reduce) const {
  const auto operands = module_.operands(reduce);
  if (operands.empty()) return hlo::kNone;
  std::deque<uint32_t> queue = {operands[0]};
  std::set<uint32_t> seen = {operands[0]};
  while (!queue.empty() && seen.size() < kMaxVisited) {
    const uint32_t at = queue.front();
    queue.pop_front();
    const std::string_view opcode = flow_.Opcode(at);
    if (opcode == "convert" && module_.shape_of(at).type == hlo::ElementType::kF32 &&
        !module_.operands(at).empty() && IsHalf(module_.shape_of(module_.operands(at)[0]).type)) {
      return at;
    }
    if (!IsCarrier(opcode)) continue;
    for (const uint32_t next : Before(at)) {
      if (seen.insert(next).second) queue.push_back(next);
    }
  }
  return hlo::kNone;
}

// Whether everything that `from` reaches ends in a lowering, or in `stop`; a value that leaves the
// program or meets an op that needs f32 does not.
bool ConvertSearch::OnlyReaches(uint32_t from, uint32_t stop) const {
  std::deque<uint32_t> queue = {from};
  std::set<uint32_t> seen = {from};
  bool ended = false;
  while (!queue.empty()) {
    if (seen.size() >= kMaxVisited) return false;
    const uint32_t at = queue.front();
    queue.pop_front();
    const std::vector<uint32_t> after = After(at);
    if (after.empty()) return false;
    for (const uint32_t next : after) {
      if (next == stop || (stop == hlo::kNone && IsLowering(next))) {
        ended = true;
        continue;
      }
      if (!IsCarrier(flow_.Opcode(next))) return false;
      if (seen.insert(next).second) queue.push_back(next);
    }
  }
  return ended;
}

double ConvertSearch::ReducedElements(uint32_t reduce) const {
  const auto operands = module_.operands(reduce);
  const auto result = static_cast<double>(hlo::ElementCount(module_.shape_of(reduce)));
  const auto operand = static_cast<double>(hlo::ElementCount(module_.shape_of(operands[0])));
  return result > 0 ? operand / result : operand;
}

void ConvertSearch::Consider(uint32_t reduce, std::vector<Finding>* findings) const {
  const SumKind kind = KindOf(reduce);
  if (kind == SumKind::kOther) return;
  const uint32_t upcast = Upcast(reduce);
  if (upcast == hlo::kNone) return;
  if (!OnlyReaches(reduce, hlo::kNone) || !OnlyReaches(upcast, reduce)) return;
  // The time is that of the fusion around it, where there is one.
  const hlo::Computation& inside = module_.computation(module_.instruction(upcast).computation);
  const uint32_t carrier = inside.is_fusion && inside.caller != hlo::kNone ? inside.caller : upcast;
  const OpCost* cost = costs_.Find(entry_.program_id, module_.instruction(carrier).name);
  Value value = FindingValue(flow_, entry_, upcast, cost);
  value.Set("name", Value::String("by_program/" + entry_.key + "/" +
                                  std::string(module_.instruction(upcast).name)));
  value.Set("instruction", Value::String(module_.instruction(upcast).name));
  value.Set("fusion_name",
            Value::String(carrier == upcast ? "" : module_.instruction(carrier).name));
  value.Set("reduce", Value::String(module_.instruction(reduce).name));
  value.Set("recommendation",
            Value::String("Keep the sum in 16 bits: the compiler adds up in f32 by itself where "
                          "the hardware can, and the result is lowered anyway."));
  value.Set("explanation",
            Value::String(std::string(kind == SumKind::kSquares ? "SUM_OF_SQUARES" : "SUM_NONNEG") +
                          " over " + FixedText(ReducedElements(reduce), 0) + " elements."));
  findings->push_back({cost == nullptr ? 0 : cost->self_time_ms, cost == nullptr ? 0 : cost->bytes,
                       std::move(value)});
}

Result<ToolResult> RunConvertReduce(const ToolQuestion& question, ToolInput& input,
                                    const CancelToken& cancel) {
  return RunDetector(
      {question, input, cancel},
      [](const DataFlow& flow, const hlo::ModuleSet::Entry& entry, const OpCosts& costs,
         std::vector<Finding>* findings) { ConvertSearch(flow, entry, costs).Run(findings); });
}

}  // namespace

ToolDescriptor MakeDetectUnnecessaryConvertReduceTool() {
  ToolDescriptor tool = AgentTool("detect_unnecessary_convert_reduce", "Needless f32 sums",
                                  "Which sums are raised to f32 only to be lowered again?",
                                  {{.name = "limit",
                                    .type = OptionType::kInteger,
                                    .default_value = "50",
                                    .description = "How many to list; 0: all."}});
  tool.cost = CostClass::kModules;
  tool.run = RunConvertReduce;
  return tool;
}

}  // namespace strobe::tools
