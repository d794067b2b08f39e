// The walk over a module that works out costs, shared by the files that handle its kinds of
// instructions. Users of costs include cost.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/hlo/cost.h"
#include "src/hlo/message.h"

namespace strobe::hlo {

// What the estimates take as the size of a value: no tiles; a tuple is its table of pointers.
int64_t CostSizeBytes(const Shape& shape);

inline bool InMainMemory(const Shape& shape) {
  return shape.has_layout && shape.layout.memory_space == 0;
}

template <typename Visit>
void ForEachLeaf(const Shape& shape, Visit visit) {
  if (!shape.is_tuple()) return visit(shape);
  for (const Shape& element : shape.elements) ForEachLeaf(element, visit);
}

// Sums over a computation, to be taken over by what calls it.
struct Sums {
  float flops = 0;
  float transcendentals = 0;
  float bytes = 0;
};

class CostWalk {
 public:
  CostWalk(const HloModule& module, CostModel model)
      : module_(module),
        gpu_(model == CostModel::kGpu),
        sums_(module.computations().size()),
        utilization_(module.instructions().size(), 0) {
    cost_.instructions.resize(module.instructions().size());
  }

  ModuleCost Run();

 private:
  // How much of each operand is used, and the bytes of each, while an instruction is worked on.
  struct Work {
    uint32_t index;
    const Instruction* instruction;
    InstructionCost* cost;
    std::vector<float> operand_bytes;
    float output_bytes = 0;
    // Set when the parts of a tuple are known by themselves.
    std::optional<int64_t> tuple_written;
    std::vector<std::optional<int64_t>> tuple_read;
  };

  Sums Computation(uint32_t computation);
  void Visit(uint32_t index);
  void Start(Work* work) const;
  void Handle(Work* work);
  bool HandleMemory(Work* work);
  bool HandleArithmetic(Work* work);
  void HandleCalls(Work* work);
  void HandleFusion(Work* work);
  void HandleCustomCall(Work* work);
  void HandleReduce(Work* work);
  void HandleReduceWindow(Work* work);
  void HandleSelectAndScatter(Work* work);
  void HandleGather(Work* work, uint32_t gather) const;
  void HandleScatter(Work* work, uint32_t scatter);
  void HandleAllReduce(Work* work) const;
  void HandleConcatenate(Work* work) const;
  void Finish(Work* work) const;
  void FusionOutputs(Work* work, uint32_t root);
  void FusionUtilizations(Work* work, uint32_t computation);
  void FusionParameters(Work* work, uint32_t computation);
  float ParameterReadBytes(uint32_t parameter, int depth) const;
  int64_t GenericParameterReadBytes(uint32_t parameter, int depth) const;

  const Shape& ShapeOf(uint32_t index) const { return module_.shape_of(index); }
  int64_t Size(uint32_t index) const { return CostSizeBytes(ShapeOf(index)); }
  int64_t OperandSize(uint32_t index, size_t operand) const {
    const auto operands = module_.operands(index);
    return operand < operands.size() ? Size(operands[operand]) : 0;
  }
  int64_t OperandElements(uint32_t index, size_t operand) const {
    const auto operands = module_.operands(index);
    return operand < operands.size() ? ElementCount(ShapeOf(operands[operand])) : 0;
  }
  // Of the first part when it is a tuple.
  const Shape& FirstShape(const Shape& shape) const {
    return shape.is_tuple() && !shape.elements.empty() ? shape.elements[0] : shape;
  }
  uint32_t Called(uint32_t index, size_t which) const {
    const auto calls = module_.calls(index);
    return which < calls.size() ? calls[which] : kNone;
  }
  Sums SumsOfCall(uint32_t index, size_t which) {
    const uint32_t computation = Called(index, which);
    return computation == kNone ? Sums() : Computation(computation);
  }
  static void SetNoBytes(Work* work) {
    work->cost->bytes_accessed = 0;
    work->output_bytes = 0;
    std::ranges::fill(work->operand_bytes, 0.0f);
  }
  void SetUtilization(uint32_t index, size_t operand, float share) {
    auto& shares = shares_[index];
    shares.resize(module_.operands(index).size(), 1.0f);
    if (operand < shares.size()) shares[operand] = share;
  }
  float UtilizationOf(uint32_t index, size_t operand) const {
    const auto found = shares_.find(index);
    return found == shares_.end() ? 1.0f : found->second[operand];
  }
  bool IsCompatible(uint32_t index) const;

  const HloModule& module_;
  const bool gpu_;
  ModuleCost cost_;
  std::vector<std::optional<Sums>> sums_;
  std::vector<float> utilization_;                           // of instructions of fusions
  std::unordered_map<uint32_t, std::vector<float>> shares_;  // of operands, where not all 1
  int depth_ = 0;
};

}  // namespace strobe::hlo
