// The bytes of one immutable object, readable in memory: a mapped file, or a buffer.
//
// This is all that the decoders see of storage. A source stays valid as long as someone holds it,
// even when the file is deleted or replaced; when a mapped file is cut short under us the lost
// pages read as zeros and `CheckUnchanged` says so (never a SIGBUS: storage installs a handler for
// its own mappings).
//
//   STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const ByteSource> source, OpenMappedFile(path));
//   Parse(source->bytes());
//   STROBE_RETURN_IF_ERROR(source->CheckUnchanged());   // before trusting what was read
//
// Cost: mapping is lazy, pages are read on first touch and can be evicted. Sizes beyond 4 GiB work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace strobe::storage {

// What tells one state of a file from another without reading it.
struct FileIdentity {
  std::string path;
  uint64_t size_bytes = 0;
  int64_t modified_unix_ns = 0;
  int64_t changed_unix_ns = 0;  // of the inode: moves also when the modification time is set back
  uint64_t inode = 0;
  uint64_t device = 0;
  bool operator==(const FileIdentity&) const = default;
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::string_view bytes() const = 0;
  // Path empty when the bytes never were a file.
  virtual const FileIdentity& identity() const = 0;
  // OK while the file behind the bytes is what it was; FILE_CHANGED (ABORTED) after truncation or
  // in-place rewriting.
  virtual Status CheckUnchanged() const = 0;
  // True once the file behind the bytes is shorter than when it was opened, or a part of it could
  // not be read: what was lost reads as zeros. A system call.
  virtual bool CutShort() const { return false; }
  // Heap or anonymous memory that this source holds (0 for a mapped file), for memory accounting.
  virtual uint64_t owned_bytes() const = 0;

  enum class Access : uint8_t { kNormal, kSequential, kRandom, kWillNeed, kDontNeed };
  // A hint to the kernel for a part of the bytes; never fails.
  virtual void Advise(uint64_t offset, uint64_t length, Access access) const {}
};

// Errors: FILE_NOT_FOUND, FILE_NOT_READABLE, FILE_NOT_REGULAR, FILE_EMPTY is not an error (empty
// bytes).
Result<std::shared_ptr<const ByteSource>> OpenMappedFile(const std::string& path);

std::shared_ptr<const ByteSource> OwnBytes(std::string bytes, std::string path = "");

// Stat only. Errors as OpenMappedFile.
Result<FileIdentity> IdentifyFile(const std::string& path);

}  // namespace strobe::storage
