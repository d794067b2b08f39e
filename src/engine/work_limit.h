// Stops a piece of work when its time is up or its heap too large, by way of the token that the
// work looks at.
//
//   WorkLimit limit(asker, clock, {.seconds = 600, .bytes = 4 << 30});
//   const MemoryMeter::Scope scope(limit.meter());
//   Result<Answer> answer = Compute(limit.token());
//   if (limit.reached() != WorkLimit::Reached::kNone) return ResourceExhaustedError(...);
//
// The token is also cancelled when the asker's is. Cost: a thread that looks every kLookMs for as
// long as the object lives. Limits: work goes on until it looks at the token, so both bounds are
// passed by what it does in that time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "src/base/cancel.h"
#include "src/base/clock.h"
#include "src/base/memory_meter.h"

namespace strobe::engine {

class WorkLimit {
 public:
  static constexpr int kLookMs = 20;
  enum class Reached : uint8_t { kNone, kTime, kMemory };

  struct Bounds {
    int64_t seconds = 0;  // 0: any
    int64_t bytes = 0;    // 0: any
  };

  // `clock` outlives the object.
  WorkLimit(const CancelToken& asker, const Clock& clock, Bounds bounds)
      : asker_(asker),
        clock_(clock),
        bounds_(bounds),
        deadline_ns_(clock.MonotonicNanos() + bounds.seconds * kNanosPerSecond),
        watcher_([this] { Watch(); }) {}
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;
  ~WorkLimit() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    watcher_.join();
  }

  CancelToken token() const { return source_.token(); }
  MemoryMeter* meter() { return &meter_; }
  Reached reached() const { return reached_; }

 private:
  static constexpr int64_t kNanosPerSecond = 1'000'000'000;

  Reached Look() const {
    if (bounds_.seconds > 0 && clock_.MonotonicNanos() >= deadline_ns_) return Reached::kTime;
    if (bounds_.bytes > 0 && meter_.held_bytes() > bounds_.bytes) return Reached::kMemory;
    return Reached::kNone;
  }

  void Watch() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(kLookMs), [this] { return done_; })) {
      reached_ = Look();
      if (reached_ == Reached::kNone && !asker_.cancelled()) continue;
      source_.Cancel();
      return;
    }
  }

  const CancelToken asker_;
  const Clock& clock_;
  const Bounds bounds_;
  const int64_t deadline_ns_;
  CancelSource source_;
  MemoryMeter meter_;
  std::atomic<Reached> reached_ = Reached::kNone;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread watcher_;  // last: it uses all of the above
};

}  // namespace strobe::engine
