#include "src/base/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace strobe {
namespace {

TEST(ClockTest, FakeClockMovesOnlyWhenTold) {
  FakeClock clock(5'000'000);
  EXPECT_EQ(clock.NowUnixNanos(), 5'000'000);
  EXPECT_EQ(clock.NowUnixMillis(), 5);
  clock.AdvanceNanos(2'000'001);
  EXPECT_EQ(clock.NowUnixNanos(), 7'000'001);
  EXPECT_EQ(clock.MonotonicNanos(), 7'000'001);
  EXPECT_EQ(clock.NowUnixMillis(), 7);
}

TEST(ClockTest, SystemClockIsTheMachinesTime) {
  const int64_t before = time(nullptr) - 1;
  const int64_t now = SystemClock().NowUnixNanos() / 1'000'000'000;
  const int64_t after = time(nullptr) + 1;
  EXPECT_GE(now, before);
  EXPECT_LE(now, after);
}

TEST(ClockTest, MonotonicNeverGoesBack) {
  int64_t previous = SystemClock().MonotonicNanos();
  for (int i = 0; i < 1000; ++i) {
    const int64_t next = SystemClock().MonotonicNanos();
    ASSERT_GE(next, previous);
    previous = next;
  }
}

TEST(ClockTest, UnitsAgree) {
  EXPECT_EQ(kPicosPerMicro, 1000 * kPicosPerNano);
  EXPECT_EQ(kPicosPerMilli, 1000 * kPicosPerMicro);
  EXPECT_EQ(kPicosPerSecond, 1000 * kPicosPerMilli);
}

}  // namespace
}  // namespace strobe
