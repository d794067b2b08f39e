// detect_unnecessary_convert_dynamic_scale: quantisation to FP8 that raises the same values to f32
// twice.
//
//   x (bf16) -> convert (f32) -> |x| -> reduce max = S         the first convert
//   x (bf16) -> convert (f32) -> x / f(S) -> clamp -> fp8      the second convert
//
// Both can be left out: the maximum of 16-bit values is one of them, and the division can be done
// where the scale is applied. A finding is a pair of converts of one source where the first reaches
// a reduction S through shapes and signs alone, and the second is divided or multiplied by what
// derives from S in f32, and ends in FP8.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "src/hlo/shape.h"
#include "src/tools/agent_detect.h"

namespace strobe::tools {
namespace {

constexpr size_t kMaxVisited = 10'000;

bool IsOneOf(std::string_view opcode, std::initializer_list<std::string_view> known) {
  return std::ranges::find(known, opcode) != known.end();
}

// Keeps the values, whatever the order or number.
bool IsShape(std::string_view opcode) {
  return IsOneOf(opcode, {"reshape", "transpose", "slice", "bitcast", "broadcast", "copy"});
}
// Only a border between computations or parts of one value.
bool IsBorder(std::string_view opcode) {
  return IsOneOf(opcode, {"get-tuple-element", "tuple", "parameter", "fusion"});
}
bool IsReduction(std::string_view opcode) {
  return IsOneOf(opcode, {"reduce", "all-reduce", "reduce-scatter"});
}

bool IsHalf(hlo::ElementType type) {
  return type == hlo::ElementType::kBf16 || type == hlo::ElementType::kF16;
}
bool IsF32(const hlo::Shape& shape) { return shape.type == hlo::ElementType::kF32; }

bool IsFp8(hlo::ElementType type) {
  using Type = hlo::ElementType;
  for (const Type fp8 : {Type::kF8e5m2, Type::kF8e4m3fn, Type::kF8e4m3b11fnuz, Type::kF8e5m2fnuz,
                         Type::kF8e4m3fnuz, Type::kF8e4m3, Type::kF8e3m4}) {
    if (type == fp8) return true;
  }
  return false;
}

struct Quantized {
  uint32_t scaled = hlo::kNone;   // the division or product
  uint32_t lowered = hlo::kNone;  // the convert to FP8
};

class ScaleSearch {
 public:
  ScaleSearch(const DataFlow& flow, const hlo::ModuleSet::Entry& entry, const OpCosts& costs)
      : flow_(flow), module_(flow.module()), entry_(entry), costs_(costs) {}

  void Run(std::vector<Finding>* findings) {
    std::map<uint32_t, std::vector<uint32_t>> by_source;
    for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
      if (IsUpcast(i)) by_source[SourceOf(i)].push_back(i);
    }
    for (const auto& [source, upcasts] : by_source) {
      // One convert that feeds both is needless too, but only once.
      for (const uint32_t first : upcasts) {
        for (const uint32_t scale : ReductionsAfter(first)) {
          if (ConsiderSecond(source, first, scale, upcasts, findings)) break;
        }
      }
    }
  }

 private:
  bool IsUpcast(uint32_t instruction) const {
    const auto operands = module_.operands(instruction);
    return flow_.Opcode(instruction) == "convert" && IsF32(module_.shape_of(instruction)) &&
           !operands.empty() && IsHalf(module_.shape_of(operands[0]).type);
  }

  // What the convert's operand is, behind shapes and borders.
  uint32_t SourceOf(uint32_t upcast) const {
    FlowState at = {module_.operands(upcast)[0], {}};
    for (size_t steps = 0; steps < kMaxVisited; ++steps) {
      const std::string_view opcode = flow_.Opcode(at.instruction);
      if (!IsShape(opcode) && !IsBorder(opcode) &&
          !IsOneOf(opcode, {"dynamic-slice", "concatenate"})) {
        break;
      }
      std::vector<FlowState> before = flow_.ProducersInside(at);
      if (before.empty()) break;
      at = std::move(before[0]);
    }
    return at.instruction;
  }

  // Calls `see` for what the value of `from` reaches through ops for which `passes` holds; `see`
  // says whether to go on behind what it was shown.
  template <typename See>
  void Forward(uint32_t from, const See& see) const {
    std::deque<FlowState> queue = {{from, {}}};
    std::set<FlowState> seen = {{from, {}}};
    while (!queue.empty() && seen.size() < kMaxVisited) {
      const FlowState at = std::move(queue.front());
      queue.pop_front();
      for (FlowState& next : flow_.ConsumersInside(at)) {
        if (!seen.insert(next).second) continue;
        if (see(at.instruction, next.instruction)) queue.push_back(std::move(next));
      }
    }
  }

  std::vector<uint32_t> ReductionsAfter(uint32_t upcast) const {
    std::vector<uint32_t> found;
    Forward(upcast, [&](uint32_t /*from*/, uint32_t at) {
      const std::string_view opcode = flow_.Opcode(at);
      if (IsReduction(opcode)) {
        if (IsF32(module_.shape_of(at))) found.push_back(at);
        return false;
      }
      return IsShape(opcode) || IsBorder(opcode) || IsOneOf(opcode, {"abs", "negate", "subtract"});
    });
    return found;
  }

  // Whether `instruction` is computed from `scale` in f32 all the way.
  bool DerivesFrom(uint32_t instruction, uint32_t scale) const {
    std::deque<FlowState> queue = {{instruction, {}}};
    std::set<FlowState> seen = {{instruction, {}}};
    while (!queue.empty() && seen.size() < kMaxVisited) {
      const FlowState at = std::move(queue.front());
      queue.pop_front();
      if (at.instruction == scale) return true;
      const std::string_view opcode = flow_.Opcode(at.instruction);
      const bool carries =
          IsShape(opcode) || IsBorder(opcode) ||
          IsOneOf(opcode, {"divide", "multiply", "maximum", "minimum", "clamp", "select", "add",
                           "abs", "negate", "sqrt", "rsqrt", "power", "exponential", "log", "floor",
                           "ceil", "round-nearest-even", "round-nearest-afz"});
      if (!carries) continue;
      if (!IsBorder(opcode) && !IsF32(module_.shape_of(at.instruction))) continue;
      for (FlowState& next : flow_.ProducersInside(at)) {
        if (seen.insert(next).second) queue.push_back(std::move(next));
      }
    }
    return false;
  }

  // The convert to FP8 that the scaled value ends in.
  uint32_t LoweredTo(uint32_t scaled) const {
    uint32_t lowered = hlo::kNone;
    Forward(scaled, [&](uint32_t /*from*/, uint32_t at) {
      const std::string_view opcode = flow_.Opcode(at);
      if (opcode == "convert") {
        if (lowered == hlo::kNone && IsFp8(module_.shape_of(at).type)) lowered = at;
        return false;
      }
      return IsShape(opcode) || IsBorder(opcode) ||
             IsOneOf(opcode, {"clamp", "maximum", "minimum"});
    });
    return lowered;
  }

  Quantized QuantizedBy(uint32_t second, uint32_t scale) const {
    Quantized found;
    Forward(second, [&](uint32_t from, uint32_t at) {
      if (found.lowered != hlo::kNone) return false;
      const std::string_view opcode = flow_.Opcode(at);
      const auto operands = module_.operands(at);
      if (IsOneOf(opcode, {"divide", "multiply"}) && operands.size() == 2) {
        const bool dividend = operands[0] == from;
        if (!dividend && opcode == "divide") return false;
        if (!DerivesFrom(operands[dividend ? 1 : 0], scale)) return false;
        const uint32_t lowered = LoweredTo(at);
        if (lowered != hlo::kNone) found = {at, lowered};
        return false;
      }
      return IsShape(opcode) || IsBorder(opcode);
    });
    return found;
  }

  uint32_t CarrierOf(uint32_t instruction) const {
    const hlo::Computation& inside =
        module_.computation(module_.instruction(instruction).computation);
    return inside.is_fusion && inside.caller != hlo::kNone ? inside.caller : instruction;
  }
  const OpCost* CostOf(uint32_t carrier) const {
    return costs_.Find(entry_.program_id, module_.instruction(carrier).name);
  }
  std::string FusionName(uint32_t instruction) const {
    const uint32_t carrier = CarrierOf(instruction);
    return carrier == instruction ? "" : std::string(module_.instruction(carrier).name);
  }

  bool ConsiderSecond(uint32_t source, uint32_t first, uint32_t scale,
                      const std::vector<uint32_t>& upcasts, std::vector<Finding>* findings) const {
    for (const uint32_t second : upcasts) {
      if (second == first) continue;
      const Quantized quantized = QuantizedBy(second, scale);
      if (quantized.lowered == hlo::kNone) continue;
      Report(source, first, scale, second, quantized, findings);
      return true;
    }
    return false;
  }

  void Report(uint32_t source, uint32_t first, uint32_t scale, uint32_t second,
              const Quantized& quantized, std::vector<Finding>* findings) const {
    const OpCost* const cost = CostOf(CarrierOf(first));
    const OpCost* const other =
        CarrierOf(second) == CarrierOf(first) ? nullptr : CostOf(CarrierOf(second));
    // The profile has times, and neither of the two was seen to run.
    if (cost == nullptr && other == nullptr && !costs_.empty()) return;
    OpCost both;
    for (const OpCost* one : {cost, other}) {
      if (one == nullptr) continue;
      both.self_time_ms += one->self_time_ms;
      both.bytes += one->bytes;
      both.occurrences = std::max(both.occurrences, one->occurrences);
    }
    const auto name = [&](uint32_t instruction) {
      return Value::String(module_.instruction(instruction).name);
    };
    Value value = FindingValue(flow_, entry_, first, &both);
    value.Set("name", Value::String("by_program/" + entry_.key + "/" +
                                    std::string(module_.instruction(first).name)));
    value.Set("instruction", name(first));
    value.Set("fusion_name", Value::String(FusionName(first)));
    value.Set("quant_instruction", name(second));
    value.Set("quant_fusion_name", Value::String(FusionName(second)));
    value.Set("source", name(source));
    value.Set("scale_reduce", name(scale));
    value.Set("scaled", name(quantized.scaled));
    value.Set("lowered", name(quantized.lowered));
    value.Set(
        "recommendation",
        Value::String("Reduce in 16 bits, for the maximum of 16-bit values is one of them, and "
                      "apply the scale to the 16-bit values; only the scale itself needs f32."));
    value.Set("explanation",
              Value::String("The same values are raised to f32 for the scale and again "
                            "for the quantisation to FP8."));
    value.Set("is_low_priority", Value::Bool(false));
    findings->push_back({both.self_time_ms, both.bytes, std::move(value)});
  }

  const DataFlow& flow_;
  const hlo::HloModule& module_;
  const hlo::ModuleSet::Entry& entry_;
  const OpCosts& costs_;
};

Result<ToolResult> RunDynamicScale(const ToolQuestion& question, ToolInput& input,
                                   const CancelToken& cancel) {
  return RunDetector(
      {question, input, cancel},
      [](const DataFlow& flow, const hlo::ModuleSet::Entry& entry, const OpCosts& costs,
         std::vector<Finding>* findings) { ScaleSearch(flow, entry, costs).Run(findings); });
}

}  // namespace

ToolDescriptor MakeDetectUnnecessaryConvertDynamicScaleTool() {
  ToolDescriptor tool =
      AgentTool("detect_unnecessary_convert_dynamic_scale", "Needless f32 before FP8",
                "Which values are raised to f32 twice to be quantised to FP8?",
                {{.name = "limit",
                  .type = OptionType::kInteger,
                  .default_value = "50",
                  .description = "How many to list; 0: all."}});
  tool.cost = CostClass::kModules;
  tool.run = RunDynamicScale;
  return tool;
}

}  // namespace strobe::tools
