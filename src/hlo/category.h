// The category of an instruction, as profiles name it: "loop fusion", "convolution", "copy-done".
//
//   HloCategoryOf(module, i)     // "non-fusion elementwise"
//
// Equal to the compiler's own word for it. Cost: the instruction's record for fusions and
// convolutions, else nothing.
#pragma once

#include <cstdint>
#include <string>

#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

std::string HloCategoryOf(const HloModule& module, uint32_t instruction);

// Computes each element of its result from the same element of its operands. For fusions: all
// instructions inside do; maps: as if they had all dimensions.
bool IsElementwise(const HloModule& module, uint32_t instruction);

}  // namespace strobe::hlo
