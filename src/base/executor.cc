#include "src/base/executor.h"

#include <sys/resource.h>
#include <unistd.h>

#include "src/base/work_owner.h"

namespace strobe {
namespace {

thread_local const Executor* pool_of_thread = nullptr;
thread_local Executor::Priority priority_of_task = Executor::Priority::kInteractive;

}  // namespace

Executor::Executor(Options options)
    : options_(options),
      clock_(options.clock != nullptr ? *options.clock : SystemClock()),
      queue_({.threads = options.threads,
              .max_background = options.max_background,
              .max_waiting = options.max_queued_tasks,
              .max_waiting_of_user = options.max_queued_tasks_of_user}) {
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] {
      LowerThreadPriority(options_.niceness);
      Run();
    });
  }
}

void LowerThreadPriority(int niceness) {
  if (niceness == 0) return;
  // On Linux a nice value belongs to a thread.
  const auto thread = static_cast<id_t>(gettid());
  (void)setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + niceness);
}

Executor::~Executor() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.Clear();
  }
  work_available_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status Executor::Submit(Priority priority, std::function<void()> task) {
  return Submit(priority, WorkOwner::Current(), std::move(task));
}

Status Executor::Submit(Priority priority, std::string_view user, std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) {
      return UnavailableError("EXECUTOR_STOPPING",
                              "The server is shutting down and takes no new work.");
    }
    STROBE_RETURN_IF_ERROR(queue_.Push(priority, user, clock_.MonotonicNanos(), std::move(task)));
  }
  work_available_.notify_one();
  return OkStatus();
}

bool Executor::OnOwnThread() const { return pool_of_thread == this; }

Executor::Priority Executor::PriorityHere(Priority otherwise) const {
  return OnOwnThread() ? priority_of_task : otherwise;
}

std::optional<FairQueue::Taken> Executor::AwaitTask(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (auto taken = queue_.Take(clock_.MonotonicNanos())) return taken;
    if (stopping_) return std::nullopt;
    work_available_.wait(lock);
  }
}

void Executor::Run() {
  pool_of_thread = this;
  std::unique_lock lock(mutex_);
  while (std::optional<FairQueue::Taken> taken = AwaitTask(lock)) {
    lock.unlock();
    {
      const WorkOwner::Scope scope(taken->user);
      priority_of_task = taken->priority;
      taken->task();
      taken->task = nullptr;  // release what the task captured before anyone sees us idle
    }
    lock.lock();
    queue_.Finish(*taken, clock_.MonotonicNanos());
    if (queue_.waiting() > 0) {
      // What could not begin before may begin now.
      work_available_.notify_one();
    } else if (queue_.running() == 0) {
      idle_.notify_all();
    }
  }
}

void Executor::WaitUntilIdle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return queue_.waiting() + queue_.running() == 0; });
}

size_t Executor::queued_tasks() const {
  std::lock_guard lock(mutex_);
  return queue_.waiting();
}

FairQueue::Counts Executor::counts(Priority priority) const {
  std::lock_guard lock(mutex_);
  return queue_.counts(priority);
}

}  // namespace strobe
