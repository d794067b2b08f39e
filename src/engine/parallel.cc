#include "src/engine/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "src/base/memory_meter.h"

namespace strobe::engine {
namespace {

// More helpers than the machine has cores would only wait in the queue.
size_t MaxHelpers() {
  static const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return cores;
}

// Lives until the last helper has looked at it, which may be after the call returned.
struct Shared {
  const std::function<void(size_t)>* work = nullptr;  // valid while pieces are left
  MemoryMeter* meter = nullptr;                       // of the caller; likewise
  size_t count = 0;
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  size_t done = 0;
  size_t helpers = 0;  // waiting for a thread, or at work

  // Whether there was a piece left.
  bool RunOne() {
    const size_t i = next.fetch_add(1);
    if (i >= count) return false;
    {
      const MemoryMeter::Scope scope(meter);
      (*work)(i);
    }
    std::lock_guard lock(mutex);
    if (++done == count) changed.notify_all();
    return true;
  }
  void Run() {
    while (RunOne()) {
    }
  }
};

// A task of the executor. Counts itself out when it has run, and when it was let fall.
class Helper : public std::enable_shared_from_this<Helper> {
 public:
  Helper(std::shared_ptr<Shared> shared, Executor& executor, Executor::Priority priority)
      : shared_(std::move(shared)), executor_(executor), priority_(priority) {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->helpers;
  }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() {
    const std::lock_guard lock(shared_->mutex);
    if (--shared_->helpers == 0) shared_->changed.notify_all();
  }
  // False when the executor takes no more.
  bool Submit() {
    return executor_.Submit(priority_, [self = shared_from_this()] { self->RunTurn(); }).ok();
  }

 private:
  void RunTurn() {
    const int64_t end_ns = executor_.clock().MonotonicNanos() + kHelperTurnNs;
    while (shared_->RunOne()) {
      if (executor_.clock().MonotonicNanos() >= end_ns && Submit()) return;
    }
  }

  const std::shared_ptr<Shared> shared_;
  Executor& executor_;  // on whose threads it runs, or from whose queue it is let fall
  const Executor::Priority priority_;
};

// Until every piece is done, by whomever.
void AwaitAll(Shared& shared, const CancelToken& cancel) {
  std::unique_lock lock(shared.mutex);
  bool took_part = false;
  while (shared.done < shared.count) {
    if (!took_part && (shared.helpers == 0 || cancel.cancelled())) {
      lock.unlock();
      shared.Run();
      lock.lock();
      took_part = true;
      continue;
    }
    shared.changed.wait_for(lock, std::chrono::milliseconds(kCancelLookMs));
  }
}

}  // namespace

void ParallelFor(Executor* executor, Executor::Priority priority, size_t count,
                 const std::function<void(size_t)>& work, CallerPart part,
                 const CancelToken& cancel) {
  if (count == 0) return;
  const bool helps = part == CallerPart::kHelps || executor == nullptr || executor->OnOwnThread();
  if (count == 1 && helps) return work(0);
  const auto shared = std::make_shared<Shared>();
  shared->work = &work;
  shared->meter = MemoryMeter::Current();
  shared->count = count;
  const size_t wanted = helps ? count - 1 : count;
  const size_t helpers = executor == nullptr ? 0 : std::min(wanted, MaxHelpers());
  for (size_t h = 0; h < helpers; ++h) {
    // A full queue only means that the caller does more of it.
    if (!std::make_shared<Helper>(shared, *executor, priority)->Submit()) break;
  }
  if (helps) shared->Run();
  AwaitAll(*shared, cancel);
}

}  // namespace strobe::engine
