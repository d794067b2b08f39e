// The orders in which HLO text lists things: operands before users, callees before callers.
//
//   for (const uint32_t computation : ComputationPostOrder(module))
//     for (const uint32_t i : PrintOrder(module, computation)) Print(i);
//
// Equal to the compiler's own orders, so that texts are equal. Cost: linear in instructions and
// links; no recursion, circles in a damaged module end.
#pragma once

#include <cstdint>
#include <vector>

#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

// Every computation once, callees first.
std::vector<uint32_t> ComputationPostOrder(const HloModule& module);
// Every instruction of a computation, operands and control predecessors first.
std::vector<uint32_t> InstructionPostOrder(const HloModule& module, uint32_t computation);
// The schedule when there is one, else the post order.
std::vector<uint32_t> PrintOrder(const HloModule& module, uint32_t computation);

}  // namespace strobe::hlo
