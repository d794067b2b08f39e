#include "src/analysis/op_line_walk.h"

#include <gtest/gtest.h>

#include "src/analysis/op_profile_for_test.h"
#include "src/base/ids.h"

namespace strobe::analysis {
namespace {

struct Walked {
  OpAccumulator sums;
  int64_t first_ps = 0;
  int64_t last_ps = 0;
};

// Both ways over line 0 of plane 0; without groups the sums of a line of one row are made on a way
// of their own.
Walked Walk(const PreparedForTest& profile, bool ignore_groups) {
  Walked walked{OpAccumulator(profile.file->planes()[0].event_metadata.size())};
  const CancelToken cancel;
  OpLineWalk walk(*profile.host, 0, 0, cancel);
  if (ignore_groups) walk.IgnoreGroups();
  EXPECT_TRUE(walk.Run(OpLineWalk::kAllEvents, &walked.sums).ok());
  walked.sums.Finish();
  walked.first_ps = walk.first_ps();
  walked.last_ps = walk.last_ps();
  return walked;
}

void ExpectSameBothWays(const PreparedForTest& profile) {
  const Walked one = Walk(profile, false);
  const Walked other = Walk(profile, true);
  EXPECT_EQ(one.first_ps, other.first_ps);
  EXPECT_EQ(one.last_ps, other.last_ps);
  EXPECT_EQ(one.sums.order(), other.sums.order());
  ASSERT_EQ(one.sums.whole().size(), other.sums.whole().size());
  for (size_t i = 0; i < one.sums.whole().size(); ++i) {
    const OpSums& a = one.sums.whole()[i];
    const OpSums& b = other.sums.whole()[i];
    EXPECT_EQ(a.occurrences, b.occurrences) << i;
    EXPECT_EQ(a.time_ps, b.time_ps) << i;
    EXPECT_EQ(a.self_ps, b.self_ps) << i;
    EXPECT_EQ(a.unscaled_ps, b.unscaled_ps) << i;
    EXPECT_EQ(a.min_ps, b.min_ps) << i;
  }
}

// Events side by side, some of no duration where another ends; now and then one that
// holds others when `nested`.
std::unique_ptr<PreparedForTest> RandomLine(uint64_t seed, bool nested) {
  SeededRandom random(seed);
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  int64_t ops[5];
  for (uint64_t i = 0; i < 5; ++i) {
    ops[i] = AddTpuOp(&plane, {.name = "op." + std::to_string(i), .symbol = i + 1});
  }
  xplane::LineBuilder& line = plane.AddLine(1, "XLA Ops", 1000);
  int64_t at = 500;
  for (int i = 0; i < 400; ++i) {
    const auto duration = static_cast<int64_t>(random.Next() % 4 * 10);
    if (nested && random.Next() % 8 == 0) line.AddEvent(ops[4], at, 3 * duration);
    line.AddEvent(ops[random.Next() % 5], at, duration);
    // What takes no time shares a row with its neighbours only when the next begins later.
    at += duration + (duration == 0 ? 5 : static_cast<int64_t>(random.Next() % 2 * 5));
  }
  return std::make_unique<PreparedForTest>(space);
}

TEST(OpLineWalkTest, ALineOfOneRowSumsAsAnyOther) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto profile = RandomLine(seed, false);
    ASSERT_EQ(profile->file->Line(0, 0).rows.size(), 1u);
    ExpectSameBothWays(*profile);
  }
}

TEST(OpLineWalkTest, NestedEventsSumTheSameWithAndWithoutGroups) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto profile = RandomLine(seed, true);
    ASSERT_GT(profile->file->Line(0, 0).rows.size(), 1u);
    ExpectSameBothWays(*profile);
  }
}

}  // namespace
}  // namespace strobe::analysis
