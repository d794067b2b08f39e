#include "src/base/executor.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace strobe {

Executor::Executor(Options options) : options_(options) {
  STROBE_CHECK(options_.threads > 0);
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] {
      LowerPriority();
      Run();
    });
  }
}

void Executor::LowerPriority() const {
  if (options_.niceness == 0) return;
  // On Linux a nice value belongs to a thread. A system that refuses only makes no difference.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()),
                    getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())) + options_.niceness);
}

Executor::~Executor() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& queue : queues_) queue.clear();
  }
  work_available_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status Executor::Submit(Priority priority, std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) {
      return UnavailableError("EXECUTOR_STOPPING",
                              "The server is shutting down and takes no new work.");
    }
    auto& queue = queues_[static_cast<size_t>(priority)];
    if (queue.size() >= options_.max_queued_tasks) {
      return ResourceExhaustedError(
                 "EXECUTOR_QUEUE_FULL",
                 "Too much work is waiting (" + std::to_string(queue.size()) + " tasks).")
          .Hint("Try again in a few seconds.");
    }
    queue.push_back(std::move(task));
  }
  work_available_.notify_one();
  return OkStatus();
}

bool Executor::TakeTask(std::unique_lock<std::mutex>& lock, std::function<void()>* task,
                        bool* background) {
  const int background_limit = std::max(1, options_.threads - 1);
  for (;;) {
    auto& interactive = queues_[static_cast<size_t>(Priority::kInteractive)];
    auto& waiting = queues_[static_cast<size_t>(Priority::kBackground)];
    if (!interactive.empty()) {
      *task = std::move(interactive.front());
      interactive.pop_front();
      *background = false;
      return true;
    }
    if (!waiting.empty() && running_background_ < background_limit) {
      *task = std::move(waiting.front());
      waiting.pop_front();
      *background = true;
      return true;
    }
    if (stopping_) return false;
    work_available_.wait(lock);
  }
}

void Executor::Run() {
  std::unique_lock lock(mutex_);
  std::function<void()> task;
  bool background = false;
  while (TakeTask(lock, &task, &background)) {
    ++running_;
    if (background) ++running_background_;
    lock.unlock();
    task();
    task = nullptr;  // release what the task captured before anyone sees us idle
    lock.lock();
    --running_;
    if (background) --running_background_;
    if (running_ == 0 && queues_[0].empty() && queues_[1].empty()) idle_.notify_all();
    if (background && !queues_[1].empty()) work_available_.notify_one();
  }
}

void Executor::WaitUntilIdle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return running_ == 0 && queues_[0].empty() && queues_[1].empty(); });
}

size_t Executor::queued_tasks() const {
  std::lock_guard lock(mutex_);
  return queues_[0].size() + queues_[1].size();
}

}  // namespace strobe
