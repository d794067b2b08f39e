// Which sessions exist below the roots, and which of their files are still being written.
//
//   SessionIndex index(roots, settle_ms, clock);
//   STROBE_RETURN_IF_ERROR(index.Refresh());
//   const std::optional<IndexedSession> session = index.Look(id);
//
// Settling: a file counts as written when it is at least `settle_ms` old and was not seen to change
// during the last `settle_ms`; one whose time lies in the future (another machine's clock) when it
// was seen unchanged for `settle_ms`. Until then it is `writing` and not served as whole. Files
// that we wrote ourselves, whole and by renaming, are told by `MarkWhole` and count at once.
//
// Buckets (s3://, gs://) are listed by RefreshBuckets when their time has come, outside of the
// walk: `Refresh` takes the last listing, and lists itself only what never was. Objects are whole
// as soon as they are there, and their version tells when they were replaced; `Look` takes them as
// listed.
//
// `Look` asks the file system again for the files of one session, so a replaced file is noticed at
// once, not at the next walk. Thread-safe; walks run one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/clock.h"
#include "src/base/status.h"
#include "src/storage/byte_source.h"
#include "src/xplane/session.h"

namespace strobe::engine {

struct IndexedFile {
  xplane::SessionFile file;
  storage::FileIdentity identity;
  bool settled = true;
  std::optional<Status> error;  // it is gone or cannot be looked at
};

struct IndexedSession {
  xplane::SessionEntry entry;
  std::vector<IndexedFile> files;
  // 16 hex digits over the identities and settling of all files.
  std::string version;
};

class SessionIndex {
 public:
  // How a bucket's root, or one session's folder, is listed.
  using ListBucket = std::function<Result<std::vector<xplane::SessionEntry>>(
      const std::string& root, const CancelToken& cancel)>;

  SessionIndex(std::vector<std::string> roots, int64_t settle_ms, const Clock& clock,
               ListBucket list_bucket = {}, int64_t bucket_interval_ms = 10'000);

  // Errors only when no root can be read. A root that cannot is logged and left out.
  Status Refresh();
  // Lists the buckets whose time has come; true when there was one. Failures are logged, and what
  // was known stays.
  bool RefreshBuckets(const CancelToken& cancel);
  // Newest first, each with whether all of its files are settled.
  std::vector<std::pair<xplane::SessionEntry, bool>> All() const;
  std::optional<IndexedSession> Look(const std::string& id);
  // A session that the walks do not list (they go only so deep, and leave out what hides) can be
  // looked at from here on; of more than kMaxAdopted the oldest is forgotten.
  static constexpr size_t kMaxAdopted = 1000;
  void Adopt(const xplane::SessionEntry& entry);
  std::optional<xplane::SessionEntry> FindByXprofRun(const std::string& run) const;
  // The files of that session directory are whole as they are now; one that changes later has to
  // settle like any other. Errors: those of ListSessions.
  Status MarkWhole(const std::string& session_path);
  // Changes whenever the list does.
  uint64_t version() const;

 private:
  struct Seen {
    uint64_t size_bytes = 0;
    int64_t modified_unix_ns = 0;
    int64_t since_monotonic_ns = 0;  // unchanged since we first saw it so
    bool changed = false;            // it was seen in another state before
    bool whole = false;              // its writer said so
    uint64_t walk = 0;               // the last walk that met it
  };
  struct Bucket {
    std::vector<xplane::SessionEntry> sessions;
    // Told by MarkWhole: a listing that began before may not know them yet.
    std::vector<std::pair<int64_t, xplane::SessionEntry>> marked;
    std::optional<Status> failure;  // of the last listing
    bool listed = false;
    bool being_listed = false;
    int64_t due_monotonic_ns = 0;
  };
  void ListBucketNow(const std::string& root, const CancelToken& cancel);
  Result<std::vector<xplane::SessionEntry>> ListRoot(const std::string& root);
  Status MarkBucketSession(const std::string& session_path);
  bool ObserveFile(const xplane::SessionFile& file);
  bool Observe(const std::string& path, uint64_t size_bytes, int64_t modified_unix_ns);

  const std::vector<std::string> roots_;
  const int64_t settle_ns_;
  const Clock& clock_;
  const ListBucket list_bucket_;
  const int64_t bucket_interval_ns_;
  std::mutex bucket_mutex_;                // guards buckets_; never held while a bucket is listed
  std::map<std::string, Bucket> buckets_;  // by root
  std::mutex walk_mutex_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::pair<xplane::SessionEntry, bool>> sessions_;
  std::unordered_map<std::string, size_t> by_id_;
  std::deque<xplane::SessionEntry> adopted_;  // newest last
  std::unordered_map<std::string, Seen> seen_;
  uint64_t walk_ = 0;
  uint64_t version_ = 0;
  uint64_t content_hash_ = 0;
};

}  // namespace strobe::engine
