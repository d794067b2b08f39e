// The files in a zip or a tar, taken one after the other with bounds: what is uploaded is hostile.
//
//   STROBE_ASSIGN_OR_RETURN(ArchiveSummary done, ReadArchive(bytes, {}, take, cancel));
//
// Understood: zip (stored and deflated, zip64), tar (ustar, GNU long names, pax paths and sizes),
// the latter also within gzip, zstd or xz. `take` gets every regular file: its path is relative,
// without
// "." and "..", and may answer that it does not want the bytes. Directories are passed over.
// Refused as a whole: paths that lead out (ARCHIVE_PATH_UNSAFE), links, devices and other things
// (ARCHIVE_ENTRY_KIND), names that come twice (ARCHIVE_PATH_TWICE), encrypted or otherwise packed
// entries (ARCHIVE_PACKING_UNKNOWN), more than ArchiveLimits (ARCHIVE_TOO_LARGE), wrong checksums
// and broken structure (ARCHIVE_DAMAGED), text and the like (ARCHIVE_NOT_ONE). Cost: one pass;
// memory of some 300 KB. Pure but for `take`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::capture {

struct ArchiveLimits {
  // Sessions have a file for each host and some beside it.
  uint64_t max_entries = 20'000;
  uint64_t max_output_bytes = uint64_t{64} << 30;
  // Real profiles shrink 5 to 60 times.
  uint64_t max_ratio = 200;
  // Small archives of zeros pass below this.
  uint64_t ratio_floor_bytes = uint64_t{16} << 20;
  size_t max_path_bytes = 1024;
};

class ArchiveTaker {
 public:
  virtual ~ArchiveTaker() = default;
  // A file begins; false: its bytes are not wanted.
  virtual Result<bool> Begin(const std::string& path, uint64_t size_bytes) = 0;
  virtual Status Take(std::string_view bytes) = 0;
  virtual Status End() = 0;
};

struct ArchiveSummary {
  uint64_t entries = 0;
  uint64_t files = 0;
  uint64_t output_bytes = 0;
};

enum class ArchiveKind : uint8_t { kNone, kZip, kTar };
// By content; looks into compressed bytes as far as a tar's first header.
ArchiveKind DetectArchive(std::string_view bytes);

Result<ArchiveSummary> ReadArchive(std::string_view bytes, const ArchiveLimits& limits,
                                   ArchiveTaker& taker, const CancelToken& cancel);

// ARCHIVE_PATH_UNSAFE, or the path with "./" and doubled slashes taken out; "" for a directory's
// own.
Result<std::string> SafeArchivePath(std::string_view path, size_t max_path_bytes);

}  // namespace strobe::capture
