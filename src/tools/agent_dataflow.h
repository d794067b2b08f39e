// Where a value of an HLO module comes from and where it goes, across the borders of computations.
//
//   const DataFlow flow(module);
//   for (const FlowState& user : flow.Consumers({instruction, {}})) ...
//   const auto stages = flow.StagesBefore(copy);       // what computed it, with distances
//
// A state is an instruction and the part of its (tuple) result that is meant. Steps lead through
// parameters to the operands of callers, through get-tuple-elements and tuples by their index,
// through calls, conditionals and whiles (their initial value and their body's result) and back.
// The inside of a fusion is not entered: a fusion is one step. Cost: linear in what is visited.
// Limits: kMaxStageDistance steps, kMaxStates states.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/hlo/hlo_module.h"

namespace strobe::tools {

inline constexpr int kMaxStageDistance = 5;
inline constexpr size_t kMaxStates = 50'000;

struct FlowState {
  uint32_t instruction = 0;
  std::vector<int64_t> index;
  friend auto operator<=>(const FlowState&, const FlowState&) = default;
};

struct Stage {
  uint32_t instruction = 0;
  int distance = 0;
};

class DataFlow {
 public:
  explicit DataFlow(const hlo::HloModule& module);

  std::vector<FlowState> Producers(const FlowState& state) const;
  std::vector<FlowState> Consumers(const FlowState& state) const;
  // As those, but a fusion is entered: what its root takes, and what its parameters feed.
  std::vector<FlowState> ProducersInside(const FlowState& state) const;
  std::vector<FlowState> ConsumersInside(const FlowState& state) const;
  // The nearest instructions that compute: convolutions, products, reductions, collectives, sorts,
  // fusions around such, custom calls but those known to move or mark data. Before an instruction
  // also constants and parameters of the program.
  std::vector<Stage> StagesBefore(uint32_t instruction) const;
  std::vector<Stage> StagesAfter(uint32_t instruction) const;
  bool Computes(uint32_t instruction) const;
  bool InsideFusion(uint32_t instruction) const;

  const hlo::HloModule& module() const { return module_; }
  std::string_view Opcode(uint32_t instruction) const {
    return module_.instruction(instruction).opcode_text;
  }

 private:
  uint32_t BodyOf(uint32_t while_instruction) const;
  uint32_t ParameterOf(uint32_t computation, int64_t number) const;
  bool ComputesByName(uint32_t instruction, int depth) const;
  std::vector<Stage> Search(uint32_t instruction, bool before) const;

  const hlo::HloModule& module_;
  std::vector<std::vector<uint32_t>> callers_;  // by computation
};

// Whether a custom call of this target computes; unknown ones do.
bool CustomCallComputes(std::string_view target);
std::string_view CustomCallTarget(const hlo::HloModule& module, uint32_t instruction);

}  // namespace strobe::tools
