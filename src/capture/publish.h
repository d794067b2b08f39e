// Puts a session that lies whole in a folder of ours where everybody sees it: all of it or nothing.
//
//   STROBE_ASSIGN_OR_RETURN(std::string path, PublishSession({.folder = staged, .place =
//   "/srv/logs",
//       .run = "llama", .session = "2026_11_30"}, places, cancel));
//
// Into a directory: one rename within the file system; nothing there is replaced. Into a bucket: a
// mark first, each file "if absent", then the mark goes; listings leave marked sessions out, and
// what was written is taken away again when one file fails. Returns the session's path
// ("/srv/logs/llama/plugins/profile/2026_11_30", "s3://...").
// Errors: CAPTURE_BAD_NAME, SESSION_EXISTS, SESSION_NOT_PUBLISHED, those of ObjectStore.
#pragma once

#include <string>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/storage/place.h"

namespace strobe::capture {

struct PublishRequest {
  std::string folder;  // its files are moved, or sent and left; no folders within
  std::string place;   // a directory on the same file system, or s3://..., gs://...
  std::string run;     // may be empty
  std::string session;
};

// SESSION_EXISTS when the name is taken already; a later PublishSession may still find it taken.
Status CheckSessionFree(const PublishRequest& request, storage::PlaceOpener* places);

Result<std::string> PublishSession(const PublishRequest& request, storage::PlaceOpener* places,
                                   const CancelToken& cancel);

// "<place>/<run>/plugins/profile/<session>"
std::string SessionPathOf(const std::string& place, const std::string& run,
                          const std::string& session);

}  // namespace strobe::capture
