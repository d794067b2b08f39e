#include "src/storage/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace strobe::storage {
namespace {

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status NotWritable(std::string_view action, const std::string& path, int error_number) {
  return ErrnoError("FILE_NOT_WRITABLE", action, error_number)
      .Where(path)
      .Hint("Check the free space and the permissions of the directory.");
}

Status CheckName(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.empty() || name == "." || name == ".." || name.size() > kMaxFileNameBytes ||
      name.find('\0') != std::string::npos) {
    return InvalidArgumentError("FILE_NAME_INVALID", "Expected a file name of 1 to " +
                                                         std::to_string(kMaxFileNameBytes) +
                                                         " bytes, found " +
                                                         std::to_string(name.size()) + ".")
        .Where(path.substr(0, 2 * kMaxFileNameBytes));
  }
  return OkStatus();
}

// Puts `from` in the place of `to` without replacing anything that is there.
int RenameWithoutReplacing(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // The file system does not know the flag; a hard link refuses an existing name too.
  if (link(from.c_str(), to.c_str()) != 0) return -1;
  unlink(from.c_str());
  return 0;
}

}  // namespace

AtomicFile::AtomicFile(FileDescriptor file, std::string temporary, std::string path,
                       AtomicFileOptions options)
    : file_(std::move(file)),
      temporary_(std::move(temporary)),
      path_(std::move(path)),
      options_(options) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : file_(std::move(other.file_)),
      temporary_(std::exchange(other.temporary_, std::string())),
      path_(std::move(other.path_)),
      options_(other.options_),
      size_bytes_(other.size_bytes_) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Result<AtomicFile> AtomicFile::Create(const std::string& path, const AtomicFileOptions& options) {
  STROBE_RETURN_IF_ERROR(CheckName(path));
  std::string temporary = DirectoryOf(path) + "/" + std::string(kTemporaryPrefix) + "XXXXXX";
  FileDescriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return NotWritable("Cannot make a file", path, errno);
  AtomicFile made(std::move(file), std::move(temporary), path, options);
  if (fchmod(made.file_.get(), options.permissions) != 0) {
    return NotWritable("Cannot set the permissions of the file", path, errno);
  }
  return made;
}

Status AtomicFile::Append(std::string_view bytes) {
  STROBE_RETURN_IF_ERROR(WriteAll(file_, bytes, path_));
  size_bytes_ += bytes.size();
  return OkStatus();
}

Status AtomicFile::WriteAt(uint64_t offset, std::string_view bytes) {
  STROBE_CHECK(offset + bytes.size() <= size_bytes_);
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return NotWritable("Cannot write to the file", path_, errno);
    }
    offset += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status AtomicFile::Commit() && {
  if (options_.durable && fsync(file_.get()) != 0) {
    return NotWritable("Cannot flush the file to disk", path_, errno);
  }
  const int renamed = options_.replace ? rename(temporary_.c_str(), path_.c_str())
                                       : RenameWithoutReplacing(temporary_, path_);
  if (renamed != 0) {
    if (errno == EEXIST) {
      return AlreadyExistsError("FILE_EXISTS", "A file of that name is there already.")
          .Where(path_)
          .Hint("Choose another name; nothing was overwritten.");
    }
    return NotWritable("Cannot put the file in its place", path_, errno);
  }
  temporary_.clear();
  if (!options_.durable) return OkStatus();
  const FileDescriptor directory(
      open(DirectoryOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot flush a directory; the file itself is safe then.
  if (directory.valid() && fsync(directory.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return NotWritable("Cannot flush the directory to disk", path_, errno);
  }
  return OkStatus();
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                           const AtomicFileOptions& options) {
  STROBE_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path, options));
  STROBE_RETURN_IF_ERROR(file.Append(bytes));
  return std::move(file).Commit();
}

Status MakeDirectories(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (!part.empty() && mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && errno != EISDIR) {
      const int error_number = errno;
      struct stat info = {};
      // A read-only ancestor that is there already is no problem.
      if (stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return ErrnoError("DIRECTORY_NOT_WRITABLE", "Cannot make the directory", error_number)
            .Where(part)
            .Hint("Check the permissions of the directory above it.");
      }
    }
    if (slash == std::string::npos) break;
  }
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return ErrnoError("DIRECTORY_NOT_WRITABLE", "Cannot make the directory", ENOTDIR).Where(path);
  }
  return OkStatus();
}

int RemoveStaleTemporaries(const std::string& directory, int64_t now_unix_ns, int64_t min_age_ns) {
  DIR* const entries = opendir(directory.c_str());
  if (entries == nullptr) return 0;
  int removed = 0;
  while (const dirent* const entry = readdir(entries)) {
    if (!std::string_view(entry->d_name).starts_with(kTemporaryPrefix)) continue;
    struct stat info = {};
    if (fstatat(dirfd(entries), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const int64_t modified_ns =
        static_cast<int64_t>(info.st_mtim.tv_sec) * 1000000000LL + info.st_mtim.tv_nsec;
    if (now_unix_ns - modified_ns < min_age_ns) continue;
    if (unlinkat(dirfd(entries), entry->d_name, 0) == 0) ++removed;
  }
  closedir(entries);
  return removed;
}

}  // namespace strobe::storage
