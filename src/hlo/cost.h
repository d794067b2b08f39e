// What each instruction of a module costs: operations, transcendental functions, bytes read and
// written, estimated from shapes alone.
//
//   const ModuleCost cost = CostOf(module, CostModel::kGpu);
//   const InstructionCost& dot = cost.instructions[module.FindInstruction("dot.3")];
//   // dot.flops, dot.bytes_accessed
//
// Two models. kGeneric counts one operation an element and keeps transcendental functions apart;
// kGpu counts the clock cycles that a GPU takes an element and follows through fusions how much of
// each operand is used. Both are XLA's estimates, with its arithmetic (sums in 32-bit floats), so
// that numbers equal those that XProf derives from the same module. A fusion costs what is inside,
// its bytes are those of its parameters and results; a while counts one iteration, a conditional
// its dearest branch. What a custom call does is unknown (`known` false) unless it is a matrix
// product or convolution of a known library.
//
// Cost: about 0.3 us an instruction; 40 B each. Limits: calls nest up to kMaxCallDepth, beyond that
// what is inside counts nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

enum class CostModel : uint8_t { kGeneric, kGpu };

struct InstructionCost {
  float flops = 0;            // of the model: as many as the computation asks for
  float device_flops = 0;     // 8-bit operands halve them, 4-bit quarter: such units are faster
  float transcendentals = 0;  // kGeneric only
  float bytes_accessed = 0;
  // Parts of it in main memory. They need not add up: what is aliased or unknown is in neither.
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  bool known = true;     // false: a custom call nobody knows
  bool visited = false;  // false: cannot be reached from the entry
};

struct ModuleCost {
  std::vector<InstructionCost> instructions;  // by index
  // The compiler library that the reference is built with cannot read the settings of a library
  // call in this module and therefore gives no cost for any of it; ours does.
  bool reference_fails = false;
};

inline constexpr int kMaxCallDepth = 64;

ModuleCost CostOf(const HloModule& module, CostModel model);

// Clock cycles an element of an elementwise operation on a GPU.
int64_t CyclesPerElement(Opcode opcode, ElementType type);
// Multiply-adds count two.
int64_t DotFlops(const Shape& left, const Shape& result,
                 const std::vector<int64_t>& contracting_dimensions);
// Of a convolution, or a library call that is one.
int64_t ConvolutionFlops(const HloModule& module, uint32_t instruction, const Shape& result);

}  // namespace strobe::hlo
