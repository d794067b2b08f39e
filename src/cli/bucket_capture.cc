#include "src/cli/bucket_capture.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>

#include "src/capture/publish.h"

namespace strobe::cli {

namespace fs = std::filesystem;

Result<capture::CaptureResult> CaptureIntoPlace(
    const capture::CaptureRequest& request, const capture::CaptureContext& context,
    storage::PlaceOpener& places, const CancelToken& cancel,
    const std::function<void(const capture::CaptureProgress&)>& on_progress) {
  if (!storage::IsBucketPlace(request.root)) {
    return capture::Capture(request, context, cancel, on_progress);
  }
  // A wrong name is told before anything is recorded.
  STROBE_RETURN_IF_ERROR(places.Open(request.root).status());
  std::error_code error;
  std::string folder = fs::temp_directory_path(error).string() + "/strobe-capture-XXXXXX";
  if (error || mkdtemp(folder.data()) == nullptr) {
    return ErrnoError("CAPTURE_ROOT", "Cannot make a directory for the recording", errno)
        .Where(folder)
        .Hint("Check TMPDIR and the free space there.");
  }
  capture::CaptureRequest local = request;
  local.root = folder;
  Result<capture::CaptureResult> result = capture::Capture(local, context, cancel, on_progress);
  if (!result.ok()) {
    fs::remove_all(folder, error);
    return result;
  }
  // Not with the token: a capture that was stopped keeps what it has.
  const Result<std::string> path = capture::PublishSession({.folder = result->session_path,
                                                            .place = request.root,
                                                            .run = request.run,
                                                            .session = result->session_name},
                                                           &places, {});
  if (!path.ok()) {
    const Status& why = path.status();
    return Status(why.code(), why.name(), std::string(why.message()))
        .Where(std::string(why.where()))
        .Hint("The recording is kept in " + result->session_path + ". " + std::string(why.hint()));
  }
  fs::remove_all(folder, error);
  result->session_path = *path;
  return result;
}

}  // namespace strobe::cli
