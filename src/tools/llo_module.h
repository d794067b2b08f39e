// The compiler's schedule of one TPU kernel (LLO), as profiles carry it in the stat `llo_proto`.
//
//   STROBE_ASSIGN_OR_RETURN(const LloModule module, LloModule::Parse(stat.text));
//   for (const LloInstruction& instruction : module.instructions) Use(module.regions[...]);
//
// Regions are nested: blocks, loops (pre-header, header, body, footer, exit) and predicated parts
// (check, branch, part, fall-through). An instruction issues in a bundle; units are counted by
// bundle as the compiler modelled them. That is a plan: nothing of it was measured.
//
// Field numbers are those of the files in the corpus (jax 0.12, v5e and v6e) and of XProf's public
// schema. Texts are views: the bytes must live as long as the module. Cost: one pass over the
// bytes, about 30 ns an instruction. Limits: kMaxLlo*. Errors: LLO_DAMAGED, LLO_LIMIT.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/tools/llo_opcodes.h"

namespace strobe::tools {

inline constexpr int kMaxLloDepth = 64;
// The largest kernels seen have some 20,000; a record of 48 bytes each.
inline constexpr size_t kMaxLloInstructions = 4'000'000;
inline constexpr size_t kMaxLloRegions = 1'000'000;
// Operands, texts, allocations, frames and ordinals of sources, taken together.
inline constexpr size_t kMaxLloItems = 32'000'000;

struct LloInstruction {
  int32_t ordinal = 0;
  uint32_t opcode = 0;
  int32_t bundle = 0;  // -1: not scheduled
  int32_t register_id = 0;
  uint32_t region = 0;         // index into regions
  uint32_t first_operand = 0;  // into operands: ordinals of the instructions that make them
  uint32_t operand_count = 0;
  int32_t annotation = -1;     // into strings
  int32_t packer = -1;         // into packer_infos
  uint32_t register_type = 0;  // 0: makes no value
  uint32_t pseudo_kind = 0;    // 0: a real instruction
};

// The earliest bundle that each kind of dependence allowed, where it went, and how far it was
// moved.
struct LloPackerInfo {
  int32_t earliest = 0;  // operands aside
  int32_t operand_latency = 0;
  int32_t fifo = 0;
  int32_t register_dependence = 0;
  int32_t architecture_register = 0;
  int32_t source_bus = 0;
  int32_t safe_hoist = 0;
  int32_t final_bundle = 0;
  int32_t hoist_distance = 0;
  int32_t hoist_distance_before = 0;
};

struct LloAllocation {
  int64_t ordinal = 0;
  int64_t size_bytes = 0;
  int64_t space = 0;
  bool is_spill = false;
  bool is_scoped = false;
  bool is_virtual = false;
  bool is_remote = false;
};

struct LloBounds {
  bool known = false;
  int64_t x = 0;
  int64_t y = 0;
  int64_t z = 0;
};

// What the program was compiled for.
struct LloTarget {
  int64_t replica_count = 0;
  int64_t reserved_hbm_bytes = 0;
  std::string_view chip_config;
  std::string_view variant;
  int64_t platform_type = 0;
  bool enhanced_barrier = false;
  LloBounds chips_per_host;
  LloBounds hosts;
};

struct LloFrame {
  std::string_view path;
  std::string_view function;
  int64_t line = 0;
};

// A place of the source and the instructions that came of it.
struct LloSource {
  std::vector<LloFrame> frames;  // outermost first
  std::string_view primitive;
  std::vector<std::string_view> scopes;
  std::vector<int32_t> ordinals;
};

struct LloRegion {
  std::string_view name;  // its own, or "body", "sub_region" ...
  std::string_view step;  // of a path: its own name, or region, loop, predicated
  std::string_view kind;  // region, sub_region, loop, predicated_region
  int64_t ordinal = 0;
  int64_t start_bundle = 0;
  int64_t limit_bundle = 0;
  int64_t instruction_count = 0;  // its own, without regions inside
  uint32_t parent = UINT32_MAX;
  uint32_t depth = 0;
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
  std::vector<int32_t> operands;
  std::vector<LloPackerInfo> packer_infos;
  std::vector<LloAllocation> allocations;
  std::vector<std::string_view> strings;
  std::optional<LloTarget> target;
  std::vector<LloSource> sources;
};

// "top/region/loop/body" as XProf writes it; empty for UINT32_MAX.
std::string LloRegionPath(const LloModule& module, uint32_t region);
// For each bundle, which must ascend, the deepest region that holds it; UINT32_MAX where none does.
std::vector<uint32_t> LloRegionsOf(const LloModule& module, const std::vector<int64_t>& bundles);

}  // namespace strobe::tools
