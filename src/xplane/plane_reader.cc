#include "src/xplane/plane_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace strobe::xplane {

using wire::WireError;
using wire::WireField;
using wire::WireReader;
using wire::WireType;

namespace {

ByteRange RangeOf(std::string_view file, std::string_view part) {
  if (part.data() == nullptr) return {};  // a field that was not there
  return {static_cast<uint64_t>(part.data() - file.data()), part.size()};
}

}  // namespace

DamagePlace PlaneReader::PlaceOf(std::string_view at) const {
  return {static_cast<uint64_t>(at.data() - file_.data()), plane_->name, {}};
}

bool PlaneReader::OverLimit(std::string_view what, std::string_view at) {
  // A field that is a number has no bytes of its own.
  const std::string_view near = at.data() == nullptr ? file_.substr(plane_->bytes.offset) : at;
  damage_.Add(LimitDamage(fmt::format("The profile has too many {}.", what), PlaceOf(near)));
  return false;
}

void PlaneReader::AddBad(Damage damage) {
  ++bad_fields_;
  damage_.Add(std::move(damage));
}

void PlaneReader::Read(std::string_view bytes, bool clipped, Plane* plane, PlaneIndex* index) {
  plane_ = plane;
  index_ = index;
  plane->bytes = RangeOf(file_, bytes);
  ReserveTables(bytes);
  WireReader reader(bytes);
  WireField field;
  bad_fields_ = 0;
  bool within_limits = true;
  while (within_limits && reader.Next(&field)) {
    within_limits = ReadField(field);
    if (bad_fields_ > kMaxBadFields) within_limits = OverLimit("damaged fields", field.bytes);
  }
  if (within_limits) Finish(reader, clipped);
  EventMetadata absent;
  absent.present = false;
  plane->event_metadata.push_back(absent);
}

void PlaneReader::ReserveTables(std::string_view bytes) {
  WireReader reader(bytes);
  WireField field;
  uint64_t lines = 0;
  uint64_t events = 0;
  uint64_t stats = 0;
  uint64_t fetched_to = 0;
  while (reader.Next(&field)) {
    if (field.number > 3 && reader.offset() > fetched_to) {
      source_.Advise(plane_->bytes.offset + field.offset,
                     std::min<uint64_t>(kTableFetchBytes, bytes.size() - field.offset),
                     storage::ByteSource::Access::kWillNeed);
      fetched_to = field.offset + kTableFetchBytes;
    }
    lines += field.number == 3;
    events += field.number == 4;
    stats += field.number == 5;
  }
  index_->event_ids = IdMap(events);
  index_->stat_ids = IdMap(stats);
  const auto affordable = [&](uint64_t count, uint64_t each) {
    return std::min(count, (budget_.limit_bytes - budget_.used_bytes) / each);
  };
  plane_->lines.reserve(affordable(lines, sizeof(Line)));
  plane_->event_metadata.reserve(affordable(events, sizeof(EventMetadata)) + 1);
  plane_->stat_metadata.reserve(affordable(stats, sizeof(StatMetadata)));
}

void PlaneReader::Finish(const WireReader& reader, bool clipped) {
  if (reader.error() == WireError::kNone) {
    // A cut exactly between two fields of the plane.
    if (clipped) {
      damage_.Add(TruncatedDamage("a plane", file_.size(), {file_.size(), plane_->name, {}}));
    }
    return;
  }
  WireField field;
  uint64_t claimed_bytes = 0;
  const uint64_t at = plane_->bytes.offset + reader.error_offset();
  const bool has_part = reader.Clipped(&field, &claimed_bytes);
  if (has_part && field.number == 3) (void)AddLine(field.bytes, true);
  const std::string_view line = has_part && field.number == 3 && !plane_->lines.empty()
                                    ? plane_->lines.back().label()
                                    : std::string_view();
  if (clipped && reader.error() == WireError::kOverrun) {
    damage_.Add(TruncatedDamage(has_part && field.number == 3 ? "a line" : "a plane", file_.size(),
                                {file_.size(), plane_->name, line}));
  } else if (has_part) {
    damage_.Add(LengthDamage("a field of the plane", claimed_bytes, field.bytes.size(),
                             {at, plane_->name, line}));
  } else {
    damage_.Add(WireDamage(reader.error(), "a field of a plane", {at, plane_->name, {}}));
  }
}

bool PlaneReader::ReadField(const WireField& field) {
  const WireType expected = field.number == 1 ? WireType::kVarint : WireType::kBytes;
  if (field.number <= 6 && field.type != expected) {
    AddBad(WrongTypeDamage("a known field of a plane",
                           {plane_->bytes.offset + field.offset, plane_->name, {}}));
    return true;
  }
  switch (field.number) {
    case 1:
      plane_->id = field.signed_value();
      return true;
    case 2:
      plane_->name = field.bytes;
      understood_ = true;
      return true;
    case 3:
      return AddLine(field.bytes, false);
    case 4:
      return AddEventMetadata(field.bytes);
    case 5:
      return AddStatMetadata(field.bytes);
    case 6:
      if (!budget_.Take(sizeof(ByteRange))) return OverLimit("plane stats", field.bytes);
      plane_->stats.push_back(RangeOf(file_, field.bytes));
      return true;
    default:
      return true;
  }
}

bool PlaneReader::AddLine(std::string_view bytes, bool clipped) {
  if (plane_->lines.size() >= options_.max_lines_per_plane || !budget_.Take(sizeof(Line))) {
    return OverLimit("lines", bytes);
  }
  Line& line = plane_->lines.emplace_back();
  line.bytes = RangeOf(file_, bytes);
  if (clipped) index_->clipped_line = static_cast<ptrdiff_t>(plane_->lines.size()) - 1;
  ReadLineHead(bytes, &line);
  return true;
}

// What stands before the first event. What is wrong here is reported when the line is decoded.
void PlaneReader::ReadLineHead(std::string_view bytes, Line* line) {
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field) && field.number != 4) {
    const bool number = field.type == WireType::kVarint;
    const bool text = field.type == WireType::kBytes;
    if (field.number == 1 && number) line->id = field.signed_value();
    if (field.number == 2 && text) line->name = field.bytes;
    if (field.number == 3 && number) line->timestamp_ns = field.signed_value();
    if (field.number == 10 && number) line->display_id = field.signed_value();
    if (field.number == 11 && text) line->display_name = field.bytes;
    understood_ = true;
  }
}

// A map entry: key 1, value 2. The key is what events refer to, whatever id the value repeats.
bool PlaneReader::ReadEntry(std::string_view entry, std::string_view what, int64_t* id,
                            std::string_view* record) {
  WireReader reader(entry);
  WireField field;
  while (reader.Next(&field)) {
    const WireType expected = field.number == 1 ? WireType::kVarint : WireType::kBytes;
    if (field.number <= 2 && field.type != expected) {
      AddBad(WrongTypeDamage(what, PlaceOf(entry)));
      return false;
    }
    if (field.number == 1) *id = field.signed_value();
    if (field.number == 2) *record = field.bytes;
  }
  if (reader.error() == WireError::kNone) return true;
  AddBad(WireDamage(reader.error(), what, PlaceOf(entry)));
  return false;
}

bool PlaneReader::AddEventMetadata(std::string_view entry) {
  constexpr std::string_view kWhat = "an entry of the event metadata";
  EventMetadata metadata;
  std::string_view record;
  if (!ReadEntry(entry, kWhat, &metadata.id, &record)) return true;
  metadata.record = RangeOf(file_, record);
  WireReader reader(record);
  WireField field;
  while (reader.Next(&field)) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == 2) metadata.name = field.bytes;
    if (field.number == 3) metadata.metadata = field.bytes;
    if (field.number == 4) metadata.display_name = field.bytes;
  }
  if (reader.error() != WireError::kNone) {
    AddBad(WireDamage(reader.error(), kWhat, PlaceOf(record)));
  }
  understood_ = true;
  const uint32_t known = index_->event_ids.Find(metadata.id);
  if (known != IdMap::kAbsent) {
    plane_->event_metadata[known] = metadata;
    return true;
  }
  const size_t count = plane_->event_metadata.size();
  if (count >= options_.max_metadata_per_plane || !budget_.Take(sizeof(EventMetadata))) {
    return OverLimit("event metadata entries", entry);
  }
  index_->event_ids.Insert(metadata.id, static_cast<uint32_t>(count));
  plane_->event_metadata.push_back(metadata);
  return true;
}

bool PlaneReader::AddStatMetadata(std::string_view entry) {
  constexpr std::string_view kWhat = "an entry of the stat metadata";
  StatMetadata metadata;
  std::string_view record;
  if (!ReadEntry(entry, kWhat, &metadata.id, &record)) return true;
  WireReader reader(record);
  WireField field;
  while (reader.Next(&field)) {
    if (field.type != WireType::kBytes) continue;
    if (field.number == 2) metadata.name = field.bytes;
    if (field.number == 3) metadata.description = field.bytes;
  }
  if (reader.error() != WireError::kNone) {
    AddBad(WireDamage(reader.error(), kWhat, PlaceOf(record)));
  }
  understood_ = true;
  const uint32_t known = index_->stat_ids.Find(metadata.id);
  if (known != IdMap::kAbsent) {
    plane_->stat_metadata[known] = metadata;
    return true;
  }
  const size_t count = plane_->stat_metadata.size();
  if (count >= options_.max_metadata_per_plane || !budget_.Take(sizeof(StatMetadata))) {
    return OverLimit("stat metadata entries", entry);
  }
  index_->stat_ids.Insert(metadata.id, static_cast<uint32_t>(count));
  plane_->stat_metadata.push_back(metadata);
  return true;
}

}  // namespace strobe::xplane
