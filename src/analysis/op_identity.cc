#include "src/analysis/op_identity.h"

#include <charconv>

#include "src/wire/wire_reader.h"

namespace strobe::analysis {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

std::vector<MemoryAccessed> ParseMemoryAccess(std::string_view bytes) {
  std::vector<MemoryAccessed> accesses;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number != 1 || field.type != WireType::kBytes) continue;
    MemoryAccessed access;
    WireReader part(field.bytes);
    WireField inner;
    while (part.Next(&inner)) {
      if (inner.type != WireType::kVarint) continue;
      if (inner.number == 1) access.is_write = inner.value == 2;
      if (inner.number == 2) access.space = inner.value;
      if (inner.number == 3) access.bytes = inner.value;
    }
    if (part.error() != wire::WireError::kNone) return {};
    accesses.push_back(access);
  }
  if (reader.error() != wire::WireError::kNone) return {};
  return accesses;
}

int32_t SourceLineOf(std::string_view source) {
  const size_t colon = source.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::string_view digits = source.substr(colon + 1);
  int32_t line = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  return error == std::errc() && end == digits.data() + digits.size() ? line : 0;
}

std::optional<OpIdentity> ReadOpIdentity(const xplane::ProfileFile& file, size_t plane,
                                         uint32_t event_metadata) {
  const xplane::EventMetadata& metadata = file.planes()[plane].event_metadata[event_metadata];
  if (!metadata.present) return std::nullopt;
  OpIdentity identity;
  OpMetrics& op = identity.op;
  bool has_program = false;
  for (const xplane::Stat& stat : file.MetadataStats(plane, event_metadata)) {
    const std::string_view name = stat.name;
    const auto number = static_cast<uint64_t>(stat.IntOrUint());
    if (name == "program_id") {
      has_program = true;
      identity.key.program_id = op.hlo_module_id = number;
    } else if (name == "symbol_id") {
      identity.key.symbol_id = number;
    } else if (name == "hlo_category") {
      op.category = stat.text;
    } else if (name == "tf_op") {
      op.provenance = stat.text;
    } else if (name == "flops") {
      op.flops = static_cast<double>(number);
    } else if (name == "model_flops") {
      op.model_flops = static_cast<double>(number);
    } else if (name == "bytes_accessed") {
      op.bytes_accessed = number;
    } else if (name == "memory_access_breakdown") {
      op.memory_accessed = ParseMemoryAccess(stat.text);
    } else if (name == "deduplicated_name") {
      op.deduplicated_name = stat.text;
    } else if (name == "source") {
      op.source_line = SourceLineOf(stat.text);
      if (op.source_line != 0) op.source_file = stat.text;
    } else if (name == "source_stack") {
      op.source_stack = stat.text;
    }
  }
  if (!has_program || identity.key.symbol_id == 0) return std::nullopt;
  if (metadata.display_name.empty()) {
    op.name = metadata.name;
  } else {
    op.name = metadata.display_name;
    op.long_name = metadata.name;
  }
  return identity;
}

void ScaleByOccurrences(OpMetrics* op) {
  const auto count = static_cast<double>(op->occurrences);
  if (op->category != kCustomCall) {
    op->flops *= count;
    op->model_flops = op->model_flops > 0 ? op->model_flops * count : op->flops;
    op->bytes_accessed *= op->occurrences;
  }
  for (MemoryAccessed& access : op->memory_accessed) access.bytes *= op->occurrences;
}

}  // namespace strobe::analysis
