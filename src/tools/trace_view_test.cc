// The trace that the viewers show: its texts and arguments, and windows of a made profile:
//
//   h0 /host:CPU main, us      [outer: 0 - 1000][late: 2000 - 2100]
//                              [inner: 100 - 300]
#include "src/tools/trace_view.h"

#include <gtest/gtest.h>

#include <set>

#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

constexpr int64_t kUs = 1'000'000;

TEST(TraceViewTest, TextsAreKeptOnce) {
  TraceView view;
  const uint32_t a = view.Intern("fusion.3");
  const uint32_t b = view.Intern("copy.1");
  EXPECT_NE(a, b);
  EXPECT_EQ(view.Intern(std::string("fusion") + ".3"), a);
  EXPECT_EQ(view.text_count(), 2U);
  // Old texts stay where they are while new ones come.
  const std::string_view first = view.Text(a);
  for (int i = 0; i < 10'000; ++i) view.Intern("name " + std::to_string(i));
  EXPECT_EQ(first, "fusion.3");
  EXPECT_EQ(first.data(), view.Text(a).data());
}

TEST(TraceViewTest, ArgumentsOfAnEventStandTogether) {
  TraceView view;
  view.events.resize(2);
  TraceView::Argument argument;
  argument.name = view.Intern("uid");
  argument.integer = 7;
  view.AddArgument(view.events[0], argument);
  argument.integer = 8;
  view.AddArgument(view.events[0], argument);
  argument.integer = 9;
  view.AddArgument(view.events[1], argument);
  EXPECT_EQ(view.events[0].first_argument, 0U);
  EXPECT_EQ(view.events[0].argument_count, 2U);
  EXPECT_EQ(view.events[1].first_argument, 2U);
  EXPECT_EQ(view.arguments[view.events[1].first_argument].integer, 9);
  EXPECT_TRUE(view.events[1].has_arguments);
}

TEST(TraceViewTest, StackFramesAreNumberedOnce) {
  TraceView view;
  view.AddStackFrame("b.py:2");
  view.AddStackFrame("a.py:1");
  view.AddStackFrame("b.py:2");
  ASSERT_EQ(view.stack_frames.size(), 2U);
  EXPECT_EQ(view.Text(view.stack_frames[0]), "b.py:2");
  EXPECT_EQ(view.Text(view.stack_frames[1]), "a.py:1");
}

TEST(TraceViewTest, CategoriesBeyondTheTableHaveNoName) {
  EXPECT_EQ(TraceView::CategoryName(0), "");
  EXPECT_EQ(TraceView::CategoryName(9), "gpu_launch");
  EXPECT_EQ(TraceView::CategoryName(255), "");
}

class TraceViewerToolTest : public ::testing::Test {
 protected:
  TraceViewerToolTest() {
    xplane::XSpaceBuilder space;
    xplane::PlaneBuilder& host = space.AddPlane("/host:CPU");
    xplane::LineBuilder& line = host.AddLine(1, "main", 0);
    line.AddEvent(host.AddEventMetadata("outer"), 0, 1000 * kUs);
    line.AddEvent(host.AddEventMetadata("inner"), 100 * kUs, 200 * kUs);
    line.AddEvent(host.AddEventMetadata("late"), 2000 * kUs, 100 * kUs);
    session_ = SessionForTest({{"h0", space.Serialize()}});
  }

  std::multiset<std::string> Names(const std::map<std::string, std::string>& options,
                                   std::string_view tool = "trace_viewer@") {
    const ToolResult result = MustAnswer(tool, *session_, options);
    std::multiset<std::string> names;
    if (result.trace == nullptr) return names;
    for (const TraceView::Event& event : result.trace->events) {
      names.emplace(result.trace->Text(event.name));
    }
    return names;
  }

  std::shared_ptr<SessionInput> session_;
};

TEST_F(TraceViewerToolTest, ShowsEverythingWithoutAWindow) {
  const std::multiset<std::string> all = {"inner", "late", "outer"};
  EXPECT_EQ(Names({{"resolution", "0"}}), all);
  EXPECT_EQ(Names({}, "trace_viewer"), all);
}

TEST_F(TraceViewerToolTest, AWindowHasWhatTouchesIt) {
  EXPECT_EQ(Names({{"resolution", "0"}, {"start_time_ms", "0.5"}, {"end_time_ms", "0.9"}}),
            (std::multiset<std::string>{"outer"}));
  EXPECT_EQ(Names({{"resolution", "0"}, {"start_time_ms", "1.5"}, {"end_time_ms", "2.05"}}),
            (std::multiset<std::string>{"late"}));
}

TEST_F(TraceViewerToolTest, EventsKeepTheirTimes) {
  const ToolResult result = MustAnswer("trace_viewer@", *session_, {{"resolution", "0"}});
  ASSERT_NE(result.trace, nullptr);
  EXPECT_TRUE(result.trace->has_span);
  EXPECT_EQ(result.trace->full_end_ps, 2100 * kUs);
  for (const TraceView::Event& event : result.trace->events) {
    if (result.trace->Text(event.name) != "inner") continue;
    EXPECT_EQ(event.start_ps, 100 * kUs);
    EXPECT_EQ(event.duration_ps, 200 * kUs);
  }
}

TEST_F(TraceViewerToolTest, SearchFindsByTheBeginOfNames) {
  EXPECT_EQ(Names({{"search_prefix", "lat"}}), (std::multiset<std::string>{"late"}));
  EXPECT_EQ(Names({{"search_prefix", "nothing"}}), std::multiset<std::string>());
}

TEST_F(TraceViewerToolTest, WhatCannotBeReadIsAnErrorWithAName) {
  const Result<ToolResult> word = Answer("trace_viewer@", *session_, {{"start_time_ms", "soon"}});
  ASSERT_FALSE(word.ok());
  EXPECT_EQ(word.status().name(), "TRACE_OPTION_NOT_A_NUMBER");
  const Result<ToolResult> none = Answer("trace_viewer@", *session_,
                                         {{"event_name", "nothing"},
                                          {"start_time_ms", "1"},
                                          {"duration_ms", "1"},
                                          {"unique_id", "0"}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().name(), "TRACE_EVENT_NOT_FOUND");
}

}  // namespace
}  // namespace strobe::tools
