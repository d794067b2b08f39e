#include "src/engine/session_index.h"

#include <algorithm>
#include <set>

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/storage/place.h"

namespace strobe::engine {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;
// At most a twentieth of the time goes into listing one bucket.
constexpr int64_t kListingShare = 20;

void AppendField(std::string* text, std::string_view field) {
  text->append(field);
  text->push_back('\0');
}

uint64_t ContentHash(const std::vector<std::pair<xplane::SessionEntry, bool>>& sessions) {
  std::string text;
  for (const auto& [entry, settled] : sessions) {
    AppendField(&text, entry.id);
    AppendField(&text, settled ? "settled" : "writing");
    for (const xplane::SessionFile& file : entry.files) {
      AppendField(&text, file.path);
      AppendField(&text, std::to_string(file.size_bytes));
      AppendField(&text, std::to_string(file.modified_unix_ns));
      if (file.remote != nullptr) AppendField(&text, file.remote->info.version);
    }
  }
  return Hash64(text);
}

std::string VersionOf(const std::vector<IndexedFile>& files) {
  std::string text;
  for (const IndexedFile& file : files) {
    AppendField(&text, file.file.path);
    AppendField(&text, std::to_string(file.identity.size_bytes));
    AppendField(&text, std::to_string(file.identity.modified_unix_ns));
    AppendField(&text, std::to_string(file.identity.inode));
    AppendField(&text, std::to_string(file.identity.device));
    AppendField(&text, file.error ? "failed" : (file.settled ? "settled" : "writing"));
  }
  return ToHex64(Hash64(text));
}

// In place of the entry of the same path, where there is one.
void PutEntry(const xplane::SessionEntry& entry, std::vector<xplane::SessionEntry>* entries) {
  std::erase_if(*entries, [&entry](const auto& known) { return known.path == entry.path; });
  entries->push_back(entry);
}

}  // namespace

SessionIndex::SessionIndex(std::vector<std::string> roots, int64_t settle_ms, const Clock& clock,
                           ListBucket list_bucket, int64_t bucket_interval_ms)
    : roots_(std::move(roots)),
      settle_ns_(settle_ms * kNanosPerMilli),
      clock_(clock),
      list_bucket_(std::move(list_bucket)),
      bucket_interval_ns_(bucket_interval_ms * kNanosPerMilli) {
  for (const std::string& root : roots_) {
    if (storage::IsBucketPlace(root)) buckets_.try_emplace(root);
  }
}

void SessionIndex::ListBucketNow(const std::string& root, const CancelToken& cancel) {
  {
    std::lock_guard lock(bucket_mutex_);
    Bucket& bucket = buckets_.at(root);
    if (bucket.being_listed) return;
    bucket.being_listed = true;
  }
  const int64_t began_ns = clock_.MonotonicNanos();
  Result<std::vector<xplane::SessionEntry>> listed = list_bucket_(root, cancel);
  const int64_t ended_ns = clock_.MonotonicNanos();
  std::lock_guard lock(bucket_mutex_);
  Bucket& bucket = buckets_.at(root);
  bucket.being_listed = false;
  bucket.due_monotonic_ns =
      ended_ns + std::max(bucket_interval_ns_, kListingShare * (ended_ns - began_ns));
  if (listed.ok()) {
    bucket.listed = true;
    bucket.failure.reset();
    bucket.sessions = *std::move(listed);
    std::erase_if(bucket.marked, [began_ns](const auto& item) { return item.first < began_ns; });
    for (const auto& [marked_ns, entry] : bucket.marked) PutEntry(entry, &bucket.sessions);
    return;
  }
  bucket.failure = listed.status();
  LogWarning("engine.bucket_not_listed", {{"root", root}, {"error", listed.status().ToString()}});
}

bool SessionIndex::RefreshBuckets(const CancelToken& cancel) {
  std::vector<std::string> due;
  {
    std::lock_guard lock(bucket_mutex_);
    const int64_t now_ns = clock_.MonotonicNanos();
    for (const auto& [root, bucket] : buckets_) {
      if (now_ns >= bucket.due_monotonic_ns) due.push_back(root);
    }
  }
  for (const std::string& root : due) ListBucketNow(root, cancel);
  return !due.empty();
}

Result<std::vector<xplane::SessionEntry>> SessionIndex::ListRoot(const std::string& root) {
  if (!storage::IsBucketPlace(root)) return xplane::ListSessions(root, {});
  STROBE_CHECK(list_bucket_ != nullptr);
  bool known = false;
  {
    std::lock_guard lock(bucket_mutex_);
    known = buckets_.at(root).listed || buckets_.at(root).failure.has_value();
  }
  if (!known) ListBucketNow(root, {});
  std::lock_guard lock(bucket_mutex_);
  const Bucket& bucket = buckets_.at(root);
  if (!bucket.listed && bucket.failure) return *bucket.failure;
  return bucket.sessions;
}

// An object is written whole.
bool SessionIndex::ObserveFile(const xplane::SessionFile& file) {
  return file.remote != nullptr || Observe(file.path, file.size_bytes, file.modified_unix_ns);
}

bool SessionIndex::Observe(const std::string& path, uint64_t size_bytes, int64_t modified_unix_ns) {
  const int64_t now_ns = clock_.MonotonicNanos();
  const auto [at, is_new] = seen_.try_emplace(path);
  Seen& seen = at->second;
  if (is_new || seen.size_bytes != size_bytes || seen.modified_unix_ns != modified_unix_ns) {
    seen.changed = !is_new;
    seen.whole = false;
    seen.size_bytes = size_bytes;
    seen.modified_unix_ns = modified_unix_ns;
    seen.since_monotonic_ns = now_ns;
  }
  seen.walk = walk_;
  if (seen.whole) return true;
  if (now_ns - seen.since_monotonic_ns >= settle_ns_) return true;
  return !seen.changed && clock_.NowUnixNanos() - modified_unix_ns >= settle_ns_;
}

Status SessionIndex::Refresh() {
  std::lock_guard walking(walk_mutex_);
  std::vector<xplane::SessionEntry> found;
  std::optional<Status> failure;
  size_t readable = 0;
  for (const std::string& root : roots_) {
    Result<std::vector<xplane::SessionEntry>> listed = ListRoot(root);
    if (!listed.ok()) {
      LogWarning("engine.root_unreadable", {{"root", root}, {"error", listed.status().ToString()}});
      if (!failure) failure = listed.status();
      continue;
    }
    ++readable;
    std::move(listed->begin(), listed->end(), std::back_inserter(found));
  }
  if (readable == 0 && failure) return *failure;

  std::sort(found.begin(), found.end(),
            [](const xplane::SessionEntry& a, const xplane::SessionEntry& b) {
              if (a.modified_unix_ns != b.modified_unix_ns) {
                return a.modified_unix_ns > b.modified_unix_ns;
              }
              return a.path < b.path;
            });
  std::lock_guard lock(mutex_);
  ++walk_;
  sessions_.clear();
  by_id_.clear();
  for (xplane::SessionEntry& entry : found) {
    if (!by_id_.try_emplace(entry.id, sessions_.size()).second) continue;  // roots that overlap
    bool settled = true;
    for (const xplane::SessionFile& file : entry.files) {
      settled = ObserveFile(file) && settled;
    }
    sessions_.emplace_back(std::move(entry), settled);
  }
  std::erase_if(seen_, [this](const auto& item) { return item.second.walk + 1 < walk_; });
  const uint64_t hash = ContentHash(sessions_);
  if (hash != content_hash_ || version_ == 0) ++version_;
  content_hash_ = hash;
  return OkStatus();
}

Status SessionIndex::MarkBucketSession(const std::string& session_path) {
  STROBE_CHECK(list_bucket_ != nullptr);
  STROBE_ASSIGN_OR_RETURN(std::vector<xplane::SessionEntry> found, list_bucket_(session_path, {}));
  std::lock_guard lock(bucket_mutex_);
  for (auto& [root, bucket] : buckets_) {
    if (!session_path.starts_with(root + "/")) continue;
    for (xplane::SessionEntry& entry : found) {
      entry.root = root;
      // The listing of the folder alone does not know what lies above it.
      const size_t layout = entry.path.rfind("/plugins/profile/");
      if (layout != std::string::npos && layout > root.size()) {
        entry.run = entry.path.substr(root.size() + 1, layout - root.size() - 1);
      }
      PutEntry(entry, &bucket.sessions);
      bucket.marked.emplace_back(clock_.MonotonicNanos(), entry);
    }
  }
  return OkStatus();
}

Status SessionIndex::MarkWhole(const std::string& session_path) {
  if (storage::IsBucketPlace(session_path)) return MarkBucketSession(session_path);
  STROBE_ASSIGN_OR_RETURN(const std::vector<xplane::SessionEntry> entries,
                          xplane::ListSessions(session_path, {}));
  std::lock_guard lock(mutex_);
  for (const xplane::SessionEntry& entry : entries) {
    for (const xplane::SessionFile& file : entry.files) {
      Observe(file.path, file.size_bytes, file.modified_unix_ns);
      seen_[file.path].whole = true;
    }
  }
  return OkStatus();
}

std::vector<std::pair<xplane::SessionEntry, bool>> SessionIndex::All() const {
  std::lock_guard lock(mutex_);
  return sessions_;
}

void SessionIndex::Adopt(const xplane::SessionEntry& entry) {
  std::lock_guard lock(mutex_);
  std::erase_if(adopted_, [&](const xplane::SessionEntry& known) { return known.id == entry.id; });
  adopted_.push_back(entry);
  if (adopted_.size() > kMaxAdopted) adopted_.pop_front();
}

std::optional<IndexedSession> SessionIndex::Look(const std::string& id) {
  IndexedSession session;
  {
    std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    if (found != by_id_.end()) {
      session.entry = sessions_[found->second].first;
    } else {
      const auto adopted = std::ranges::find(adopted_, id, &xplane::SessionEntry::id);
      if (adopted == adopted_.end()) return std::nullopt;
      session.entry = *adopted;
    }
  }
  for (xplane::SessionFile& file : session.entry.files) {
    IndexedFile indexed;
    Result<storage::FileIdentity> identity = file.remote != nullptr
                                                 ? storage::IdentityOf(*file.remote)
                                                 : storage::IdentifyFile(file.path);
    if (identity.ok()) {
      indexed.identity = *identity;
      file.size_bytes = identity->size_bytes;
      file.modified_unix_ns = identity->modified_unix_ns;
      std::lock_guard lock(mutex_);
      indexed.settled = ObserveFile(file);
    } else {
      indexed.error = identity.status();
    }
    indexed.file = file;
    session.files.push_back(std::move(indexed));
  }
  session.version = VersionOf(session.files);
  return session;
}

std::optional<xplane::SessionEntry> SessionIndex::FindByXprofRun(const std::string& run) const {
  std::lock_guard lock(mutex_);
  for (const auto& [entry, settled] : sessions_) {
    if (entry.xprof_run() == run) return entry;
  }
  return std::nullopt;
}

uint64_t SessionIndex::version() const {
  std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace strobe::engine
