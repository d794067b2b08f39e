// Uploads: profiles that come in parts, resume where they stopped, and appear whole or not at all.
//
//   UploadTable uploads({.place = "/srv/logs"}, clock, ids, places);
//   STROBE_ASSIGN_OR_RETURN(UploadState state, uploads.Create({.name = "host.xplane.pb",
//                                                              .size_bytes = size}));
//   STROBE_ASSIGN_OR_RETURN(state, uploads.Append(state.id, 0, part));    // at state.offset_bytes
//   STROBE_ASSIGN_OR_RETURN(UploadedSession session, uploads.Finish(state.id, cancel));
//
// One file (.xplane.pb, .gz, .zst, .xz, .riegeli, .json(.gz), .pftrace, .perfetto-trace(.gz))
// becomes a session of one host;
// a zip or tar (also .gz, .zst, .xz) with profiles in one folder becomes that session (archive.h
// has its bounds; HLO modules beside the profiles come along, everything else is left out).
//
// What has come lies in `<place>/.strobe-uploads/<id>` (for a bucket: below `staging_directory`),
// where no listing looks, and is hashed as it comes. It survives a restart. An upload that nobody
// continued for kUploadIdleNs is taken away. Thread-safe; parts of one upload are taken one after
// the other.
//
// Errors: UPLOAD_UNKNOWN, UPLOAD_OFFSET (with the one expected), UPLOAD_TOO_LARGE,
// UPLOAD_INCOMPLETE, UPLOAD_HASH, UPLOAD_NO_PROFILE, UPLOAD_SEVERAL_SESSIONS, UPLOAD_BUSY,
// UPLOADS_TOO_MANY, UPLOAD_NOT_KEPT, CAPTURE_BAD_NAME, SESSION_EXISTS, those of archive.h and
// publish.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "src/base/cancel.h"
#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/capture/archive.h"
#include "src/storage/checksum.h"
#include "src/storage/place.h"

namespace strobe::capture {

// A day: whoever lost the connection in the evening goes on in the morning.
inline constexpr int64_t kUploadIdleNs = 24LL * 3600 * 1'000'000'000;
// Open at once; each may hold up to `max_upload_bytes` of the disk.
inline constexpr size_t kMaxOpenUploads = 64;
// What one request brings; the HTTP server takes no larger bodies.
inline constexpr uint64_t kMaxPartBytes = uint64_t{1} << 20;

struct UploadOptions {
  std::string place;              // where sessions go: a directory, s3://..., gs://...
  std::string staging_directory;  // for buckets: a directory of ours
  uint64_t max_upload_bytes = uint64_t{16} << 30;
  ArchiveLimits archive = {};
};

struct UploadRequest {
  std::string name;  // of the file: what its ending says counts
  uint64_t size_bytes = 0;
  std::string sha256_hex = {};  // empty: not told, not compared
  std::string run = {};         // folder below the place, may be empty
  std::string session = {};     // empty: by the archive's folder, or a new name
};

struct UploadState {
  std::string id;
  UploadRequest request;
  uint64_t offset_bytes = 0;  // where the next part begins
  int64_t expires_unix_ms = 0;
  std::string sha256_hex;  // of what has come
};

struct UploadedSession {
  std::string session_path;
  std::string session_name;
  uint64_t hosts = 0;
  uint64_t left_out = 0;  // files of the archive that are nothing of ours
  std::string sha256_hex;
};

class UploadTable {
 public:
  UploadTable(UploadOptions options, const Clock& clock, const IdMaker& ids,
              std::shared_ptr<storage::PlaceOpener> places);

  Result<UploadState> Create(const UploadRequest& request);
  Result<UploadState> Get(const std::string& id);
  Result<UploadState> Append(const std::string& id, uint64_t offset_bytes, std::string_view bytes);
  // Takes the upload away when it succeeded; after an error it can be finished again.
  Result<UploadedSession> Finish(const std::string& id, const CancelToken& cancel);
  Status Remove(const std::string& id);
  // Takes away what nobody continued; how many.
  size_t RemoveStale();
  const UploadOptions& options() const { return options_; }

 private:
  struct Entry {
    std::mutex mutex;  // held while a part is written or the session made
    UploadRequest request;
    uint64_t offset_bytes = 0;
    int64_t touched_unix_ns = 0;
    storage::Sha256Stream hash;
    bool gone = false;
  };
  std::string FolderOf(const std::string& id) const { return staging_ + "/" + id; }
  Result<std::shared_ptr<Entry>> Find(const std::string& id);
  Result<std::shared_ptr<Entry>> FindOnDisk(const std::string& id);
  UploadState StateOf(const std::string& id, const Entry& entry) const;
  Result<UploadedSession> MakeSession(const std::string& id, const Entry& entry,
                                      const CancelToken& cancel);
  Status StageFile(const std::string& id, const Entry& entry, const std::string& folder,
                   UploadedSession* session);
  Status StageArchive(std::string_view bytes, const std::string& folder, UploadedSession* session,
                      const CancelToken& cancel);

  const UploadOptions options_;
  const std::string staging_;
  const Clock& clock_;
  const IdMaker& ids_;
  const std::shared_ptr<storage::PlaceOpener> places_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

}  // namespace strobe::capture
