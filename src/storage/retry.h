// Trying again: how often, how soon, and when to stop.
//
//   Backoff backoff(policy, random);
//   while (backoff.MayRetry(budget)) waiter.Wait(backoff.NextWaitNs(), cancel);
//
// Waits are drawn evenly from [0, base * 2^n], cut at `max_wait_ms` ("full jitter"), so that many
// clients that failed together do not come back together. The budget is shared by all calls of a
// store: each retry takes kRetryCost, each success gives one back, so that a store that is down is
// asked at most a tenth more often than one that works.
#pragma once

#include <atomic>
#include <cstdint>

#include "src/base/cancel.h"
#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/base/status.h"

namespace strobe::storage {

struct RetryPolicy {
  int max_attempts = 6;
  int64_t base_wait_ms = 100;
  int64_t max_wait_ms = 20'000;
  int64_t total_timeout_ms = 120'000;  // of one call with all its attempts
};

class RetryBudget {
 public:
  static constexpr int64_t kFull = 500;
  static constexpr int64_t kRetryCost = 10;
  bool Take() {
    int64_t now = tokens_.load();
    while (now >= kRetryCost) {
      if (tokens_.compare_exchange_weak(now, now - kRetryCost)) return true;
    }
    return false;
  }
  void GiveBack() {
    int64_t now = tokens_.load();
    while (now < kFull && !tokens_.compare_exchange_weak(now, now + 1)) {
    }
  }
  int64_t tokens() const { return tokens_.load(); }

 private:
  std::atomic<int64_t> tokens_{kFull};
};

// Waiting, so that tests need not.
class Waiter {
 public:
  virtual ~Waiter() = default;
  // Returns early with CANCELLED.
  virtual Status Wait(int64_t wait_ns, const CancelToken& cancel) = 0;
};
// Looks at the token every 20 ms. Lives for ever.
Waiter& SystemWaiter();

// Moves a clock instead of waiting.
class FakeWaiter : public Waiter {
 public:
  explicit FakeWaiter(FakeClock& clock) : clock_(clock) {}
  Status Wait(int64_t wait_ns, const CancelToken& cancel) override {
    clock_.AdvanceNanos(wait_ns);
    waited_ns_ += wait_ns;
    return cancel.Check();
  }
  int64_t waited_ns() const { return waited_ns_.load(); }

 private:
  FakeClock& clock_;
  std::atomic<int64_t> waited_ns_{0};
};

class Backoff {
 public:
  Backoff(const RetryPolicy& policy, Random& random, const Clock& clock, int64_t timeout_ms);
  // Whether a call that failed now may be made again after `wait_ns`, which is drawn here.
  bool Next(RetryBudget& budget, int64_t* wait_ns);
  int attempts() const { return attempts_; }

 private:
  const RetryPolicy policy_;
  Random& random_;
  const Clock& clock_;
  const int64_t deadline_ns_;
  int attempts_ = 1;
};

}  // namespace strobe::storage
