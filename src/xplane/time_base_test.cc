// Where time 0 of a file is.
#include <gtest/gtest.h>

#include "src/xplane/skeleton.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

constexpr int64_t kStartNs = 1'764'000'000'000'000'000;

void AddTask(XSpaceBuilder& space, uint64_t start_ns, uint64_t stop_ns) {
  PlaneBuilder& task = space.AddPlane("Task Environment");
  if (start_ns != 0) task.PlaneStats().AddStat(task.StatId("profile_start_time"), start_ns);
  if (stop_ns != 0) task.PlaneStats().AddStat(task.StatId("profile_stop_time"), stop_ns);
}

void AddLineAt(XSpaceBuilder& space, int64_t timestamp_ns, bool with_event = true) {
  LineBuilder& line = space.AddPlane("p").AddLine(1, "l", timestamp_ns);
  if (with_event) line.AddEvent(1, 10, 5);
}

TEST(TimeBaseTest, ProfileStartTimeIsTheOriginOfBothKindsOfLines) {
  XSpaceBuilder space;
  AddLineAt(space, 6099);
  AddLineAt(space, kStartNs + 250);
  AddLineAt(space, kStartNs - 250);
  AddTask(space, kStartNs, kStartNs + 1'500'000'000);
  const auto file = MustOpen(space.Serialize());
  EXPECT_EQ(file->origin_unix_ns(), kStartNs);
  EXPECT_EQ(file->planes()[0].lines[0].base_ps, 6'099'000);
  EXPECT_EQ(file->planes()[1].lines[0].base_ps, 250'000);
  EXPECT_EQ(file->planes()[2].lines[0].base_ps, -250'000);
  EXPECT_EQ(file->Line(1, 0).start_ps[0], 250'010);
  ASSERT_TRUE(file->task_window().has_value());
  EXPECT_EQ(file->task_window()->start_ps, 0);
  EXPECT_EQ(file->task_window()->end_ps, 1'500'000'000'000);
}

TEST(TimeBaseTest, WithoutItTheEarliestLineThatHasEventsIs) {
  XSpaceBuilder space;
  AddLineAt(space, kStartNs, false);
  AddLineAt(space, kStartNs + 500);
  AddLineAt(space, kStartNs + 400);
  AddLineAt(space, 77);
  const auto file = MustOpen(space.Serialize());
  EXPECT_EQ(file->origin_unix_ns(), kStartNs + 400);
  EXPECT_EQ(file->planes()[0].lines[0].base_ps, -400'000);
  EXPECT_EQ(file->planes()[1].lines[0].base_ps, 100'000);
  EXPECT_EQ(file->planes()[2].lines[0].base_ps, 0);
  EXPECT_EQ(file->planes()[3].lines[0].base_ps, 77'000) << "taken as relative to the origin";
  EXPECT_FALSE(file->task_window().has_value());
}

TEST(TimeBaseTest, SmallTimesAloneHaveNoWallClock) {
  XSpaceBuilder space;
  AddLineAt(space, 5);
  AddLineAt(space, -5);
  AddTask(space, 0, kStartNs);
  const auto file = MustOpen(space.Serialize());
  EXPECT_FALSE(file->origin_unix_ns().has_value());
  EXPECT_EQ(file->planes()[0].lines[0].base_ps, 5000);
  EXPECT_EQ(file->planes()[1].lines[0].base_ps, -5000);
  EXPECT_FALSE(file->task_window().has_value());
}

TEST(TimeBaseTest, AWindowNeedsAStopBehindItsStart) {
  for (const uint64_t stop : {uint64_t{0}, uint64_t{kStartNs - 1}, uint64_t{12}, ~uint64_t{0}}) {
    XSpaceBuilder space;
    AddLineAt(space, 5);
    AddTask(space, kStartNs, stop);
    const auto file = MustOpen(space.Serialize());
    EXPECT_EQ(file->origin_unix_ns(), kStartNs);
    EXPECT_FALSE(file->task_window().has_value());
  }
}

TEST(TimeBaseTest, NoTimestampOverflows) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  for (const std::optional<int64_t> origin : {std::optional<int64_t>(), {kStartNs}, {kMax}}) {
    for (const int64_t timestamp : {kMin, kMin + 1, int64_t{-1}, int64_t{0}, kStartNs, kMax}) {
      const int64_t base = LineBasePs(timestamp, origin);
      EXPECT_LE(base, kMaxTimePs);
      EXPECT_GE(base, -kMaxTimePs);
    }
  }
}

}  // namespace
}  // namespace strobe::xplane
