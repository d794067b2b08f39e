// An open file that closes itself.
//
//   FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
//   if (!file.valid()) return ErrnoError(...);
//
// Move-only. Cost: none beyond the descriptor.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/status.h"
#include "src/storage/byte_source.h"

namespace strobe::storage {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      Close();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { Close(); }

  bool valid() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  void Close();

 private:
  int descriptor_ = -1;
};

// Writes all of `bytes`, however many calls it takes. `path` is for the error's text.
Status WriteAll(const FileDescriptor& file, std::string_view bytes, const std::string& path);

// Maps an open regular file; `path` names it in errors and in its identity (empty for an unlinked
// file).
Result<std::shared_ptr<const ByteSource>> MapDescriptor(FileDescriptor file,
                                                        const std::string& path);

}  // namespace strobe::storage
