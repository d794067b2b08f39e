#include "src/capture/staged_capture.h"

#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "src/base/log.h"
#include "src/capture/publish.h"
#include "src/capture/target.h"

namespace strobe::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStagingFolder = ".strobe-captures";

std::string StagingRoot(const std::string& root, const Staging& staging) {
  const std::string base = storage::IsBucketPlace(root) ? staging.bucket_directory : root;
  return base + "/" + std::string(kStagingFolder);
}

void RemoveOld(const std::string& staging_root, const Clock& clock) {
  std::vector<std::string> old;
  std::error_code error;
  for (fs::directory_iterator at(staging_root, error), end; !error && at != end;
       at.increment(error)) {
    struct stat info = {};
    if (lstat(at->path().c_str(), &info) != 0) continue;
    const int64_t modified_ns =
        static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
    if (clock.NowUnixNanos() - modified_ns > kStagedKeptNs) old.push_back(at->path().string());
  }
  for (const std::string& path : old) {
    fs::remove_all(path, error);
    LogInfo("capture.abandoned", {{"path", path}});
  }
}

// Takes the folder away at the end, unless it is to be kept.
class StagingFolder {
 public:
  explicit StagingFolder(std::string path) : path_(std::move(path)) {}
  ~StagingFolder() {
    if (!kept_) Remove();
  }
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;
  void Keep() { kept_ = true; }

 private:
  void Remove() const {
    std::error_code error;
    fs::remove_all(path_, error);
    // The one above is everybody's; it goes when it is empty.
    fs::remove(fs::path(path_).parent_path(), error);
  }

  const std::string path_;
  bool kept_ = false;
};

// Files are told as they will be found.
void MoveNames(const std::string& below_root, std::vector<TargetProgress>* targets) {
  for (TargetProgress& target : *targets) {
    if (target.file.empty()) continue;
    target.file = below_root + "/" + target.file.substr(target.file.rfind('/') + 1);
  }
}

}  // namespace

Result<CaptureResult> CaptureStaged(
    const CaptureRequest& request, const Staging& staging, const CaptureContext& context,
    storage::PlaceOpener& places, const CancelToken& cancel,
    const std::function<void(const CaptureProgress&)>& on_progress) {
  STROBE_RETURN_IF_ERROR(CheckCaptureRequest(request));
  STROBE_RETURN_IF_ERROR(CheckName("session", request.session));
  STROBE_CHECK(IsSafeName(staging.name));
  PublishRequest publish{
      .folder = {}, .place = request.root, .run = request.run, .session = request.session};
  STROBE_RETURN_IF_ERROR(CheckSessionFree(publish, &places));
  const std::string staging_root = StagingRoot(request.root, staging);
  RemoveOld(staging_root, context.clock);
  StagingFolder folder(staging_root + "/" + staging.name);
  CaptureRequest local = request;
  local.root = staging_root + "/" + staging.name;
  local.run.clear();
  local.bare = true;
  const std::string below_root = SessionPathOf("", request.run, request.session).substr(1);
  Result<CaptureResult> result =
      Capture(local, context, cancel, [&](const CaptureProgress& progress) {
        CaptureProgress shown = progress;
        MoveNames(below_root, &shown.targets);
        if (on_progress) on_progress(shown);
      });
  if (!result.ok()) return result;
  publish.folder = result->session_path;
  // Not with the token: a capture that was stopped keeps what it has.
  Result<std::string> path = PublishSession(publish, &places, {});
  if (!path.ok()) {
    folder.Keep();
    const Status& why = path.status();
    return Status(why.code(), why.name(), std::string(why.message()))
        .Where(std::string(why.where()))
        .Hint("The recording is kept for a day in " + result->session_path + ". " +
              std::string(why.hint()));
  }
  result->session_path = *std::move(path);
  result->session_name = request.session;
  MoveNames(below_root, &result->targets);
  return result;
}

void RemoveStaged(const std::string& root, const Staging& staging) {
  if (!IsSafeName(staging.name)) return;
  const StagingFolder folder(StagingRoot(root, staging) + "/" + staging.name);
}

}  // namespace strobe::capture
