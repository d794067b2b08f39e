#include "src/xplane/stats_decoder.h"

#include <algorithm>

#include "src/wire/wire_reader.h"

namespace strobe::xplane {

using wire::WireError;
using wire::WireField;
using wire::WireReader;
using wire::WireType;

namespace {

const StatMetadata* FindMetadata(int64_t id, const Plane& plane, const PlaneIndex& index) {
  const uint32_t at = index.stat_ids.Find(id);
  return at == IdMap::kAbsent ? nullptr : &plane.stat_metadata[at];
}

WireType ExpectedType(uint32_t number) {
  if (number == 2) return WireType::kFixed64;
  return number == 5 || number == 6 ? WireType::kBytes : WireType::kVarint;
}

// The last value counts, as in any protobuf reader.
void SetValue(const WireField& field, Stat* stat) {
  const int64_t id = stat->metadata_id;
  *stat = Stat();
  stat->metadata_id = id;
  switch (field.number) {
    case 2:
      stat->type = StatType::kDouble;
      stat->number = field.double_value();
      break;
    case 3:
      stat->type = StatType::kUint64;
      stat->uint64_value = field.value;
      break;
    case 4:
      stat->type = StatType::kInt64;
      stat->int64_value = field.signed_value();
      break;
    case 5:
      stat->type = StatType::kString;
      stat->text = field.bytes;
      break;
    case 6:
      stat->type = StatType::kBytes;
      stat->text = field.bytes;
      break;
    default:
      stat->type = StatType::kRef;
      stat->uint64_value = field.value;
      break;
  }
}

// The metadata id without decoding the value; it comes first in what protobuf writes.
int64_t PeekStatId(std::string_view record) {
  if (record.size() >= 2 && record[0] == 0x08 && static_cast<unsigned char>(record[1]) < 0x80) {
    // Only when no other id follows, which nothing but a hand-made file has.
    return record[1];
  }
  WireReader reader(record);
  WireField field;
  int64_t id = 0;
  while (reader.Next(&field)) {
    if (field.number == 1 && field.type == WireType::kVarint) id = field.signed_value();
  }
  return id;
}

}  // namespace

bool DecodeStat(std::string_view record, const Plane& plane, const PlaneIndex& index, Stat* stat) {
  *stat = Stat();
  WireReader reader(record);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number > 7) continue;
    if (field.type != ExpectedType(field.number)) return false;
    if (field.number == 1) {
      stat->metadata_id = field.signed_value();
    } else {
      SetValue(field, stat);
    }
  }
  if (reader.error() != WireError::kNone) return false;
  if (const StatMetadata* metadata = FindMetadata(stat->metadata_id, plane, index)) {
    stat->name = metadata->name;
  }
  if (stat->type == StatType::kRef) {
    const StatMetadata* target =
        FindMetadata(static_cast<int64_t>(stat->uint64_value), plane, index);
    if (target != nullptr) stat->text = target->name;
  }
  return true;
}

std::vector<Stat> DecodeStats(std::string_view message, uint32_t field_number, const Plane& plane,
                              const PlaneIndex& index) {
  std::vector<Stat> stats;
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number != field_number) continue;
    Stat stat;
    if (field.type != WireType::kBytes || !DecodeStat(field.bytes, plane, index, &stat)) return {};
    stats.push_back(stat);
  }
  if (reader.error() != WireError::kNone) return {};
  return stats;
}

StatFinder::StatFinder(std::string_view stat_name, const Plane& plane, const PlaneIndex& index)
    : plane_(plane), index_(index) {
  for (const StatMetadata& metadata : plane.stat_metadata) {
    if (metadata.name == stat_name) ids_.push_back(metadata.id);
  }
  std::sort(ids_.begin(), ids_.end());
}

bool StatFinder::Wanted(int64_t id) const {
  if (ids_.size() == 1) return ids_.front() == id;
  return std::binary_search(ids_.begin(), ids_.end(), id);
}

Stat StatFinder::FindIn(std::string_view event) const {
  Stat stat;
  if (ids_.empty()) return stat;
  WireReader reader(event);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number != 4 || field.type != WireType::kBytes) continue;
    if (!Wanted(PeekStatId(field.bytes))) continue;
    if (DecodeStat(field.bytes, plane_, index_, &stat)) return stat;
    return Stat();
  }
  return Stat();
}

}  // namespace strobe::xplane
