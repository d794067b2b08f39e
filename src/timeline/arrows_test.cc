#include "src/timeline/arrows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strobe::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ArrowEnd At(uint32_t event, int64_t start_ps) {
  return {.plane = 0, .line = 1, .event = event, .start_ps = start_ps};
}
FlowPoint Sends(uint64_t id, ArrowEnd end) { return {id, true, false, end}; }
FlowPoint Receives(uint64_t id, ArrowEnd end) { return {id, false, true, end}; }
FlowPoint Passes(uint64_t id, ArrowEnd end) { return {id, true, true, end}; }

TEST(ArrowSetTest, OneSenderLeadsToAllWhoReceiveWhateverTheClocksSay) {
  const ArrowSet set({Receives(7, At(3, 5)), Sends(7, At(1, 10)), Receives(7, At(2, 20))});
  EXPECT_THAT(set.arrows(), ElementsAre(Arrow{At(1, 10), At(3, 5)}, Arrow{At(1, 10), At(2, 20)}));
}

TEST(ArrowSetTest, SeveralSendersMakeAChain) {
  const ArrowSet set({Sends(7, At(1, 10)), Receives(7, At(4, 40)), Passes(7, At(2, 20))});
  EXPECT_THAT(set.arrows(), ElementsAre(Arrow{At(1, 10), At(2, 20)}, Arrow{At(2, 20), At(4, 40)}));
}

TEST(ArrowSetTest, ALoneEndMakesNone) {
  EXPECT_THAT(ArrowSet({Sends(1, At(1, 1)), Receives(2, At(2, 2))}).arrows(), IsEmpty());
  EXPECT_THAT(ArrowSet({Receives(1, At(1, 1)), Receives(1, At(2, 2))}).arrows(), IsEmpty());
  EXPECT_THAT(ArrowSet({}).arrows(), IsEmpty());
}

TEST(ArrowSetTest, FindsTheArrowsOfAnEventAndOfASpan) {
  const ArrowSet set({Sends(1, At(1, 10)), Receives(1, At(2, 20)), Sends(2, At(2, 20)),
                      Receives(2, At(3, 90)), Sends(3, At(5, 200)), Receives(3, At(6, 210))});
  EXPECT_THAT(set.Of(0, 1, 2),
              ElementsAre(Arrow{At(1, 10), At(2, 20)}, Arrow{At(2, 20), At(3, 90)}));
  EXPECT_THAT(set.Of(0, 0, 2), IsEmpty());
  EXPECT_THAT(set.Touching(40, 50), ElementsAre(1u)) << "it passes over the span";
  EXPECT_THAT(set.Touching(0, 15), ElementsAre(0u));
  EXPECT_THAT(set.Touching(211, 300), IsEmpty());
}

}  // namespace
}  // namespace strobe::timeline
