#include "src/queue/operation.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace strobe::queue {
namespace {

// How often the watch looks at the (injected) clock while something runs. A deadline may fire this
// much late, which nobody notices in work of seconds to hours.
constexpr std::chrono::milliseconds kDeadlineWatchPeriod(50);
// A client that waits longer asks again; it keeps a lost client from holding a thread for ever.
constexpr int64_t kMaxWaitMs = 60'000;

struct Entry {
  OperationState state;
  CancelSource cancel;
  CancelToken token;
  bool deadline_passed = false;
  std::thread thread;
};

Status UnknownOperation(const std::string& id) {
  return NotFoundError("OPERATION_UNKNOWN",
                       "No operation has the id \"" + id.substr(0, 100) + "\".")
      .Hint("List the operations; finished ones are forgotten after a while.");
}

class Table : public OperationTable {
 public:
  Table(OperationOptions options, const Clock& clock, const IdMaker& ids)
      : options_(options), clock_(clock), ids_(ids), watch_([this] { WatchDeadlines(); }) {}

  ~Table() override;

  Result<std::string> Start(const std::string& kind, int64_t timeout_ms,
                            std::vector<OperationTarget> targets,
                            std::function<Status(OperationHandle&)> work,
                            std::string project) override;
  std::vector<OperationState> List() override;
  Result<OperationState> Get(const std::string& id) override;
  Result<OperationState> Cancel(const std::string& id) override;
  Result<OperationState> WaitForChange(const std::string& id, uint64_t seen_revision,
                                       int64_t timeout_ms) override;

  void Update(Entry& entry, const std::function<void(OperationState&)>& change);

 private:
  void Run(std::shared_ptr<Entry> entry, std::function<Status(OperationHandle&)> work);
  void Finish(Entry& entry, Status status);
  void WatchDeadlines();
  void Touch(Entry& entry);
  std::vector<std::thread> TakeFinishedThreads();

  const OperationOptions options_;
  const Clock& clock_;
  const IdMaker& ids_;

  std::mutex mutex_;
  std::condition_variable changed_;      // some operation's revision grew
  std::condition_variable watch_wakes_;  // something started, or the table ends
  std::map<std::string, std::shared_ptr<Entry>> entries_;
  std::deque<std::string> order_;           // ids by start, oldest first
  std::deque<std::string> finished_order_;  // ids by end, oldest first
  std::vector<std::thread> finished_threads_;
  size_t running_ = 0;
  bool stopping_ = false;
  std::thread watch_;  // last: it uses everything above
};

class Handle : public OperationHandle {
 public:
  Handle(Table& table, Entry& entry, int64_t deadline_unix_ms)
      : table_(table), entry_(entry), deadline_unix_ms_(deadline_unix_ms) {}
  const CancelToken& cancel() const override { return entry_.token; }
  int64_t deadline_unix_ms() const override { return deadline_unix_ms_; }
  void Update(const std::function<void(OperationState&)>& change) override {
    table_.Update(entry_, change);
  }

 private:
  Table& table_;
  Entry& entry_;
  const int64_t deadline_unix_ms_;
};

Table::~Table() {
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& [id, entry] : entries_) {
      if (!entry->state.done) entry->cancel.Cancel();
      if (entry->thread.joinable()) threads.push_back(std::move(entry->thread));
    }
  }
  watch_wakes_.notify_all();
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
  watch_.join();
  for (std::thread& thread : TakeFinishedThreads()) thread.join();
}

Result<std::string> Table::Start(const std::string& kind, int64_t timeout_ms,
                                 std::vector<OperationTarget> targets,
                                 std::function<Status(OperationHandle&)> work,
                                 std::string project) {
  STROBE_CHECK(work != nullptr && timeout_ms > 0);
  for (std::thread& thread : TakeFinishedThreads()) thread.join();  // they have ended: no wait
  auto entry = std::make_shared<Entry>();
  std::string id;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) {
      return UnavailableError("OPERATIONS_STOPPING", "The server is shutting down.");
    }
    if (running_ >= options_.max_running) {
      return ResourceExhaustedError(
                 "OPERATIONS_TOO_MANY",
                 "There are already " + std::to_string(running_) + " operations running.")
          .Hint("Wait for one to end, or cancel one.");
    }
    do id = ids_.Make("op");
    while (entries_.contains(id));
    entry->token = entry->cancel.token();
    OperationState& state = entry->state;
    state.id = id;
    state.kind = kind;
    state.project = std::move(project);
    state.created_unix_ms = state.updated_unix_ms = clock_.NowUnixMillis();
    state.deadline_unix_ms = state.created_unix_ms + timeout_ms;
    state.targets = std::move(targets);
    state.revision = 1;
    entries_[id] = entry;
    order_.push_back(id);
    ++running_;
    // Under the lock, so that the thread cannot end before its handle is in place.
    entry->thread = std::thread(&Table::Run, this, entry, std::move(work));
  }
  watch_wakes_.notify_all();
  return id;
}

void Table::Run(std::shared_ptr<Entry> entry, std::function<Status(OperationHandle&)> work) {
  int64_t deadline_unix_ms = 0;
  {
    std::lock_guard lock(mutex_);
    deadline_unix_ms = entry->state.deadline_unix_ms;
  }
  Handle handle(*this, *entry, deadline_unix_ms);
  Status status;
  try {
    status = work(handle);
  } catch (const std::exception& exception) {
    status = InternalError("OPERATION_CRASHED",
                           std::string("The operation ended unexpectedly: ") + exception.what());
  }
  work = nullptr;  // release what it captured before anyone sees the operation done
  Finish(*entry, std::move(status));
}

void Table::Finish(Entry& entry, Status status) {
  std::lock_guard lock(mutex_);
  OperationState& state = entry.state;
  if (!status.ok()) {
    // The work saw a cancelled token; only the table knows that it was the clock who asked.
    const bool late = entry.deadline_passed && status.code() == StatusCode::kCancelled;
    state.error = late ? DeadlineExceededError("OPERATION_DEADLINE",
                                               "The operation did not end within its time limit.")
                             .Hint(std::string(status.message()))
                       : std::move(status);
  }
  state.done = true;
  --running_;
  Touch(entry);
  finished_order_.push_back(state.id);
  if (entry.thread.joinable()) finished_threads_.push_back(std::move(entry.thread));
  while (finished_order_.size() > options_.max_finished) {
    const std::string oldest = std::move(finished_order_.front());
    finished_order_.pop_front();
    entries_.erase(oldest);  // `entry` itself is kept alive by Run
    order_.erase(std::find(order_.begin(), order_.end(), oldest));
  }
}

void Table::Touch(Entry& entry) {
  ++entry.state.revision;
  entry.state.updated_unix_ms = clock_.NowUnixMillis();
  changed_.notify_all();
}

void Table::Update(Entry& entry, const std::function<void(OperationState&)>& change) {
  std::lock_guard lock(mutex_);
  if (entry.state.done) return;
  OperationState changed = entry.state;
  change(changed);
  // What the table itself answers for stays as it is, whatever the work does to its copy.
  changed.id = entry.state.id;
  changed.kind = entry.state.kind;
  changed.done = false;
  changed.cancelled = entry.state.cancelled;
  changed.created_unix_ms = entry.state.created_unix_ms;
  changed.deadline_unix_ms = entry.state.deadline_unix_ms;
  changed.revision = entry.state.revision;
  entry.state = std::move(changed);
  Touch(entry);
}

std::vector<OperationState> Table::List() {
  std::lock_guard lock(mutex_);
  std::vector<OperationState> states;
  states.reserve(order_.size());
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    states.push_back(entries_.at(*id)->state);
  }
  return states;
}

Result<OperationState> Table::Get(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return UnknownOperation(id);
  return found->second->state;
}

Result<OperationState> Table::Cancel(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return UnknownOperation(id);
  Entry& entry = *found->second;
  if (!entry.state.done && !entry.state.cancelled) {
    entry.state.cancelled = true;
    entry.cancel.Cancel();
    Touch(entry);
  }
  return entry.state;
}

Result<OperationState> Table::WaitForChange(const std::string& id, uint64_t seen_revision,
                                            int64_t timeout_ms) {
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(std::clamp<int64_t>(timeout_ms, 0, kMaxWaitMs));
  std::unique_lock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return UnknownOperation(id);
  const std::shared_ptr<Entry> entry = found->second;  // may be forgotten while we wait
  changed_.wait_until(lock, end, [&] {
    return stopping_ || entry->state.done || entry->state.revision > seen_revision;
  });
  return entry->state;
}

void Table::WatchDeadlines() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (running_ == 0) {
      watch_wakes_.wait(lock, [this] { return stopping_ || running_ > 0; });
      continue;
    }
    watch_wakes_.wait_for(lock, kDeadlineWatchPeriod, [this] { return stopping_; });
    const int64_t now_ms = clock_.NowUnixMillis();
    for (auto& [id, entry] : entries_) {
      if (entry->state.done || entry->deadline_passed) continue;
      if (now_ms < entry->state.deadline_unix_ms) continue;
      entry->deadline_passed = true;
      entry->cancel.Cancel();
    }
  }
}

std::vector<std::thread> Table::TakeFinishedThreads() {
  std::lock_guard lock(mutex_);
  return std::exchange(finished_threads_, {});
}

}  // namespace

std::unique_ptr<OperationTable> OperationTable::Create(OperationOptions options, const Clock& clock,
                                                       const IdMaker& ids) {
  return std::make_unique<Table>(options, clock, ids);
}

}  // namespace strobe::queue
