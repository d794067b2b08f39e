#include "src/timeline/row_buckets.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "src/base/ids.h"
#include "src/timeline/line_for_test.h"
#include "src/timeline/row_ranges.h"
#include "src/timeline/rows.h"
#include "src/timeline/tile_reader.h"

namespace strobe::timeline {
namespace {

using Row = std::vector<EventForTest>;

const std::vector<xplane::EventMetadata>& FiveNames() {
  static const std::vector<xplane::EventMetadata> names = [] {
    std::vector<xplane::EventMetadata> metadata(5);
    metadata[0].name = "a";
    metadata[1].name = "b";
    metadata[2].name = "c";
    metadata[3].name = "d";
    metadata[4].name = "e";
    return metadata;
  }();
  return names;
}

// Gaps and durations of up to so many bits, many of them short.
Row RandomRow(SeededRandom& random, size_t count, int64_t start_ps, int gap_bits,
              int duration_bits) {
  Row events;
  int64_t now = start_ps;
  for (size_t e = 0; e < count; ++e) {
    const uint64_t gap_mask = (1ULL << (random.Next() % static_cast<uint64_t>(gap_bits))) - 1;
    const uint64_t mask = (1ULL << (random.Next() % static_cast<uint64_t>(duration_bits))) - 1;
    if (random.Next() % 3 != 0) now += static_cast<int64_t>(random.Next() & gap_mask);
    const auto duration = static_cast<int64_t>(random.Next() & mask);
    events.push_back({now, duration, static_cast<uint32_t>(random.Next() % 6)});
    now += duration;
  }
  return events;
}

// Bursts of events close together, far from each other.
Row BurstyRow(SeededRandom& random, size_t bursts, size_t burst_events, int64_t start_ps,
              int64_t distance_ps) {
  Row events;
  for (size_t b = 0; b < bursts; ++b) {
    const int64_t begin_ps = start_ps + static_cast<int64_t>(b) * distance_ps;
    const Row burst = RandomRow(random, burst_events, begin_ps, 4, 6);
    events.insert(events.end(), burst.begin(), burst.end());
  }
  return events;
}

RowBuckets BucketsOf(const Row& row, int64_t shift_ps) {
  LineForTest line;
  line.AddRow(row);
  return RowBuckets::Build(line.columns(), line.columns().rows[0], shift_ps);
}

// Encodes tiles at all levels, around some of the events and everywhere near time 0, once with
// buckets and once with a pyramid of another shift, whose buckets must not be used.
void ExpectSameTilesWithAndWithoutBuckets(const std::vector<Row>& rows, int64_t shift_ps,
                                          SeededRandom& random) {
  LineForTest with;
  LineForTest without;
  for (const Row& row : rows) with.AddRow(row);
  for (const Row& row : rows) without.AddRow(row);
  const std::vector<uint8_t> categories = {1, 2, 3, 4, 5};
  const TileLine lines[] = {with.AsTileLine(FiveNames(), categories, 3, shift_ps),
                            without.AsTileLine(FiveNames(), categories, 3, shift_ps ^ 1)};
  for (int level = kMinTileLevel; level <= kMaxTileLevel; ++level) {
    std::set<int64_t> indices = {-1, 0};
    for (int probe = 0; probe < 6; ++probe) {
      const Row& row = rows[random.Next() % rows.size()];
      if (row.empty()) continue;
      const EventForTest& event = probe == 0 ? row.back() : row[random.Next() % row.size()];
      const int64_t index = SaturatingAdd(event.start_ps + event.duration_ps, shift_ps) >> level;
      indices.insert(index);
      indices.insert(std::max(index - 1, std::numeric_limits<int64_t>::min() >> level));
      indices.insert(std::min(index + 1, std::numeric_limits<int64_t>::max() >> level));
    }
    for (const int64_t index : indices) {
      const TileRequest request = {.level = level, .index = index, .shift_ps = shift_ps};
      const Result<std::string> tile = EncodeTile(request, {&lines[0], 1});
      const Result<std::string> expected = EncodeTile(request, {&lines[1], 1});
      ASSERT_TRUE(tile.ok() && expected.ok());
      ASSERT_TRUE(ReadTile(*tile).has_value());
      ASSERT_TRUE(*tile == *expected)
          << "level " << level << " index " << index << " shift " << shift_ps;
    }
  }
}

TEST(RowBucketsTest, GiveTheTilesThatLookingAtTheEventsGives) {
  SeededRandom random(23);
  const int64_t shifts[] = {0, 12'345, -987'654'321, 1024, int64_t{1} << 61, -(int64_t{1} << 61)};
  for (int round = 0; round < 24; ++round) {
    const int64_t shift_ps = shifts[round % 6];
    const int bits = 2 + round % 20;
    const std::vector<Row> rows = {
        RandomRow(random, 20'000, -shift_ps - (int64_t{1} << bits) * 3000, bits, bits),
        RandomRow(random, 3000, -int64_t{1} << 40, 31, 28),
        {},
        RandomRow(random, 70, 5, bits, 35),
        BurstyRow(random, 40, 500, -1'000'000'000, 300'000'000),
        BurstyRow(random, 1, 5000, 77, 0)};
    ExpectSameTilesWithAndWithoutBuckets(rows, shift_ps, random);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(RowBucketsTest, TimesNearTheEndOfInt64) {
  SeededRandom random(29);
  constexpr int64_t kEdge = int64_t{1} << 62;
  Row row = RandomRow(random, 500, -kEdge, 20, 20);
  const Row middle = RandomRow(random, 500, 0, 55, 3);
  const Row late = RandomRow(random, 500, kEdge, 20, 20);
  row.insert(row.end(), middle.begin(), middle.end());
  ASSERT_LT(row.back().start_ps, kEdge);
  row.insert(row.end(), late.begin(), late.end());
  row.push_back({late.back().start_ps + late.back().duration_ps + 5, kEdge / 2, 1});
  for (const int64_t shift :
       {int64_t{0}, kEdge / 4, -kEdge / 2, kEdge, -kEdge, INT64_MAX, INT64_MIN}) {
    ExpectSameTilesWithAndWithoutBuckets({row, late, middle}, shift, random);
    if (HasFatalFailure()) return;
  }
  EXPECT_FALSE(BucketsOf(row, INT64_MAX).Has(40, INT64_MAX)) << "session time does not fit";
}

TEST(RowBucketsTest, OnlyTheLastEventOfABucketIsLong) {
  // One event every 64 ps, each 32 ps long, but every 16th one lasts to the end of its cell
  // of 1,024 ps.
  Row row;
  for (int64_t e = 0; e < 16 * 1024; ++e) row.push_back({e * 64, e % 16 == 15 ? 64 : 32, 0});
  row.push_back({1024 * 1024, 1024, 1});      // exactly a cell
  row.push_back({1025 * 1024, 1023, 2});      // just shorter
  row.push_back({1026 * 1024 - 1, 1024, 3});  // over a border
  const RowBuckets buckets = BucketsOf(row, 0);
  ASSERT_TRUE(buckets.Has(10, 0));
  EXPECT_FALSE(buckets.Has(10, 1)) << "made for another shift";
  EXPECT_FALSE(buckets.Has(9, 0)) << "8 events a cell are walked over";
  const auto cells = buckets.Of(10);
  ASSERT_EQ(cells.size(), 1024u + 2 + 1);
  EXPECT_EQ(cells[5].first, 80u);
  EXPECT_EQ(cells[5].longest, 95u);
  EXPECT_EQ(cells[5].cell, 5u);
  EXPECT_EQ(cells[5].start, 0u);
  EXPECT_EQ(cells[5].end, 1024u);
  EXPECT_EQ(cells[5].fill, FillOf(15 * 32 + 64, 1024));
  EXPECT_EQ(cells[5].long_last, 0u);
  EXPECT_EQ(cells[1024].long_last, 1u);
  EXPECT_EQ(cells[1024].longest, 16u * 1024);
  EXPECT_EQ(cells[1024].cell, 0u) << "of the next tile";
  EXPECT_EQ(cells[1025].long_last, 1u);
  EXPECT_EQ(cells[1025].longest, 16u * 1024 + 1);
  EXPECT_EQ(cells[1026].first, row.size());
  SeededRandom random(31);
  ExpectSameTilesWithAndWithoutBuckets({row}, 0, random);
}

TEST(RowBucketsTest, TakeLittleMemoryHoweverTheEventsLie) {
  SeededRandom random(37);
  const Row rows[] = {RandomRow(random, 100'000, 0, 20, 20),
                      RandomRow(random, 100'000, 0, 44, 10),
                      BurstyRow(random, 10'000, 12, 0, int64_t{1} << 45),
                      BurstyRow(random, 1000, 100, 0, int64_t{1} << 50),
                      BurstyRow(random, 1, 100'000, 0, 0),
                      BurstyRow(random, 50, 2, 0, int64_t{1} << 55),
                      Row(100'000, EventForTest{5, 0, 0})};
  for (const Row& row : rows) {
    EXPECT_LE(BucketsOf(row, 0).resident_bytes(), row.size() * 3.4);
    ExpectSameTilesWithAndWithoutBuckets({row}, 0, random);
    if (HasFatalFailure()) return;
  }
}

TEST(RowRangesTest, AreThoseOfOneRowAfterTheOther) {
  SeededRandom random(43);
  LineForTest lines[2];
  for (const size_t count : {0, 1, 31, 32, 33, 64, 1023, 1024, 1025, 1056, 40'000}) {
    lines[0].AddRow(RandomRow(random, count, -5000, 6, 6));
    lines[1].AddRow(Row(count, EventForTest{700, 0, 0}));
  }
  const TileLine tile_lines[] = {lines[0].AsTileLine(FiveNames()),
                                 lines[1].AsTileLine(FiveNames())};
  std::vector<EventRange> ranges;
  for (int probe = 0; probe < 2000; ++probe) {
    const int64_t from_ps = static_cast<int64_t>(random.Next() % 100'000) - 10'000;
    const int64_t to_ps =
        probe % 4 == 0 ? 700 : from_ps + static_cast<int64_t>(random.Next() % 5000);
    FindTouching(tile_lines, std::min(from_ps, to_ps), to_ps, &ranges);
    size_t next = 0;
    for (const LineForTest& line : lines) {
      for (const xplane::LineColumns::Row& row : line.columns().rows) {
        const EventRange expected =
            EventsTouching(line.columns(), row, std::min(from_ps, to_ps), to_ps);
        ASSERT_EQ(ranges[next].first, expected.first) << row.count;
        ASSERT_EQ(ranges[next++].last, expected.last) << row.count;
      }
    }
    ASSERT_EQ(next, ranges.size());
  }
}

TEST(RowBucketsTest, AreNotMadeForRowsThatBreakTheirPromise) {
  SeededRandom random(41);
  const Row good = RandomRow(random, 1000, 0, 10, 10);
  ASSERT_TRUE(BucketsOf(good, 0).Has(20 - kMinTileLevel + 2, 0));
  Row overlapping = good;
  overlapping[500].duration_ps += 100'000;
  Row unordered = good;
  std::swap(unordered[0], unordered[999]);
  Row negative = good;
  negative[500].duration_ps = -1;
  Row endless = good;
  endless.back().duration_ps = INT64_MAX;
  for (const Row& row :
       {overlapping, unordered, negative, endless, Row(good.begin(), good.begin() + 63)}) {
    EXPECT_EQ(BucketsOf(row, 0).resident_bytes(), 0u);
  }
}

}  // namespace
}  // namespace strobe::timeline
