#include "src/base/clock.h"

#include <time.h>

namespace strobe {
namespace {

int64_t ReadClock(clockid_t id) {
  timespec spec{};
  clock_gettime(id, &spec);
  return static_cast<int64_t>(spec.tv_sec) * 1000000000LL + spec.tv_nsec;
}

class RealClock : public Clock {
 public:
  int64_t NowUnixNanos() const override { return ReadClock(CLOCK_REALTIME); }
  int64_t MonotonicNanos() const override { return ReadClock(CLOCK_MONOTONIC); }
};

}  // namespace

Clock& SystemClock() {
  static RealClock* const clock = new RealClock;
  return *clock;
}

}  // namespace strobe
