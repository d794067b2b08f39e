// The JSON of a made trace, read again; what XProf answered for real ones is in
// xprof_goldens_test.cc.
#include "src/api/xprof_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace strobe::api {
namespace {

using tools::TraceView;

// The older viewer has arguments of text only.
void Fill(TraceView::Form form, TraceView* made) {
  TraceView& view = *made;
  view.form = form;
  view.processes.push_back({.id = 501, .name = "/host:CPU \"main\"", .threads = {{7, "py\\thon"}}});
  TraceView::Event event;
  event.process = 501;
  event.thread = 7;
  event.name = view.Intern("line\nbreak");
  event.start_ps = 1'500'000;
  event.duration_ps = 2'000'000;
  if (form == TraceView::Form::kStreaming) {
    view.AddArgument(event, {.name = view.Intern("count"), .integer = -3});
  }
  TraceView::Argument text{.name = view.Intern("note"), .kind = TraceView::Argument::Kind::kText};
  text.text = view.Intern("a\"b");
  view.AddArgument(event, text);
  view.events.push_back(event);
  view.has_span = true;
  view.full_end_ps = 3'500'000;
}

TEST(XprofTraceTest, JsonIsReadAsItWasMade) {
  for (const TraceView::Form form : {TraceView::Form::kStreaming, TraceView::Form::kLegacy}) {
    TraceView view;
    Fill(form, &view);
    auto json = nlohmann::json::parse(XprofTraceJson(view), nullptr, false);
    ASSERT_TRUE(json.is_object());
    bool process = false;
    bool thread = false;
    bool found = false;
    for (auto& event : json["traceEvents"]) {
      if (event.value("ph", "") == "M" && event.value("name", "") == "process_name") {
        process |= event["args"]["name"] == "/host:CPU \"main\"" && event["pid"] == 501;
      }
      if (event.value("ph", "") == "M" && event.value("name", "") == "thread_name") {
        thread |= event["args"]["name"] == "py\\thon" && event["tid"] == 7;
      }
      if (event.value("ph", "") != "X") continue;
      found = true;
      EXPECT_EQ(event["name"], "line\nbreak");
      EXPECT_DOUBLE_EQ(event["ts"].get<double>(), 1.5);
      EXPECT_DOUBLE_EQ(event["dur"].get<double>(), 2.0);
      EXPECT_EQ(event["args"]["note"], "a\"b");
    }
    EXPECT_TRUE(process && thread && found);
  }
}

TEST(XprofTraceTest, NothingIsStillAnAnswer) {
  TraceView view;
  EXPECT_TRUE(nlohmann::json::parse(XprofTraceJson(view), nullptr, false).is_object());
  const Result<std::string> packed = XprofTracePacked(view);
  ASSERT_TRUE(packed.ok()) << packed.status().ToString();
}

TEST(XprofTraceTest, PackedIsOneZstdFrameAndTheSameEachTime) {
  TraceView view;
  Fill(TraceView::Form::kStreaming, &view);
  const Result<std::string> packed = XprofTracePacked(view);
  const Result<std::string> again = XprofTracePacked(view);
  ASSERT_TRUE(packed.ok() && again.ok());
  EXPECT_EQ(packed->substr(0, 4), "\x28\xb5\x2f\xfd");
  EXPECT_EQ(*packed, *again);
}

}  // namespace
}  // namespace strobe::api
