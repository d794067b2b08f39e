#include "src/storage/file_descriptor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace strobe::storage {
namespace {

// The kernel takes at most 2 GiB at once; smaller steps cost nothing.
constexpr size_t kMaxWriteBytes = 64 * 1024 * 1024;

}  // namespace

void FileDescriptor::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

Status WriteAll(const FileDescriptor& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), std::min(bytes.size(), kMaxWriteBytes));
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrnoError("FILE_NOT_WRITABLE", "Cannot write to the file", errno)
          .Where(path)
          .Hint("Check the free space and the permissions of the directory.");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

}  // namespace strobe::storage
