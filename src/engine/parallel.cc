#include "src/engine/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

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
  std::condition_variable all_done;
  size_t done = 0;

  void Run() {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      {
        const MemoryMeter::Scope scope(meter);
        (*work)(i);
      }
      std::lock_guard lock(mutex);
      if (++done == count) all_done.notify_all();
    }
  }
};

}  // namespace

void ParallelFor(Executor* executor, Executor::Priority priority, size_t count,
                 const std::function<void(size_t)>& work) {
  if (count == 0) return;
  if (count == 1) return work(0);
  const auto shared = std::make_shared<Shared>();
  shared->work = &work;
  shared->meter = MemoryMeter::Current();
  shared->count = count;
  const size_t helpers = executor == nullptr ? 0 : std::min(count - 1, MaxHelpers());
  for (size_t h = 0; h < helpers; ++h) {
    // A full queue only means that the caller does more of it.
    if (!executor->Submit(priority, [shared] { shared->Run(); }).ok()) break;
  }
  shared->Run();
  std::unique_lock lock(shared->mutex);
  shared->all_done.wait(lock, [&] { return shared->done == shared->count; });
}

}  // namespace strobe::engine
