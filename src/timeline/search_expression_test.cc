#include "src/timeline/search_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "src/xplane/xspace_builder.h"

namespace strobe::timeline {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using xplane::LineBuilder;
using xplane::PlaneBuilder;

class SearchExpressionTest : public ::testing::Test {
 protected:
  SearchExpressionTest() {
    xplane::XSpaceBuilder space;
    PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
    const int64_t fusion = plane.AddEventMetadata("%fusion.3 = bf16[8]", "fusion.3");
    plane.EventMetadataStats(fusion)
        .AddStat(plane.StatId("category"), std::string_view("data formatting"))
        .AddStat(plane.StatId("flops"), uint64_t{1000});
    const int64_t copy = plane.AddEventMetadata("copy");
    const int64_t dot = plane.AddEventMetadata("dot.1");
    LineBuilder& ops = plane.AddLine(1, "XLA Ops", 0);
    ops.AddEvent(fusion, 0, 10'000'000).AddStat(plane.StatId("id"), uint64_t{1});
    ops.AddEvent(fusion, 20'000'000, 1'000).AddStat(plane.StatId("id"), uint64_t{2});
    ops.AddEvent(copy, 30'000'000, 500)
        .AddStat(plane.StatId("id"), uint64_t{3})
        .AddStat(plane.StatId("flops"), int64_t{-5})
        .AddStat(plane.StatId("text"), std::string_view("12.5"));
    ops.AddEvent(copy, 40'000'000, 500).AddStat(plane.StatId("id"), uint64_t{4});
    LineBuilder& async = plane.AddLine(2, "Async XLA Ops", 0);
    async.AddEvent(dot, 0, 5).AddStat(plane.StatId("id"), uint64_t{5});
    async.AddEvent(copy, 10, 5)
        .AddStat(plane.StatId("id"), uint64_t{6})
        .AddStat(plane.StatId("flops"), 2.5);
    auto opened = xplane::ProfileFile::Open(storage::OwnBytes(space.Serialize()), {});
    EXPECT_TRUE(opened.ok());
    file_ = *opened;
  }

  // Numbers of the events that fit; also by EventSearch, which must say the same.
  std::set<uint64_t> Find(std::string_view text) {
    const Result<SearchExpression> expression = SearchExpression::Parse(text);
    EXPECT_TRUE(expression.ok()) << text << ": " << expression.status().ToString();
    std::set<uint64_t> found;
    if (!expression.ok()) return found;
    const PlaneSearch plane(*expression, *file_, 0, "host0");
    EventSearch search({.limit = 100, .window_start_ps = 0, .window_end_ps = 100});
    for (uint32_t l = 0; l < 2; ++l) {
      const LineSearch line(plane, l);
      SearchLine searched{.line = l, .columns = &file_->Line(0, l), .matches = line.matches()};
      if (line.asks()) searched.decides = [&](uint32_t e) { return line.Decides(e); };
      EXPECT_TRUE(search.AddLine(searched, {}, CancelToken()).ok());
    }
    const EventSearchResult result = search.Finish();
    EXPECT_EQ(result.total, result.hits.size());
    for (const FoundEvent& hit : result.hits) {
      found.insert(
          static_cast<uint64_t>(file_->EventStatColumn(0, hit.line, "id")[hit.event].IntOrUint()));
    }
    if (plane.hopeless()) {
      EXPECT_TRUE(found.empty()) << text;
    }
    return found;
  }
  static std::string Error(std::string_view text) {
    return std::string(SearchExpression::Parse(text).status().name());
  }

  std::shared_ptr<xplane::ProfileFile> file_;
};

TEST_F(SearchExpressionTest, NamesAsBefore) {
  EXPECT_THAT(Find("FUSION"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("\"= bf16\""), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("/^(copy|dot)/"), UnorderedElementsAre(3, 4, 5, 6));
  EXPECT_THAT(Find("name:/3 = bf/ or name=COPY"), UnorderedElementsAre(1, 2, 3, 4, 6));
  EXPECT_THAT(Find("name=fusion.3"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("name!=copy"), UnorderedElementsAre(1, 2, 5));
  EXPECT_THAT(Find("nothing"), UnorderedElementsAre());
}

TEST_F(SearchExpressionTest, AndOrNotAndParentheses) {
  EXPECT_THAT(Find("copy or dot"), UnorderedElementsAre(3, 4, 5, 6));
  EXPECT_THAT(Find("copy and line:async"), UnorderedElementsAre(6));
  EXPECT_THAT(Find("copy line:async"), UnorderedElementsAre(6));
  EXPECT_THAT(Find("not (copy or dot)"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("dot or copy and not line:async"), UnorderedElementsAre(3, 4, 5));
  EXPECT_THAT(Find("(dot or copy) and not line:async"), UnorderedElementsAre(3, 4));
  EXPECT_THAT(Find("not not copy"), UnorderedElementsAre(3, 4, 6));
  // A name that is a word of ours stands in quotes.
  EXPECT_THAT(Find("\"or\""), UnorderedElementsAre());
}

TEST_F(SearchExpressionTest, PlacesAndDurations) {
  EXPECT_THAT(Find("plane:tpu host=HOST0 line=\"xla ops\""), UnorderedElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Find("host:other"), UnorderedElementsAre());
  EXPECT_THAT(Find("duration>=1ns"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("duration>9.5us"), UnorderedElementsAre(1));
  EXPECT_THAT(Find("duration<0.5ns or duration>=10us"), UnorderedElementsAre(1, 5, 6));
}

TEST_F(SearchExpressionTest, StatsOfEventsAndOfTheirMetadata) {
  EXPECT_THAT(Find("stat:flops"), UnorderedElementsAre(1, 2, 3, 6));
  EXPECT_THAT(Find("stat:flops=1000"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("stat:flops=-5"), UnorderedElementsAre(3));
  EXPECT_THAT(Find("stat:flops=2.5"), UnorderedElementsAre(6));
  EXPECT_THAT(Find("stat:flops>0"), UnorderedElementsAre(1, 2, 6));
  EXPECT_THAT(Find("stat:flops<=2.5"), UnorderedElementsAre(3, 6));
  EXPECT_THAT(Find("stat:flops!=1000"), UnorderedElementsAre(3, 6));
  EXPECT_THAT(Find("not stat:flops"), UnorderedElementsAre(4, 5));
  EXPECT_THAT(Find("stat:category=\"Data Formatting\""), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("stat:category:FORMAT"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("stat:category:/^data/"), UnorderedElementsAre(1, 2));
  EXPECT_THAT(Find("stat:text>12"), UnorderedElementsAre(3));
  EXPECT_THAT(Find("stat:text:.5 and stat:flops<0"), UnorderedElementsAre(3));
  EXPECT_THAT(Find("stat:nosuch"), UnorderedElementsAre());
  EXPECT_THAT(Find("not stat:nosuch"), UnorderedElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Find("copy stat:id>=4"), UnorderedElementsAre(4, 6));
  EXPECT_THAT(Find("stat:id=2 or duration>1us"), UnorderedElementsAre(1, 2));
}

TEST_F(SearchExpressionTest, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(Error(" \t"), "SEARCH_EMPTY");
  EXPECT_EQ(Error(std::string(1025, 'a')), "SEARCH_TOO_LONG");
  for (const char* text :
       {"(a", "a)", "a and", "or a", "not", "\"a", "stat:", "stat:a=", "stat:a>x", "stat=a",
        "duration=5us", "duration>5", "duration>5 us", "name>5", "name:", "()", "and"}) {
    EXPECT_EQ(Error(text), "SEARCH_EXPRESSION") << text;
  }
  EXPECT_EQ(Error("name:/(/"), "SEARCH_PATTERN");
  const Status status = SearchExpression::Parse("fusion and (copy").status();
  EXPECT_THAT(std::string(status.where()), HasSubstr("character 17"));
  std::string many;
  for (int i = 0; i < 33; ++i) many += "a ";
  EXPECT_EQ(Error(many), "SEARCH_EXPRESSION");
  many.resize(64);
  EXPECT_TRUE(SearchExpression::Parse(many).ok());
  EXPECT_EQ(Error(std::string(200, '(') + "a" + std::string(200, ')')), "SEARCH_EXPRESSION");
}

}  // namespace
}  // namespace strobe::timeline
