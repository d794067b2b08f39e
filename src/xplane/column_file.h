// Decoded columns of one profile in a file: mapped, checked, never parsed again.
//
//   STROBE_RETURN_IF_ERROR(WriteColumnFile(*profile, content_hash, path, cancel));
//
//   STROBE_ASSIGN_OR_RETURN(auto columns, ColumnFile::Open(mapped, content_hash, source_bytes));
//   STROBE_ASSIGN_OR_RETURN(auto profile, OpenWithColumns(source, options, columns));
//   STROBE_RETURN_IF_ERROR(columns->Approve(*profile));  // before anyone asks for a line
//
// The format is docs/formats/columns.md. What a reader trusts is checked: header and directory when
// opened, that they fit the skeleton in Approve, the block of a line (checksum, indexes, order of
// time) when it is first asked for. A line that fails is decoded from the profile instead, with a
// log line, and the file is removed so that it is made again. Damaged lines are never stored.
//
// Cost: opening reads header and directory (200 bytes a line); a line costs one pass over its
// columns, about 5 GB/s. Errors of Open and Approve: COLUMNS_NOT_OURS, COLUMNS_VERSION,
// COLUMNS_TRUNCATED, COLUMNS_CHECKSUM, COLUMNS_CORRUPT, COLUMNS_OTHER_PROFILE.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/storage/byte_source.h"
#include "src/xplane/line_store.h"
#include "src/xplane/profile_file.h"

namespace strobe::xplane {

// Part of the file's name and header. Count it up whenever the format or the meaning of a column
// changes (row layout, origin of time, order of metadata).
inline constexpr uint32_t kColumnFormatVersion = 2;

class ColumnFile : public ColumnProvider {
 public:
  // `bytes` must begin at an address that is a multiple of 8.
  static Result<std::shared_ptr<ColumnFile>> Open(std::shared_ptr<const storage::ByteSource> bytes,
                                                  const Hash128& content_hash,
                                                  uint64_t source_bytes);
  // Checks that the columns belong to this skeleton; until then Find gives nothing.
  Status Approve(const ProfileFile& profile);

  const StoredLine* Find(size_t plane, size_t line) const override;
  uint64_t line_count() const { return line_count_; }
  const Hash128& content_hash() const { return content_hash_; }  // of the profile
  // False once somebody cut the file under us: lines checked before then read as zeros now, so what
  // was computed from them must not be used. Ask after computing.
  bool whole() const { return !source_->CutShort(); }
  // Lines that were asked for and turned out damaged.
  uint64_t rejected_lines() const { return rejected_lines_.load(); }

 private:
  struct Slot {
    std::once_flag once;
    std::unique_ptr<const StoredLine> stored;
  };

  explicit ColumnFile(std::shared_ptr<const storage::ByteSource> bytes);
  Status ReadHeader(const Hash128& content_hash, uint64_t source_bytes);
  Status ReadDirectory();
  std::unique_ptr<const StoredLine> CheckLine(uint64_t index) const;

  const std::shared_ptr<const storage::ByteSource> source_;
  const std::string_view bytes_;
  Hash128 content_hash_;
  uint64_t line_count_ = 0;
  uint64_t directory_offset_ = 0;
  uint64_t skeleton_hash_ = 0;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<bool> approved_ = false;
  mutable std::atomic<uint64_t> rejected_lines_ = 0;
};

// Decodes what is not decoded yet. The file appears whole or not at all. Errors: those of
// storage/atomic_file.h, CANCELLED, FILE_CHANGED when the profile changed while it was read.
Status WriteColumnFile(const ProfileFile& profile, const Hash128& content_hash,
                       const std::string& path, const CancelToken& cancel);

// What WriteColumnFile would write at most, once everything is decoded.
uint64_t ColumnFileBytes(const ProfileFile& profile);

}  // namespace strobe::xplane
