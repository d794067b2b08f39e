#include "src/timeline/range_totals.h"

#include <gtest/gtest.h>

#include "src/timeline/line_for_test.h"

namespace strobe::timeline {
namespace {

// One outer event of 100 with two inside (20 and 30), and one of its own from 200 to 250.
void AddNested(LineForTest* line) {
  line->AddRow({{.start_ps = 0, .duration_ps = 100, .name = 0},
                {.start_ps = 200, .duration_ps = 50, .name = 1}});
  line->AddRow({{.start_ps = 10, .duration_ps = 20, .name = 1},
                {.start_ps = 50, .duration_ps = 30, .name = 2}});
}

TEST(RangeTotalsTest, DividesOverNamesWithAndWithoutWhatIsNested) {
  LineForTest line;
  AddNested(&line);
  std::vector<NameTotal> names(3);
  const LineTotal sum = AddTotals(line.columns(), {-5, 1000, true}, 7, names);
  EXPECT_EQ(sum.count, 4u);
  EXPECT_EQ(sum.busy_ps, 150);
  EXPECT_EQ(names[0].total_ps, 100);
  EXPECT_EQ(names[0].self_ps, 50);
  EXPECT_EQ(names[1].count, 2u);
  EXPECT_EQ(names[1].total_ps, 70);
  EXPECT_EQ(names[1].self_ps, 70);
  EXPECT_EQ(names[1].longest_ps, 50);
  EXPECT_EQ(names[1].longest_line, 7u);
  EXPECT_EQ(names[1].longest_event, 1u);
  EXPECT_EQ(names[2].self_ps, 30);
}

TEST(RangeTotalsTest, CutsWhatReachesOverABorder) {
  LineForTest line;
  AddNested(&line);
  std::vector<NameTotal> names(3);
  const LineTotal sum = AddTotals(line.columns(), {20, 220, true}, 0, names);
  EXPECT_EQ(sum.count, 4u);
  EXPECT_EQ(sum.busy_ps, 100);  // 20-100 and 200-220
  EXPECT_EQ(names[0].self_ps, 80 - 10 - 30);
  EXPECT_EQ(names[1].total_ps, 10 + 20);
}

TEST(RangeTotalsTest, AnEventThatReachesOverItsParentIsSharedOut) {
  LineForTest line;
  line.AddRow({{.start_ps = 0, .duration_ps = 10, .name = 0},
               {.start_ps = 10, .duration_ps = 10, .name = 0}});
  line.AddRow({{.start_ps = 5, .duration_ps = 10, .name = 1}});
  std::vector<NameTotal> names(2);
  EXPECT_EQ(AddTotals(line.columns(), {0, 100, true}, 0, names).busy_ps, 20);
  EXPECT_EQ(names[0].self_ps, 10);
  EXPECT_EQ(names[1].self_ps, 10);
}

TEST(RangeTotalsTest, NothingTouchesAnEmptySpan) {
  LineForTest line;
  AddNested(&line);
  EXPECT_TRUE(SlicesOf(line.columns(), 110, 190).empty());
  EXPECT_TRUE(SlicesOf(line.columns(), 50, 50).empty());
  EXPECT_EQ(SlicesOf(line.columns(), 0, 300).size(), 1u);
}

TEST(RangeTotalsTest, SlicesAddUpToTheWhole) {
  LineForTest line;
  std::vector<EventForTest> outer, inner;
  constexpr int kEvents = 1'300'000;
  for (int e = 0; e < kEvents; ++e) {
    outer.push_back(
        {.start_ps = e * 10LL, .duration_ps = 10, .name = static_cast<uint32_t>(e % 3)});
    if (e % 4 == 0) inner.push_back({.start_ps = e * 10LL + 2, .duration_ps = 6, .name = 3});
  }
  line.AddRow(outer);
  line.AddRow(inner);
  std::vector<NameTotal> whole(4), sliced(4);
  const LineTotal one = AddTotals(line.columns(), {5, 12'999'999, true}, 0, whole);
  const std::vector<TotalSlice> slices = SlicesOf(line.columns(), 5, 12'999'999);
  EXPECT_EQ(slices.size(), 3u);
  LineTotal sum;
  for (const TotalSlice& slice : slices) sum.Add(AddTotals(line.columns(), slice, 0, sliced));
  EXPECT_EQ(sum.count, one.count);
  EXPECT_EQ(sum.busy_ps, one.busy_ps);
  EXPECT_EQ(sum.busy_ps, 12'999'999 - 5);
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(sliced[n].count, whole[n].count);
    EXPECT_EQ(sliced[n].total_ps, whole[n].total_ps);
    EXPECT_EQ(sliced[n].self_ps, whole[n].self_ps);
  }
}

}  // namespace
}  // namespace strobe::timeline
