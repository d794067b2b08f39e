#include "src/xplane/column_file.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "src/base/log.h"
#include "src/xplane/column_format.h"
#include "src/xplane/skeleton.h"

namespace strobe::xplane {

using column_format::BlockLayout;
using column_format::Entry;
using column_format::Header;
using column_format::Load;

namespace {

constexpr uint64_t kMaxEvents = std::numeric_limits<uint32_t>::max();

Status Bad(std::string_view name, std::string message, const std::string& path) {
  return DataLossError(name, std::move(message))
      .Where(path)
      .Hint("The file is a cache and is made again; nothing of the profile is lost.");
}

Entry EntryAt(std::string_view bytes, uint64_t directory_offset, uint64_t index) {
  return Load<Entry>(bytes, directory_offset + index * sizeof(Entry));
}

std::pair<uint32_t, uint32_t> KeyOf(const Entry& entry) { return {entry.plane, entry.line}; }

template <typename T>
std::span<const T> ArrayAt(std::string_view block, uint64_t offset, uint64_t count) {
  return {reinterpret_cast<const T*>(block.data() + offset), count};
}

// Rows lie one behind the other and hold every event once.
bool RowsCover(std::span<const LineColumns::Row> rows, uint64_t events) {
  uint64_t next = 0;
  for (const LineColumns::Row& row : rows) {
    if (row.first != next) return false;
    next += row.count;
  }
  return next == events;
}

// Times are in range and, within a timed row, in order and apart.
bool TimesAreSound(const LineColumns& columns) {
  bool sound = true;
  for (size_t e = 0; e < columns.event_count(); ++e) {
    const int64_t start = columns.start_ps[e];
    const int64_t duration = columns.duration_ps[e];
    sound &= start >= -kMaxTimePs && start <= kMaxTimePs && duration >= 0 && duration <= kMaxTimePs;
  }
  if (!sound) return false;
  for (const LineColumns::Row& row : columns.timed_rows()) {
    for (size_t e = row.first + size_t{1}; e < size_t{row.first} + row.count; ++e) {
      // The distance fits into 64 bits without sign, unlike the sum.
      sound &= columns.start_ps[e] >= columns.start_ps[e - 1] &&
               static_cast<uint64_t>(columns.start_ps[e]) -
                       static_cast<uint64_t>(columns.start_ps[e - 1]) >=
                   static_cast<uint64_t>(columns.duration_ps[e - 1]);
    }
  }
  return sound && columns.first_start_ps >= -kMaxTimePs && columns.first_start_ps <= kMaxTimePs &&
         columns.last_end_ps >= -2 * kMaxTimePs && columns.last_end_ps / 2 <= kMaxTimePs;
}

bool IndexesAreSound(const StoredLine& stored, const Entry& entry) {
  bool sound = true;
  for (const uint32_t name : stored.columns.name) sound &= name < entry.metadata_count;
  for (size_t e = 0; e < stored.columns.event_count(); ++e) {
    sound &= stored.OffsetOf(e) < entry.line_bytes;
  }
  return sound;
}

}  // namespace

ColumnFile::ColumnFile(std::shared_ptr<const storage::ByteSource> bytes)
    : source_(std::move(bytes)), bytes_(source_->bytes()) {}

Result<std::shared_ptr<ColumnFile>> ColumnFile::Open(
    std::shared_ptr<const storage::ByteSource> bytes, const Hash128& content_hash,
    uint64_t source_bytes) {
  std::shared_ptr<ColumnFile> file(new ColumnFile(std::move(bytes)));
  STROBE_RETURN_IF_ERROR(file->ReadHeader(content_hash, source_bytes));
  STROBE_RETURN_IF_ERROR(file->ReadDirectory());
  return file;
}

Status ColumnFile::ReadHeader(const Hash128& content_hash, uint64_t source_bytes) {
  content_hash_ = content_hash;
  const std::string& path = source_->identity().path;
  if (bytes_.size() < sizeof(column_format::kMagic) + sizeof(uint32_t) ||
      std::memcmp(bytes_.data(), column_format::kMagic, sizeof(column_format::kMagic)) != 0 ||
      reinterpret_cast<uintptr_t>(bytes_.data()) % alignof(uint64_t) != 0) {
    return Bad("COLUMNS_NOT_OURS", "Expected a column file, found other bytes.", path);
  }
  const auto version = Load<uint32_t>(bytes_, sizeof(column_format::kMagic));
  if (version != kColumnFormatVersion) {
    return Bad("COLUMNS_VERSION",
               "Expected format version " + std::to_string(kColumnFormatVersion) + ", found " +
                   std::to_string(version) + ".",
               path);
  }
  if (bytes_.size() < sizeof(Header)) {
    return Bad("COLUMNS_TRUNCATED", "The file ends within its header.", path);
  }
  const auto header = Load<Header>(bytes_, 0);
  if (header.header_hash != Hash64(bytes_.substr(0, sizeof(Header) - sizeof(uint64_t)))) {
    return Bad("COLUMNS_CHECKSUM", "The checksum of the header differs.", path);
  }
  if (header.file_bytes != bytes_.size()) {
    return Bad("COLUMNS_TRUNCATED",
               "Expected " + std::to_string(header.file_bytes) + " bytes, found " +
                   std::to_string(bytes_.size()) + ".",
               path);
  }
  if (Hash128{header.content_hash_high, header.content_hash_low} != content_hash ||
      header.source_bytes != source_bytes) {
    return Bad("COLUMNS_OTHER_PROFILE", "The columns are those of another profile.", path);
  }
  const uint64_t limit = bytes_.size();
  if (header.header_bytes != sizeof(Header) || header.directory_offset > limit ||
      header.directory_offset < sizeof(Header) ||
      header.line_count != (limit - header.directory_offset) / sizeof(Entry) ||
      (limit - header.directory_offset) % sizeof(Entry) != 0) {
    return Bad("COLUMNS_CORRUPT", "The directory does not lie within the file.", path);
  }
  if (header.directory_hash != Hash64(bytes_.substr(header.directory_offset))) {
    return Bad("COLUMNS_CHECKSUM", "The checksum of the directory differs.", path);
  }
  line_count_ = header.line_count;
  directory_offset_ = header.directory_offset;
  skeleton_hash_ = header.skeleton_hash;
  return OkStatus();
}

Status ColumnFile::ReadDirectory() {
  for (uint64_t i = 0; i < line_count_; ++i) {
    const Entry entry = EntryAt(bytes_, directory_offset_, i);
    const bool counts_are_sound =
        entry.event_count <= kMaxEvents && entry.row_count <= LineColumns::kMaxRows + 1 &&
        entry.has_high_offsets <= 1 && entry.aggregated <= entry.event_count &&
        entry.crowded <= entry.event_count &&
        (entry.aggregated + entry.crowded == 0 || entry.row_count > 0);
    const bool in_order = i == 0 || KeyOf(EntryAt(bytes_, directory_offset_, i - 1)) < KeyOf(entry);
    if (!counts_are_sound || !in_order ||
        entry.block_offset % column_format::kBlockAlignment != 0 ||
        entry.block_offset < sizeof(Header) || entry.block_offset > directory_offset_ ||
        entry.block_bytes > directory_offset_ - entry.block_offset ||
        entry.block_bytes != BlockLayout(entry.event_count, entry.has_high_offsets != 0,
                                         entry.row_count, entry.display_name_bytes)
                                 .size_bytes) {
      return Bad("COLUMNS_CORRUPT",
                 "Entry " + std::to_string(i) + " of the directory makes no sense.",
                 source_->identity().path);
    }
  }
  slots_ = std::make_unique<Slot[]>(line_count_);
  return OkStatus();
}

Status ColumnFile::Approve(const ProfileFile& profile) {
  const std::string& path = source_->identity().path;
  bool fits = column_format::SkeletonHash(profile) == skeleton_hash_;
  for (uint64_t i = 0; fits && i < line_count_; ++i) {
    const Entry entry = EntryAt(bytes_, directory_offset_, i);
    fits = entry.plane < profile.planes().size() &&
           entry.line < profile.planes()[entry.plane].lines.size();
    if (!fits) break;
    const Plane& plane = profile.planes()[entry.plane];
    fits = entry.metadata_count == plane.event_metadata.size() &&
           entry.line_bytes == plane.lines[entry.line].bytes.size_bytes;
  }
  if (!fits) {
    return Bad("COLUMNS_OTHER_PROFILE", "The columns do not fit the planes of the profile.", path);
  }
  approved_.store(true, std::memory_order_release);
  return OkStatus();
}

std::unique_ptr<const StoredLine> ColumnFile::CheckLine(uint64_t index) const {
  const Entry entry = EntryAt(bytes_, directory_offset_, index);
  const std::string_view block = bytes_.substr(entry.block_offset, entry.block_bytes);
  // The whole of it is read next: from a cold disk in one piece, not fault by fault.
  source_->Advise(entry.block_offset, entry.block_bytes, storage::ByteSource::Access::kWillNeed);
  if (Hash128Of(block) != Hash128{entry.block_hash_high, entry.block_hash_low}) return nullptr;
  const BlockLayout layout(entry.event_count, entry.has_high_offsets != 0, entry.row_count,
                           entry.display_name_bytes);
  const uint64_t events = entry.event_count;
  auto stored = std::make_unique<StoredLine>();
  LineColumns& columns = stored->columns;
  columns.start_ps = ArrayAt<int64_t>(block, layout.start, events);
  columns.duration_ps = ArrayAt<int64_t>(block, layout.duration, events);
  columns.name = ArrayAt<uint32_t>(block, layout.name, events);
  stored->event_offset = ArrayAt<uint32_t>(block, layout.offset, events);
  if (entry.has_high_offsets != 0) {
    stored->event_offset_high = ArrayAt<uint8_t>(block, layout.offset_high, events);
  }
  columns.rows = ArrayAt<LineColumns::Row>(block, layout.rows, entry.row_count);
  columns.display_name = block.substr(layout.display_name, entry.display_name_bytes);
  columns.first_start_ps = entry.first_start_ps;
  columns.last_end_ps = entry.last_end_ps;
  columns.out_of_order = entry.out_of_order;
  columns.overlapping = entry.overlapping;
  columns.negative = entry.negative;
  columns.saturated = entry.saturated;
  columns.aggregated = entry.aggregated;
  columns.crowded = entry.crowded;
  columns.missing_metadata = entry.missing_metadata;
  columns.display_id = entry.display_id;
  columns.stat_ids = {{entry.stat_ids[0], entry.stat_ids[1]}};
  if (!RowsCover(columns.rows, events) || !IndexesAreSound(*stored, entry) ||
      !TimesAreSound(columns)) {
    return nullptr;
  }
  return stored;
}

const StoredLine* ColumnFile::Find(size_t plane, size_t line) const {
  if (!approved_.load(std::memory_order_acquire)) return nullptr;
  const std::pair<size_t, size_t> wanted(plane, line);
  uint64_t low = 0;
  uint64_t high = line_count_;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const Entry entry = EntryAt(bytes_, directory_offset_, middle);
    if (std::pair<size_t, size_t>(entry.plane, entry.line) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == line_count_) return nullptr;
  const Entry entry = EntryAt(bytes_, directory_offset_, low);
  if (entry.plane != plane || entry.line != line) return nullptr;
  Slot& slot = slots_[low];
  std::call_once(slot.once, [&] {
    slot.stored = CheckLine(low);
    if (slot.stored != nullptr) return;
    // Once a file is enough to know; the rest are counted. Without the file the columns are made
    // again when the profile is next opened.
    if (rejected_lines_.fetch_add(1) == 0) {
      if (!source_->identity().path.empty()) unlink(source_->identity().path.c_str());
      LogWarning("columns.line_rejected", {{"file", source_->identity().path},
                                           {"plane", plane},
                                           {"line", line},
                                           {"reason", "checksum or contents of the block"}});
    }
  });
  return slot.stored.get();
}

}  // namespace strobe::xplane
