// Time as the rest of Strobe may use it: an injected clock, and names for the integer units.
//
// Trace time is int64 picoseconds and never comes from here; this is the machine's own time for
// deadlines, ages and logs.
//
//   Clock& clock = SystemClock();
//   const int64_t deadline_ms = clock.NowUnixMillis() + 2000;
//
// Cost: one vDSO call. Tests use FakeClock and move it by hand.
#pragma once

#include <atomic>
#include <cstdint>

namespace strobe {

inline constexpr int64_t kPicosPerNano = 1000;
inline constexpr int64_t kPicosPerMicro = 1000 * 1000;
inline constexpr int64_t kPicosPerMilli = 1000 * 1000 * 1000;
inline constexpr int64_t kPicosPerSecond = 1000LL * 1000 * 1000 * 1000;

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall clock, nanoseconds since 1970-01-01 UTC; may jump.
  virtual int64_t NowUnixNanos() const = 0;
  // Never goes backwards; only differences mean something.
  virtual int64_t MonotonicNanos() const = 0;

  int64_t NowUnixMillis() const { return NowUnixNanos() / 1000000; }
};

// The machine's clocks. Lives for ever.
Clock& SystemClock();

// Stands still until told to move. Safe to move from another thread.
class FakeClock : public Clock {
 public:
  explicit FakeClock(int64_t start_unix_nanos = 1700000000LL * 1000000000LL)
      : now_(start_unix_nanos) {}
  int64_t NowUnixNanos() const override { return now_.load(); }
  int64_t MonotonicNanos() const override { return now_.load(); }
  void AdvanceNanos(int64_t nanos) { now_.fetch_add(nanos); }

 private:
  std::atomic<int64_t> now_;
};

}  // namespace strobe
