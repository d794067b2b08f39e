#include "src/analysis/event_stats.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/base/ids.h"

namespace strobe::analysis {
namespace {

constexpr size_t kPadding = 64;

struct SeenStat {
  std::string bytes;
  size_t readable_behind = 0;
  bool operator==(const SeenStat&) const = default;
};

std::vector<SeenStat> StatsOf(const EventRecord& record, size_t hidden) {
  std::vector<SeenStat> stats;
  ForEachStat(record, [&](std::string_view stat, size_t readable_behind) {
    stats.push_back({std::string(stat), readable_behind + hidden});
  });
  return stats;
}

// The same event twice: walked without the general reader where it can be, and with it alone,
// which is what a record gets that nothing can be read behind of.
void ExpectBothAlike(const std::string& event) {
  const std::string padded = event + std::string(kPadding, '\x22');
  const std::string_view bytes = std::string_view(padded).substr(0, event.size());
  EXPECT_EQ(StatsOf({bytes, kPadding}, 0), StatsOf({bytes, 0}, kPadding))
      << testing::PrintToString(event);
}

std::string Canonical() {
  using std::string_literals::operator""s;
  return "\x08\x05\x10\xff\xff\x7f\x18\x90\x4e"s  // metadata id, offset, duration
         "\x22\x04\x08\x01\x18\x07"s              // a number
         "\x22\x07\x08\x02\x2a\x03yes"s           // a text
         "\x22\x0b\x08\x03\x20\xff\xff\xff\xff\xff\xff\xff\x01"s;
}

TEST(ForEachStatTest, StatsOfAnEventComeInTheirOrder) {
  const std::vector<SeenStat> stats = StatsOf({Canonical(), 0}, 0);
  ASSERT_EQ(stats.size(), 3u);
  EXPECT_EQ(stats[0].bytes, "\x08\x01\x18\x07");
  EXPECT_EQ(stats[0].readable_behind, 22u);
  EXPECT_EQ(stats[1].bytes.substr(4), "yes");
  EXPECT_EQ(stats[2].readable_behind, 0u);
  ExpectBothAlike(Canonical());
}

TEST(ForEachStatTest, OtherFormsOfAnEventAreReadByTheGeneralReader) {
  using std::string_literals::operator""s;
  const std::string stat = "\x22\x02\x08\x01"s;
  for (const std::string& odd : {"\x00\x01"s,       // no field has the number 0
                                 "\x32\x03unk"s,    // an unknown field of bytes
                                 "\x38\x05"s,       // an unknown number
                                 "\x9a\x06\x01x"s,  // a tag of two bytes
                                 "\x10\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // nine bytes
                                 "\x10"s + std::string(11, '\xff'),  // a number without an end
                                 "\x22\x80\x01"s + std::string(128, 'x'),  // a long stat
                                 "\x22\x7f"s,                              // a stat that is cut
                                 "\x22"s, "\x10"s, "\x10\x80"s, "\x0b"s, "\x22\x00"s}) {
    ExpectBothAlike(stat + odd);
    ExpectBothAlike(odd + stat);
    ExpectBothAlike(stat + odd + stat);
  }
}

TEST(ForEachStatTest, DamagedEventsAreReadAlikeBothWays) {
  SeededRandom random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string event = Canonical().substr(0, random.Next() % 48);
    for (uint64_t flips = random.Next() % 4; flips > 0 && !event.empty(); --flips) {
      event[random.Next() % event.size()] = static_cast<char>(random.Next());
    }
    ExpectBothAlike(event);
  }
}

class StatSlotsTest : public testing::Test {
 protected:
  StatSlotsTest() {
    for (const int64_t id : {1, 2, 3, 300}) plane_.stat_metadata.push_back({.id = id, .name = "s"});
    constexpr std::string_view kNames[] = {"a", "b", "c", "far"};
    for (size_t i = 0; i < 4; ++i) plane_.stat_metadata[i].name = kNames[i];
  }
  // With the reader of usual stats, and with the general one alone.
  void ExpectBothAlike(const std::string& event) {
    const StatSlots slots(plane_, {"a", "b", "c", "far"});
    const std::string padded = event + std::string(kPadding, '\x22');
    const std::string_view bytes = std::string_view(padded).substr(0, event.size());
    StatValues fast;
    StatValues general;
    slots.Read({bytes, kPadding}, &fast);
    slots.Read({bytes, 0}, &general);
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(fast.has(i), general.has(i)) << testing::PrintToString(event);
      if (!fast.has(i)) continue;
      EXPECT_EQ(fast[i].type, general[i].type) << testing::PrintToString(event);
      EXPECT_EQ(fast[i].bits, general[i].bits) << testing::PrintToString(event);
      EXPECT_EQ(fast[i].text, general[i].text) << testing::PrintToString(event);
    }
  }

  xplane::Plane plane_;
};

TEST_F(StatSlotsTest, EveryTypeOfAStatIsReadAlikeBothWays) {
  using std::string_literals::operator""s;
  for (const std::string& stat :
       {"\x08\x01\x18\x07"s, "\x08\x01\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,
        "\x08\x01\x2a\x00"s, "\x08\x02\x2a\x03yes"s, "\x08\x02\x32\x02\x00\xff"s,
        "\x08\x03\x38\x02"s, "\x08\xac\x02\x18\x05"s,
        "\x08\x01\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"s, "\x18\x07\x08\x01"s, "\x08\x01"s,
        "\x18\x07"s, "\x08\x01\x18\x07\x18\x08"s, "\x08\x02\x2a\x03yes\x18\x01"s,
        "\x08\x02\x2a\x04yes"s, "\x08\x01\x18\x80"s,
        "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s}) {
    ExpectBothAlike("\x22"s + static_cast<char>(stat.size()) + stat);
  }
}

TEST_F(StatSlotsTest, DamagedStatsAreReadAlikeBothWays) {
  SeededRandom random(8);
  for (int round = 0; round < 20000; ++round) {
    std::string event = Canonical().substr(0, random.Next() % 48);
    for (uint64_t flips = random.Next() % 4; flips > 0 && !event.empty(); --flips) {
      event[random.Next() % event.size()] = static_cast<char>(random.Next());
    }
    ExpectBothAlike(event);
  }
}

}  // namespace
}  // namespace strobe::analysis
