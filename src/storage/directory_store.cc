#include "src/storage/directory_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "src/storage/atomic_file.h"
#include "src/storage/memory_store.h"

namespace strobe::storage {
namespace {

ObjectInfo InfoOf(const std::string& key, const struct stat& info) {
  ObjectInfo object;
  object.key = key;
  object.size_bytes = static_cast<uint64_t>(info.st_size);
  object.modified_unix_ns =
      static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
  object.version = std::to_string(object.size_bytes) + "-" +
                   std::to_string(object.modified_unix_ns) + "-" + std::to_string(info.st_ino);
  return object;
}

Status CannotUse(const std::string& path, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) return ObjectNotFound(path);
  if (error_number == EACCES || error_number == EPERM) {
    return PermissionDeniedError("OBJECT_ACCESS_DENIED", "This program may not do that here.")
        .Where(path)
        .Hint("Check the owner and the permissions.");
  }
  return ErrnoError("OBJECT_STORE_FAILED", "Cannot use the file", error_number).Where(path);
}

Status FromFile(const Status& status, const std::string& path) {
  if (status.ok()) return status;
  if (status.name() == "FILE_EXISTS") return ObjectExists(path);
  return Status(status.code(), "OBJECT_STORE_FAILED", std::string(status.message()))
      .Where(path)
      .Hint(std::string(status.hint()));
}

struct Entry {
  std::string name;  // a directory's ends with "/", so that sorting is by key
  bool operator<(const Entry& other) const { return name < other.name; }
};

class Walker {
 public:
  Walker(const std::string& root, const ListQuery& query, const CallOptions& call)
      : root_(root), call_(call), page_(query), prefix_(query.prefix) {}

  Result<ListPage> Walk() {
    STROBE_RETURN_IF_ERROR(Visit("", 0));
    return std::move(page_).Finish();
  }

 private:
  static constexpr int kMaxDepth = 64;

  // Whether some key that begins with `folder` may be on the page.
  bool MayHold(const std::string& folder) const {
    if (!prefix_.starts_with(folder) && !folder.starts_with(prefix_)) return false;
    if (!page_.skip_to().empty() && (folder + "\xff") <= page_.skip_to()) return false;
    return folder + "\xff" > page_.first();
  }

  Status Visit(const std::string& folder, int depth) {
    STROBE_RETURN_IF_ERROR(call_.cancel.Check());
    STROBE_ASSIGN_OR_RETURN(const std::vector<Entry> entries, Read(folder));
    for (const Entry& entry : entries) {
      if (full_) return OkStatus();
      const std::string key = folder + entry.name;
      if (!entry.name.ends_with('/')) {
        struct stat info = {};
        if (key.size() > kMaxKeyBytes || !key.starts_with(prefix_) || key < page_.first() ||
            stat((root_ + "/" + key).c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
          continue;
        }
        full_ = !page_.Take(InfoOf(key, info));
      } else if (depth < kMaxDepth && MayHold(key)) {
        STROBE_RETURN_IF_ERROR(Visit(key, depth + 1));
      }
    }
    return OkStatus();
  }

  Result<std::vector<Entry>> Read(const std::string& folder) {
    std::vector<Entry> entries;
    const std::string path = folder.empty() ? root_ : root_ + "/" + folder;
    DIR* const directory = opendir(path.c_str());
    if (directory == nullptr) {
      // A part that cannot be read hides nothing else.
      if (folder.empty()) return CannotUse(root_, errno);
      return entries;
    }
    while (const dirent* const entry = readdir(directory)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || name.starts_with(kTemporaryPrefix)) continue;
      bool is_directory = entry->d_type == DT_DIR;
      if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
        struct stat info = {};
        is_directory =
            fstatat(dirfd(directory), entry->d_name, &info, 0) == 0 && S_ISDIR(info.st_mode);
      }
      entries.push_back({std::string(name) + (is_directory ? "/" : "")});
      if (entries.size() <= DirectoryStore::kMaxEntries) continue;
      closedir(directory);
      return ResourceExhaustedError("OBJECT_STORE_FAILED", "The directory has too many entries.")
          .Where(path);
    }
    closedir(directory);
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  const std::string& root_;
  const CallOptions& call_;
  PageMaker page_;
  const std::string prefix_;
  bool full_ = false;
};

}  // namespace

DirectoryStore::DirectoryStore(std::string directory) : directory_(std::move(directory)) {}

Result<std::string> DirectoryStore::PathOf(const std::string& key) const {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  std::string_view rest = key;
  while (true) {
    const size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.size() > kMaxFileNameBytes ||
        part.starts_with(kTemporaryPrefix)) {
      return InvalidArgumentError("OBJECT_KEY_INVALID", "The key cannot be a path.")
          .Where(key.substr(0, 200))
          .Hint("No part between slashes may be empty, \".\", \"..\" or longer than 240 bytes.");
    }
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  return directory_ + "/" + key;
}

Result<ListPage> DirectoryStore::List(const ListQuery& query, const CallOptions& call) {
  return Walker(directory_, query, call).Walk();
}

Result<ObjectInfo> DirectoryStore::Stat(const std::string& key, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_ASSIGN_OR_RETURN(const std::string path, PathOf(key));
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return CannotUse(path, errno);
  if (!S_ISREG(info.st_mode)) return ObjectNotFound(path);
  return InfoOf(key, info);
}

Result<ReadAnswer> DirectoryStore::Read(const std::string& key, const ReadQuery& query,
                                        const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_ASSIGN_OR_RETURN(const std::string path, PathOf(key));
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return CannotUse(path, errno);
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return CannotUse(path, errno);
  if (!S_ISREG(info.st_mode)) return ObjectNotFound(path);
  ReadAnswer answer;
  answer.info = InfoOf(key, info);
  if (!query.if_version.empty() && query.if_version != answer.info.version) {
    return ObjectChanged(path);
  }
  STROBE_RETURN_IF_ERROR(CheckRange(query, answer.info.size_bytes, path));
  const uint64_t wanted =
      std::min({query.length, kMaxReadBytes, answer.info.size_bytes - query.offset});
  answer.bytes.resize(wanted);
  uint64_t done = 0;
  while (done < wanted) {
    const ssize_t got = pread(file.get(), answer.bytes.data() + done, wanted - done,
                              static_cast<off_t>(query.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CannotUse(path, errno);
    if (got == 0) return ObjectChanged(path);
    done += static_cast<uint64_t>(got);
  }
  return answer;
}

Status DirectoryStore::CheckCondition(const std::string& key, const Condition& condition) {
  if (condition.kind != Condition::Kind::kVersion) return OkStatus();
  const Result<ObjectInfo> there = Stat(key, {});
  if (there.ok() && there->version == condition.version) return OkStatus();
  return ObjectChanged(directory_ + "/" + key);
}

Result<ObjectInfo> DirectoryStore::Put(const std::string& key, std::string_view bytes,
                                       const WriteOptions& options, const CallOptions& call) {
  STROBE_ASSIGN_OR_RETURN(const Upload upload, StartUpload(key, options, call));
  Result<ObjectInfo> written = FinishUpload(upload, bytes, call);
  if (!written.ok()) (void)AbortUpload(upload, {});
  return written;
}

Status DirectoryStore::Delete(const std::string& key, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_ASSIGN_OR_RETURN(const std::string path, PathOf(key));
  std::lock_guard lock(write_mutex_);
  if (unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    return CannotUse(path, errno);
  }
  return OkStatus();
}

Result<Upload> DirectoryStore::StartUpload(const std::string& key, const WriteOptions& options,
                                           const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_ASSIGN_OR_RETURN(const std::string path, PathOf(key));
  const std::string folder = path.substr(0, path.rfind('/'));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return CannotUse(folder, error.value());
  Upload upload;
  upload.key = key;
  upload.options = options;
  upload.id = folder + "/" + std::string(kTemporaryPrefix) + "XXXXXX";
  const FileDescriptor file(mkostemp(upload.id.data(), O_CLOEXEC));
  if (!file.valid()) return CannotUse(folder, errno);
  (void)fchmod(file.get(), 0644);
  return upload;
}

Status DirectoryStore::SendPart(Upload* upload, std::string_view bytes, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  const FileDescriptor file(open(upload->id.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return CannotUse(upload->id, errno);
  // At its place: a part that is sent again lands where it was.
  if (lseek(file.get(), static_cast<off_t>(upload->sent_bytes), SEEK_SET) < 0) {
    return CannotUse(upload->id, errno);
  }
  STROBE_RETURN_IF_ERROR(FromFile(WriteAll(file, bytes, upload->id), upload->id));
  upload->part_tags.emplace_back();
  upload->sent_bytes += bytes.size();
  return OkStatus();
}

Result<ObjectInfo> DirectoryStore::FinishUpload(const Upload& upload, std::string_view last_bytes,
                                                const CallOptions& call) {
  STROBE_ASSIGN_OR_RETURN(const std::string path, PathOf(upload.key));
  Upload last = upload;
  STROBE_RETURN_IF_ERROR(SendPart(&last, last_bytes, call));
  std::lock_guard lock(write_mutex_);
  STROBE_RETURN_IF_ERROR(CheckCondition(upload.key, upload.options.condition));
  {
    const FileDescriptor file(open(upload.id.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid() || fsync(file.get()) != 0) return CannotUse(upload.id, errno);
  }
  if (upload.options.condition.kind == Condition::Kind::kAbsent) {
    // A link, unlike a rename, replaces nothing.
    if (link(upload.id.c_str(), path.c_str()) != 0) {
      return errno == EEXIST ? ObjectExists(path) : CannotUse(path, errno);
    }
    unlink(upload.id.c_str());
  } else if (rename(upload.id.c_str(), path.c_str()) != 0) {
    return CannotUse(path, errno);
  }
  const std::string folder = path.substr(0, path.rfind('/'));
  const FileDescriptor parent(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.valid()) (void)fsync(parent.get());
  return Stat(upload.key, {});
}

Status DirectoryStore::AbortUpload(const Upload& upload, const CallOptions& call) {
  if (unlink(upload.id.c_str()) != 0 && errno != ENOENT) return CannotUse(upload.id, errno);
  return OkStatus();
}

}  // namespace strobe::storage
