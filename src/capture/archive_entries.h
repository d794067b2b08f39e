// What zip and tar share: the bounds of an archive, checked entry by entry and byte by byte.
//
//   ArchiveEntries entries(limits, packed_bytes, taker, cancel);
//   STROBE_RETURN_IF_ERROR(entries.Begin(path, size)); entries.Take(part); entries.End();
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "src/capture/archive.h"

namespace strobe::capture {

Status ArchiveDamaged(const std::string& what);

class ArchiveEntries {
 public:
  ArchiveEntries(const ArchiveLimits& limits, uint64_t packed_bytes, ArchiveTaker& taker,
                 const CancelToken& cancel)
      : limits_(limits), packed_bytes_(packed_bytes), taker_(taker), cancel_(cancel) {}

  // Every entry, also those that are no files.
  Status Count();
  Status Begin(std::string_view path, uint64_t size_bytes);
  Status Take(std::string_view bytes);
  Status End();
  // Bytes that came out of a decompressor, wanted or not: the bomb is in making them.
  Status CountOutput(uint64_t bytes);
  const ArchiveSummary& summary() const { return summary_; }
  const ArchiveLimits& limits() const { return limits_; }

 private:
  const ArchiveLimits limits_;
  const uint64_t packed_bytes_;
  ArchiveTaker& taker_;
  const CancelToken cancel_;
  ArchiveSummary summary_;
  std::set<std::string> paths_;
  bool wanted_ = false;
};

// A tar as it comes, in parts of any size.
class TarReader {
 public:
  explicit TarReader(ArchiveEntries& entries) : entries_(entries) {}
  Status Feed(std::string_view bytes);
  // Nothing more comes: ARCHIVE_DAMAGED without the mark of the end.
  Status Finish() const;

 private:
  static constexpr size_t kBlockBytes = 512;
  // Longer names than any file system's path.
  static constexpr size_t kMaxExtensionBytes = 64 * 1024;
  enum class In : uint8_t { kHeader, kFile, kExtension, kPassed, kPadding, kEnd };
  Status TakeHeader();
  Status BeginEntry(char kind, std::string path);
  Status TakePax();
  Status EndContent();

  ArchiveEntries& entries_;
  In in_ = In::kHeader;
  std::string block_;
  std::string extension_;
  char extension_kind_ = 0;
  uint64_t left_bytes_ = 0;
  uint64_t padding_bytes_ = 0;
  uint64_t size_bytes_ = 0;
  std::string next_path_;  // of an extension, for the entry behind it
  bool has_next_size_ = false;
  uint64_t next_size_bytes_ = 0;
};

Status ReadZip(std::string_view bytes, ArchiveEntries& entries, const CancelToken& cancel);

}  // namespace strobe::capture
