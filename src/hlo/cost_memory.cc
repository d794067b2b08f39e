// Costs of instructions that move bytes, or none.
#include <algorithm>

#include "src/hlo/cost_walk.h"

namespace strobe::hlo {

// Instructions that move bytes, or none.
bool CostWalk::HandleMemory(Work* work) {
  const uint32_t index = work->index;
  switch (work->instruction->opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kDomain:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
      SetNoBytes(work);
      return true;
    case Opcode::kTuple:
      work->cost->bytes_accessed = work->output_bytes;
      std::ranges::fill(work->operand_bytes, 0.0f);
      return true;
    case Opcode::kSlice:
      work->cost->bytes_accessed = static_cast<float>(Size(index) * 2);
      if (!work->operand_bytes.empty()) work->operand_bytes[0] = work->output_bytes;
      SetUtilization(index, 0,
                     static_cast<float>(static_cast<double>(ElementCount(ShapeOf(index))) /
                                        static_cast<double>(OperandElements(index, 0))));
      return true;
    case Opcode::kDynamicSlice:
      work->cost->bytes_accessed = static_cast<float>(Size(index) * 2 + OperandSize(index, 1));
      if (!work->operand_bytes.empty()) work->operand_bytes[0] = work->output_bytes;
      SetUtilization(index, 0,
                     static_cast<float>(static_cast<double>(ElementCount(ShapeOf(index))) /
                                        static_cast<double>(OperandElements(index, 0))));
      return true;
    case Opcode::kDynamicUpdateSlice: {
      const int64_t update = OperandSize(index, 1);
      work->cost->bytes_accessed = static_cast<float>(update * 2 + OperandSize(index, 2));
      work->output_bytes = static_cast<float>(update);
      if (!work->operand_bytes.empty()) work->operand_bytes[0] = 0;
      const auto whole = static_cast<double>(ElementCount(ShapeOf(index)));
      SetUtilization(
          index, 0,
          static_cast<float>((whole - static_cast<double>(OperandElements(index, 1))) / whole));
      return true;
    }
    case Opcode::kInfeed: {
      int64_t size = 0;
      ForEachLeaf(ShapeOf(index), [&](const Shape& leaf) { size += CostSizeBytes(leaf); });
      work->output_bytes = work->cost->bytes_accessed = static_cast<float>(size);
      work->tuple_written = size;
      return true;
    }
    case Opcode::kOutfeed: {
      float bytes = 0;
      const auto operands = module_.operands(index);
      for (size_t i = 0; i < operands.size(); ++i) {
        int64_t size = 0;
        ForEachLeaf(ShapeOf(operands[i]), [&](const Shape& leaf) { size += CostSizeBytes(leaf); });
        work->operand_bytes[i] = static_cast<float>(size);
        work->tuple_read[i] = size;
        bytes += static_cast<float>(size);
      }
      work->cost->bytes_accessed = bytes;
      return true;
    }
    case Opcode::kGather:
      HandleGather(work, index);
      return true;
    case Opcode::kScatter:
      HandleScatter(work, index);
      return true;
    default:
      return false;
  }
}

void CostWalk::HandleGather(Work* work, uint32_t gather) const {
  const int64_t output = Size(gather);
  const int64_t indices = OperandSize(gather, 1);
  work->cost->bytes_accessed = static_cast<float>(output * 2 + indices);
  work->output_bytes = static_cast<float>(output);
  if (work->operand_bytes.size() > 1) {
    work->operand_bytes[0] = static_cast<float>(output);
    work->operand_bytes[1] = static_cast<float>(indices);
  }
}

void CostWalk::HandleScatter(Work* work, uint32_t scatter) {
  const size_t count = module_.operands(scatter).size() / 2;
  int64_t updates = 0;
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = OperandSize(scatter, count + 1 + i);
    updates += size;
    if (count + 1 + i >= work->operand_bytes.size()) continue;
    work->operand_bytes[i] = work->operand_bytes[count + 1 + i] = static_cast<float>(size);
  }
  work->cost->bytes_accessed = static_cast<float>(updates * 3 + OperandSize(scatter, count));
  work->output_bytes = static_cast<float>(updates);
  const auto elements = static_cast<float>(OperandElements(scatter, count + 1));
  const Sums applied = SumsOfCall(scatter, 0);
  work->cost->flops = applied.flops * elements;
  work->cost->transcendentals = applied.transcendentals * elements;
}

}  // namespace strobe::hlo
