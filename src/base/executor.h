// A pool of threads with two bounded queues: what a person waits for, and what can wait.
//
//   Executor executor({.threads = 2});
//   STROBE_RETURN_IF_ERROR(executor.Submit(Executor::Priority::kInteractive, [] { ... }));
//
// Interactive work always goes first; of T threads at most max(1, T-1) run background work at once,
// so that one is soon free for interactive work. A full queue is an error for the caller
// (RESOURCE_EXHAUSTED), never a wait. Tasks must not throw. The destructor finishes running tasks
// and drops queued ones.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "src/base/status.h"

namespace strobe {

class Executor {
 public:
  enum class Priority : uint8_t { kInteractive, kBackground };
  struct Options {
    int threads = 2;
    // Far above what a page asks at once; a longer queue only hides that the server is too slow.
    size_t max_queued_tasks = 4096;
    // Added to the threads' nice value, so that others of the process go first when all want to
    // run.
    int niceness = 0;
  };

  explicit Executor(Options options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  Status Submit(Priority priority, std::function<void()> task);
  // Waits until both queues are empty and nothing runs. For tests and shutdown.
  void WaitUntilIdle();
  size_t queued_tasks() const;

 private:
  void Run();
  void LowerPriority() const;
  bool TakeTask(std::unique_lock<std::mutex>& lock, std::function<void()>* task, bool* background);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable idle_;
  std::deque<std::function<void()>> queues_[2];
  int running_ = 0;
  int running_background_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace strobe
