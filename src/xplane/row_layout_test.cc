#include "src/xplane/row_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "src/base/ids.h"

namespace strobe::xplane {
namespace {

struct Placed {
  RowLayout layout;
  std::vector<uint32_t> source;  // event at each position
  std::vector<size_t> row;       // of each event
};

Placed Place(const std::vector<int64_t>& starts, const std::vector<int64_t>& durations,
             const std::vector<uint32_t>& untimed = {}) {
  bool sorted = true;
  for (size_t i = 1; i < starts.size(); ++i) {
    sorted = sorted && (starts[i] > starts[i - 1] ||
                        (starts[i] == starts[i - 1] && durations[i] <= durations[i - 1]));
  }
  Placed placed;
  EXPECT_TRUE(LayOutRows(starts, durations, sorted, untimed, &placed.layout));
  placed.source.assign(starts.size(), 0xffffffff);
  placed.layout.ForEach(
      [&](uint32_t event, uint32_t position) { placed.source[position] = event; });
  placed.row.resize(starts.size());
  uint32_t next = 0;
  for (size_t r = 0; r < placed.layout.rows.size(); ++r) {
    EXPECT_EQ(placed.layout.rows[r].first, next);
    for (uint32_t i = 0; i < placed.layout.rows[r].count; ++i)
      placed.row[placed.source[next++]] = r;
  }
  EXPECT_EQ(next, starts.size());
  return placed;
}

TEST(RowLayoutTest, NestedEventsGoBelow) {
  //  0: [0, 100)   1: [10, 50)   2: [20, 30)   3: [60, 90)   4: [100, 110)
  const Placed placed = Place({0, 10, 20, 60, 100}, {100, 40, 10, 30, 10});
  EXPECT_EQ(placed.row, (std::vector<size_t>{0, 1, 2, 1, 0}));
  EXPECT_EQ(placed.source, (std::vector<uint32_t>{0, 4, 1, 3, 2}));
  EXPECT_EQ(placed.layout.overlapping, 0u);
}

TEST(RowLayoutTest, OfEqualStartsTheLongerIsOutside) {
  const Placed placed = Place({5, 5, 5}, {1, 10, 0});
  EXPECT_EQ(placed.row, (std::vector<size_t>{1, 0, 2}));
}

TEST(RowLayoutTest, ZeroLengthEventsTouchAndDoNotNestInEachOther) {
  const Placed placed = Place({5, 5, 5, 10}, {5, 0, 0, 0});
  EXPECT_EQ(placed.row, (std::vector<size_t>{0, 1, 1, 0}));
}

TEST(RowLayoutTest, OverlappingEventsTakeTheLowestFreeRow) {
  //  0: [0, 10)  1: [5, 15)  2: [12, 20)  3: [13, 14) inside 2 and 1  4: [18, 25)
  const Placed placed = Place({0, 5, 12, 13, 18}, {10, 10, 8, 1, 7});
  EXPECT_EQ(placed.row, (std::vector<size_t>{0, 1, 0, 2, 1}));
  EXPECT_EQ(placed.layout.overlapping, 3u);
}

TEST(RowLayoutTest, UntimedEventsHaveTheLastRow) {
  const Placed placed = Place({0, 0, 5, 0}, {10, 99, 2, 99}, {1, 3});
  EXPECT_EQ(placed.row, (std::vector<size_t>{0, 2, 1, 2}));
  EXPECT_EQ(placed.layout.crowded, 0u);
}

TEST(RowLayoutTest, DeeperThanTheLimitIsCountedAndKept) {
  constexpr int64_t kDepth = LineColumns::kMaxRows + 100;
  std::vector<int64_t> starts;
  std::vector<int64_t> durations;
  for (int64_t i = 0; i < kDepth; ++i) {
    starts.push_back(i);
    durations.push_back(2 * (kDepth - i));
  }
  starts.push_back(10 * kDepth);
  durations.push_back(1);
  for (const bool overlap : {false, true}) {
    if (overlap) durations[1] = 5 * kDepth;
    const Placed placed = Place(starts, durations);
    EXPECT_EQ(placed.layout.rows.size(), LineColumns::kMaxRows + 1);
    EXPECT_EQ(placed.layout.crowded, 100u);
    EXPECT_EQ(placed.row.back(), 0u);
  }
}

// Intervals that nest: the row must be the number of intervals around.
TEST(RowLayoutTest, DepthAgreesWithCountingOnRandomNests) {
  SeededRandom random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> starts;
    std::vector<int64_t> durations;
    std::vector<int64_t> open_ends = {1'000'000};
    for (int64_t at = 0; starts.size() < 100; at += static_cast<int64_t>(1 + random.Next() % 20)) {
      while (open_ends.size() > 1 && open_ends.back() <= at) open_ends.pop_back();
      const int64_t end =
          std::min(at + static_cast<int64_t>(1 + random.Next() % 200), open_ends.back());
      starts.push_back(at);
      durations.push_back(end - at);
      open_ends.push_back(end);
    }
    // In any order.
    for (size_t i = starts.size() - 1; i > 0; --i) {
      const size_t j = random.Next() % (i + 1);
      std::swap(starts[i], starts[j]);
      std::swap(durations[i], durations[j]);
    }
    const Placed placed = Place(starts, durations);
    EXPECT_EQ(placed.layout.overlapping, 0u);
    for (size_t i = 0; i < starts.size(); ++i) {
      size_t around = 0;
      for (size_t j = 0; j < starts.size(); ++j) {
        around += j != i && starts[j] <= starts[i] &&
                  starts[j] + durations[j] >= starts[i] + durations[i];
      }
      ASSERT_EQ(placed.row[i], around);
    }
  }
}

TEST(RowLayoutTest, RowsNeverOverlapOnRandomEvents) {
  SeededRandom random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> starts;
    std::vector<int64_t> durations;
    for (uint64_t i = 0; i < 200; ++i) {
      starts.push_back(static_cast<int64_t>(random.Next() % 500));
      durations.push_back(static_cast<int64_t>(random.Next() % (round % 2 == 0 ? 5 : 200)));
    }
    const Placed placed = Place(starts, durations);
    std::set<uint32_t> seen(placed.source.begin(), placed.source.end());
    EXPECT_EQ(seen.size(), starts.size());
    for (const LineColumns::Row& row : placed.layout.rows) {
      for (uint32_t i = row.first + 1; i < row.first + row.count; ++i) {
        const uint32_t before = placed.source[i - 1];
        ASSERT_GE(starts[placed.source[i]], starts[before] + durations[before]);
      }
    }
  }
}

}  // namespace
}  // namespace strobe::xplane
