// A pool of threads that serves users fairly: what a person waits for first, then what can wait.
//
//   Executor executor({.threads = 2});
//   STROBE_RETURN_IF_ERROR(executor.Submit(Executor::Priority::kInteractive, [] { ... }));
//
// What is done next, the limits and their errors are FairQueue's (fair_queue.h). A task counts for
// the user it was submitted for: the one given, else WorkOwner::Current() of the thread that
// submits; it runs in that user's scope, so that what it submits counts for the same user. A full
// queue is an error for the caller (RESOURCE_EXHAUSTED), never a wait. Tasks must not throw. The
// destructor finishes running tasks and drops queued ones.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "src/base/clock.h"
#include "src/base/fair_queue.h"
#include "src/base/status.h"

namespace strobe {

// Adds to the calling thread's nice value, so that others of the process go first when all want to
// run. A system that refuses only makes no difference.
void LowerThreadPriority(int niceness);

class Executor {
 public:
  using Priority = FairQueue::Priority;
  struct Options {
    int threads = 2;
    // As in FairQueue::Options.
    size_t max_queued_tasks = 4096;
    size_t max_queued_tasks_of_user = 0;
    int max_background = 0;
    int niceness = 0;              // LowerThreadPriority
    const Clock* clock = nullptr;  // null: SystemClock(); tells how long users have had threads
  };

  explicit Executor(Options options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  Status Submit(Priority priority, std::function<void()> task);
  Status Submit(Priority priority, std::string_view user, std::function<void()> task);
  // Whether the calling thread is one of this pool's.
  bool OnOwnThread() const;
  // Of the task that the calling thread is at when it is one of this pool's, else `otherwise`: what
  // background work hands out stays background work.
  Priority PriorityHere(Priority otherwise) const;
  // Waits until both queues are empty and nothing runs. For tests and shutdown.
  void WaitUntilIdle();
  size_t queued_tasks() const;
  const Clock& clock() const { return clock_; }
  FairQueue::Counts counts(Priority priority) const;

 private:
  void Run();
  std::optional<FairQueue::Taken> AwaitTask(std::unique_lock<std::mutex>& lock);

  const Options options_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable idle_;
  FairQueue queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace strobe
