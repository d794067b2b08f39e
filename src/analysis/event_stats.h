// Reads chosen stats of events from their bytes, without a heap object and without decoding others.
//
//   const StatSlots slots(plane, {"correlation_id", "_r"});
//   const LineBytes bytes(file, p, l);
//   StatValues values(slots.size());
//   slots.Read(bytes.Record(event), &values);
//   if (values.has(0)) Use(values[0].IntOrUint());
//
// Of several stats with one name the first counts, as for XProf's GetStat. Cost: about 2 ns a field
// of the event and one load a stat. Limits: kMaxSlots names; damaged bytes end the event's stats.
//
// ForEachStat and ReadUsualStat are beneath: events as profilers write them (fields of one byte of
// tag, a stat of less than 128 bytes that is an id and one value) are read without the general
// reader, which takes over at the first field of another form. 1 ns a field.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/wire/wire_reader.h"
#include "src/xplane/id_map.h"
#include "src/xplane/line_store.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

// The value of a stat as it stands in the bytes. A ref is not resolved.
struct RawStat {
  xplane::StatType type = xplane::StatType::kNone;
  uint64_t bits = 0;      // integers, ref ids and the bits of doubles
  std::string_view text;  // strings and bytes

  // XProf's three ways to read an integer; 0 for other types.
  int64_t IntOnly() const {
    return type == xplane::StatType::kInt64 ? static_cast<int64_t>(bits) : 0;
  }
  uint64_t UintOnly() const { return type == xplane::StatType::kUint64 ? bits : 0; }
  uint64_t IntOrUint() const {
    return type == xplane::StatType::kInt64 || type == xplane::StatType::kUint64 ? bits : 0;
  }
};

// The XEvent message of an event, and how many bytes of the file can be read behind it.
struct EventRecord {
  std::string_view bytes;
  size_t readable_behind = 0;
};

// Calls `visit(stat, readable_behind)` with the bytes of each XStat of the event, in their order.
template <typename Visit>
void ForEachStat(const EventRecord& record, Visit visit) {
  constexpr uint8_t kStatTag = 4 << 3 | 2;
  constexpr uint8_t kFirstNumberTag = 1 << 3;  // metadata_id
  constexpr uint8_t kLastNumberTag = 5 << 3;   // num_occurrences
  const char* at = record.bytes.data();
  const char* const end = at + record.bytes.size();
  const auto behind = [&](const char* from) {
    return static_cast<size_t>(end - from) + record.readable_behind;
  };
  if (record.readable_behind >= wire::kFastReadBytes) {
    while (at < end) {
      const auto tag = static_cast<uint8_t>(*at);
      if (tag == kStatTag) {
        const auto length = static_cast<uint8_t>(at[1]);
        if (length >= 0x80 || length > end - at - 2) break;
        at += 2 + length;
        visit(std::string_view(at - length, length), behind(at));
      } else if ((tag & 7) == 0 && tag >= kFirstNumberTag && tag <= kLastNumberTag) {
        uint64_t value = 0;
        const auto* next = reinterpret_cast<const char*>(
            wire::DecodeVarintFast(reinterpret_cast<const uint8_t*>(at) + 1, &value));
        if (next == nullptr || next > end) break;
        at = next;
      } else {
        break;
      }
    }
  }
  if (at == end) return;
  wire::WireReader reader({at, static_cast<size_t>(end - at)}, record.readable_behind);
  wire::WireField field;
  while (reader.Next(&field)) {
    if (field.number != 4 || field.type != wire::WireType::kBytes) continue;
    visit(field.bytes, behind(at + reader.offset()));
  }
}

// A stat that is an id and then one value, as profilers write them. False: read it in the general
// way; `*id` and `*value` are not to be used then.
inline bool ReadUsualStat(std::string_view bytes, size_t readable_behind, int64_t* id,
                          RawStat* value) {
  using xplane::StatType;
  constexpr uint8_t kIdTag = 1 << 3;
  if (bytes.size() < 4 || readable_behind < wire::kFastReadBytes) return false;
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = at + bytes.size();
  if (*at != kIdTag) return false;
  uint64_t number = 0;
  at = wire::DecodeVarintFast(at + 1, &number);
  if (at == nullptr || at + 2 > end) return false;
  *id = static_cast<int64_t>(number);
  const uint8_t tag = *at++;
  switch (tag) {
    case 3 << 3:
    case 4 << 3:
    case 7 << 3:
      value->type = tag == 3 << 3   ? StatType::kUint64
                    : tag == 4 << 3 ? StatType::kInt64
                                    : StatType::kRef;
      value->text = {};
      return wire::DecodeVarintFast(at, &value->bits) == end;
    case 5 << 3 | 2:
    case 6 << 3 | 2:
      if (*at >= 0x80 || at + 1 + *at != end) return false;
      value->type = tag == (5 << 3 | 2) ? StatType::kString : StatType::kBytes;
      value->bits = 0;
      value->text = {reinterpret_cast<const char*>(at) + 1, *at};
      return true;
    default:
      return false;
  }
}

class StatValues {
 public:
  static constexpr size_t kMaxSlots = 32;

  bool has(size_t slot) const { return (present_ >> slot & 1) != 0; }
  bool empty() const { return present_ == 0; }
  const RawStat& operator[](size_t slot) const { return values_[slot]; }
  void Clear() { present_ = 0; }
  void Set(size_t slot, const RawStat& value) {
    if (has(slot)) return;
    present_ |= uint32_t{1} << slot;
    values_[slot] = value;
  }

 private:
  uint32_t present_ = 0;
  std::array<RawStat, kMaxSlots> values_;
};

class StatSlots {
 public:
  // Slot i stands for names[i].
  StatSlots(const xplane::Plane& plane, std::span<const std::string_view> names);
  StatSlots(const xplane::Plane& plane, std::initializer_list<std::string_view> names)
      : StatSlots(plane, std::span<const std::string_view>(names.begin(), names.size())) {}

  // Whether the plane knows the name, any of the names.
  bool knows(size_t slot) const { return (known_ >> slot & 1) != 0; }
  bool knows_any() const { return known_ != 0; }

  // Replaces `*values` by what the event has.
  void Read(const EventRecord& record, StatValues* values) const;
  // Whether the line may have events with any of the names; false is certain.
  bool MayOccurIn(const xplane::LineColumns& columns) const {
    return std::ranges::any_of(ids_, [&](int64_t id) { return columns.stat_ids.MayContain(id); });
  }
  // The text of a string or ref stat; empty for other types and unknown refs.
  std::string_view Text(const RawStat& stat) const;

 private:
  static constexpr int8_t kNone = -1;
  static constexpr size_t kDenseIds = 1 << 14;  // 16 KiB; profilers count ids from 1

  int8_t SlotOf(int64_t id) const {
    const auto key = static_cast<uint64_t>(id);
    if (key < dense_.size()) return dense_[key];
    if (sparse_.empty()) return kNone;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? kNone : found->second;
  }
  void ReadStat(std::string_view stat, size_t readable_behind, StatValues* values) const;

  const xplane::Plane& plane_;
  xplane::IdMap refs_;  // index of each stat metadata
  uint32_t known_ = 0;
  std::vector<int64_t> ids_;
  std::vector<int8_t> dense_;
  std::unordered_map<int64_t, int8_t> sparse_;
};

// The bytes of a line's events.
class LineBytes {
 public:
  LineBytes(const xplane::ProfileFile& file, size_t plane, size_t line)
      : stored_(xplane::StoredLineOf(file, plane, line)) {
    const xplane::ByteRange& range = file.planes()[plane].lines[line].bytes;
    const std::string_view all = file.source().bytes();
    bytes_ = all.substr(range.offset, range.size_bytes);
    readable_behind_ = all.size() - std::min<size_t>(all.size(), range.offset + bytes_.size());
  }

  // Empty when the event is damaged.
  EventRecord Record(uint32_t event) const {
    const uint64_t offset = std::min(stored_.OffsetOf(event), uint64_t{bytes_.size()});
    const uint64_t left = bytes_.size() - offset;
    // The usual form: a tag of one byte and a length of one.
    constexpr char kEventTag = 4 << 3 | 2;
    if (left >= 2 && bytes_[offset] == kEventTag) {
      const auto length = static_cast<uint8_t>(bytes_[offset + 1]);
      if (length < 0x80 && length <= left - 2) {
        return {bytes_.substr(offset + 2, length), left - 2 - length + readable_behind_};
      }
    }
    wire::WireReader reader(bytes_.substr(offset), readable_behind_);
    wire::WireField field;
    if (!reader.Next(&field) || field.type != wire::WireType::kBytes) return {};
    return {field.bytes, bytes_.size() - offset - reader.offset() + readable_behind_};
  }
  // Where its record stands: orders the events of a line as in the file.
  uint64_t OffsetOf(uint32_t event) const { return stored_.OffsetOf(event); }

 private:
  const xplane::StoredLine& stored_;
  std::string_view bytes_;
  size_t readable_behind_ = 0;
};

}  // namespace strobe::analysis
