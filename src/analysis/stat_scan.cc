#include "src/analysis/stat_scan.h"

#include <utility>

namespace strobe::analysis {

using wire::WireField;
using wire::WireReader;
using wire::WireType;
using xplane::StatType;

StatScanner::StatScanner(const xplane::ProfileFile& file, size_t plane,
                         std::vector<std::string_view> names)
    : names_(std::move(names)), ids_(names_.size()), known_(names_.size(), false) {
  for (const xplane::StatMetadata& stat : file.planes()[plane].stat_metadata) {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (stat.name != names_[i]) continue;
      known_[i] = knows_any_ = true;
      ids_[i].push_back(stat.id);
      if (stat.id < 0 || stat.id >= kDenseIds) {
        far_slots_[stat.id] = static_cast<uint8_t>(i);
        continue;
      }
      const auto id = static_cast<size_t>(stat.id);
      if (slots_.size() <= id) slots_.resize(id + 1, kUnwanted);
      slots_[id] = static_cast<uint8_t>(i);
    }
  }
  if (!knows_any_) return;
  // Of two with one id the first counts.
  std::vector<bool> set;
  for (const xplane::StatMetadata& stat : file.planes()[plane].stat_metadata) {
    if (stat.id < 0 || stat.id >= kDenseIds) {
      far_refs_.emplace(stat.id, stat.name);
      continue;
    }
    const auto id = static_cast<size_t>(stat.id);
    if (refs_.size() <= id) {
      refs_.resize(id + 1);
      set.resize(id + 1);
    }
    if (!set[id]) refs_[id] = stat.name;
    set[id] = true;
  }
}

int64_t StatScanner::PeekAnyId(std::string_view stat) {
  WireReader reader(stat);
  WireField field;
  int64_t id = 0;
  while (reader.Next(&field)) {
    if (field.number != 1 || field.type != WireType::kVarint) continue;
    id = field.signed_value();
    break;
  }
  return id;
}

bool StatScanner::Decode(std::string_view bytes, size_t readable_behind, xplane::Stat* stat) const {
  WireReader reader(bytes, readable_behind);
  WireField field;
  while (reader.Next(&field)) {
    switch (field.number) {
      case 1:
        if (field.type == WireType::kVarint) stat->metadata_id = field.signed_value();
        break;
      case 2:
        if (field.type != WireType::kFixed64) break;
        stat->type = StatType::kDouble;
        stat->number = field.double_value();
        break;
      case 3:
        if (field.type != WireType::kVarint) break;
        stat->type = StatType::kUint64;
        stat->uint64_value = field.value;
        break;
      case 4:
        if (field.type != WireType::kVarint) break;
        stat->type = StatType::kInt64;
        stat->int64_value = field.signed_value();
        break;
      case 5:
      case 6:
        if (field.type != WireType::kBytes) break;
        stat->type = field.number == 5 ? StatType::kString : StatType::kBytes;
        stat->text = field.bytes;
        break;
      case 7: {
        if (field.type != WireType::kVarint) break;
        stat->type = StatType::kRef;
        stat->uint64_value = field.value;
        stat->text = RefText(field.signed_value());
        break;
      }
      default:
        break;
    }
  }
  return reader.error() == wire::WireError::kNone;
}

}  // namespace strobe::analysis
