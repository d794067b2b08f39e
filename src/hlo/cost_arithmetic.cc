// Costs of instructions whose operations follow from their shapes.
#include <algorithm>
#include <bit>

#include "src/hlo/category.h"
#include "src/hlo/cost_walk.h"

namespace strobe::hlo {
namespace {

// Fields of an instruction.
constexpr uint32_t kDimensions = 14, kDot = 30, kFftLength = 32;

bool IsTranscendental(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtanh:
    case Opcode::kCosh:
    case Opcode::kSinh:
    case Opcode::kErf:
    case Opcode::kTan:
    case Opcode::kExp:
    case Opcode::kLog:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kSqrt:
    case Opcode::kCbrt:
    case Opcode::kRsqrt:
    case Opcode::kTanh:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kExpm1:
    case Opcode::kLog1p:
    case Opcode::kAtan2:
      return true;
    default:
      return false;
  }
}

int64_t CeilingLog2(int64_t value) {
  return value <= 1 ? 0 : std::bit_width(static_cast<uint64_t>(value - 1));
}

}  // namespace

// Instructions whose operations follow from their shapes.
bool CostWalk::HandleArithmetic(Work* work) {
  const uint32_t index = work->index;
  const Instruction& instruction = *work->instruction;
  InstructionCost& cost = *work->cost;
  const Message record(instruction.record);
  switch (instruction.opcode) {
    case Opcode::kDot:
      cost.flops =
          static_cast<float>(module_.operands(index).empty()
                                 ? 0
                                 : DotFlops(ShapeOf(module_.operands(index)[0]), ShapeOf(index),
                                            Message(record.Bytes(kDot)).Ints(1)));
      return true;
    case Opcode::kConvolution:
      cost.flops = static_cast<float>(ConvolutionFlops(module_, index, ShapeOf(index)));
      return true;
    case Opcode::kFft: {
      int64_t factors = 1;
      for (const int64_t length : record.Ints(kFftLength)) {
        factors *= length < 1 ? 0 : std::bit_width(static_cast<uint64_t>(length)) - 1;
      }
      cost.flops = static_cast<float>(8 * factors * OperandElements(index, 0));
      return true;
    }
    case Opcode::kTriangularSolve:
    case Opcode::kCholesky: {
      if (module_.operands(index).empty()) return true;
      const Shape& a = ShapeOf(module_.operands(index)[0]);
      const int64_t n = a.dimensions.empty() ? 0 : a.dimensions.back();
      const float half = static_cast<float>(CostSizeBytes(a)) / 2.0f;
      if (instruction.opcode == Opcode::kCholesky) {
        cost.bytes_accessed = half + half;
        cost.flops = static_cast<float>(n * ElementCount(a) / 3);
        return true;
      }
      cost.bytes_accessed = work->output_bytes + half + static_cast<float>(OperandSize(index, 1));
      cost.flops = static_cast<float>(2 * n * OperandElements(index, 1));
      return true;
    }
    case Opcode::kSort: {
      const int64_t elements = OperandElements(index, 0);
      cost.flops = static_cast<float>(elements * CeilingLog2(elements));
      return true;
    }
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
      cost.transcendentals = static_cast<float>(ElementCountRecursive(ShapeOf(index)));
      return true;
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      HandleAllReduce(work);
      return true;
    case Opcode::kConcatenate:
      if (gpu_) HandleConcatenate(work);
      return true;
    case Opcode::kConstant:
    case Opcode::kMap:
    case Opcode::kFusion:
    case Opcode::kCopy:
      return instruction.opcode == Opcode::kCopy;
    default:
      break;
  }
  if (!IsElementwise(module_, index)) return false;
  const Shape& shape = ShapeOf(index);
  if (gpu_) {
    cost.flops = static_cast<float>(CyclesPerElement(instruction.opcode, shape.type) *
                                    ElementCountRecursive(shape));
  } else if (IsTranscendental(instruction.opcode)) {
    cost.transcendentals = static_cast<float>(ElementCount(shape));
  } else {
    cost.flops = static_cast<float>(ElementCount(shape));
  }
  return true;
}

void CostWalk::HandleAllReduce(Work* work) const {
  const Shape& shape = ShapeOf(work->index);
  int64_t output = 0;
  int64_t elements = 0;
  ForEachLeaf(shape, [&](const Shape& leaf) {
    if (!leaf.is_array()) return;
    output += CostSizeBytes(leaf);
    elements += ElementCount(leaf);
  });
  int64_t bytes = output;
  for (const uint32_t operand : module_.operands(work->index)) bytes += Size(operand);
  work->output_bytes = static_cast<float>(output);
  work->cost->bytes_accessed = static_cast<float>(bytes);
  if (!gpu_) {
    work->cost->flops = static_cast<float>(elements);
    return;
  }
  const uint32_t reducer = Called(work->index, 0);
  const Opcode opcode = reducer == kNone || module_.computation(reducer).root == kNone
                            ? Opcode::kUnknown
                            : module_.instruction(module_.computation(reducer).root).opcode;
  work->cost->flops = static_cast<float>(CyclesPerElement(opcode, shape.type) * elements);
}

void CostWalk::HandleConcatenate(Work* work) const {
  const std::vector<int64_t> dimensions = Message(work->instruction->record).Ints(kDimensions);
  const int64_t dimension = dimensions.empty() ? 0 : dimensions[0];
  // A comparison and a branch an element; where a warp straddles operands it runs both branches,
  // for which this stands.
  constexpr int64_t kBranch = 6, kDivergent = 400, kWarp = 32;
  int64_t cycles = kBranch;
  if (dimension > 0) {
    for (const uint32_t operand : module_.operands(work->index)) {
      const Shape& shape = ShapeOf(operand);
      if (static_cast<size_t>(dimension) < shape.dimensions.size() &&
          shape.dimensions[static_cast<size_t>(dimension)] % kWarp != 0) {
        cycles = kDivergent;
      }
    }
  }
  work->cost->flops = static_cast<float>(cycles * ElementCountRecursive(ShapeOf(work->index)));
}

}  // namespace strobe::hlo
