#include "src/analysis/event_span.h"

#include <gtest/gtest.h>

namespace strobe::analysis {
namespace {

uint64_t Inside(const ExclusiveTimes& times, EventType type) {
  return times.inside_ps[static_cast<size_t>(type)];
}

TEST(EventSpan, HighestTypeOwnsEachInstant) {
  // 0....2====4....10 host compute with a transfer inside, a gap, then a kernel.
  const std::vector<EventSpan> spans = {{EventType::kHostCompute, 0, 10},
                                        {EventType::kHostToDevice, 2, 4},
                                        {EventType::kDeviceCompute32, 15, 20}};
  const std::vector<EventSpan> expected = {{EventType::kHostCompute, 0, 2},
                                           {EventType::kHostToDevice, 2, 4},
                                           {EventType::kHostCompute, 4, 10},
                                           {EventType::kUnknown, 10, 15},
                                           {EventType::kDeviceCompute32, 15, 20}};
  EXPECT_EQ(ToExclusive(spans), expected);
}

TEST(EventSpan, SumsOnlyWhatLiesInTheWindow) {
  const std::vector<EventSpan> spans = {{EventType::kHostCompute, 0, 10},
                                        {EventType::kHostToDevice, 2, 4}};
  const ExclusiveTimes times = SumExclusive(spans, 1, 8);
  EXPECT_EQ(Inside(times, EventType::kHostCompute), 1u + 4u);
  EXPECT_EQ(Inside(times, EventType::kHostToDevice), 2u);
  EXPECT_EQ(times.InsideTotal(), 7u);
  EXPECT_EQ(times.whole_ps[static_cast<size_t>(EventType::kHostCompute)], 8u);
}

TEST(EventSpan, TypesOutsideOfTheWindowAreStillPresent) {
  const ExclusiveTimes times = SumExclusive({{EventType::kDeviceCompute16, 100, 200}}, 0, 50);
  EXPECT_TRUE(times.present[static_cast<size_t>(EventType::kDeviceCompute16)]);
  EXPECT_FALSE(times.present[static_cast<size_t>(EventType::kHostCompute)]);
  EXPECT_EQ(times.InsideTotal(), 0u);
}

// At one instant the end of a span without length is seen before its start, so its type stays on
// top until a span of that type ends: the recorded answers have it so.
TEST(EventSpan, SpanWithoutLengthKeepsItsTypeOnTop) {
  const std::vector<EventSpan> spans = {{EventType::kHostWaitInput, 5, 5},
                                        {EventType::kHostCompute, 0, 10}};
  const ExclusiveTimes times = SumExclusive(spans, 0, 10);
  EXPECT_EQ(Inside(times, EventType::kHostCompute), 5u);
  EXPECT_EQ(Inside(times, EventType::kHostWaitInput), 5u);
}

TEST(EventSpan, NothingComesOfNothing) {
  EXPECT_TRUE(ToExclusive({}).empty());
  EXPECT_EQ(SumExclusive({}, 0, 100).InsideTotal(), 0u);
}

TEST(EventSpan, PartsSumToTheWindowWhenItIsCovered) {
  std::vector<EventSpan> spans;
  for (int64_t i = 0; i < 1000; ++i) {
    spans.push_back({static_cast<EventType>(1 + i * 7 % 17), i * 13 % 900, i * 13 % 900 + i % 31});
  }
  spans.push_back({EventType::kHostCompute, 0, 1000});
  EXPECT_EQ(SumExclusive(spans, 100, 800).InsideTotal(), 700u);
}

}  // namespace
}  // namespace strobe::analysis
