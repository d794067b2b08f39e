#include "src/analysis/event_stats.h"

#include "src/base/status.h"

namespace strobe::analysis {

using wire::WireField;
using wire::WireReader;
using wire::WireType;
using xplane::StatType;

StatSlots::StatSlots(const xplane::Plane& plane, std::span<const std::string_view> names)
    : plane_(plane), refs_(plane.stat_metadata.size()) {
  STROBE_CHECK(names.size() <= StatValues::kMaxSlots);
  for (uint32_t index = 0; index < plane.stat_metadata.size(); ++index) {
    const xplane::StatMetadata& metadata = plane.stat_metadata[index];
    refs_.Insert(metadata.id, index);
    for (size_t slot = 0; slot < names.size(); ++slot) {
      if (metadata.name != names[slot]) continue;
      known_ |= uint32_t{1} << slot;
      ids_.push_back(metadata.id);
      const auto id = static_cast<uint64_t>(metadata.id);
      if (id < kDenseIds) {
        if (dense_.size() <= id) dense_.resize(id + 1, kNone);
        dense_[id] = static_cast<int8_t>(slot);
      } else {
        sparse_[metadata.id] = static_cast<int8_t>(slot);
      }
    }
  }
}

void StatSlots::Read(const EventRecord& record, StatValues* values) const {
  values->Clear();
  if (known_ == 0) return;
  ForEachStat(record, [&](std::string_view stat, size_t readable_behind) {
    ReadStat(stat, readable_behind, values);
  });
}

void StatSlots::ReadStat(std::string_view stat, size_t readable_behind, StatValues* values) const {
  int64_t id = 0;
  RawStat value;
  if (ReadUsualStat(stat, readable_behind, &id, &value)) {
    const int8_t slot = SlotOf(id);
    if (slot != kNone) values->Set(static_cast<size_t>(slot), value);
    return;
  }
  id = 0;
  value = RawStat();
  WireReader reader(stat, readable_behind);
  WireField field;
  while (reader.Next(&field)) {
    switch (field.number) {
      case 1:
        id = field.signed_value();
        // Ids come first: most stats end here.
        if (SlotOf(id) == kNone) return;
        break;
      case 2:
        value = {StatType::kDouble, field.value, {}};
        break;
      case 3:
        value = {StatType::kUint64, field.value, {}};
        break;
      case 4:
        value = {StatType::kInt64, field.value, {}};
        break;
      case 5:
        value = {StatType::kString, 0, field.bytes};
        break;
      case 6:
        value = {StatType::kBytes, 0, field.bytes};
        break;
      case 7:
        value = {StatType::kRef, field.value, {}};
        break;
      default:
        break;
    }
  }
  const int8_t slot = SlotOf(id);
  if (slot != kNone) values->Set(static_cast<size_t>(slot), value);
}

std::string_view StatSlots::Text(const RawStat& stat) const {
  if (stat.type == StatType::kString) return stat.text;
  if (stat.type != StatType::kRef) return {};
  const uint32_t index = refs_.Find(static_cast<int64_t>(stat.bits));
  return index == xplane::IdMap::kAbsent ? std::string_view() : plane_.stat_metadata[index].name;
}

}  // namespace strobe::analysis
