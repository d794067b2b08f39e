#include "src/timeline/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/ids.h"
#include "src/timeline/line_for_test.h"

namespace strobe::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool PatternMatches(std::string_view pattern, std::string_view name) {
  const Result<NamePattern> parsed = NamePattern::Parse(pattern);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return parsed.ok() && parsed->Matches(name);
}

TEST(NamePatternTest, SubstringsIgnoreCase) {
  EXPECT_TRUE(PatternMatches("FUS", "%fusion.3 = bf16[8]"));
  EXPECT_TRUE(PatternMatches("fusion.3", "Fusion.3"));
  EXPECT_FALSE(PatternMatches("fusion.3", "fusion_3"));
  EXPECT_TRUE(PatternMatches("/", "a/b"));
  EXPECT_FALSE(PatternMatches("abcd", "abc"));
  EXPECT_TRUE(PatternMatches("aab", "aaab"));
  EXPECT_TRUE(PatternMatches("\xff", "bad\xff"));
}

TEST(NamePatternTest, ExpressionsBetweenSlashes) {
  EXPECT_TRUE(PatternMatches("/^fus.*3$/", "Fusion.13"));
  EXPECT_FALSE(PatternMatches("/^fus.*3$/", "fusion.31"));
  EXPECT_FALSE(PatternMatches("/(?-i)FUS/", "fusion"));
  EXPECT_TRUE(PatternMatches("/a.b/", "a\nb"));
  // Linear whatever the expression: this one takes for ever with back-tracking.
  EXPECT_FALSE(PatternMatches("/^(a+)+$/", std::string(100'000, 'a') + "b"));
}

TEST(NamePatternTest, NamesWhatIsWrong) {
  EXPECT_EQ(NamePattern::Parse("").status().name(), "SEARCH_EMPTY");
  EXPECT_EQ(NamePattern::Parse("//").status().name(), "SEARCH_EMPTY");
  EXPECT_EQ(NamePattern::Parse(std::string(2000, 'a')).status().name(), "SEARCH_TOO_LONG");
  const Status broken = NamePattern::Parse("/a(b/").status();
  EXPECT_EQ(broken.name(), "SEARCH_PATTERN");
  EXPECT_THAT(std::string(broken.message()), HasSubstr("missing )"));
  EXPECT_EQ(NamePattern::Parse("/((a{100}){100}){100}/").status().name(), "SEARCH_PATTERN");
}

TEST(NamePatternTest, LooksAtBothNames) {
  std::vector<xplane::EventMetadata> metadata(3);
  metadata[0].name = "%fusion.1 = f32 fusion(p0)";
  metadata[0].display_name = "shown";
  metadata[1].name = "other";
  EXPECT_THAT(NamePattern::Parse("shown")->Match(metadata), ElementsAre(1, 0, 0));
  EXPECT_THAT(NamePattern::Parse("p0")->Match(metadata), ElementsAre(1, 0, 0));
}

struct Expected {
  uint64_t total = 0;
  std::vector<FoundEvent> hits;
  std::vector<uint64_t> density = std::vector<uint64_t>(256);
};

TEST(EventSearchTest, AgreesWithLookingAtEveryEvent) {
  SeededRandom random(21);
  for (int round = 0; round < 40; ++round) {
    std::vector<LineForTest> lines(4);
    EventSearchOptions options = {
        .limit = random.Next() % 40, .window_start_ps = -1000, .window_end_ps = 1'000'000};
    if (round % 2 == 1) options.from_ps = static_cast<int64_t>(random.Next() % 100'000);
    if (round % 3 == 1) options.to_ps = 200'000 + static_cast<int64_t>(random.Next() % 500'000);
    if (round % 5 == 0) options.window_end_ps = options.window_start_ps;
    const std::vector<uint8_t> matches = {0, 1, 0, 1};
    std::vector<uint8_t> used(4);
    Expected expected;
    EventSearch search(options);
    for (uint32_t l = 0; l < lines.size(); ++l) {
      const int64_t shift = static_cast<int64_t>(random.Next() % 5000) - 2500;
      uint32_t e = 0;
      for (int r = 0; r < 3; ++r) {
        std::vector<EventForTest> row;
        int64_t now = -3000;
        for (int i = 0; i < 500; ++i) {
          now += static_cast<int64_t>(random.Next() % 1000);
          const int64_t duration = static_cast<int64_t>(random.Next() % 2000);
          const uint32_t name = static_cast<uint32_t>(random.Next() % 3);
          row.push_back({now, duration, name});
          const int64_t start = now + shift;
          const int64_t from = options.from_ps.value_or(INT64_MIN);
          const bool touches = start < options.to_ps.value_or(INT64_MAX) &&
                               (start >= from || start + duration > from);
          if (matches[name] != 0 && touches) {
            ++expected.total;
            expected.hits.push_back({start, duration, l + 10, 5, l, e});
            const int64_t window =
                std::max<int64_t>(1, options.window_end_ps - options.window_start_ps);
            const int64_t offset = start - options.window_start_ps;
            const int64_t part = offset < 0 ? 0 : std::min<int64_t>(255, offset * 256 / window);
            ++expected.density[static_cast<size_t>(part)];
          }
          ++e;
          now += duration;
        }
        lines[l].AddRow(row);
      }
      const SearchLine line = {.host = l + 10,
                               .plane = 5,
                               .line = l,
                               .shift_ps = shift,
                               .columns = &lines[l].columns(),
                               .matches = matches};
      ASSERT_TRUE(search.AddLine(line, used, CancelToken()).ok());
    }
    std::sort(expected.hits.begin(), expected.hits.end(),
              [](const FoundEvent& a, const FoundEvent& b) {
                return std::tie(a.start_ps, a.host, a.plane, a.line, a.event) <
                       std::tie(b.start_ps, b.host, b.plane, b.line, b.event);
              });
    if (expected.hits.size() > options.limit) expected.hits.resize(options.limit);
    const EventSearchResult result = search.Finish();
    EXPECT_EQ(result.total, expected.total);
    EXPECT_EQ(result.hits, expected.hits);
    EXPECT_EQ(result.density, expected.density);
    EXPECT_THAT(used, ElementsAre(0, 1, 0, 0));
  }
}

TEST(EventSearchTest, StopsWhenNobodyWaits) {
  LineForTest line;
  line.AddRow({{0, 1, 0}});
  const std::vector<uint8_t> matches = {1};
  CancelSource cancel;
  cancel.Cancel();
  EventSearch search({});
  const Status status =
      search.AddLine({.columns = &line.columns(), .matches = matches}, {}, cancel.token());
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

// Rank and neighbours agree with counting the sorted hits, whatever the limit, from a time and from
// an event; with and without asking each event.
TEST(EventSearchTest, FindsWhereOneStandsAmongTheHits) {
  SeededRandom random(33);
  const std::vector<uint8_t> matches = {0, 1, 0, 1};
  const std::vector<uint8_t> asking = {0, SearchLine::kAsk, 0, SearchLine::kAsk};
  for (int round = 0; round < 60; ++round) {
    std::vector<LineForTest> lines(3);
    std::vector<FoundEvent> all;
    std::vector<FoundEvent> hits;
    for (uint32_t l = 0; l < lines.size(); ++l) {
      uint32_t event = 0;
      for (int row = 0; row < 2; ++row) {
        std::vector<EventForTest> events;
        int64_t time = 0;
        for (int e = 0; e < 30; ++e) {
          // Some begin together: those of no length.
          const auto length = static_cast<int64_t>(random.Next() % 3);
          events.push_back({time, length, static_cast<uint32_t>(random.Next() % 4)});
          const FoundEvent found{time + 5, length, 0, 0, l, event++};
          all.push_back(found);
          if (matches[events.back().name] != 0) hits.push_back(found);
          time += length + static_cast<int64_t>(random.Next() % 2);
        }
        lines[l].AddRow(events);
      }
    }
    const auto earlier = [](const FoundEvent& a, const FoundEvent& b) {
      return std::tie(a.start_ps, a.line, a.event) < std::tie(b.start_ps, b.line, b.event);
    };
    std::ranges::sort(hits, earlier);
    EventSearchOptions options{.limit = 2, .window_start_ps = 0, .window_end_ps = 100};
    const bool by_event = round % 2 == 0;
    FoundEvent near = all[random.Next() % all.size()];
    if (!by_event) near = {.start_ps = static_cast<int64_t>(random.Next() % 60)};
    options.near = EventSearchOptions::Near{.at = near, .is_event = by_event};
    for (const bool asks : {false, true}) {
      EventSearch search(options);
      for (uint32_t l = 0; l < lines.size(); ++l) {
        SearchLine line{.line = l,
                        .shift_ps = 5,
                        .columns = &lines[l].columns(),
                        .matches = asks ? asking : matches};
        if (asks) line.decides = [](uint32_t) { return true; };
        ASSERT_TRUE(search.AddLine(line, {}, CancelToken()).ok());
      }
      const EventSearchResult result = search.Finish();
      EXPECT_EQ(result.total, hits.size());
      std::optional<FoundEvent> previous;
      std::optional<FoundEvent> next;
      uint64_t rank = 0;
      bool is_hit = false;
      for (const FoundEvent& hit : hits) {
        if (earlier(hit, near)) {
          previous = hit;
          ++rank;
        } else if (by_event && hit == near) {
          is_hit = true;
        } else if (!next) {
          next = hit;
        }
      }
      EXPECT_EQ(result.rank, rank) << round << asks;
      EXPECT_EQ(result.is_hit, is_hit) << round << asks;
      EXPECT_EQ(result.previous, previous) << round << asks;
      EXPECT_EQ(result.next, next) << round << asks;
    }
  }
}

}  // namespace
}  // namespace strobe::timeline
