// The compiler's schedule of one TPU kernel (LLO), as profiles carry it in the stat `llo_proto`.
//
//   STROBE_ASSIGN_OR_RETURN(const LloModule module, LloModule::Parse(stat.text));
//   for (const LloInstruction& instruction : module.instructions) Use(module.regions[...]);
//
// Regions are nested: blocks, loops (pre-header, header, body, footer, exit) and predicated parts
// (check, branch, part, fall-through). An instruction issues in a bundle; units are counted by
// bundle as the compiler modelled them. That is a plan: nothing of it was measured.
//
// Field numbers are those of the files in the corpus (jax 0.12, v5e and v6e). Cost: one pass over
// the bytes, about 20 ns an instruction. Limits: kMaxLloDepth, kMaxLloInstructions. Errors:
// LLO_DAMAGED, LLO_LIMIT.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe::tools {

inline constexpr int kMaxLloDepth = 64;
inline constexpr size_t kMaxLloInstructions = 20'000'000;

struct LloInstruction {
  uint32_t opcode = 0;
  int32_t bundle = -1;  // -1: not scheduled
  uint32_t register_id = 0;
  uint32_t region = 0;  // index into regions
};

struct LloRegion {
  std::string_view name;  // "body", "sub_region" ...
  std::string_view kind;  // region, sub_region, loop, predicated_region
  int64_t ordinal = 0;
  int64_t start_bundle = 0;
  int64_t limit_bundle = 0;
  int64_t instruction_count = 0;  // its own, without regions inside
  uint32_t parent = UINT32_MAX;
  std::vector<uint32_t> children;
  bool control = false;  // decides whether and how often its neighbours run
};

struct LloUnit {
  std::string_view name;
  std::vector<uint8_t> used;  // by bundle
  int64_t available = 0;
};

struct LloModule {
  static Result<LloModule> Parse(std::string_view bytes);

  std::string hlo_instruction_name;
  std::string hlo_module_name;
  int64_t hlo_module_id = 0;
  std::vector<LloRegion> regions;  // 0 is the top
  std::vector<LloInstruction> instructions;
  std::array<LloUnit, 7>
      units;                    // mxu, xlu, vector_alu, vector_eup, vector_load, _store, scalar_alu
  std::vector<uint8_t> spills;  // by bundle
  std::vector<uint8_t> fills;
};

// "OPCODE_VECTOR_LOAD"; "OPCODE_<number>" for one that has no known name.
std::string LloOpcodeName(uint32_t opcode);
// vector, load_store, matrix, crosslane, scalar, predicate, control, dma, other.
std::string_view LloCategory(std::string_view opcode_name);
// DMA, SYNC, XLU, MXU, LOAD_STORE, VALU, SALU, OTHER, as XProf sorts them.
std::string_view LloUnitOf(std::string_view opcode_name);

}  // namespace strobe::tools
