#include "src/base/ids.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace strobe {
namespace {

TEST(IdsTest, HasPrefixTimeAndRandomPart) {
  FakeClock clock(1700000000123456789LL);
  SeededRandom random(7);
  const IdMaker ids(clock, random);
  const std::string id = ids.Make("op");
  EXPECT_TRUE(std::regex_match(id, std::regex("op-[0-9a-f]{12}-[0-9a-v]{8}"))) << id;
  EXPECT_EQ(id.substr(3, 12), "018bcfe5687b");
}

TEST(IdsTest, SortsByTime) {
  FakeClock clock;
  SeededRandom random(7);
  const IdMaker ids(clock, random);
  std::string previous = ids.Make("op");
  for (int i = 0; i < 100; ++i) {
    clock.AdvanceNanos(1000000);
    const std::string next = ids.Make("op");
    EXPECT_LT(previous.substr(0, 15), next.substr(0, 15));
    previous = next;
  }
}

TEST(IdsTest, SameMillisecondStillDiffers) {
  FakeClock clock;
  const IdMaker ids(clock, SystemRandom());
  std::set<std::string> seen;
  for (int i = 0; i < 10000; ++i) seen.insert(ids.Make("op"));
  EXPECT_EQ(seen.size(), 10000u);
}

TEST(IdsTest, SessionNameIsTheXprofFormWithMillisecondsAndRandom) {
  FakeClock clock(1764426667482000000LL);  // 2025-11-29 14:31:07.482 UTC
  SeededRandom random(7);
  const IdMaker ids(clock, random);
  const std::string first = ids.MakeSessionName();
  EXPECT_EQ(first.substr(0, 23), "2025_11_29_14_31_07_482");
  EXPECT_TRUE(std::regex_match(first, std::regex("[0-9_]{23}_[0-9a-f]{4}"))) << first;
  EXPECT_NE(first, ids.MakeSessionName());
}

TEST(IdsTest, SeededRandomRepeatsItself) {
  SeededRandom first(42);
  SeededRandom second(42);
  SeededRandom other(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = first.Next();
    EXPECT_EQ(value, second.Next());
    differs |= value != other.Next();
  }
  EXPECT_TRUE(differs);
}

// The published first outputs of SplitMix64 for seed 1234567.
TEST(IdsTest, SeededRandomIsSplitMix64) {
  SeededRandom random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317ULL);
  EXPECT_EQ(random.Next(), 3203168211198807973ULL);
}

}  // namespace
}  // namespace strobe
