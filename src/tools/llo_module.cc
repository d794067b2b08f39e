#include "src/tools/llo_module.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/wire/wire_reader.h"

namespace strobe::tools {
namespace {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

struct OpcodeName {
  uint32_t number;
  std::string_view name;
};
// Those that occur in the modules of the corpus, by number.
constexpr OpcodeName kOpcodes[] = {
    {4, "VECTOR_SET_IAR_RAW"},
    {9, "SCHEDULING_BARRIER"},
    {10, "SCALAR_TO_VECTOR"},
    {11, "VECTOR_TO_SCALAR_PUSH"},
    {14, "SCALAR_V2_SPOP"},
    {16, "SYNC_FLAG_TO_SFRF_PUSH"},
    {18, "SFRF_POP"},
    {20, "SCALAR_FENCE"},
    {40, "SCALAR_HALT_ON_ERROR"},
    {46, "PARAMETER_ADDRESS"},
    {47, "INT_TO_PTR"},
    {50, "VECTOR_LOAD"},
    {57, "VECTOR_PERMUTE"},
    {60, "VECTOR_COMBINE_LOW"},
    {61, "VECTOR_ROTATE"},
    {62, "VECTOR_BROADCAST_LANE"},
    {63, "VECTOR_PRNG"},
    {64, "VECTOR_SET_RNG_SEED"},
    {66, "VECTOR_STORE"},
    {142, "VECTOR_MULTI_SUBLANE_ROTATE_TZ"},
    {144, "SCALAR_LOAD"},
    {145, "SCALAR_STORE"},
    {146, "VECTOR_SYNC_FLAG_ADD"},
    {147, "VECTOR_SYNC_FLAG_ADD_REMOTE"},
    {151, "VECTOR_SYNC_FLAG_SET_DONE"},
    {154, "VECTOR_SYNC_FLAG_PUBLIC_ACCESS_SET"},
    {155, "VECTOR_SET_TRACEMARK"},
    {156, "VECTOR_TRACE"},
    {158, "SCALAR_ADDRESS_CALCULATION"},
    {159, "SCALAR_BRANCH_REL"},
    {161, "SCALAR_SELECT"},
    {162, "VECTOR_SELECT"},
    {164, "VECTOR_SET_PERMUTE_PATTERN"},
    {168, "VECTOR_LATCH"},
    {170, "VECTOR_LATCH1"},
    {172, "VECTOR_LATCH2"},
    {178, "VECTOR_MATPREP_SUBR"},
    {181, "VECTOR_MATPREP_MUBR"},
    {186, "VECTOR_MATMUL_MUBR"},
    {193, "VECTOR_MATMUL_PACKED"},
    {196, "VECTOR_TRANSPOSE"},
    {209, "DMA_GENERAL"},
    {211, "DMA_HBM_TO_VMEM"},
    {216, "DMA_HBM_TO_SMEM"},
    {220, "DMA_VMEM_TO_HBM"},
    {248, "DMA_DONE_WAIT"},
    {259, "PREDICATE_NEGATE"},
    {261, "PREDICATE_NAND"},
    {262, "PREDICATE_OR"},
    {263, "PREDICATE_PHI"},
    {264, "SCALAR_PHI"},
    {266, "VECTOR_MASK_PHI"},
    {268, "INLINED_CALL"},
    {270, "INLINED_CALL_OPERAND"},
    {290, "VECTOR_LANE_SEQUENCE"},
    {295, "VECTOR_UNPACK"},
    {320, "VECTOR_ADD_S32"},
    {321, "VECTOR_ADD_F32"},
    {326, "VECTOR_SUBTRACT_S32"},
    {327, "VECTOR_SUBTRACT_F32"},
    {331, "VECTOR_PACK"},
    {333, "VECTOR_TANH_F32"},
    {334, "VECTOR_POW2_F32"},
    {335, "VECTOR_RECIPROCAL_F32"},
    {371, "VECTOR_EUP_RESULT"},
    {373, "VECTOR_PERMUTE_RESULT"},
    {375, "VECTOR_MATRES"},
    {378, "VECTOR_TRANSPOSE_RESULT"},
    {382, "VECTOR_MULTIPLY_F32"},
    {383, "VECTOR_MULTIPLY_U32"},
    {386, "VECTOR_AND_U32"},
    {388, "VECTOR_OR_U32"},
    {389, "VECTOR_XOR_U32"},
    {397, "VECTOR_COMPARE"},
    {401, "SCALAR_COMPARE"},
    {405, "SCALAR_MULTIPLY_U32"},
    {408, "SCALAR_ADD_S32"},
    {409, "SCALAR_SUBTRACT_S32"},
    {411, "SCALAR_BITWISE_AND"},
    {412, "SCALAR_BITWISE_OR"},
    {413, "SCALAR_BITWISE_XOR"},
    {417, "SCALAR_MOVE"},
    {418, "RELOCATABLE_CONSTANT"},
    {423, "VECTOR_MOVE"},
    {429, "VECTOR_WAIT_GE"},
    {442, "VECTOR_MASK_OR"},
    {446, "VECTOR_MASK_MOVE"},
    {447, "VECTOR_SHIFT_RIGHT_LOGICAL"},
    {449, "VECTOR_SHIFT_LEFT_LOGICAL"},
    {450, "VECTOR_MAXIMUM_F32"},
    {456, "SCALAR_SHRL"},
    {457, "SCALAR_SHRA"},
    {458, "SCALAR_SHLL"},
};

constexpr std::array<std::string_view, 7> kLoopParts = {
    "pre_header", "header", "header_branch", "body", "footer", "footer_branch", "exit"};
constexpr std::array<std::string_view, 4> kPredicatedParts = {
    "check_region", "check_branch_region", "predicated_region", "fallthru_region"};
constexpr std::array<std::string_view, 7> kUnits = {
    "mxu", "xlu", "vector_alu", "vector_eup", "vector_load", "vector_store", "scalar_alu"};

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(LloModule* module) : module_(*module) {}

  Status Module(std::string_view bytes) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      const bool message = field.type == WireType::kBytes;
      if (field.number == 1 && message) module_.hlo_instruction_name = std::string(field.bytes);
      if (field.number == 2 && message) {
        const uint32_t top = Add("top", "region", UINT32_MAX);
        STROBE_RETURN_IF_ERROR(Region(field.bytes, top, 0));
      }
      if (field.number == 6 && message) STROBE_RETURN_IF_ERROR(Utilization(field.bytes));
      if (field.number == 10 && message) module_.hlo_module_name = std::string(field.bytes);
      if (field.number == 11) module_.hlo_module_id = field.signed_value();
    }
    return Check(reader);
  }

 private:
  static Status Check(const WireReader& reader) {
    if (reader.error() == wire::WireError::kNone) return OkStatus();
    return DataLossError("LLO_DAMAGED", "The LLO module ends early or makes no sense.")
        .Hint("Capture again; the profile is damaged.");
  }

  uint32_t Add(std::string_view name, std::string_view kind, uint32_t parent) {
    const auto index = static_cast<uint32_t>(module_.regions.size());
    LloRegion& region = module_.regions.emplace_back();
    region.name = name;
    region.kind = kind;
    region.parent = parent;
    if (parent != UINT32_MAX) {
      region.control = module_.regions[parent].control;
      module_.regions[parent].children.push_back(index);
    }
    return index;
  }

  Status Region(std::string_view bytes, uint32_t index, int depth) {
    if (depth > kMaxLloDepth) {
      return DataLossError("LLO_LIMIT", "The regions of the LLO module are nested too deep.");
    }
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 1 && field.type == WireType::kBytes) {
        STROBE_RETURN_IF_ERROR(Entry(field.bytes, index, depth));
      }
      if (field.type != WireType::kVarint) continue;
      LloRegion& region = module_.regions[index];
      if (field.number == 5) region.start_bundle = field.signed_value();
      if (field.number == 6) region.limit_bundle = field.signed_value();
      if (field.number == 7) region.ordinal = field.signed_value();
    }
    return Check(reader);
  }

  Status Entry(std::string_view bytes, uint32_t index, int depth) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kBytes) continue;
      if (field.number == 1) STROBE_RETURN_IF_ERROR(Instruction(field.bytes, index));
      if (field.number == 2) {
        const uint32_t loop = Add("loop", "loop", index);
        STROBE_RETURN_IF_ERROR(Compound(field.bytes, loop, kLoopParts, {2, 3, 5}, depth));
      }
      if (field.number == 3) {
        const uint32_t part = Add("predicated_region", "predicated_region", index);
        STROBE_RETURN_IF_ERROR(Compound(field.bytes, part, kPredicatedParts, {1, 2}, depth));
      }
      if (field.number == 4) {
        const uint32_t inner = Add("sub_region", "sub_region", index);
        STROBE_RETURN_IF_ERROR(Region(field.bytes, inner, depth + 1));
      }
    }
    return Check(reader);
  }

  template <size_t kCount>
  Status Compound(std::string_view bytes, uint32_t index,
                  const std::array<std::string_view, kCount>& parts,
                  std::initializer_list<uint32_t> control, int depth) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kBytes || field.number < 1 || field.number > kCount) continue;
      const uint32_t part = Add(parts[field.number - 1], "region", index);
      module_.regions[part].control |= std::ranges::find(control, field.number) != control.end();
      STROBE_RETURN_IF_ERROR(Region(field.bytes, part, depth + 2));
    }
    return Check(reader);
  }

  Status Instruction(std::string_view bytes, uint32_t index) {
    if (module_.instructions.size() >= kMaxLloInstructions) {
      return DataLossError("LLO_LIMIT", "The LLO module has too many instructions.");
    }
    LloInstruction& instruction = module_.instructions.emplace_back();
    instruction.region = index;
    ++module_.regions[index].instruction_count;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kVarint) continue;
      const auto value = static_cast<uint32_t>(field.signed_value());
      if (field.number == 2) instruction.opcode = value;
      // Signed numbers alternate: 0, -1, 1, -2 ...
      if (field.number == 4) {
        instruction.bundle = static_cast<int32_t>((value >> 1) ^ (~(value & 1) + 1));
      }
      if (field.number == 7) instruction.register_id = value;
    }
    return Check(reader);
  }

  static Status Counts(std::string_view bytes, std::vector<uint8_t>* counts) {
    // Packed varints: counts of slots, one byte each.
    for (const char byte : bytes) {
      if ((static_cast<uint8_t>(byte) & 0x80) != 0) {
        return DataLossError("LLO_DAMAGED", "A bundle of the LLO module uses over 127 slots.");
      }
      counts->push_back(static_cast<uint8_t>(byte));
    }
    return OkStatus();
  }

  Status Utilization(std::string_view bytes) {
    for (size_t u = 0; u < kUnits.size(); ++u) module_.units[u].name = kUnits[u];
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kBytes) continue;
      if (field.number == 8) STROBE_RETURN_IF_ERROR(Counts(field.bytes, &module_.spills));
      if (field.number == 9) STROBE_RETURN_IF_ERROR(Counts(field.bytes, &module_.fills));
      if (field.number < 1 || field.number > kUnits.size()) continue;
      LloUnit& unit = module_.units[field.number - 1];
      WireReader inner(field.bytes);
      WireField value;
      while (inner.Next(&value)) {
        if (value.number == 1 && value.type == WireType::kBytes) {
          STROBE_RETURN_IF_ERROR(Counts(value.bytes, &unit.used));
        }
        if (value.number == 2 && value.type == WireType::kVarint) {
          unit.available = value.signed_value();
        }
      }
      STROBE_RETURN_IF_ERROR(Check(inner));
    }
    return Check(reader);
  }

  LloModule& module_;
};

}  // namespace

Result<LloModule> LloModule::Parse(std::string_view bytes) {
  LloModule module;
  STROBE_RETURN_IF_ERROR(Parser(&module).Module(bytes));
  if (module.regions.empty()) {
    return DataLossError("LLO_DAMAGED", "The LLO module has no region.");
  }
  return module;
}

std::string LloOpcodeName(uint32_t opcode) {
  const auto* const found = std::ranges::lower_bound(kOpcodes, opcode, {}, &OpcodeName::number);
  if (found == std::end(kOpcodes) || found->number != opcode) {
    return "OPCODE_" + std::to_string(opcode);
  }
  return "OPCODE_" + std::string(found->name);
}

std::string_view LloCategory(std::string_view opcode_name) {
  if (Has(opcode_name, "DMA")) return "dma";
  for (const char* part : {"SYNC", "BARRIER", "FENCE", "HALT", "BRANCH", "INLINED_CALL"}) {
    if (Has(opcode_name, part)) return "control";
  }
  if (Has(opcode_name, "PREDICATE")) return "predicate";
  if (Has(opcode_name, "LOAD") || Has(opcode_name, "STORE")) return "load_store";
  for (const char* part : {"LATCH", "MATMUL", "MATPREP", "MATRES"}) {
    if (Has(opcode_name, part)) return "matrix";
  }
  for (const char* part : {"ROTATE", "TRANSPOSE", "PERMUTE", "COMBINE_LOW", "BROADCAST_LANE"}) {
    if (Has(opcode_name, part)) return "crosslane";
  }
  if (Has(opcode_name, "OPCODE_SCALAR")) return "scalar";
  return Has(opcode_name, "VECTOR") ? "vector" : "other";
}

std::string_view LloUnitOf(std::string_view opcode_name) {
  if (Has(opcode_name, "DMA")) return "DMA";
  if (Has(opcode_name, "SYNC") || Has(opcode_name, "BARRIER")) return "SYNC";
  for (const char* part : {"TRANSPOSE", "PERMUTE", "ROTATE"}) {
    if (Has(opcode_name, part)) return "XLU";
  }
  if (Has(opcode_name, "MATMUL")) return "MXU";
  if (Has(opcode_name, "LOAD") || Has(opcode_name, "STORE")) return "LOAD_STORE";
  if (Has(opcode_name, "OPCODE_VECTOR")) return "VALU";
  if (Has(opcode_name, "SCALAR") || Has(opcode_name, "PREDICATE")) return "SALU";
  return "OTHER";
}

}  // namespace strobe::tools
