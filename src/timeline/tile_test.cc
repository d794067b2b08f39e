#include "src/timeline/tile.h"

#include <gtest/gtest.h>

#include <deque>

#include "src/base/ids.h"
#include "src/timeline/line_for_test.h"
#include "src/timeline/rows.h"
#include "src/timeline/tile_reader.h"

namespace strobe::timeline {
namespace {

using Int128 = __int128;

// Metadata that refers to names kept for the whole run of the tests.
std::vector<xplane::EventMetadata> Names(const std::vector<std::string>& names) {
  static std::deque<std::string> kept;
  std::vector<xplane::EventMetadata> metadata(names.size());
  for (size_t n = 0; n < names.size(); ++n) metadata[n].name = kept.emplace_back(names[n]);
  return metadata;
}

DecodedTile MustRead(const Result<std::string>& bytes) {
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  const std::optional<DecodedTile> tile = ReadTile(*bytes);
  EXPECT_TRUE(tile.has_value());
  return tile.value_or(DecodedTile{});
}

// Rows without overlap: gaps and durations of mixed scales, some zero, some exactly a cell border.
std::vector<EventForTest> RandomRow(SeededRandom& random, size_t count, int64_t start_ps,
                                    int scale_bits) {
  std::vector<EventForTest> events;
  int64_t now = start_ps;
  for (size_t e = 0; e < count; ++e) {
    const int bits = static_cast<int>(random.Next() % static_cast<uint64_t>(scale_bits));
    const int64_t gap =
        random.Next() % 3 == 0 ? 0 : static_cast<int64_t>(random.Next() % (1ULL << bits));
    const int duration_bits = static_cast<int>(random.Next() % static_cast<uint64_t>(scale_bits));
    int64_t duration = static_cast<int64_t>(random.Next() % (1ULL << duration_bits));
    if (random.Next() % 8 == 0) duration = 0;
    if (random.Next() % 16 == 0) duration = int64_t{1} << (random.Next() % 12);
    now += gap;
    if (random.Next() % 16 == 0) now = (now + 1023) & ~int64_t{1023};
    events.push_back({now, duration, static_cast<uint32_t>(random.Next() % 5)});
    now += duration;
  }
  return events;
}

bool Touches(const EventForTest& event, Int128 from, Int128 to) {
  const Int128 start = event.start_ps;
  const Int128 end = start + event.duration_ps;
  return start < to && (start >= from || end > from);
}

// What a tile must say of one row, found by looking at every event.
void ExpectRowIsRight(const std::vector<EventForTest>& events, uint32_t row_first,
                      const std::vector<DecodedRect>& rects, const TileRequest& request) {
  const Int128 length = Int128{1} << request.level;
  const Int128 from = request.index * length - request.shift_ps;
  const Int128 to = from + length;
  const Int128 cell = length / kTileCells;
  const int unit_shift = std::max(0, request.level - 31);

  std::vector<size_t> touching;
  for (size_t e = 0; e < events.size(); ++e) {
    if (Touches(events[e], from, to)) touching.push_back(e);
  }
  size_t next = 0;
  for (const DecodedRect& rect : rects) {
    ASSERT_LE(next + rect.count, touching.size());
    ASSERT_EQ(rect.merged, rect.count > 1);
    const EventForTest& first = events[touching[next]];
    const EventForTest& last = events[touching[next + rect.count - 1]];
    const Int128 start = std::max<Int128>(first.start_ps, from) - from;
    const Int128 end = std::min<Int128>(Int128{last.start_ps} + last.duration_ps, to) - from;
    EXPECT_EQ(rect.start_units, static_cast<uint64_t>(start >> unit_shift));
    EXPECT_EQ(rect.end_units, static_cast<uint64_t>(end >> unit_shift));
    EXPECT_EQ(rect.begins_before, first.start_ps < from);
    EXPECT_EQ(rect.ends_after, Int128{last.start_ps} + last.duration_ps > to);

    size_t longest = touching[next];
    double busy = 0;
    for (size_t k = next; k < next + rect.count; ++k) {
      const EventForTest& event = events[touching[k]];
      if (event.duration_ps > events[longest].duration_ps) longest = touching[k];
      if (rect.count > 1) {
        EXPECT_LT(event.duration_ps, cell);
        EXPECT_EQ((event.start_ps - from) / cell, (first.start_ps - from) / cell);
      }
      busy += static_cast<double>(std::min<Int128>(Int128{event.start_ps} + event.duration_ps, to) -
                                  std::max<Int128>(event.start_ps, from));
    }
    EXPECT_EQ(rect.event, row_first + longest);
    EXPECT_EQ(rect.name, "name " + std::to_string(events[longest].name));
    EXPECT_EQ(rect.category, events[longest].name + 1);
    if (rect.count > 1 && end > start) {
      EXPECT_NEAR(rect.fill, 255 * busy / static_cast<double>(end - start), 1.01);
    } else {
      EXPECT_EQ(rect.fill, 255);
    }
    next += rect.count;
  }
  EXPECT_EQ(next, touching.size()) << "an event was left out";
  EXPECT_LE(rects.size(), 2u * kTileCells + 1);
}

TEST(TileTest, SaysForEveryEventWhereItIsOnRandomRows) {
  const auto metadata = Names({"name 0", "name 1", "name 2", "name 3", "name 4"});
  const std::vector<uint8_t> categories = {1, 2, 3, 4, 5};
  SeededRandom random(7);
  for (int round = 0; round < 60; ++round) {
    const std::vector<std::vector<EventForTest>> rows = {
        RandomRow(random, round % 4 == 0 ? 40'000 : 3000, -200'000, 1 + round % 14),
        RandomRow(random, 40, 5, 16),
        {},
        RandomRow(random, 1 + round, -1'000'000'000, 31)};
    LineForTest line;
    for (const auto& row : rows) line.AddRow(row);
    const TileLine tile_line = line.AsTileLine(metadata, categories, 17);
    for (const int level : {10, 11, 13, 17, 20, 24, 30, 31, 32, 35, 40, 62}) {
      for (const int64_t index : {-2, -1, 0, 1, 3}) {
        if (level == 62 && (index < -2 || index > 1)) continue;
        const TileRequest request = {
            .level = level, .index = index, .shift_ps = round % 3 == 0 ? 12345 : 0};
        const DecodedTile tile = MustRead(EncodeTile(request, {&tile_line, 1}));
        ASSERT_EQ(tile.lines.size(), 1u);
        ASSERT_EQ(tile.lines[0].line, 17u);
        ASSERT_EQ(tile.lines[0].row_count, rows.size());
        for (size_t r = 0; r < rows.size(); ++r) {
          std::vector<DecodedRect> rects;
          for (const DecodedRect& rect : tile.lines[0].rects) {
            if (rect.row == r) rects.push_back(rect);
          }
          ExpectRowIsRight(rows[r], line.columns().rows[r].first, rects, request);
          if (HasFailure()) {
            FAIL() << "round " << round << " level " << level << " index " << index << " row " << r;
          }
        }
      }
    }
  }
}

TEST(TileTest, NeighbouringTilesShareOnlyEventsThatAreInBoth) {
  const auto metadata = Names({"a"});
  LineForTest line;
  line.AddRow({{0, 1024, 0}, {1024, 0, 0}, {1024, 1024, 0}, {3000, 1000, 0}});
  const TileLine tile_line = line.AsTileLine(metadata);
  const auto count = [&](int64_t index) {
    uint64_t events = 0;
    const DecodedTile tile = MustRead(EncodeTile({.level = 10, .index = index}, {&tile_line, 1}));
    for (const DecodedRect& rect : tile.lines[0].rects) events += rect.count;
    return events;
  };
  EXPECT_EQ(count(-1), 0u);
  EXPECT_EQ(count(0), 1u) << "what begins at the right border belongs to the next tile";
  EXPECT_EQ(count(1), 2u) << "what ends at the left border does not touch the tile";
  EXPECT_EQ(count(2), 1u);
  EXPECT_EQ(count(3), 1u);
  EXPECT_EQ(count(4), 0u);
}

TEST(TileTest, OneLongEventOverTheWholeTileIsClippedAndMarked) {
  const auto metadata = Names({"long", "short"});
  LineForTest line;
  line.AddRow({{-5'000'000, 98'000'000'000'000, 0}});
  line.AddRow({{100, 1, 1}, {101, 1, 1}});
  const TileLine tile_line = line.AsTileLine(metadata);
  const DecodedTile tile = MustRead(EncodeTile({.level = 20, .index = 0}, {&tile_line, 1}));
  ASSERT_EQ(tile.lines[0].rects.size(), 2u);
  const DecodedRect& whole = tile.lines[0].rects[0];
  EXPECT_EQ(whole.start_units, 0u);
  EXPECT_EQ(whole.end_units, 1u << 20);
  EXPECT_TRUE(whole.begins_before);
  EXPECT_TRUE(whole.ends_after);
  EXPECT_EQ(whole.fill, 255);
  const DecodedRect& pair = tile.lines[0].rects[1];
  EXPECT_TRUE(pair.merged);
  EXPECT_EQ(pair.count, 2u);
  EXPECT_EQ(pair.start_units, 100u);
  EXPECT_EQ(pair.end_units, 102u);
  EXPECT_EQ(tile.name_count, 2u);
}

TEST(TileTest, TimesNearTheEndOfInt64DoNotOverflow) {
  const auto metadata = Names({"a"});
  constexpr int64_t kEdge = int64_t{1} << 62;
  LineForTest line;
  line.AddRow({{-kEdge, 10, 0}, {-5, kEdge, 0}, {kEdge, kEdge - 1, 0}});
  const TileLine tile_line = line.AsTileLine(metadata);
  for (const int64_t shift : {int64_t{0}, kEdge, -kEdge, INT64_MAX, INT64_MIN}) {
    uint64_t begins = 0;
    for (const int64_t index : {-2, -1, 0, 1}) {
      const DecodedTile tile =
          MustRead(EncodeTile({.level = 62, .index = index, .shift_ps = shift}, {&tile_line, 1}));
      for (const DecodedRect& rect : tile.lines[0].rects) {
        EXPECT_LE(rect.end_units, 1u << 31);
        EXPECT_LE(rect.start_units, rect.end_units);
        if (!rect.begins_before) begins += rect.count;
      }
    }
    if (shift == 0) {
      EXPECT_EQ(begins, 3u);
    }
  }
}

TEST(TileTest, RowsThatBreakTheirPromiseGiveATileAllTheSame) {
  const auto metadata = Names({"a", "b"});
  SeededRandom random(17);
  for (int round = 0; round < 30; ++round) {
    std::vector<EventForTest> events;
    for (int e = 0; e < 30'000; ++e) {
      const int64_t start = static_cast<int64_t>(random.Next() >> (2 + random.Next() % 50));
      events.push_back({random.Next() % 2 == 0 ? start : -start,
                        static_cast<int64_t>(random.Next() >> (2 + random.Next() % 50)),
                        static_cast<uint32_t>(random.Next() % 4)});
    }
    LineForTest line;
    line.AddRow(events);
    const TileLine tile_line = line.AsTileLine(metadata);
    for (const int level : {10, 20, 40, 55, 62}) {
      for (const int64_t index : {-1, 0, 1}) {
        MustRead(EncodeTile({.level = level, .index = index}, {&tile_line, 1}));
      }
    }
  }
}

TEST(TileTest, RefusesAddressesOutsideOfTheFormat) {
  EXPECT_EQ(EncodeTile({.level = 9, .index = 0}, {}).status().name(), "TILE_LEVEL");
  EXPECT_EQ(EncodeTile({.level = 63, .index = 0}, {}).status().name(), "TILE_LEVEL");
  EXPECT_EQ(EncodeTile({.level = 62, .index = 2}, {}).status().name(), "TILE_INDEX");
  EXPECT_EQ(EncodeTile({.level = 62, .index = -3}, {}).status().name(), "TILE_INDEX");
  EXPECT_EQ(EncodeTile({.level = 10, .index = INT64_MAX}, {}).status().name(), "TILE_INDEX");
  EXPECT_TRUE(EncodeTile({.level = 10, .index = (INT64_MAX >> 10)}, {}).ok());
}

TEST(TileTest, AnEmptyTileIsATile) {
  const DecodedTile none = MustRead(EncodeTile({.level = 10, .index = -7}, {}));
  EXPECT_EQ(none.index, -7);
  EXPECT_TRUE(none.lines.empty());
  const auto metadata = Names({});
  LineForTest line;
  const TileLine tile_line = line.AsTileLine(metadata);
  const DecodedTile tile = MustRead(EncodeTile({.level = 40, .index = 0}, {&tile_line, 1}));
  ASSERT_EQ(tile.lines.size(), 1u);
  EXPECT_EQ(tile.lines[0].row_count, 0u);
}

TEST(TileTest, NamesAreShortValidAndOnce) {
  const std::string long_name(1'000'000, 'x');
  const std::string split = std::string(255, 'y') + "\xE2\x82\xAC";  // a character over the cut
  const std::string bad = "bad\xff\xfe<b>";
  std::vector<xplane::EventMetadata> metadata(4);
  metadata[0].name = long_name;
  metadata[1].name = split;
  metadata[2].name = bad;
  metadata[3].name = "full";
  metadata[3].display_name = "display";
  LineForTest line;
  std::vector<EventForTest> row;
  for (uint32_t e = 0; e < 8; ++e) row.push_back({e * 100, 100, e % 5});  // 4 has no metadata
  line.AddRow(row);
  const TileLine tile_line = line.AsTileLine(metadata);
  const DecodedTile tile = MustRead(EncodeTile({.level = 10, .index = 0}, {&tile_line, 1}));
  EXPECT_EQ(tile.name_count, 5u);
  const auto& rects = tile.lines[0].rects;
  ASSERT_EQ(rects.size(), 8u);
  EXPECT_EQ(rects[0].name, std::string(256, 'x'));
  EXPECT_EQ(rects[1].name, std::string(255, 'y'));
  EXPECT_EQ(rects[2].name, "bad\xEF\xBF\xBD\xEF\xBF\xBD<b>");
  EXPECT_EQ(rects[3].name, "display");
  EXPECT_EQ(rects[4].name, "");
}

TEST(TileTest, MoreNamesThanTheIndexHoldsShareTheLast) {
  constexpr uint32_t kEvents = 70'000;
  std::vector<std::string> names;
  for (uint32_t n = 0; n < kEvents; ++n) names.push_back(std::to_string(n));
  const auto metadata = Names(names);
  LineForTest line;
  for (uint32_t row = 0; row < kEvents / 1000; ++row) {
    std::vector<EventForTest> events;
    for (uint32_t e = 0; e < 1000; ++e) events.push_back({e, 1, row * 1000 + e});
    line.AddRow(events);
  }
  const TileLine tile_line = line.AsTileLine(metadata);
  const DecodedTile tile = MustRead(EncodeTile({.level = 10, .index = 0}, {&tile_line, 1}));
  EXPECT_EQ(tile.name_count, kMaxTileNames);
  const auto& rects = tile.lines[0].rects;
  ASSERT_EQ(rects.size(), kEvents);
  EXPECT_EQ(rects[65'533].name, "65533");
  EXPECT_EQ(rects[65'534].name, "\xE2\x80\xA6");
  EXPECT_EQ(rects.back().name, "\xE2\x80\xA6");
}

TEST(TileTest, DeepRowsAreDrawnInTheLastAndAggregatedEventsNot) {
  const auto metadata = Names({"a"});
  LineForTest line;
  for (uint32_t row = 0; row < 65'540; ++row) line.AddRow({{row, 1, 0}});
  TileLine tile_line = line.AsTileLine(metadata);
  DecodedTile tile = MustRead(EncodeTile({.level = 17, .index = 0}, {&tile_line, 1}));
  EXPECT_EQ(tile.lines[0].row_count, 65'536u);
  ASSERT_EQ(tile.lines[0].rects.size(), 65'540u);
  EXPECT_EQ(tile.lines[0].rects.back().row, 65'535u);

  LineForTest aggregated;
  aggregated.AddRow({{0, 5, 0}});
  aggregated.AddRow({{0, 100, 0}, {0, 200, 0}});
  aggregated.columns().aggregated = 2;
  tile_line = aggregated.AsTileLine(metadata);
  tile = MustRead(EncodeTile({.level = 10, .index = 0}, {&tile_line, 1}));
  EXPECT_EQ(tile.lines[0].row_count, 1u);
  EXPECT_EQ(tile.lines[0].rects.size(), 1u);
}

TEST(RowPyramidTest, AgreesWithLookingAtEveryEvent) {
  SeededRandom random(3);
  for (const size_t count : {1, 31, 32, 33, 1023, 1024, 1025, 40'000}) {
    for (const int bits : {1, 8, 40}) {
      std::vector<EventForTest> events(3);
      for (size_t e = 0; e < count; ++e) {
        events.push_back({0, static_cast<int64_t>(random.Next() % (1ULL << bits)), 0});
      }
      LineForTest line;
      line.AddRow({{0, 1, 0}, {0, 1, 0}});
      line.AddRow(events);
      const xplane::LineColumns& columns = line.columns();
      const xplane::LineColumns::Row row = columns.rows[1];
      const RowPyramid pyramid = RowPyramid::Build(columns, row);
      for (int q = 0; q < 200; ++q) {
        uint32_t first = row.first + static_cast<uint32_t>(random.Next() % row.count);
        uint32_t last = row.first + static_cast<uint32_t>(random.Next() % row.count);
        if (first > last) std::swap(first, last);
        ++last;
        uint32_t longest = first;
        int64_t busy = 0;
        for (uint32_t e = first; e < last; ++e) {
          busy += columns.duration_ps[e];
          if (columns.duration_ps[e] > columns.duration_ps[longest]) longest = e;
        }
        const RowPyramid::Range range = pyramid.Summarize(columns, first, last);
        ASSERT_EQ(range.longest, longest) << count << " " << bits << " " << first << " " << last;
        ASSERT_EQ(range.busy_ps, busy);
      }
      EXPECT_LE(pyramid.resident_bytes(), count * 0.61 + 24);
    }
  }
}

TEST(TileReaderTest, RefusesWhatIsNoTile) {
  const auto metadata = Names({"a"});
  LineForTest line;
  line.AddRow({{0, 1, 0}, {1, 0, 0}, {500, 100, 0}});
  const TileLine tile_line = line.AsTileLine(metadata);
  const std::string bytes = *EncodeTile({.level = 11, .index = 0}, {&tile_line, 1});
  ASSERT_TRUE(ReadTile(bytes).has_value());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadTile(bytes.substr(0, size)).has_value());
  }
}

// A module line before an op line once made all operations look like markers.
TEST(TileTest, GivesANameTheCategoryOfItsOwnLine) {
  const auto metadata = Names({"jit_f", "fusion.1"});
  LineForTest modules;
  modules.AddRow({{.start_ps = 0, .duration_ps = 900, .name = 0}});
  LineForTest ops;
  ops.AddRow({{.start_ps = 10, .duration_ps = 300, .name = 1},
              {.start_ps = 400, .duration_ps = 300, .name = 0}});
  const std::vector<uint8_t> markers = {9, 9};
  const std::vector<uint8_t> categories = {0, 2};
  const TileLine lines[] = {modules.AsTileLine(metadata, markers, 0),
                            ops.AsTileLine(metadata, categories, 1)};
  const DecodedTile tile = MustRead(EncodeTile({.level = 10, .index = 0}, lines));
  ASSERT_EQ(tile.lines.size(), 2u);
  ASSERT_EQ(tile.lines[0].rects.size(), 1u);
  EXPECT_EQ(tile.lines[0].rects[0].category, 9);
  ASSERT_EQ(tile.lines[1].rects.size(), 2u);
  EXPECT_EQ(tile.lines[1].rects[0].name, "fusion.1");
  EXPECT_EQ(tile.lines[1].rects[0].category, 2);
  EXPECT_EQ(tile.lines[1].rects[1].name, "jit_f");
  EXPECT_EQ(tile.lines[1].rects[1].category, 0);
}

}  // namespace
}  // namespace strobe::timeline
