#include "src/hlo/category.h"

#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

constexpr uint32_t kFusionKind = 11;
constexpr uint32_t kWindow = 15;
constexpr uint32_t kWindowDilation = 5;
constexpr uint32_t kBaseDilation = 6;
// Real modules nest fusions 3 deep; a circle in a damaged module ends here.
constexpr int kMaxFusionDepth = 16;

bool IsElementwiseOpcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtanh:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kCeil:
    case Opcode::kClz:
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
    case Opcode::kCopy:
    case Opcode::kCos:
    case Opcode::kCosh:
    case Opcode::kErf:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kNot:
    case Opcode::kNegate:
    case Opcode::kPopulationCount:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRsqrt:
    case Opcode::kSign:
    case Opcode::kSin:
    case Opcode::kSinh:
    case Opcode::kSqrt:
    case Opcode::kCbrt:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kAdd:
    case Opcode::kAtan2:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kDivide:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kPower:
    case Opcode::kRemainder:
    case Opcode::kSubtract:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kStochasticConvert:
    case Opcode::kSelect:
    case Opcode::kClamp:
    // They have no operands that could differ.
    case Opcode::kConstant:
    case Opcode::kRng:
    case Opcode::kMap:
      return true;
    default:
      return false;
  }
}

bool IsElementwiseAt(const HloModule& module, uint32_t index, int depth) {
  const Instruction& instruction = module.instruction(index);
  if (instruction.opcode == Opcode::kBitcastConvert) {
    // Elements of another width are other elements.
    const auto operands = module.operands(index);
    return operands.empty() || ElementBits(module.shape_of(index).type) ==
                                   ElementBits(module.shape_of(operands[0]).type);
  }
  if (instruction.opcode != Opcode::kFusion) return IsElementwiseOpcode(instruction.opcode);
  const auto calls = module.calls(index);
  if (calls.empty() || depth == 0) return false;
  const Range inside = module.computation(calls[0]).instructions;
  for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
    if (module.instruction(i).opcode != Opcode::kParameter &&
        !IsElementwiseAt(module, i, depth - 1)) {
      return false;
    }
  }
  return true;
}

std::string FusionCategory(const Instruction& instruction) {
  const std::string_view kind = Message(instruction.record).Bytes(kFusionKind);
  if (kind == "kLoop") return "loop fusion";
  if (kind == "kInput") return "input fusion";
  if (kind == "kOutput") return "output fusion";
  return "custom fusion";
}

std::string ConvolutionCategory(const Instruction& instruction) {
  std::string category = "convolution";
  const Message window(Message(instruction.record).Bytes(kWindow));
  bool base = false;
  bool dilated = false;
  for (const std::string_view bytes : window.All(1)) {
    const Message dimension(bytes);
    base |= dimension.Int(kBaseDilation) != 1;
    dilated |= dimension.Int(kWindowDilation) != 1;
  }
  if (base) category += " base-dilated";
  if (dilated) category += " window-dilated";
  return category;
}

}  // namespace

bool IsElementwise(const HloModule& module, uint32_t instruction) {
  return IsElementwiseAt(module, instruction, kMaxFusionDepth);
}

std::string HloCategoryOf(const HloModule& module, uint32_t index) {
  const Instruction& instruction = module.instruction(index);
  switch (instruction.opcode) {
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kDynamicReshape:
      return "data formatting";
    case Opcode::kFusion:
      return FusionCategory(instruction);
    case Opcode::kConvolution:
      return ConvolutionCategory(instruction);
    default:
      break;
  }
  if (IsElementwise(module, index)) return "non-fusion elementwise";
  return std::string(instruction.opcode_text);
}

}  // namespace strobe::hlo
