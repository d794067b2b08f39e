#include "src/storage/byte_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "src/storage/file_descriptor.h"
#include "src/storage/sigbus_guard.h"

namespace strobe::storage {
namespace {

constexpr uint64_t kPageBytes = 4096;

FileIdentity IdentityOf(const std::string& path, const struct stat& info) {
  FileIdentity identity;
  identity.path = path;
  identity.size_bytes = static_cast<uint64_t>(info.st_size);
  identity.modified_unix_ns =
      static_cast<int64_t>(info.st_mtim.tv_sec) * 1000000000LL + info.st_mtim.tv_nsec;
  identity.changed_unix_ns =
      static_cast<int64_t>(info.st_ctim.tv_sec) * 1000000000LL + info.st_ctim.tv_nsec;
  identity.inode = info.st_ino;
  identity.device = info.st_dev;
  return identity;
}

Status OpenFailed(const std::string& path, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) {
    return ErrnoError("FILE_NOT_FOUND", "Cannot open the file", error_number)
        .Where(path)
        .Hint("Check the path; the file may have been moved or deleted.");
  }
  return ErrnoError("FILE_NOT_READABLE", "Cannot open the file", error_number)
      .Where(path)
      .Hint("Check that the file is readable for the user that runs Strobe.");
}

Status NotRegular(const std::string& path) {
  return InvalidArgumentError("FILE_NOT_REGULAR",
                              "Expected a regular file, found a directory or a special file.")
      .Where(path)
      .Hint("Give the path of a profile file.");
}

class MappedFile : public ByteSource {
 public:
  MappedFile(FileDescriptor file, FileIdentity identity, const char* data, size_t slot)
      : file_(std::move(file)), identity_(std::move(identity)), data_(data), slot_(slot) {}
  ~MappedFile() override {
    if (data_ == nullptr) return;
    UnguardMapping(slot_);
    munmap(const_cast<char*>(data_), identity_.size_bytes);
  }

  std::string_view bytes() const override {
    return data_ == nullptr ? std::string_view() : std::string_view(data_, identity_.size_bytes);
  }
  const FileIdentity& identity() const override { return identity_; }
  uint64_t owned_bytes() const override { return 0; }

  bool CutShort() const override {
    if (data_ != nullptr && MappingFaulted(slot_)) return true;
    struct stat info = {};
    return fstat(file_.get(), &info) != 0 ||
           static_cast<uint64_t>(info.st_size) < identity_.size_bytes;
  }
  Status CheckUnchanged() const override {
    const bool faulted = data_ != nullptr && MappingFaulted(slot_);
    struct stat info = {};
    const bool known = fstat(file_.get(), &info) == 0;
    if (!faulted && known) {
      const FileIdentity now = IdentityOf(identity_.path, info);
      if (now.size_bytes == identity_.size_bytes &&
          now.modified_unix_ns == identity_.modified_unix_ns) {
        return OkStatus();
      }
    }
    const std::string size_now = known ? std::to_string(info.st_size) : "unknown";
    return Status(StatusCode::kAborted, "FILE_CHANGED",
                  faulted
                      ? "A part of the file could not be read any more; it was cut short or the "
                        "disk failed."
                      : "The file was written to while it was being read.")
        .Where(identity_.path + ", " + std::to_string(identity_.size_bytes) +
               " bytes when opened, " + size_now + " now")
        .Hint("Open it again once it is no longer being written.");
  }

  void Advise(uint64_t offset, uint64_t length, Access access) const override {
    if (data_ == nullptr || offset >= identity_.size_bytes) return;
    length = std::min(length, identity_.size_bytes - offset);
    const uint64_t begin = offset & ~(kPageBytes - 1);
    int advice = MADV_NORMAL;
    switch (access) {
      case Access::kNormal:
        break;
      case Access::kSequential:
        advice = MADV_SEQUENTIAL;
        break;
      case Access::kRandom:
        advice = MADV_RANDOM;
        break;
      case Access::kWillNeed:
        advice = MADV_WILLNEED;
        break;
      case Access::kDontNeed:
        advice = MADV_DONTNEED;
        break;
    }
    (void)madvise(const_cast<char*>(data_) + begin, offset + length - begin, advice);
  }

 private:
  const FileDescriptor file_;
  const FileIdentity identity_;
  const char* const data_;
  const size_t slot_;
};

class OwnedBytes : public ByteSource {
 public:
  OwnedBytes(std::string bytes, std::string path) : bytes_(std::move(bytes)) {
    identity_.path = std::move(path);
    identity_.size_bytes = bytes_.size();
  }
  std::string_view bytes() const override { return bytes_; }
  const FileIdentity& identity() const override { return identity_; }
  Status CheckUnchanged() const override { return OkStatus(); }
  uint64_t owned_bytes() const override { return bytes_.capacity(); }

 private:
  const std::string bytes_;
  FileIdentity identity_;
};

}  // namespace

Result<std::shared_ptr<const ByteSource>> MapDescriptor(FileDescriptor file,
                                                        const std::string& path) {
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return OpenFailed(path, errno);
  if (!S_ISREG(info.st_mode)) return NotRegular(path);
  FileIdentity identity = IdentityOf(path, info);
  if (identity.size_bytes == 0) {
    return std::shared_ptr<const ByteSource>(
        std::make_shared<MappedFile>(std::move(file), std::move(identity), nullptr, 0));
  }
  void* const data =
      mmap(nullptr, identity.size_bytes, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
  if (data == MAP_FAILED) {
    return ErrnoError("FILE_NOT_READABLE", "Cannot map the file into memory", errno)
        .Where(path + ", " + std::to_string(identity.size_bytes) + " bytes");
  }
  const std::optional<size_t> slot = GuardMapping(data, identity.size_bytes);
  if (!slot) {
    munmap(data, identity.size_bytes);
    return ResourceExhaustedError("TOO_MANY_OPEN_FILES", "More than " +
                                                             std::to_string(kMaxGuardedMappings) +
                                                             " profile files are open at once.")
        .Where(path)
        .Hint("Close some sessions or lower the memory budget so that they are closed sooner.");
  }
  return std::shared_ptr<const ByteSource>(std::make_shared<MappedFile>(
      std::move(file), std::move(identity), static_cast<const char*>(data), *slot));
}

Result<std::shared_ptr<const ByteSource>> OpenMappedFile(const std::string& path) {
  // Without O_NONBLOCK a named pipe would hold us for ever.
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return OpenFailed(path, errno);
  return MapDescriptor(std::move(file), path);
}

std::shared_ptr<const ByteSource> OwnBytes(std::string bytes, std::string path) {
  return std::make_shared<OwnedBytes>(std::move(bytes), std::move(path));
}

Result<FileIdentity> IdentifyFile(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return OpenFailed(path, errno);
  if (!S_ISREG(info.st_mode)) return NotRegular(path);
  return IdentityOf(path, info);
}

}  // namespace strobe::storage
