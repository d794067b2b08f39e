#include <algorithm>
#include <span>

#include "src/storage/atomic_file.h"
#include "src/xplane/column_file.h"
#include "src/xplane/column_format.h"

namespace strobe::xplane {

using column_format::BlockLayout;
using column_format::BytesOf;
using column_format::Entry;
using column_format::Header;

namespace column_format {

uint64_t SkeletonHash(const ProfileFile& profile) {
  Hasher hasher;
  const auto add = [&](auto value) { hasher.Add(BytesOf(value)); };
  add(uint64_t{profile.planes().size()});
  for (const Plane& plane : profile.planes()) {
    add(plane.bytes.offset);
    add(plane.bytes.size_bytes);
    add(uint64_t{plane.event_metadata.size()});
    add(uint64_t{plane.lines.size()});
    for (const Line& line : plane.lines) {
      add(line.bytes.offset);
      add(line.bytes.size_bytes);
      add(line.base_ps);
    }
  }
  return hasher.Digest128().low;
}

}  // namespace column_format

namespace {

// Writes parts and pads them, hashing what it writes.
class BlockWriter {
 public:
  explicit BlockWriter(storage::AtomicFile* file) : file_(file) {}

  template <typename T>
  Status Array(std::span<const T> values) {
    return Bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  Status Bytes(std::string_view bytes) {
    static constexpr char kZeros[8] = {};
    const uint64_t padding = column_format::Padded(bytes.size()) - bytes.size();
    for (const std::string_view part : {bytes, std::string_view(kZeros, padding)}) {
      hasher_.Add(part);
      STROBE_RETURN_IF_ERROR(file_->Append(part));
    }
    return OkStatus();
  }
  Hash128 hash() const { return hasher_.Digest128(); }

 private:
  storage::AtomicFile* const file_;
  Hasher hasher_;
};

Status Align(storage::AtomicFile* file) {
  static constexpr char kZeros[column_format::kBlockAlignment] = {};
  const uint64_t rest = file->size_bytes() % column_format::kBlockAlignment;
  if (rest == 0) return OkStatus();
  return file->Append(std::string_view(kZeros, column_format::kBlockAlignment - rest));
}

Status WriteLine(const ProfileFile& profile, size_t p, size_t l, storage::AtomicFile* file,
                 std::vector<Entry>* entries) {
  const StoredLine& stored = StoredLineOf(profile, p, l);
  const LineColumns& columns = stored.columns;
  // What is damaged is decoded each time, so that its damage is told each time.
  if (columns.damaged) return OkStatus();
  STROBE_RETURN_IF_ERROR(Align(file));
  Entry entry = {};
  entry.plane = static_cast<uint32_t>(p);
  entry.line = static_cast<uint32_t>(l);
  entry.block_offset = file->size_bytes();
  entry.line_bytes = profile.planes()[p].lines[l].bytes.size_bytes;
  entry.metadata_count = profile.planes()[p].event_metadata.size();
  entry.event_count = columns.event_count();
  entry.row_count = static_cast<uint32_t>(columns.rows.size());
  entry.display_name_bytes = static_cast<uint32_t>(columns.display_name.size());
  entry.has_high_offsets = stored.event_offset_high.empty() ? 0 : 1;
  entry.first_start_ps = columns.first_start_ps;
  entry.last_end_ps = columns.last_end_ps;
  entry.out_of_order = columns.out_of_order;
  entry.overlapping = columns.overlapping;
  entry.negative = columns.negative;
  entry.saturated = columns.saturated;
  entry.aggregated = columns.aggregated;
  entry.crowded = columns.crowded;
  entry.missing_metadata = columns.missing_metadata;
  entry.display_id = columns.display_id;
  std::ranges::copy(columns.stat_ids.bits, entry.stat_ids);
  BlockWriter block(file);
  STROBE_RETURN_IF_ERROR(block.Array(columns.start_ps));
  STROBE_RETURN_IF_ERROR(block.Array(columns.duration_ps));
  STROBE_RETURN_IF_ERROR(block.Array(columns.name));
  STROBE_RETURN_IF_ERROR(block.Array(stored.event_offset));
  STROBE_RETURN_IF_ERROR(block.Array(stored.event_offset_high));
  STROBE_RETURN_IF_ERROR(block.Array(columns.rows));
  STROBE_RETURN_IF_ERROR(block.Bytes(columns.display_name));
  entry.block_bytes = file->size_bytes() - entry.block_offset;
  entry.block_hash_high = block.hash().high;
  entry.block_hash_low = block.hash().low;
  entries->push_back(entry);
  return OkStatus();
}

}  // namespace

Status WriteColumnFile(const ProfileFile& profile, const Hash128& content_hash,
                       const std::string& path, const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(profile.DecodeAll(cancel, nullptr));
  // A cache that a power cut takes is made again; readers check what they read.
  STROBE_ASSIGN_OR_RETURN(
      storage::AtomicFile file,
      storage::AtomicFile::Create(path, {.permissions = 0600, .durable = false}));
  Header header = {};
  STROBE_RETURN_IF_ERROR(file.Append(BytesOf(header)));
  std::vector<Entry> entries;
  for (size_t p = 0; p < profile.planes().size(); ++p) {
    for (size_t l = 0; l < profile.planes()[p].lines.size(); ++l) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      STROBE_RETURN_IF_ERROR(WriteLine(profile, p, l, &file, &entries));
    }
  }
  STROBE_RETURN_IF_ERROR(Align(&file));
  std::copy_n(column_format::kMagic, sizeof(header.magic), header.magic);
  header.version = kColumnFormatVersion;
  header.header_bytes = sizeof(Header);
  header.content_hash_high = content_hash.high;
  header.content_hash_low = content_hash.low;
  header.source_bytes = profile.source().bytes().size();
  header.skeleton_hash = column_format::SkeletonHash(profile);
  header.line_count = entries.size();
  header.directory_offset = file.size_bytes();
  const std::string_view directory(reinterpret_cast<const char*>(entries.data()),
                                   entries.size() * sizeof(Entry));
  STROBE_RETURN_IF_ERROR(file.Append(directory));
  header.directory_hash = Hash64(directory);
  header.file_bytes = file.size_bytes();
  header.header_hash = Hash64(BytesOf(header).substr(0, sizeof(Header) - sizeof(uint64_t)));
  STROBE_RETURN_IF_ERROR(file.WriteAt(0, BytesOf(header)));
  // Zeros of lost pages must not be kept as events.
  STROBE_RETURN_IF_ERROR(profile.source().CheckUnchanged());
  return std::move(file).Commit();
}

uint64_t ColumnFileBytes(const ProfileFile& profile) {
  uint64_t bytes = sizeof(Header);
  for (size_t p = 0; p < profile.planes().size(); ++p) {
    for (size_t l = 0; l < profile.planes()[p].lines.size(); ++l) {
      const StoredLine& stored = StoredLineOf(profile, p, l);
      bytes += BlockLayout(stored.columns.event_count(), !stored.event_offset_high.empty(),
                           stored.columns.rows.size(), stored.columns.display_name.size())
                   .size_bytes +
               column_format::kBlockAlignment + sizeof(Entry);
    }
  }
  return bytes;
}

}  // namespace strobe::xplane
