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

}  // namespace
}  // namespace strobe::timeline
