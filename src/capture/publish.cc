#include "src/capture/publish.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "src/base/log.h"
#include "src/capture/target.h"
#include "src/storage/file_descriptor.h"
#include "src/xplane/bucket_sessions.h"

namespace strobe::capture {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSendBytes = 4 << 20;

Status Exists(const std::string& path) {
  return AlreadyExistsError("SESSION_EXISTS", "There is already a session of this name.")
      .Where(path)
      .Hint("Choose another name for the session or the run.");
}

Status NotPublished(const std::string& path, int error_number) {
  return ErrnoError("SESSION_NOT_PUBLISHED", "The session cannot be put into its place",
                    error_number)
      .Where(path)
      .Hint("Check the free space and the permissions there.");
}

Result<std::string> MoveIntoPlace(const PublishRequest& request) {
  const std::string path = SessionPathOf(request.place, request.run, request.session);
  const std::string parent = path.substr(0, path.rfind('/'));
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return NotPublished(parent, error.value());
  fs::permissions(request.folder,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                      fs::perms::others_read | fs::perms::others_exec,
                  error);
  if (renameat2(AT_FDCWD, request.folder.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST || errno == ENOTEMPTY) return Exists(path);
    if (errno != EINVAL && errno != ENOSYS) return NotPublished(path, errno);
    // A file system without it. Only an empty folder could be replaced.
    if (fs::exists(path, error)) return Exists(path);
    if (rename(request.folder.c_str(), path.c_str()) != 0) return NotPublished(path, errno);
  }
  const storage::FileDescriptor folder(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) (void)fsync(folder.get());
  return path;
}

class BucketPublisher {
 public:
  BucketPublisher(const PublishRequest& request, storage::Place place, const CancelToken& cancel)
      : request_(request), place_(std::move(place)), call_({.cancel = cancel}) {
    folder_ = place_.FolderPrefix();
    if (!request.run.empty()) folder_ += request.run + "/";
    folder_ += "plugins/profile/" + request.session + "/";
  }

  Result<std::string> Publish() {
    const std::string path = place_.store->name() + "/" + folder_.substr(0, folder_.size() - 1);
    STROBE_ASSIGN_OR_RETURN(const storage::ListPage there,
                            place_.store->List({.prefix = folder_, .max_keys = 1}, call_));
    if (!there.objects.empty()) return Exists(path);
    const std::string mark = folder_ + std::string(xplane::kWritingMark);
    // Of two at once one has the name.
    const Result<storage::ObjectInfo> marked = place_.store->Put(
        mark, "being written by strobe\n", {.condition = storage::Condition::Absent()}, call_);
    if (!marked.ok()) {
      return marked.status().name() == "OBJECT_EXISTS" ? Exists(path) : marked.status();
    }
    const Status sent = SendAll();
    if (!sent.ok()) {
      TakeBack();
      (void)place_.store->Delete(mark, {});
      return sent;
    }
    STROBE_RETURN_IF_ERROR(place_.store->Delete(mark, call_));
    return path;
  }

 private:
  Status SendAll() {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator at(request_.folder, error), end; !error && at != end;
         at.increment(error)) {
      if (at->is_regular_file(error)) names.push_back(at->path().filename().string());
    }
    if (error) return NotPublished(request_.folder, error.value());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) STROBE_RETURN_IF_ERROR(Send(name));
    return OkStatus();
  }

  Status Send(const std::string& name) {
    const std::string path = request_.folder + "/" + name;
    const storage::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return NotPublished(path, errno);
    storage::ObjectWriter writer(*place_.store, folder_ + name,
                                 {.condition = storage::Condition::Absent()}, call_);
    std::string part(kSendBytes, '\0');
    while (true) {
      const ssize_t got = read(file.get(), part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return NotPublished(path, errno);
      if (got == 0) break;
      STROBE_RETURN_IF_ERROR(
          writer.Append(std::string_view(part).substr(0, static_cast<size_t>(got))));
    }
    STROBE_RETURN_IF_ERROR(writer.Commit().status());
    written_.push_back(folder_ + name);
    return OkStatus();
  }

  // Also after a cancel.
  void TakeBack() {
    for (const std::string& key : written_) {
      const Status deleted = place_.store->Delete(key, {});
      if (!deleted.ok()) LogWarning("publish.left_behind", {{"reason", deleted.ToString()}});
    }
  }

  const PublishRequest& request_;
  const storage::Place place_;
  const storage::CallOptions call_;
  std::string folder_;
  std::vector<std::string> written_;
};

}  // namespace

std::string SessionPathOf(const std::string& place, const std::string& run,
                          const std::string& session) {
  std::string path = place;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (!run.empty()) path += "/" + run;
  return path + "/plugins/profile/" + session;
}

Status CheckSessionFree(const PublishRequest& request, storage::PlaceOpener* places) {
  const std::string path = SessionPathOf(request.place, request.run, request.session);
  if (!storage::IsBucketPlace(request.place)) {
    std::error_code error;
    const bool free = fs::symlink_status(path, error).type() == fs::file_type::not_found;
    return free ? OkStatus() : Exists(path);
  }
  STROBE_CHECK(places != nullptr);
  STROBE_ASSIGN_OR_RETURN(const storage::Place place, places->Open(request.place));
  const std::string folder =
      place.FolderPrefix() + SessionPathOf("", request.run, request.session).substr(1) + "/";
  STROBE_ASSIGN_OR_RETURN(const storage::ListPage there,
                          place.store->List({.prefix = folder, .max_keys = 1}, {}));
  return there.objects.empty() ? OkStatus() : Exists(path);
}

Result<std::string> PublishSession(const PublishRequest& request, storage::PlaceOpener* places,
                                   const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(CheckRun(request.run));
  STROBE_RETURN_IF_ERROR(CheckName("session", request.session));
  if (!storage::IsBucketPlace(request.place)) return MoveIntoPlace(request);
  STROBE_CHECK(places != nullptr);
  STROBE_ASSIGN_OR_RETURN(storage::Place place, places->Open(request.place));
  return BucketPublisher(request, std::move(place), cancel).Publish();
}

}  // namespace strobe::capture
