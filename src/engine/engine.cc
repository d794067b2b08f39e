#include "src/engine/engine.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "src/base/log.h"
#include "src/engine/session_index.h"
#include "src/engine/session_store.h"
#include "src/xplane/bucket_sessions.h"
#include "src/xplane/host_source.h"

namespace strobe::engine {
namespace {

// How often the thread looks whether a bucket's time has come.
constexpr std::chrono::milliseconds kBucketTick{500};

// The buckets among the roots, and the threads that fetch from them: none without a bucket.
class Buckets {
 public:
  Buckets(const EngineOptions& options, const Clock& clock)
      : places_(options.places), clock_(clock) {
    any_ = std::ranges::any_of(options.roots, storage::IsBucketPlace);
    if (!any_) return;
    if (places_ == nullptr) {
      places_ = std::make_shared<storage::PlaceOpener>(storage::SystemCloudContext());
    }
    fetcher_ = std::make_shared<storage::ObjectFetcher>(storage::ObjectFetcher::Options());
  }
  bool any() const { return any_; }
  Result<std::vector<xplane::SessionEntry>> List(const std::string& root,
                                                 const CancelToken& cancel) {
    STROBE_ASSIGN_OR_RETURN(const storage::Place place, places_->Open(root));
    STROBE_ASSIGN_OR_RETURN(xplane::BucketListing listing,
                            xplane::ListBucketSessions(place, fetcher_, {}, clock_, cancel));
    return std::move(listing.sessions);
  }

 private:
  bool any_ = false;
  std::shared_ptr<storage::PlaceOpener> places_;
  std::shared_ptr<storage::ObjectFetcher> fetcher_;
  const Clock& clock_;
};

// Decoding gives way to the threads that answer: a core's worth of them gets nine tenths of the
// core, whoever loads what.
constexpr int kLoadNiceness = 10;
// Beyond those that load in the background: one for what its user waits for, one for the next user
// (FairQueue's rule 4).
constexpr int kThreadsBesideLoaders = 2;
// Fewer have no last quarter.
constexpr int kMinThreads = 4;
// Of the executor's 4096, so that nobody fills the queue for all.
constexpr size_t kMaxPiecesOfUser = 2048;

using xplane::CompletenessState;

// A part of the budget that no session needs: tiles of what people look at now.
constexpr uint64_t kMaxTileCacheBytes = 256ULL << 20;
// Answers of tools are some kilobytes to some megabytes: what a team looks at in a day.
constexpr uint64_t kMaxResultCacheBytes = 256ULL << 20;

std::string ScratchDirectory(const EngineOptions& options) {
  std::error_code error;
  if (!options.cache_directory.empty()) {
    std::filesystem::create_directories(options.cache_directory, error);
    if (!error) return options.cache_directory;
    LogWarning("engine.cache_unusable",
               {{"directory", options.cache_directory}, {"error", error.message()}});
  }
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : temporary.string();
}

Status UnknownSession(const std::string& id) {
  return NotFoundError("SESSION_UNKNOWN", "No session has the id \"" + id + "\".")
      .Hint("List the sessions; one whose directory was moved has a new id.");
}

class EngineImpl : public Engine {
 public:
  EngineImpl(EngineOptions options, const Clock& clock)
      : options_(std::move(options)),
        buckets_(options_, clock),
        index_(
            options_.roots, options_.settle_ms, clock,
            [this](const std::string& root, const CancelToken& cancel) {
              return buckets_.List(root, cancel);
            },
            options_.bucket_interval_ms),
        scratch_directory_(ScratchDirectory(options_)),
        store_(std::make_shared<SessionStore>(options_.memory_budget_bytes)),
        parts_(std::make_shared<EngineParts>(
            std::min(kMaxTileCacheBytes, options_.memory_budget_bytes / 8),
            xplane::ColumnCache::Options{.directory = options_.cache_directory,
                                         .max_bytes = options_.cache_max_bytes},
            ToolCache::Options{.memory_max_bytes =
                                   std::min(kMaxResultCacheBytes, options_.memory_budget_bytes / 8),
                               .directory = options_.cache_directory,
                               .disk_max_bytes = options_.result_cache_max_bytes},
            clock)),
        executor_(std::make_unique<Executor>(Executor::Options{
            .threads = std::max(kMinThreads, options_.threads + kThreadsBesideLoaders),
            .max_queued_tasks_of_user = kMaxPiecesOfUser,
            .max_background = std::max(1, options_.threads),
            .niceness = kLoadNiceness})) {
    parts_->executor = executor_.get();
    parts_->loaders = std::max(1, options_.threads);
    parts_->max_prepared_bytes = options_.memory_budget_bytes / 4;
    // Columns take about as much as the bytes they come from, and preparing as much again.
    parts_->max_combined_bytes = options_.memory_budget_bytes / 4;
    parts_->xla_dump_directories = options_.xla_dump_directories;
    parts_->tool_max_seconds = options_.tool_max_seconds;
    parts_->tool_max_bytes = options_.tool_max_bytes;
    parts_->make_room = [store = std::weak_ptr<SessionStore>(store_),
                         parts = std::weak_ptr<EngineParts>(parts_)] {
      const auto sessions = store.lock();
      const auto shared = parts.lock();
      return sessions == nullptr || shared == nullptr ||
             sessions->MakeRoom(shared->tiles.bytes() + shared->results.memory_bytes());
    };
    if (options_.rescan_interval_ms <= 0) return;
    rescanner_ = std::thread([this] { RescanLoop(); });
    if (buckets_.any()) bucket_lister_ = std::thread([this] { BucketLoop(); });
  }

  ~EngineImpl() override {
    {
      std::lock_guard lock(stop_mutex_);
      stopping_ = true;
    }
    stop_.notify_all();
    stop_listing_.Cancel();
    if (rescanner_.joinable()) rescanner_.join();
    if (bucket_lister_.joinable()) bucket_lister_.join();
    store_->Clear();
    executor_.reset();  // waits for what runs
    parts_->executor = nullptr;
    store_->Clear();  // what was opened meanwhile
  }

  Status Refresh() override { return index_.Refresh(); }
  Status MarkWhole(const std::string& session_path) override {
    return index_.MarkWhole(session_path);
  }

  std::vector<SessionSummary> Sessions() override {
    std::vector<SessionSummary> summaries;
    for (auto& [entry, settled] : index_.All()) {
      SessionSummary summary;
      if (entry.files.empty()) {
        summary.state = CompletenessState::kEmpty;
        summary.state_reason = "The directory has no profile file.";
      } else if (!settled) {
        summary.state = CompletenessState::kWriting;
        summary.state_reason = "A file is still being written.";
      } else if (const auto verdict = store_->VerdictOf(entry)) {
        summary.state = verdict->state;
        summary.state_reason = verdict->reason;
      }
      summary.entry = std::move(entry);
      summaries.push_back(std::move(summary));
    }
    return summaries;
  }

  uint64_t list_version() override { return index_.version(); }

  Result<std::shared_ptr<OpenedSession>> Open(const std::string& id) override {
    STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<SessionState> opened, OpenAny(id));
    if (const std::optional<Status> failure = opened->failure()) {
      return Failure(opened->entry().files.size(), *failure);
    }
    return std::shared_ptr<OpenedSession>(opened);
  }

  Result<std::shared_ptr<OpenedSession>> OpenForTools(const std::string& id) override {
    STROBE_ASSIGN_OR_RETURN(std::shared_ptr<SessionState> opened, OpenAny(id));
    return std::shared_ptr<OpenedSession>(std::move(opened));
  }

  std::optional<LoadProgress> Opening(const std::string& id) override {
    std::lock_guard lock(opening_mutex_);
    const auto found = opening_.find(id);
    if (found == opening_.end()) return std::nullopt;
    const xplane::UnpackProgress& progress = *found->second.progress;
    return LoadProgress{
        .stage = progress.unpacking > 0 ? LoadStage::kUnpacking : LoadStage::kIndexing,
        .done_bytes = std::min(progress.read_bytes.load(), found->second.total_bytes),
        .total_bytes = found->second.total_bytes};
  }

  void Adopt(const xplane::SessionEntry& entry) override { index_.Adopt(entry); }

  Result<xplane::SessionEntry> FindByXprofRun(const std::string& run) override {
    if (auto entry = index_.FindByXprofRun(run)) return std::move(*entry);
    return NotFoundError("RUN_UNKNOWN", "No session has the run name \"" + run + "\".")
        .Hint("A run name is <directory below the root>/<session>, or only <session> at the root.");
  }

  const EngineOptions& options() const override { return options_; }

  Stats stats() override {
    Stats stats;
    stats.opened_sessions = store_->count();
    stats.cache_bytes = parts_->tiles.bytes() + parts_->results.memory_bytes();
    stats.resident_bytes = store_->resident_bytes() + stats.cache_bytes;
    const xplane::ColumnCache::Stats columns = parts_->columns.stats();
    stats.column_file_hits = columns.hits;
    stats.column_file_misses = columns.misses;
    stats.tiles_encoded = parts_->tiles_encoded.load();
    stats.tile_cache_hits = parts_->tile_cache_hits.load();
    const ToolCache::Stats results = parts_->results.stats();
    stats.tool_results_computed = parts_->tool_results_computed.load();
    stats.tool_result_memory_hits = results.memory_hits;
    stats.tool_result_disk_hits = results.disk_hits;
    stats.interactive = executor_->counts(Executor::Priority::kInteractive);
    stats.background = executor_->counts(Executor::Priority::kBackground);
    return stats;
  }

 private:
  // The open session, unless the columns it stands on are gone: then it is let go and opened anew.
  std::shared_ptr<SessionState> FindWhole(const std::string& id, const std::string& version) {
    std::shared_ptr<SessionState> opened = store_->Find(id, version);
    if (opened == nullptr) return nullptr;
    const Status columns = opened->CheckColumns();
    if (columns.ok()) return opened;
    LogWarning("engine.columns_lost", {{"session", id}, {"error", columns.ToString()}});
    store_->Remove(opened);
    return nullptr;
  }

  // Sessions of nothing but empty files too.
  Result<std::shared_ptr<SessionState>> OpenAny(const std::string& id) {
    std::optional<IndexedSession> session = index_.Look(id);
    if (!session) return UnknownSession(id);
    if (session->files.empty()) {
      return NotFoundError("SESSION_EMPTY", "The session has no profile file.")
          .Where(session->entry.path)
          .Hint("Expected <host>.xplane.pb; if a capture made it, look at the capture's messages.");
    }
    if (auto opened = FindWhole(id, session->version)) return {opened};
    auto answer = open_flight_.Do(id + "/" + session->version, CancelToken(),
                                  [&]() -> SingleFlight<SessionState>::Answer {
                                    if (auto opened = FindWhole(id, session->version)) {
                                      return std::shared_ptr<const SessionState>(opened);
                                    }
                                    return OpenNew(*session);
                                  });
    if (!answer.ok()) return answer.status();
    return std::const_pointer_cast<SessionState>(*answer);
  }

  // Puts an opening where Opening() finds it, for as long as it runs.
  class OpeningMark {
   public:
    OpeningMark(EngineImpl* engine, const IndexedSession& session)
        : engine_(engine), id_(session.entry.id) {
      uint64_t total_bytes = 0;
      for (const IndexedFile& file : session.files) {
        if (xplane::IsCompressed(file.file.format)) total_bytes += file.file.size_bytes;
      }
      std::lock_guard lock(engine_->opening_mutex_);
      engine_->opening_[id_] = {&progress_, total_bytes};
    }
    ~OpeningMark() {
      std::lock_guard lock(engine_->opening_mutex_);
      const auto found = engine_->opening_.find(id_);
      // Another version of the session may be opened by now.
      if (found != engine_->opening_.end() && found->second.progress == &progress_) {
        engine_->opening_.erase(found);
      }
    }
    OpeningMark(const OpeningMark&) = delete;
    OpeningMark& operator=(const OpeningMark&) = delete;
    xplane::UnpackProgress* progress() { return &progress_; }

   private:
    EngineImpl* const engine_;
    const std::string id_;
    xplane::UnpackProgress progress_;
  };
  struct OpeningNow {
    const xplane::UnpackProgress* progress = nullptr;  // lives as long as its mark
    uint64_t total_bytes = 0;
  };

  SingleFlight<SessionState>::Answer OpenNew(const IndexedSession& session) {
    OpeningMark mark(this, session);
    std::shared_ptr<SessionState> opened =
        SessionState::Open(session, scratch_directory_, parts_, mark.progress());
    if (const std::optional<Status> failure = opened->failure()) {
      const auto [state, reason] = opened->Judge();
      if (state != CompletenessState::kWriting) store_->Remember(session.entry, state, reason);
      if (!opened->only_empty_files()) return Failure(session.files.size(), *failure);
      store_->Insert(opened);  // nothing to load
      return std::shared_ptr<const SessionState>(opened);
    }
    store_->Insert(opened);
    parts_->make_room();
    opened->StartLoading();
    LogInfo("engine.session_opened", {{"session", session.entry.id},
                                      {"path", session.entry.path},
                                      {"files", session.files.size()},
                                      {"version", session.version}});
    return std::shared_ptr<const SessionState>(opened);
  }

  // The error of the only file; of several that all failed the first, and that it is not alone.
  static Status Failure(size_t files, const Status& first) {
    if (files == 1) return first;
    return Status(
               first.code(), first.name(),
               "None of the " + std::to_string(files) +
                   " files of the session can be read; the first: " + std::string(first.message()))
        .Where(std::string(first.where()))
        .Hint(std::string(first.hint()));
  }

  void RescanLoop() {
    std::unique_lock lock(stop_mutex_);
    while (!stopping_) {
      lock.unlock();
      const Status walked = Refresh();
      if (!walked.ok()) LogWarning("engine.rescan_failed", {{"error", walked.ToString()}});
      lock.lock();
      stop_.wait_for(lock, std::chrono::milliseconds(options_.rescan_interval_ms),
                     [this] { return stopping_; });
    }
  }

  // A listing may take minutes; the walk of directories does not wait for it.
  void BucketLoop() {
    std::unique_lock lock(stop_mutex_);
    while (!stop_.wait_for(lock, kBucketTick, [this] { return stopping_; })) {
      lock.unlock();
      if (index_.RefreshBuckets(stop_listing_.token())) {
        const Status merged = Refresh();
        if (!merged.ok()) LogWarning("engine.rescan_failed", {{"error", merged.ToString()}});
      }
      lock.lock();
    }
  }

  const EngineOptions options_;
  Buckets buckets_;
  SessionIndex index_;
  const std::string scratch_directory_;
  const std::shared_ptr<SessionStore> store_;
  const std::shared_ptr<EngineParts> parts_;
  SingleFlight<SessionState> open_flight_;
  std::mutex opening_mutex_;
  std::unordered_map<std::string, OpeningNow> opening_;  // guarded by opening_mutex_; by id
  std::unique_ptr<Executor> executor_;

  std::mutex stop_mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  CancelSource stop_listing_;
  std::thread rescanner_;
  std::thread bucket_lister_;
};

}  // namespace

std::string_view LoadStageName(LoadStage stage) {
  switch (stage) {
    case LoadStage::kUnpacking:
      return "unpacking";
    case LoadStage::kIndexing:
      return "indexing";
    case LoadStage::kDecoding:
      return "decoding";
    case LoadStage::kReady:
      return "ready";
    case LoadStage::kFailed:
      return "failed";
  }
  return "failed";
}

std::unique_ptr<Engine> Engine::Create(EngineOptions options, const Clock& clock) {
  return std::make_unique<EngineImpl>(std::move(options), clock);
}

}  // namespace strobe::engine
