#include "src/xplane/xspace_merge.h"

#include <algorithm>
#include <limits>

#include "src/wire/wire_writer.h"

namespace strobe::xplane {

using wire::AppendBytesField;
using wire::AppendFixed64Field;
using wire::AppendSignedField;
using wire::AppendTag;
using wire::AppendVarint;
using wire::AppendVarintField;
using wire::WireError;
using wire::WireField;
using wire::WireReader;
using wire::WireType;

namespace {

constexpr uint64_t kMaxMergedBytes = uint64_t{1} << 40;
constexpr int64_t kMaxTimestampNs = std::numeric_limits<int64_t>::max() / 2000;

void Copy(const WireField& field, std::string* out) {
  switch (field.type) {
    case WireType::kVarint:
      AppendVarintField(field.number, field.value, out);
      break;
    case WireType::kFixed64:
      AppendFixed64Field(field.number, field.value, out);
      break;
    case WireType::kBytes:
      AppendBytesField(field.number, field.bytes, out);
      break;
    case WireType::kFixed32:
      AppendTag(field.number, WireType::kFixed32, out);
      for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(field.value >> (8 * i)));
      break;
    case WireType::kStartGroup:
    case WireType::kEndGroup:
      break;  // the reader stops at groups
  }
}

template <typename Map>
int64_t Mapped(const Map& map, int64_t id) {
  const auto found = map.find(id);
  return found == map.end() ? id : found->second;
}

// A stat with its id and, if it is a ref, its value moved.
template <typename Map>
std::string MoveStat(std::string_view bytes, const Map& stat_ids) {
  std::string out;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.type == WireType::kVarint && (field.number == 1 || field.number == 7)) {
      AppendSignedField(field.number, Mapped(stat_ids, field.signed_value()), &out);
    } else {
      Copy(field, &out);
    }
  }
  return out;
}

// An event with its ids moved.
template <typename Map>
std::string MoveEvent(std::string_view bytes, const Map& event_ids, const Map& stat_ids) {
  std::string out;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number == 1 && field.type == WireType::kVarint) {
      AppendSignedField(1, Mapped(event_ids, field.signed_value()), &out);
    } else if (field.number == 4 && field.type == WireType::kBytes) {
      AppendBytesField(4, MoveStat(field.bytes, stat_ids), &out);
    } else {
      Copy(field, &out);
    }
  }
  return out;
}

// An event that begins `shift_ps` later; aggregated ones have no place in time.
std::string ShiftEvent(std::string_view bytes, int64_t shift_ps) {
  std::string out;
  int64_t offset_ps = 0;
  bool aggregated = false;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number == 2 && field.type == WireType::kVarint) {
      offset_ps = field.signed_value();
      aggregated = false;
      continue;
    }
    if (field.number == 5 && field.type == WireType::kVarint) aggregated = true;
    Copy(field, &out);
  }
  int64_t moved_ps = 0;
  if (__builtin_add_overflow(offset_ps, shift_ps, &moved_ps)) {
    moved_ps = std::numeric_limits<int64_t>::max();
  }
  if (!aggregated) AppendSignedField(2, moved_ps, &out);
  return out;
}

}  // namespace

struct XSpaceMerger::RawPlane {
  struct Entry {
    int64_t id = 0;
    std::string_view message;
  };
  int64_t id = 0;
  std::string_view name;
  std::vector<std::string_view> lines;
  std::vector<Entry> event_metadata;
  std::vector<Entry> stat_metadata;
  std::vector<std::string_view> stats;
  std::string unknown;
};

struct XSpaceMerger::RawLine {
  int64_t id = 0;
  std::string_view name;
  std::string_view display_name;
  int64_t display_id = 0;
  int64_t timestamp_ns = 0;
  int64_t duration_ps = 0;
  std::vector<std::string_view> events;  // contents
  std::string unknown;
};

void XSpaceMerger::AddText(uint32_t field, std::string_view text) {
  std::string record;
  AppendBytesField(field, text, &record);
  if (texts_.insert(record).second) top_ += record;
}

Status XSpaceMerger::Add(std::string_view part) {
  input_bytes_ += part.size();
  if (input_bytes_ > kMaxMergedBytes) {
    return ResourceExhaustedError("XSPACE_TOO_LARGE",
                                  "The parts of the profile hold more than 2^40 bytes together.");
  }
  ++parts_;
  damaged_ = false;
  WireReader reader(part);
  WireField field;
  while (reader.Next(&field)) {
    if (field.type != WireType::kBytes || field.number > 4) {
      Copy(field, &top_);
    } else if (field.number == 1) {
      AddPlane(field.bytes);
    } else {
      AddText(field.number, field.bytes);
    }
  }
  uint64_t claimed_bytes = 0;
  if (reader.Clipped(&field, &claimed_bytes) && field.number == 1) AddPlane(field.bytes);
  if (reader.error() != WireError::kNone) damaged_ = true;
  if (damaged_) ++damaged_parts_;
  return OkStatus();
}

XSpaceMerger::Plane& XSpaceMerger::PlaneFor(const RawPlane& raw) {
  std::vector<size_t>& same_name = planes_of_[std::string(raw.name)];
  for (const size_t index : same_name) {
    if (planes_[index].last_part == parts_) continue;  // another one of this part took it
    planes_[index].last_part = parts_;
    return planes_[index];
  }
  same_name.push_back(planes_.size());
  Plane& plane = planes_.emplace_back();
  plane.id = raw.id;
  plane.name = raw.name;
  plane.last_part = parts_;
  return plane;
}

XSpaceMerger::Line& XSpaceMerger::LineFor(Plane* plane, const RawLine& raw) {
  std::vector<size_t>& same_id = plane->lines_of[raw.id];
  for (const size_t index : same_id) {
    if (plane->lines[index].last_part == parts_) continue;
    plane->lines[index].last_part = parts_;
    return plane->lines[index];
  }
  same_id.push_back(plane->lines.size());
  Line& line = plane->lines.emplace_back();
  line.id = raw.id;
  line.last_part = parts_;
  return line;
}

// The id under which `content` is in the table: its own if that is free or means the same.
int64_t XSpaceMerger::Insert(int64_t id, std::string content, Table* table) {
  const auto own = table->entries.find(id);
  if (own != table->entries.end()) {
    if (own->second == content) return id;
    const auto same = table->ids_of.find(content);
    if (same != table->ids_of.end()) return same->second;
    while (table->entries.contains(table->next_id)) ++table->next_id;
    id = table->next_id;
  } else {
    const auto same = table->ids_of.find(content);
    if (same != table->ids_of.end()) return same->second;
  }
  table->ids_of.emplace(content, id);
  table->entries.emplace(id, std::move(content));
  return id;
}

XSpaceMerger::Remap XSpaceMerger::MergeTables(const RawPlane& raw, Plane* plane) {
  Remap remap;
  for (const RawPlane::Entry& entry : raw.stat_metadata) {
    std::string content;
    WireReader reader(entry.message);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number != 1) Copy(field, &content);
    }
    const int64_t id = Insert(entry.id, std::move(content), &plane->stat_metadata);
    remap.stats[entry.id] = id;
    remap.identity &= id == entry.id;
  }
  for (const RawPlane::Entry& entry : raw.event_metadata) {
    std::string content;
    WireReader reader(entry.message);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 1) continue;
      if (field.number == 5 && field.type == WireType::kBytes) {
        AppendBytesField(5, MoveStat(field.bytes, remap.stats), &content);
      } else {
        Copy(field, &content);
      }
    }
    const int64_t id = Insert(entry.id, std::move(content), &plane->event_metadata);
    remap.events[entry.id] = id;
    remap.identity &= id == entry.id;
  }
  return remap;
}

void XSpaceMerger::AddPlane(std::string_view bytes) {
  RawPlane raw;
  WireReader reader(bytes);
  WireField field;
  const auto read_entry = [&](std::vector<RawPlane::Entry>* entries) {
    RawPlane::Entry entry;
    WireReader entry_reader(field.bytes);
    WireField part;
    while (entry_reader.Next(&part)) {
      if (part.number == 1 && part.type == WireType::kVarint) entry.id = part.signed_value();
      if (part.number == 2 && part.type == WireType::kBytes) entry.message = part.bytes;
    }
    damaged_ |= entry_reader.error() != WireError::kNone;
    entries->push_back(entry);
  };
  while (reader.Next(&field)) {
    if (field.number == 1 && field.type == WireType::kVarint) {
      raw.id = field.signed_value();
    } else if (field.type != WireType::kBytes) {
      Copy(field, &raw.unknown);
    } else if (field.number == 2) {
      raw.name = field.bytes;
    } else if (field.number == 3) {
      raw.lines.push_back(field.bytes);
    } else if (field.number == 4) {
      read_entry(&raw.event_metadata);
    } else if (field.number == 5) {
      read_entry(&raw.stat_metadata);
    } else if (field.number == 6) {
      raw.stats.push_back(field.bytes);
    } else {
      Copy(field, &raw.unknown);
    }
  }
  uint64_t claimed_bytes = 0;
  if (reader.Clipped(&field, &claimed_bytes) && field.number == 3) raw.lines.push_back(field.bytes);
  damaged_ |= reader.error() != WireError::kNone;

  Plane& plane = PlaneFor(raw);
  const Remap remap = MergeTables(raw, &plane);
  for (const std::string_view line : raw.lines) MergeLine(line, remap, &plane);
  MergePlaneStats(raw, remap, &plane);
  plane.unknown += raw.unknown;
}

void XSpaceMerger::MergePlaneStats(const RawPlane& raw, const Remap& remap, Plane* plane) {
  const size_t before = plane->stats.size();
  for (const std::string_view bytes : raw.stats) {
    std::string stat = MoveStat(bytes, remap.stats);
    int64_t id = 0;
    WireReader reader(stat);
    WireField field;
    while (reader.Next(&field)) {
      if (field.number == 1) id = field.signed_value();
    }
    const auto end = plane->stats.begin() + static_cast<ptrdiff_t>(before);
    const bool known =
        std::any_of(plane->stats.begin(), end, [&](const auto& kept) { return kept.first == id; });
    if (!known) plane->stats.emplace_back(id, std::move(stat));
  }
}

void XSpaceMerger::MergeLine(std::string_view bytes, const Remap& remap, Plane* plane) {
  RawLine raw;
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    if (field.number == 4 && field.type == WireType::kBytes) {
      raw.events.push_back(field.bytes);
    } else if (field.number == 2 && field.type == WireType::kBytes) {
      raw.name = field.bytes;
    } else if (field.number == 11 && field.type == WireType::kBytes) {
      raw.display_name = field.bytes;
    } else if (field.number == 1 && field.type == WireType::kVarint) {
      raw.id = field.signed_value();
    } else if (field.number == 3 && field.type == WireType::kVarint) {
      raw.timestamp_ns = std::clamp(field.signed_value(), -kMaxTimestampNs, kMaxTimestampNs);
    } else if (field.number == 9 && field.type == WireType::kVarint) {
      raw.duration_ps = field.signed_value();
    } else if (field.number == 10 && field.type == WireType::kVarint) {
      raw.display_id = field.signed_value();
    } else {
      Copy(field, &raw.unknown);
    }
  }
  uint64_t claimed_bytes = 0;
  if (reader.Clipped(&field, &claimed_bytes) && field.number == 4)
    raw.events.push_back(field.bytes);
  damaged_ |= reader.error() != WireError::kNone;

  Line& line = LineFor(plane, raw);
  if (line.name.empty()) line.name = raw.name;
  if (line.display_name.empty()) line.display_name = raw.display_name;
  if (line.display_id == 0) line.display_id = raw.display_id;
  line.duration_ps = std::max(line.duration_ps, raw.duration_ps);
  line.unknown += raw.unknown;
  if (line.segments.empty() || line.segments.back().timestamp_ns != raw.timestamp_ns) {
    line.segments.push_back({.timestamp_ns = raw.timestamp_ns, .events = {}});
  }
  std::string& events = line.segments.back().events;
  for (const std::string_view event : raw.events) {
    if (remap.identity) {
      AppendBytesField(4, event, &events);
    } else {
      AppendBytesField(4, MoveEvent(event, remap.events, remap.stats), &events);
    }
  }
}

std::string XSpaceMerger::WriteLine(const Line& line) {
  // Parts without events do not decide where the line begins.
  int64_t begin_ns = std::numeric_limits<int64_t>::max();
  for (const Segment& segment : line.segments) {
    if (!segment.events.empty()) begin_ns = std::min(begin_ns, segment.timestamp_ns);
  }
  if (begin_ns == std::numeric_limits<int64_t>::max()) {
    begin_ns = line.segments.empty() ? 0 : line.segments.front().timestamp_ns;
  }
  std::string out;
  if (line.id != 0) AppendSignedField(1, line.id, &out);
  if (!line.name.empty()) AppendBytesField(2, line.name, &out);
  if (begin_ns != 0) AppendSignedField(3, begin_ns, &out);
  for (const Segment& segment : line.segments) {
    if (segment.timestamp_ns == begin_ns) {
      out += segment.events;
      continue;
    }
    const int64_t shift_ps = (segment.timestamp_ns - begin_ns) * 1000;
    WireReader reader(segment.events);
    WireField field;
    while (reader.Next(&field)) AppendBytesField(4, ShiftEvent(field.bytes, shift_ps), &out);
  }
  if (line.duration_ps != 0) AppendSignedField(9, line.duration_ps, &out);
  if (line.display_id != 0) AppendSignedField(10, line.display_id, &out);
  if (!line.display_name.empty()) AppendBytesField(11, line.display_name, &out);
  out += line.unknown;
  return out;
}

std::string XSpaceMerger::WritePlane(Plane* plane) {
  std::string out;
  if (plane->id != 0) AppendSignedField(1, plane->id, &out);
  if (!plane->name.empty()) AppendBytesField(2, plane->name, &out);
  for (Line& line : plane->lines) {
    AppendBytesField(3, WriteLine(line), &out);
    line = Line();
  }
  const auto write_table = [&](uint32_t number, const Table& table) {
    std::string message;
    std::string entry;
    for (const auto& [id, content] : table.entries) {
      message.clear();
      AppendSignedField(1, id, &message);
      message += content;
      entry.clear();
      AppendSignedField(1, id, &entry);
      AppendBytesField(2, message, &entry);
      AppendBytesField(number, entry, &out);
    }
  };
  write_table(4, plane->event_metadata);
  write_table(5, plane->stat_metadata);
  for (const auto& [id, stat] : plane->stats) AppendBytesField(6, stat, &out);
  out += plane->unknown;
  return out;
}

Result<std::string> XSpaceMerger::Finish() && {
  std::string out;
  for (Plane& plane : planes_) {
    AppendBytesField(1, WritePlane(&plane), &out);
    plane = Plane();
  }
  out += top_;
  return out;
}

}  // namespace strobe::xplane
