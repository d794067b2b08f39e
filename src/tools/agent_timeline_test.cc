// The tools for agents that read the timeline, over a made profile whose numbers are worked out by
// hand:
//
//   /device:TPU:0, ns          0        10        20        30        40        50
//   XLA Modules                [jit_f: 0 - 20][        ][jit_f: 30 - 60        ...]
//   XLA Ops                    while 0-20 (dot 2-8, add 10-14), copy-start 30-31, dot 32-40,
//                              copy-done 45-50
//   Pallas Primitives          region 2-4
//   /host:CPU: python          step 0-100
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/tools/registry.h"
#include "src/tools/session_input.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

constexpr int64_t kNs = 1000;

class AgentTimelineTest : public ::testing::Test {
 protected:
  AgentTimelineTest() {
    xplane::PlaneBuilder& device = space_.AddPlane("/device:TPU:0");
    xplane::LineBuilder& modules = device.AddLine(1, "XLA Modules", 0);
    const int64_t module = device.AddEventMetadata("jit_f(7)");
    modules.AddEvent(module, 0, 20 * kNs);
    modules.AddEvent(module, 30 * kNs, 30 * kNs);
    xplane::LineBuilder& ops = device.AddLine(2, "XLA Ops", 0);
    const int64_t dot = device.AddEventMetadata("%dot.1 = f32[8,8] dot(%a, %b)");
    ops.AddEvent(device.AddEventMetadata("%while.2 = f32[8] while(%t)"), 0, 20 * kNs);
    ops.AddEvent(dot, 2 * kNs, 6 * kNs);
    ops.AddEvent(device.AddEventMetadata("%add.3 = f32[8] add(%a, %b)"), 10 * kNs, 4 * kNs);
    ops.AddEvent(device.AddEventMetadata("%copy-start.4 = (f32[8]) copy-start(%a)"), 30 * kNs,
                 1 * kNs);
    ops.AddEvent(dot, 32 * kNs, 8 * kNs);
    ops.AddEvent(device.AddEventMetadata("%copy-done.4 = f32[8] copy-done(%c)"), 45 * kNs, 5 * kNs);
    xplane::LineBuilder& regions = device.AddLine(3, "Pallas Primitives", 0);
    regions.AddEvent(device.AddEventMetadata("region"), 2 * kNs, 2 * kNs);
    xplane::PlaneBuilder& host = space_.AddPlane("/host:CPU");
    host.AddLine(4, "python", 0).AddEvent(host.AddEventMetadata("step"), 0, 100 * kNs);
    bytes_ = space_.Serialize();
    file_ = xplane::MustOpen(bytes_);
    auto set = std::make_shared<hlo::ModuleSet>();
    set->Finish();
    SessionInput::Parts parts;
    parts.name = "made";
    parts.hosts = {{.name = "h0", .file = file_.get(), .shift_ps = 0, .error = {}}};
    parts.owners = {file_};
    parts.modules = set;
    input_ = std::make_unique<SessionInput>(std::move(parts));
  }

  Result<ToolResult> Ask(std::string_view tool, std::map<std::string, std::string> given = {}) {
    const ToolDescriptor* found = FindTool(tool);
    STROBE_CHECK(found != nullptr);
    STROBE_ASSIGN_OR_RETURN(ToolOptions options, ToolOptions::Parse(found->options, given,
                                                                    ToolOptions::Policy::kStrict));
    return found->run({.options = options, .hosts = {0}}, *input_, CancelToken());
  }
  Value Document(std::string_view tool, std::map<std::string, std::string> given = {}) {
    Result<ToolResult> result = Ask(tool, std::move(given));
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? result->document : Value();
  }

  xplane::XSpaceBuilder space_;
  std::string bytes_;
  std::shared_ptr<xplane::ProfileFile> file_;
  std::unique_ptr<SessionInput> input_;
};

double NumberAt(const Value& object, std::string_view name) {
  const Value* member = object.Find(name);
  EXPECT_NE(member, nullptr) << name;
  return member == nullptr ? -1 : member->AsNumber();
}

std::string TextAt(const Value& object, std::string_view name) {
  const Value* member = object.Find(name);
  EXPECT_NE(member, nullptr) << name;
  return member == nullptr ? "" : member->string_value();
}

TEST_F(AgentTimelineTest, ListsEventsInTheOrderOfTime) {
  const Value document =
      Document("list_xplane_events",
               {{"plane_regex", "TPU"}, {"event_regex", "dot|add"}, {"max_events", "2"}});
  EXPECT_EQ(NumberAt(document, "total_matched"), 3);
  EXPECT_EQ(NumberAt(document, "returned"), 2);
  EXPECT_TRUE(document.Find("truncated")->bool_value());
  const std::vector<Value>& events = document.Find("events")->items();
  EXPECT_EQ(NumberAt(events[0], "offset_ps"), 2 * kNs);
  EXPECT_EQ(TextAt(events[1], "event"), "%add.3 = f32[8] add(%a, %b)");
  EXPECT_EQ(TextAt(events[0], "line_id"), "XLA Ops");
  const Value rest = Document(
      "list_xplane_events", {{"plane_regex", "TPU"}, {"event_regex", "dot|add"}, {"offset", "2"}});
  EXPECT_EQ(NumberAt(rest, "returned"), 1);
  EXPECT_FALSE(rest.Find("truncated")->bool_value());
}

TEST_F(AgentTimelineTest, WindowsContainOrOverlap) {
  const std::map<std::string, std::string> window = {
      {"plane_regex", "TPU"}, {"start_time_ps", "31000"}, {"end_time_ps", "46000"}};
  EXPECT_EQ(NumberAt(Document("list_xplane_events", window), "total_matched"), 1);  // the dot
  std::map<std::string, std::string> overlap = window;
  overlap["window_semantics"] = "overlap";  // also the second module and copy-done
  EXPECT_EQ(NumberAt(Document("list_xplane_events", overlap), "total_matched"), 3);
  const Result<ToolResult> wrong =
      Ask("list_xplane_events", {{"start_time_ps", "5"}, {"end_time_ps", "4"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().name(), "OPTION_INVALID");
  EXPECT_EQ(Ask("list_xplane_events", {{"plane_regex", "("}}).status().name(), "PATTERN_INVALID");
}

TEST_F(AgentTimelineTest, AddsUpByEventLineAndPlane) {
  const Value by_event = Document("aggregate_xplane_events", {{"plane_regex", "TPU"}});
  EXPECT_EQ(NumberAt(by_event, "events_scanned"), 9);
  const std::vector<Value>& rows = by_event.Find("aggregates")->items();
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(TextAt(rows[0], "event"), "jit_f(7)");
  EXPECT_EQ(NumberAt(rows[0], "total_duration_ps"), 50 * kNs);
  EXPECT_EQ(NumberAt(rows[0], "avg_duration_ps"), 25 * kNs);
  EXPECT_NEAR(NumberAt(rows[0], "std_dev_ps"), 7071.0678, 1e-3);  // of 20 and 30, sample
  EXPECT_EQ(NumberAt(rows[0], "p50_duration_ps"), 25 * kNs);
  EXPECT_EQ(NumberAt(rows[0], "p90_duration_ps"), 29 * kNs);
  const Value by_line =
      Document("aggregate_xplane_events", {{"plane_regex", "TPU"}, {"group_by", "plane,line"}});
  const std::vector<Value>& lines = by_line.Find("aggregates")->items();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(TextAt(lines[0], "line"), "XLA Modules");
  EXPECT_EQ(TextAt(lines[1], "line"), "XLA Ops");
  EXPECT_EQ(NumberAt(lines[1], "total_duration_ps"), 44 * kNs);  // nested ones count again
  EXPECT_EQ(NumberAt(lines[1], "busy_ps"), 34 * kNs);            // here they do not
  EXPECT_FALSE(Ask("aggregate_xplane_events", {{"group_by", "color"}}).ok());
}

TEST_F(AgentTimelineTest, TellsWhatTheCaptureSufficesFor) {
  const Value document = Document("inspect_capture");
  EXPECT_TRUE(document.Find("capture_valid_for_device_analysis")->bool_value());
  EXPECT_TRUE(document.Find("capture_valid_for_llo_analysis")->bool_value());
  EXPECT_FALSE(document.Find("capture_valid_for_counter_sampling")->bool_value());
  const std::vector<Value>& planes = document.Find("planes")->items();
  ASSERT_EQ(planes.size(), 2u);
  EXPECT_EQ(NumberAt(planes[0], "total_events"), 9);
}

TEST_F(AgentTimelineTest, KernelsCountNestedTimeOnceInTheTotal) {
  const Value document = Document("get_kernel_stats", {{"include_summary", "true"}});
  // Union of the op line: 0-20, 30-31, 32-40, 45-50.
  EXPECT_EQ(NumberAt(document, "total_device_duration_ns"), 34);
  EXPECT_NEAR(NumberAt(document, "total_duration_us_all_records"), 0.034, 1e-12);
  const Value* lines = document.Find("by_line_duration_ns");
  EXPECT_EQ(NumberAt(*lines, "XLA Modules"), 50);
  EXPECT_EQ(NumberAt(*lines, "Pallas Primitives"), 2);
  const std::vector<Value>& records = document.Find("kernel_records")->items();
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(TextAt(records[0], "canonical_name"), "%while.2");
  EXPECT_EQ(TextAt(records[1], "kernel_name"), "%dot.1 = f32[8,8] dot(%a, %b)");
  EXPECT_EQ(NumberAt(records[1], "execution_count"), 2);
  EXPECT_NEAR(NumberAt(records[1], "avg_duration_us"), 0.007, 1e-12);
  EXPECT_THAT(document.Find("excluded_intra_kernel_region_lines")->items(), testing::SizeIs(1));
  const std::vector<Value>& steps = document.Find("step_durations_us")->items();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_NEAR(steps[1].AsNumber(), 0.03, 1e-12);
  const Value all = Document("get_kernel_stats", {{"include_intra_kernel_regions", "true"}});
  EXPECT_EQ(all.items().size(), 6u);
  const Result<ToolResult> text =
      Ask("get_kernel_stats", {{"output_format", "markdown"}, {"limit", "1"}});
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(text->text, testing::HasSubstr("| 0.02 | 1 | 0.02 |"));
  EXPECT_EQ(TextAt(Document("get_kernel_stats", {{"kernel_name", "none"}}), "info"),
            "The session has no device kernel of the name none.");
}

TEST_F(AgentTimelineTest, AsyncWorkIsHiddenOnlyBehindComputation) {
  const Value document = Document("analyze_async_overlap");
  const Value* summary = document.Find("summary");
  // copy-start 30 to the end of copy-done at 50, of which the dot covers 8.
  EXPECT_EQ(NumberAt(*summary, "count"), 1);
  EXPECT_EQ(NumberAt(*summary, "span_ps"), 20 * kNs);
  EXPECT_EQ(NumberAt(*summary, "exposed_ps"), 12 * kNs);
  EXPECT_EQ(NumberAt(*summary, "partial"), 1);
  EXPECT_EQ(NumberAt(*summary, "unpaired_ops"), 0);
  EXPECT_NEAR(NumberAt(*summary, "overlap_ratio"), 0.4, 1e-12);
  const Value strict = Document("analyze_async_overlap", {{"hidden_threshold", "0.4"}});
  EXPECT_EQ(NumberAt(*strict.Find("summary"), "hidden"), 1);
  EXPECT_FALSE(Ask("analyze_async_overlap", {{"hidden_threshold", "0.05"}}).ok());
}

TEST_F(AgentTimelineTest, MeanStepTimeIsThatOfTheModules) {
  const Value document = Document("get_avg_step_time", {{"func_name", "jit_f"}});
  EXPECT_EQ(NumberAt(document, "step_count"), 2);
  EXPECT_EQ(NumberAt(document, "avg_step_time_ms"), 0);  // 25 ns are 0.0000 ms
  EXPECT_EQ(TextAt(Document("get_avg_step_time", {{"func_name", "other"}}), "status"), "NO_DATA");
}

TEST_F(AgentTimelineTest, HostsSayTheirDevices) {
  const Value document = Document("get_hosts");
  const std::vector<Value>& hosts = document.Find("hosts")->items();
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(TextAt(hosts[0], "hostname"), "h0");
  EXPECT_EQ(NumberAt(hosts[0], "device_count"), 1);
}

TEST_F(AgentTimelineTest, MissingModulesAreSaidAndNoCleanBill) {
  const Value modules = Document("list_hlo_modules");
  EXPECT_EQ(NumberAt(modules, "count"), 0);
  EXPECT_EQ(TextAt(modules, "code"), "NO_HLO_PROTO_IN_PROFILE");
  for (const char* detector : {"detect_layout_mismatch_copies", "detect_unfused_reshapes",
                               "detect_unfused_updates", "detect_unnecessary_convert_reduce",
                               "detect_unnecessary_convert_dynamic_scale"}) {
    const Value document = Document(detector);
    EXPECT_EQ(TextAt(document, "detection_state"), "NOT_EVALUATED") << detector;
    EXPECT_FALSE(document.Find("bottlenecks_found")->bool_value());
  }
  EXPECT_EQ(Ask("get_hlo_text").status().name(), "NO_MODULES");
}

TEST_F(AgentTimelineTest, OneSessionIsNotEnoughForADifference) {
  const Result<ToolResult> alone = Ask("diff_sessions");
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.status().name(), "SECOND_SESSION_MISSING");
}

}  // namespace
}  // namespace strobe::tools
