// What the numbers of LLO instructions are called, and which part of a TPU core executes them.
//
//   LloOpcodeName(50)      "OPCODE_VECTOR_LOAD"
//   LloCategory(50)        "load_store"
//   LloUnitOf(50)          "LOAD_STORE"
//
// Numbers, names and their places are those that XProf 2.24.2 answers for modules made of each of
// them. A number that it does not know is "OPCODE_UNKNOWN_<number>", category other, unit OTHER.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strobe::tools {

std::string LloOpcodeName(uint32_t opcode);
// vector, load_store, matrix, crosslane, scalar, predicate, control, dma, other.
std::string_view LloCategory(uint32_t opcode);
// DMA, SYNC, XLU, MXU, LOAD_STORE, VALU, SALU, SPARSE_CORE, OTHER.
std::string_view LloUnitOf(uint32_t opcode);

}  // namespace strobe::tools
