#include "src/timeline/gaps.h"

#include <gtest/gtest.h>

#include "src/timeline/line_for_test.h"

namespace strobe::timeline {
namespace {

GapList Find(std::initializer_list<const LineForTest*> lines, const GapOptions& options) {
  std::vector<GapLine> asked;
  for (const LineForTest* line : lines) {
    asked.push_back({&line->columns(), static_cast<uint32_t>(asked.size())});
  }
  Result<GapList> gaps = FindGaps(asked, options, {});
  EXPECT_TRUE(gaps.ok());
  return *std::move(gaps);
}

TEST(GapsTest, LongestFirstWithTheEventsBesideThem) {
  LineForTest line;
  line.AddRow({{.start_ps = 10, .duration_ps = 10, .name = 0},
               {.start_ps = 25, .duration_ps = 5, .name = 0},
               {.start_ps = 80, .duration_ps = 10, .name = 0}});
  const GapList gaps = Find({&line}, {.from_ps = 0, .to_ps = 100, .limit = 10});
  EXPECT_EQ(gaps.count, 4u);
  EXPECT_EQ(gaps.total_ps, 75);
  ASSERT_EQ(gaps.longest.size(), 4u);
  EXPECT_EQ(gaps.longest[0].start_ps, 30);
  EXPECT_EQ(gaps.longest[0].end_ps, 80);
  EXPECT_EQ(gaps.longest[0].before->event, 1u);
  EXPECT_EQ(gaps.longest[0].after->event, 2u);
  EXPECT_EQ(gaps.longest[1].start_ps, 0);
  EXPECT_FALSE(gaps.longest[1].before.has_value());
  EXPECT_EQ(gaps.longest[2].start_ps, 90);
  EXPECT_FALSE(gaps.longest[2].after.has_value());
  EXPECT_EQ(gaps.longest[3].start_ps, 20);
}

TEST(GapsTest, LinesAndRowsTogetherCover) {
  LineForTest one;
  one.AddRow({{.start_ps = 0, .duration_ps = 50, .name = 0}});
  one.AddRow({{.start_ps = 10, .duration_ps = 5, .name = 0},
              {.start_ps = 20, .duration_ps = 5, .name = 0},
              {.start_ps = 40, .duration_ps = 30, .name = 0}});  // outlives the outer one
  LineForTest two;
  two.AddRow({{.start_ps = 60, .duration_ps = 20, .name = 0},
              {.start_ps = 90, .duration_ps = 10, .name = 0}});
  const GapList gaps = Find({&one, &two}, {.from_ps = 0, .to_ps = 100, .limit = 10});
  ASSERT_EQ(gaps.count, 1u);
  EXPECT_EQ(gaps.longest[0].start_ps, 80);
  EXPECT_EQ(gaps.longest[0].end_ps, 90);
  EXPECT_EQ(gaps.longest[0].before->line, 1u);
}

TEST(GapsTest, ASpanInsideAnEventHasNoGap) {
  LineForTest line;
  line.AddRow({{.start_ps = 0, .duration_ps = 100, .name = 0}});
  EXPECT_EQ(Find({&line}, {.from_ps = 10, .to_ps = 90, .limit = 10}).count, 0u);
}

TEST(GapsTest, WithoutEventsAllIsOneGap) {
  const GapList gaps = Find({}, {.from_ps = 10, .to_ps = 90, .limit = 10});
  EXPECT_EQ(gaps.count, 1u);
  EXPECT_EQ(gaps.total_ps, 80);
}

TEST(GapsTest, CountsAllAndKeepsTheLongest) {
  LineForTest line;
  std::vector<EventForTest> events;
  int64_t at_ps = 0;
  for (int e = 0; e < 1000; ++e) {
    events.push_back({.start_ps = at_ps, .duration_ps = 1, .name = 0});
    at_ps += 2 + (e * 7919) % 1000;
  }
  line.AddRow(events);
  const GapList gaps = Find({&line}, {.from_ps = 0, .to_ps = at_ps, .limit = 3});
  EXPECT_EQ(gaps.count, 1000u);
  EXPECT_EQ(gaps.total_ps, at_ps - 1000);
  ASSERT_EQ(gaps.longest.size(), 3u);
  EXPECT_EQ(gaps.longest[0].duration_ps(), 1000);
  EXPECT_EQ(gaps.longest[2].duration_ps(), 998);
}

TEST(GapsTest, StopsWhenCancelled) {
  LineForTest line;
  std::vector<EventForTest> events;
  for (int e = 0; e < 200'000; ++e) events.push_back({.start_ps = e * 2LL, .duration_ps = 1});
  line.AddRow(events);
  CancelSource source;
  source.Cancel();
  const GapLine asked{&line.columns(), 0};
  EXPECT_EQ(FindGaps({&asked, 1}, {.from_ps = 0, .to_ps = 400'000}, source.token()).status().code(),
            StatusCode::kCancelled);
}

}  // namespace
}  // namespace strobe::timeline
