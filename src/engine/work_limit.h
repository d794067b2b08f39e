// Stops a piece of work when its time is up, by way of the token that the work looks at.
//
//   TimeLimit limit(asker, clock, 600);
//   Result<Answer> answer = Compute(limit.token());
//   if (limit.is_up()) return ResourceExhaustedError(...);
//
// The token is also cancelled when the asker's is. Cost: a thread that looks at both every kLookMs
// for as long as the object lives.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "src/base/cancel.h"
#include "src/base/clock.h"

namespace strobe::engine {

class TimeLimit {
 public:
  static constexpr int kLookMs = 20;

  // `clock` outlives the object.
  TimeLimit(const CancelToken& asker, const Clock& clock, int64_t seconds)
      : asker_(asker),
        clock_(clock),
        deadline_ns_(clock.MonotonicNanos() + seconds * kNanosPerSecond),
        watcher_([this] { Watch(); }) {}
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    watcher_.join();
  }

  CancelToken token() const { return source_.token(); }
  bool is_up() const { return is_up_; }

 private:
  static constexpr int64_t kNanosPerSecond = 1'000'000'000;

  void Watch() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(kLookMs), [this] { return done_; })) {
      const bool late = clock_.MonotonicNanos() >= deadline_ns_;
      if (late) is_up_ = true;
      if (!late && !asker_.cancelled()) continue;
      source_.Cancel();
      return;
    }
  }

  const CancelToken asker_;
  const Clock& clock_;
  const int64_t deadline_ns_;
  CancelSource source_;
  std::atomic<bool> is_up_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread watcher_;  // last: it uses all of the above
};

}  // namespace strobe::engine
