#include "src/catalog/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "src/base/hash.h"
#include "src/base/json_writer.h"
#include "src/base/log.h"
#include "src/catalog/access_rules.h"
#include "src/catalog/rules.h"

namespace strobe::catalog {
namespace {

// How often the thread looks whether a run's time has come.
constexpr std::chrono::milliseconds kTick{1000};
constexpr size_t kMaxRunsPerTick = 64;

bool IsBelow(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// The folder of runs right below `base`, empty when the path is right there.
std::string_view FirstPart(std::string_view path, std::string_view base) {
  path.remove_prefix(std::min(base.size() + 1, path.size()));
  return path.substr(0, path.find('/'));
}

// Names of folders may hold what ids may not; two folders may have the same name.
std::string IdOf(const FoundSession& session, const std::map<std::string, std::string>& taken) {
  std::string id = session.name;
  for (char& c : id) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '~' || c == '-';
    if (!fits) c = '_';
  }
  id = id.substr(0, 120);
  if (id.empty() || !CheckId("session", id).ok()) id = "s" + id;
  const auto found = taken.find(id);
  const bool own = found == taken.end() || found->second == session.path || found->second.empty();
  if (id == session.name && own) return id;
  return id + "-" + ToHex64(Hash64(session.path)).substr(0, 8);
}

std::string HostsJson(const std::vector<std::string>& hosts) {
  JsonWriter json;
  json.BeginArray();
  for (const std::string& host : hosts) json.String(host);
  json.EndArray();
  return json.TakeText();
}

// True when something is new about it.
bool TakeFound(const FoundSession& found, ProfilerSession* session) {
  const std::string hosts = HostsJson(found.hosts);
  const auto size_bytes = static_cast<int64_t>(found.size_bytes);
  const bool same = session->found_path == found.path && session->viewer_id == found.viewer_id &&
                    session->hosts == hosts && session->size_bytes == size_bytes &&
                    session->completeness == found.completeness &&
                    session->found_modified_unix_ns == found.modified_unix_ns;
  session->found_path = found.path;
  session->viewer_id = found.viewer_id;
  session->hosts = hosts;
  session->host_count = static_cast<int64_t>(found.hosts.size());
  session->size_bytes = size_bytes;
  session->completeness = found.completeness;
  session->found_modified_unix_ns = found.modified_unix_ns;
  return !same;
}

Status ForgetFound(Transaction& transaction, ProfilerSession session) {
  if (session.kind == "SCANNED") return transaction.Delete<ProfilerSession>(session.key());
  session.found_path.clear();
  session.viewer_id.clear();
  session.hosts.clear();
  session.host_count = 0;
  session.size_bytes = 0;
  session.completeness.clear();
  session.etag = MakeUuid(transaction.random());
  return transaction.Update(session);
}

Status KeepFound(Transaction& transaction, const Run& run, const FoundSession& found,
                 const std::string& id, bool* changed) {
  const Key key{run.project, run.location, run.id, id};
  STROBE_ASSIGN_OR_RETURN(const std::optional<ProfilerSession> there,
                          transaction.Find<ProfilerSession>(key));
  ProfilerSession session = there ? *there : ProfilerSession();
  if (!TakeFound(found, &session)) return OkStatus();
  *changed = true;
  session.update_unix_ns = transaction.clock().NowUnixNanos();
  session.etag = MakeUuid(transaction.random());
  if (there) return transaction.Update(session);
  session.project = key.project;
  session.location = key.location;
  session.run = key.run;
  session.id = key.id;
  session.kind = "SCANNED";
  session.state = "SUCCEEDED";
  session.create_unix_ns = found.modified_unix_ns;
  session.body = "{}";
  return transaction.Insert(session);
}

void PlanNext(int64_t now, bool changed, Run* run) {
  const int64_t longest = run->end_unix_ns == 0 ? kActiveIntervalNs : kEndedIntervalNs;
  run->scan_interval_ns =
      changed ? kFirstIntervalNs : std::clamp(run->scan_interval_ns * 2, kFirstIntervalNs, longest);
  run->scan_done_unix_ns = now;
  run->scan_due_unix_ns = now + run->scan_interval_ns;
}

}  // namespace

Scanner::Scanner(Catalog& catalog, ListFound list_found, const Clock& clock)
    : catalog_(catalog), list_found_(std::move(list_found)), clock_(clock) {}

Scanner::~Scanner() { Stop(); }

void Scanner::Start() {
  STROBE_CHECK(!thread_.joinable());
  thread_ = std::thread([this] { Loop(); });
}

void Scanner::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Scanner::ForgetOld() {
  int64_t gone = 0;
  const Status done = catalog_.Write([&gone](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(gone, Prune(transaction));
    STROBE_ASSIGN_OR_RETURN(const int64_t of_access, PruneAccess(transaction));
    gone += of_access;
    return OkStatus();
  });
  if (!done.ok()) LogWarning("catalog.not_pruned", {{"reason", done.ToString()}});
  if (done.ok() && gone > 0) LogInfo("catalog.pruned", {{"records", gone}});
}

void Scanner::Loop() {
  std::unique_lock lock(mutex_);
  std::optional<int64_t> forgot_ns;
  while (!wake_.wait_for(lock, kTick, [this] { return stopping_; })) {
    lock.unlock();
    const int64_t now_ns = clock_.MonotonicNanos();
    if (!forgot_ns || now_ns - *forgot_ns > kForgetIntervalNs) {
      forgot_ns = now_ns;
      ForgetOld();
    }
    const Result<size_t> scanned = ScanDue(kMaxRunsPerTick);
    if (!scanned.ok()) LogWarning("scan.failed", {{"reason", scanned.status().ToString()}});
    lock.lock();
  }
}

Result<size_t> Scanner::ScanDue(size_t limit) {
  std::vector<Run> due;
  STROBE_RETURN_IF_ERROR(catalog_.Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(
        due,
        transaction.Select<Run>("scan_due_unix_ns > 0 AND scan_due_unix_ns <= ? ORDER BY "
                                "scan_due_unix_ns",
                                {SqlValue{clock_.NowUnixNanos()}}, static_cast<int64_t>(limit)));
    return OkStatus();
  }));
  for (const Run& run : due) {
    // What is wrong with one run's storage is kept with it and holds up no other.
    const Status scanned = ScanRun(run.key());
    if (!scanned.ok() && scanned.code() == StatusCode::kUnavailable &&
        scanned.name().starts_with("CATALOG")) {
      return scanned;
    }
  }
  return due.size();
}

Status Scanner::ScanRun(const Key& key) {
  Run run;
  std::set<std::string> others;
  STROBE_RETURN_IF_ERROR(catalog_.Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(run, transaction.Get<Run>(key));
    others.clear();
    STROBE_ASSIGN_OR_RETURN(
        const SqlRows sharing,
        transaction.sql().Run("SELECT id FROM runs WHERE storage_path = ? AND id <> ?",
                              {run.storage_path, run.id}));
    for (const auto& row : sharing.rows) others.insert(std::get<std::string>(row.at(0)));
    return OkStatus();
  }));
  if (run.storage_path.empty()) {
    return FailedPreconditionError("RUN_NO_STORAGE", "The run names no place for its profiles.")
        .Where(run.id)
        .Hint("Set artifacts.gcsPath.");
  }
  Result<std::vector<FoundSession>> found = list_found_(run);
  if (!found.ok()) {
    const Status noted = catalog_.Write([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(Run current, transaction.Get<Run>(key));
      current.scan_error = found.status().ToString();
      PlanNext(clock_.NowUnixNanos(), /*changed=*/false, &current);
      return transaction.Update(current);
    });
    return noted.ok() ? found.status() : noted;
  }
  std::vector<FoundSession> own;
  for (FoundSession& session : *found) {
    if (!IsBelow(session.path, run.storage_path) || own.size() >= kMaxFoundPerRun) continue;
    const std::string first(FirstPart(session.path, run.storage_path));
    if (run.existing_only != 0 || !others.contains(first)) own.push_back(std::move(session));
  }
  return Apply(key, std::move(own));
}

Status Scanner::Apply(const Key& key, std::vector<FoundSession> found) {
  // The run's own folder comes first, so that its names are not taken by others'.
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.path.size() != b.path.size() ? a.path.size() < b.path.size() : a.path < b.path;
  });
  return catalog_.Write([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(Run run, transaction.Get<Run>(key));
    STROBE_ASSIGN_OR_RETURN(
        std::vector<ProfilerSession> known,
        transaction.Select<ProfilerSession>("project = ? AND location = ? AND run = ?",
                                            {key.project, key.location, key.id},
                                            static_cast<int64_t>(2 * kMaxFoundPerRun)));
    std::map<std::string, std::string> taken;  // id -> path
    for (const ProfilerSession& session : known) taken[session.id] = session.found_path;
    std::set<std::string> present;
    bool changed = false;
    for (const FoundSession& session : found) {
      const std::string id = IdOf(session, taken);
      taken[id] = session.path;
      present.insert(id);
      STROBE_RETURN_IF_ERROR(KeepFound(transaction, run, session, id, &changed));
    }
    for (ProfilerSession& session : known) {
      if (session.found_path.empty() || present.contains(session.id)) continue;
      changed = true;
      STROBE_RETURN_IF_ERROR(ForgetFound(transaction, std::move(session)));
    }
    run.scan_error.clear();
    PlanNext(clock_.NowUnixNanos(), changed, &run);
    return transaction.Update(run);
  });
}

}  // namespace strobe::catalog
