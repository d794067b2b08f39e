#include "src/tools/llo_module.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <utility>

#include "src/wire/wire_reader.h"

namespace strobe::tools {
namespace {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

// Of names and paths; what is longer is cut.
constexpr size_t kMaxNameBytes = 4096;
constexpr std::array<std::string_view, 7> kLoopParts = {
    "pre_header", "header", "header_branch", "body", "footer", "footer_branch", "exit"};
constexpr std::array<std::string_view, 4> kPredicatedParts = {
    "check_region", "check_branch_region", "predicated_region", "fallthru_region"};
constexpr std::array<std::string_view, 7> kUnits = {
    "mxu", "xlu", "vector_alu", "vector_eup", "vector_load", "vector_store", "scalar_alu"};

class Parser {
 public:
  explicit Parser(LloModule* module) : module_(*module) {}

  Status Module(std::string_view bytes) {
    for (size_t u = 0; u < kUnits.size(); ++u) module_.units[u].name = kUnits[u];
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      const bool message = field.type == WireType::kBytes;
      if (field.number == 1 && message) module_.hlo_instruction_name = std::string(field.bytes);
      if (field.number == 2 && message) {
        STROBE_ASSIGN_OR_RETURN(const uint32_t top, Add("top", "region", "region", UINT32_MAX));
        STROBE_RETURN_IF_ERROR(Region(field.bytes, top, 0));
      }
      if (field.number == 6 && message) STROBE_RETURN_IF_ERROR(Utilization(field.bytes));
      if (field.number == 7 && message) STROBE_RETURN_IF_ERROR(Target(field.bytes));
      if (field.number == 8 && message) STROBE_RETURN_IF_ERROR(Constant(field.bytes));
      if (field.number == 9 && message) {
        STROBE_RETURN_IF_ERROR(Count());
        module_.strings.push_back(field.bytes);
      }
      if (field.number == 10 && message) module_.hlo_module_name = std::string(field.bytes);
      if (field.number == 11) module_.hlo_module_id = field.signed_value();
      if (field.number == 12 && message) STROBE_RETURN_IF_ERROR(SourceMap(field.bytes));
    }
    return Check(reader);
  }

 private:
  static Status TooMany(std::string_view what, size_t limit) {
    return DataLossError("LLO_LIMIT", "The LLO module has more " + std::string(what) + " than " +
                                          std::to_string(limit) + ".")
        .Hint("Dump or record fewer kernels, or smaller ones.");
  }

  Status Count() {
    if (++items_ > kMaxLloItems) return TooMany("operands, texts and places", kMaxLloItems);
    return OkStatus();
  }

  static Status Check(const WireReader& reader) {
    if (reader.error() == wire::WireError::kNone) return OkStatus();
    return DataLossError("LLO_DAMAGED", "The LLO module ends early or makes no sense.")
        .Hint("Capture again; the profile is damaged.");
  }

  Result<uint32_t> Add(std::string_view name, std::string_view kind, std::string_view step,
                       uint32_t parent) {
    if (module_.regions.size() >= kMaxLloRegions) return TooMany("regions", kMaxLloRegions);
    const auto index = static_cast<uint32_t>(module_.regions.size());
    LloRegion& region = module_.regions.emplace_back();
    region.name = name;
    region.kind = kind;
    region.step = step;
    region.parent = parent;
    if (parent != UINT32_MAX) {
      region.control = module_.regions[parent].control;
      region.depth = module_.regions[parent].depth + 1;
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
      if (field.number == 2 && field.type == WireType::kBytes && !field.bytes.empty()) {
        module_.regions[index].name = field.bytes.substr(0, kMaxNameBytes);
        module_.regions[index].step = module_.regions[index].name;
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
        STROBE_ASSIGN_OR_RETURN(const uint32_t loop, Add("loop", "loop", "loop", index));
        STROBE_RETURN_IF_ERROR(Compound(field.bytes, loop, kLoopParts, {2, 3, 5}, depth));
      }
      if (field.number == 3) {
        STROBE_ASSIGN_OR_RETURN(const uint32_t part,
                                Add("predicated_region", "predicated_region", "predicated", index));
        STROBE_RETURN_IF_ERROR(Compound(field.bytes, part, kPredicatedParts, {1, 2}, depth));
      }
      if (field.number == 4) {
        STROBE_ASSIGN_OR_RETURN(const uint32_t inner,
                                Add("sub_region", "sub_region", "region", index));
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
      STROBE_ASSIGN_OR_RETURN(const uint32_t part,
                              Add(parts[field.number - 1], "region", "region", index));
      module_.regions[part].control |= std::ranges::find(control, field.number) != control.end();
      STROBE_RETURN_IF_ERROR(Region(field.bytes, part, depth + 2));
    }
    return Check(reader);
  }

  // Signed numbers alternate: 0, -1, 1, -2 ...
  static int32_t Alternating(const WireField& field) {
    const auto value = static_cast<uint32_t>(field.value);
    return static_cast<int32_t>((value >> 1) ^ (~(value & 1) + 1));
  }

  Status Instruction(std::string_view bytes, uint32_t index) {
    if (module_.instructions.size() >= kMaxLloInstructions) {
      return TooMany("instructions", kMaxLloInstructions);
    }
    LloInstruction instruction;
    instruction.region = index;
    instruction.first_operand = static_cast<uint32_t>(module_.operands.size());
    ++module_.regions[index].instruction_count;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type == WireType::kBytes) {
        if (field.number == 3) STROBE_RETURN_IF_ERROR(Operand(field.bytes));
        if (field.number == 33) STROBE_RETURN_IF_ERROR(Packer(field.bytes, &instruction));
        continue;
      }
      if (field.type != WireType::kVarint) continue;
      const auto value = static_cast<uint32_t>(field.value);
      if (field.number == 1) instruction.ordinal = static_cast<int32_t>(value);
      if (field.number == 2) instruction.opcode = value;
      if (field.number == 4) instruction.bundle = Alternating(field);
      if (field.number == 7) instruction.register_id = Alternating(field);
      if (field.number == 8) instruction.register_type = value;
      if (field.number == 9) instruction.annotation = static_cast<int32_t>(value);
      if (field.number == 29) instruction.pseudo_kind = value;
    }
    instruction.operand_count =
        static_cast<uint32_t>(module_.operands.size()) - instruction.first_operand;
    module_.instructions.push_back(instruction);
    return Check(reader);
  }

  Status Operand(std::string_view bytes) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number != 2 || field.type != WireType::kVarint) continue;
      STROBE_RETURN_IF_ERROR(Count());
      module_.operands.push_back(static_cast<int32_t>(field.value));
    }
    return Check(reader);
  }

  Status Packer(std::string_view bytes, LloInstruction* instruction) {
    instruction->packer = static_cast<int32_t>(module_.packer_infos.size());
    LloPackerInfo& info = module_.packer_infos.emplace_back();
    int32_t* const parts[] = {&info.earliest,
                              &info.operand_latency,
                              &info.fifo,
                              &info.register_dependence,
                              &info.architecture_register,
                              &info.source_bus,
                              &info.safe_hoist,
                              &info.final_bundle,
                              &info.hoist_distance,
                              &info.hoist_distance_before};
    STROBE_RETURN_IF_ERROR(Count());
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kVarint || field.number < 1 || field.number > std::size(parts)) {
        continue;
      }
      *parts[field.number - 1] = static_cast<int32_t>(field.value);
    }
    return Check(reader);
  }

  Status Constant(std::string_view bytes) {
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number != 5 || field.type != WireType::kBytes) continue;
      STROBE_RETURN_IF_ERROR(Count());
      LloAllocation& allocation = module_.allocations.emplace_back();
      WireReader inner(field.bytes);
      WireField part;
      while (inner.Next(&part)) {
        if (part.type != WireType::kVarint) continue;
        if (part.number == 1) allocation.space = part.signed_value();
        if (part.number == 4) allocation.size_bytes = part.signed_value();
        if (part.number == 5) allocation.ordinal = part.signed_value();
        if (part.number == 9) allocation.is_virtual = part.value != 0;
        if (part.number == 10) allocation.is_spill = part.value != 0;
        if (part.number == 11) allocation.is_scoped = part.value != 0;
        if (part.number == 12) allocation.is_remote = part.value != 0;
      }
      STROBE_RETURN_IF_ERROR(Check(inner));
    }
    return Check(reader);
  }

  static Status Bounds(std::string_view bytes, LloBounds* bounds) {
    bounds->known = true;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kVarint) continue;
      if (field.number == 1) bounds->x = field.signed_value();
      if (field.number == 2) bounds->y = field.signed_value();
      if (field.number == 3) bounds->z = field.signed_value();
    }
    return Check(reader);
  }

  Status Target(std::string_view bytes) {
    LloTarget& target = module_.target.emplace();
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 3) target.replica_count = field.signed_value();
      if (field.number == 4) target.reserved_hbm_bytes = field.signed_value();
      if (field.number != 6 || field.type != WireType::kBytes) continue;
      WireReader inner(field.bytes);
      WireField part;
      while (inner.Next(&part)) {
        const bool message = part.type == WireType::kBytes;
        if (part.number == 2 && message) target.variant = part.bytes.substr(0, kMaxNameBytes);
        if (part.number == 3) target.platform_type = part.signed_value();
        if (part.number == 4 && message) target.chip_config = part.bytes.substr(0, kMaxNameBytes);
        if (part.number == 5 && message) {
          STROBE_RETURN_IF_ERROR(Bounds(part.bytes, &target.chips_per_host));
        }
        if (part.number == 6 && message) STROBE_RETURN_IF_ERROR(Bounds(part.bytes, &target.hosts));
        if (part.number == 9) target.enhanced_barrier = part.value != 0;
      }
      STROBE_RETURN_IF_ERROR(Check(inner));
    }
    return Check(reader);
  }

  // One number, or many packed.
  Status Numbers(const WireField& field, std::vector<int32_t>* numbers) {
    if (field.type == WireType::kVarint) {
      STROBE_RETURN_IF_ERROR(Count());
      numbers->push_back(static_cast<int32_t>(field.value));
      return OkStatus();
    }
    if (field.type != WireType::kBytes) return OkStatus();
    uint64_t value = 0;
    int shift = 0;
    for (const char byte : field.bytes) {
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((static_cast<uint8_t>(byte) & 0x80) != 0) continue;
      STROBE_RETURN_IF_ERROR(Count());
      numbers->push_back(static_cast<int32_t>(value));
      value = 0;
      shift = 0;
    }
    return OkStatus();
  }

  // Texts come after the places that name them by index, so that they are looked up at the end.
  Status SourceMap(std::string_view bytes) {
    std::vector<std::string_view> texts;
    std::vector<std::string_view> places;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.type != WireType::kBytes) continue;
      STROBE_RETURN_IF_ERROR(Count());
      if (field.number == 1) places.push_back(field.bytes);
      if (field.number == 2) texts.push_back(field.bytes);
    }
    STROBE_RETURN_IF_ERROR(Check(reader));
    for (const std::string_view place : places) STROBE_RETURN_IF_ERROR(Place(place, texts));
    return OkStatus();
  }

  static std::string_view TextAt(const std::vector<std::string_view>& texts, int64_t index) {
    if (index < 0 || index >= static_cast<int64_t>(texts.size())) return {};
    return texts[static_cast<size_t>(index)].substr(0, kMaxNameBytes);
  }

  Status Place(std::string_view bytes, const std::vector<std::string_view>& texts) {
    LloSource& source = module_.sources.emplace_back();
    std::vector<int32_t> scopes;
    WireReader reader(bytes);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 1 && field.type == WireType::kBytes) {
        STROBE_RETURN_IF_ERROR(Count());
        LloFrame& frame = source.frames.emplace_back();
        int64_t path = 0;
        int64_t function = 0;
        WireReader inner(field.bytes);
        WireField part;
        while (inner.Next(&part)) {
          if (part.number == 1) path = part.signed_value();
          if (part.number == 2) frame.line = part.signed_value();
          if (part.number == 6) function = part.signed_value();
        }
        STROBE_RETURN_IF_ERROR(Check(inner));
        frame.path = TextAt(texts, path);
        frame.function = TextAt(texts, function);
      }
      if (field.number == 2 && field.type == WireType::kVarint) {
        source.primitive = TextAt(texts, field.signed_value());
      }
      if (field.number == 3) STROBE_RETURN_IF_ERROR(Numbers(field, &scopes));
      if (field.number == 4) STROBE_RETURN_IF_ERROR(Numbers(field, &source.ordinals));
    }
    for (const int32_t scope : scopes) source.scopes.push_back(TextAt(texts, scope));
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
  size_t items_ = 0;
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

std::string LloRegionPath(const LloModule& module, uint32_t region) {
  std::vector<std::string_view> steps;
  for (uint32_t at = region; at != UINT32_MAX; at = module.regions[at].parent) {
    steps.push_back(module.regions[at].step);
  }
  std::string path;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    path += (path.empty() ? "" : "/") + std::string(*step);
  }
  return path;
}

std::vector<uint32_t> LloRegionsOf(const LloModule& module, const std::vector<int64_t>& bundles) {
  std::vector<uint32_t> by_start;
  for (uint32_t r = 0; r < module.regions.size(); ++r) {
    if (module.regions[r].start_bundle < module.regions[r].limit_bundle) by_start.push_back(r);
  }
  const auto start = [&](uint32_t r) { return module.regions[r].start_bundle; };
  std::ranges::stable_sort(by_start, {}, start);
  // The deepest on top, of equally deep ones the first.
  const auto less = [&](uint32_t a, uint32_t b) {
    const uint32_t depth_a = module.regions[a].depth;
    const uint32_t depth_b = module.regions[b].depth;
    return depth_a != depth_b ? depth_a < depth_b : a > b;
  };
  std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(less)> open(less);
  std::vector<uint32_t> found;
  size_t next = 0;
  for (const int64_t bundle : bundles) {
    while (next < by_start.size() && start(by_start[next]) <= bundle) open.push(by_start[next++]);
    while (!open.empty() && module.regions[open.top()].limit_bundle <= bundle) open.pop();
    found.push_back(open.empty() ? UINT32_MAX : open.top());
  }
  return found;
}

}  // namespace strobe::tools
