// Files that are either there whole or not at all, whatever happens in between.
//
//   STROBE_RETURN_IF_ERROR(WriteFileAtomically(directory + "/host.xplane.pb", bytes, {}));
//
//   STROBE_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path, {.replace = false}));
//   STROBE_RETURN_IF_ERROR(file.Append(part));
//   STROBE_RETURN_IF_ERROR(std::move(file).Commit());     // without it nothing is left behind
//
// How: a temporary file in the same directory, fsync, rename, fsync of the directory. Cost: two
// disk flushes. Errors: FILE_NAME_INVALID, FILE_NOT_WRITABLE, FILE_EXISTS (only with replace =
// false). A crash can leave a file named `.strobe-tmp-XXXXXX`; RemoveStaleTemporaries takes them
// away.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/storage/file_descriptor.h"

namespace strobe::storage {

inline constexpr std::string_view kTemporaryPrefix = ".strobe-tmp-";
// File systems take 255; the rest is room for suffixes others add (".gz", ".tmp").
inline constexpr size_t kMaxFileNameBytes = 240;

struct AtomicFileOptions {
  mode_t permissions = 0644;
  bool replace = true;
  // False where losing the newest file in a power cut is no harm (caches).
  bool durable = true;
};

class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::string& path, const AtomicFileOptions& options);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();  // removes the temporary file when Commit did not succeed

  Status Append(std::string_view bytes);
  // Writes at a place, for headers known only at the end.
  Status WriteAt(uint64_t offset, std::string_view bytes);
  uint64_t size_bytes() const { return size_bytes_; }
  Status Commit() &&;

 private:
  AtomicFile(FileDescriptor file, std::string temporary, std::string path,
             AtomicFileOptions options);
  FileDescriptor file_;
  std::string temporary_;  // empty when there is nothing to remove
  std::string path_;
  AtomicFileOptions options_;
  uint64_t size_bytes_ = 0;
};

Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                           const AtomicFileOptions& options);

// As `mkdir -p` with mode 0700 for what is made. Errors: DIRECTORY_NOT_WRITABLE.
Status MakeDirectories(const std::string& path);

// Removes temporary files of a directory that are older than `min_age_ns`; returns how many.
int RemoveStaleTemporaries(const std::string& directory, int64_t now_unix_ns, int64_t min_age_ns);

}  // namespace strobe::storage
