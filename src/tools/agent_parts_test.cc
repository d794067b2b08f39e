// The parts of the tools for agents that need no session: numbers, filters, custom calls,
// intervals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "src/tools/agent_boundness.h"
#include "src/tools/agent_common.h"
#include "src/tools/agent_custom_call.h"
#include "src/tools/agent_dataflow.h"
#include "src/tools/agent_diff.h"
#include "src/tools/agent_event_filter.h"
#include "src/tools/agent_memory.h"
#include "src/tools/agent_overlap.h"
#include "src/tools/registry.h"

namespace strobe::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AgentNumbersTest, RoundsByTheBinaryValueWithTiesToEven) {
  // What Python's round() gives.
  EXPECT_EQ(RoundTo(2.675, 2), 2.67);
  EXPECT_EQ(RoundTo(0.125, 2), 0.12);
  EXPECT_EQ(RoundTo(0.375, 2), 0.38);
  EXPECT_EQ(RoundTo(-1.00005, 4), -1.0001);
  EXPECT_EQ(PercentText(0.86449), "86.45%");
  EXPECT_EQ(FixedText(1e15, 1), "1000000000000000.0");
}

TEST(AgentNumbersTest, ReadsTextsOfNumbers) {
  double number = -1;
  EXPECT_TRUE(ParseNumberText(" 86.5% ", &number));
  EXPECT_EQ(number, 86.5);
  EXPECT_TRUE(ParseNumberText("0x1F", &number));
  EXPECT_EQ(number, 31);
  EXPECT_FALSE(ParseNumberText("N/A", &number));
  EXPECT_FALSE(ParseNumberText("", &number));
  EXPECT_FALSE(ParseNumberText("0x", &number));
  EXPECT_FALSE(ParseNumberText("nan", &number));
}

TEST(AgentNumbersTest, DeviatesAsASample) {
  EXPECT_DOUBLE_EQ(MeanOf({2, 4, 9}), 5);
  EXPECT_DOUBLE_EQ(SampleDeviationOf({2, 4, 9}), std::sqrt(13));  // (9 + 1 + 16) / 2
  EXPECT_EQ(SampleDeviationOf({7}), 0);
  EXPECT_EQ(MeanOf({}), 0);
}

TEST(AgentNumbersTest, LimitsOfZeroAndLessMeanAll) {
  EXPECT_EQ(LimitOf(0, 12), 12u);
  EXPECT_EQ(LimitOf(-1, 12), 12u);
  EXPECT_EQ(LimitOf(5, 12), 5u);
  EXPECT_EQ(LimitOf(50, 12), 12u);
}

TEST(AgentRegistryTest, NamesOfXprofsCommandLineAreFound) {
  for (const char* name : {"get_overview",
                           "get_xprof_overview",
                           "get_step_trace",
                           "get_kpi_metrics",
                           "get_device_information",
                           "get_hosts",
                           "get_profile_summary",
                           "export_json",
                           "get_utilization_viewer",
                           "get_smart_suggestions",
                           "get_roofline_model",
                           "get_hlo_op_profile",
                           "get_top_hlo_ops",
                           "get_hlo_stats",
                           "get_kernel_stats",
                           "get_memory_profile",
                           "get_peak_allocations",
                           "list_hlo_modules",
                           "get_hlo_module_content",
                           "get_hlo_text",
                           "get_hlo_neighborhood",
                           "get_graph_viewer",
                           "list_xplane_events",
                           "aggregate_xplane_events",
                           "check_host_boundness",
                           "diff_sessions",
                           "inspect_capture",
                           "list_xplane_lines",
                           "check_kernel_profiling",
                           "analyze_async_overlap",
                           "get_device_time_attribution",
                           "get_perf_counters",
                           "compute_utilization",
                           "get_kernel_utilization",
                           "get_avg_step_time",
                           "detect_layout_mismatch_copies",
                           "detect_unfused_reshapes",
                           "detect_unfused_updates",
                           "detect_unnecessary_convert_reduce",
                           "detect_unnecessary_convert_dynamic_scale",
                           "llo_load",
                           "llo_query"}) {
    const ToolDescriptor* tool = FindTool(name);
    ASSERT_NE(tool, nullptr) << name;
    EXPECT_FALSE(tool->listed_by_xprof) << name;
    EXPECT_FALSE(tool->question.empty()) << name;
    EXPECT_TRUE(tool->run != nullptr) << name;
  }
}

EventView View(std::string_view event, int64_t duration_ps) {
  return {.plane = "/device:TPU:0",
          .line = "XLA Ops",
          .event = event,
          .offset_ps = 1000,
          .duration_ps = duration_ps};
}

bool Matches(std::string_view filter, const EventView& event) {
  const Result<EventFilter> parsed = EventFilter::Parse(filter);
  EXPECT_TRUE(parsed.ok()) << filter << ": " << parsed.status().ToString();
  return parsed.ok() && parsed->Matches(event);
}

TEST(EventFilterTest, ComparesTextsAndTimes) {
  const EventView copy = View("copy-start.3", 6'000'000);
  EXPECT_TRUE(Matches("", copy));
  EXPECT_TRUE(Matches("event CONTAINS copy", copy));
  EXPECT_TRUE(Matches("plane =~ \"TPU:\\d\" AND line = \"XLA Ops\"", copy));
  EXPECT_FALSE(Matches("plane !~ TPU", copy));
  EXPECT_TRUE(Matches("duration > 5us", copy));
  EXPECT_FALSE(Matches("duration_us > 6", copy));
  EXPECT_TRUE(Matches("duration_us >= 6 && end_ps == 6001000", copy));
  EXPECT_TRUE(Matches("event == fusion OR NOT duration < 1ns", copy));
  EXPECT_FALSE(Matches("!(event CONTAINS start or event CONTAINS done)", copy));
}

TEST(EventFilterTest, AndBindsCloserThanOr) {
  const EventView copy = View("copy", 10);
  EXPECT_TRUE(Matches("event = copy OR event = dot AND duration > 100", copy));
  EXPECT_FALSE(Matches("(event = copy OR event = dot) AND duration > 100", copy));
}

TEST(EventFilterTest, SaysWhatIsWrong) {
  for (const auto& [filter, message] : std::vector<std::pair<std::string, std::string>>{
           {"plane", "lacks a comparison"},
           {"color = red", "No field \"color\""},
           {"plane < 3", "cannot be compared by <"},
           {"duration CONTAINS 3", "cannot be compared by CONTAINS"},
           {"duration > 5 lightyears", "goes on where it should end"},
           {"duration > soon", "Not a time"},
           {"(plane = a", "has no end"},
           {"plane = \"a", "has no end"},
           {"plane =", "lacks a value"},
           {"event =~ \"(\"", "Not a regular expression"},
           {std::string(200, '(') + "plane = a", "nests too deeply"}}) {
    const Result<EventFilter> parsed = EventFilter::Parse(filter);
    ASSERT_FALSE(parsed.ok()) << filter;
    EXPECT_THAT(std::string(parsed.status().message()), HasSubstr(message)) << filter;
  }
  EXPECT_FALSE(EventFilter::Parse(std::string(kMaxFilterBytes + 1, ' ') + "x").ok());
}

TEST(CustomCallTest, ReadsShapesOfAnExpression) {
  const ExpressionShapes shapes = ParseExpressionShapes(
      "%c = (bf16[8,16]{1,0:T(8,128)}, u32[]{:S(2)}) custom-call(bf16[8,32]{1,0} %a, "
      "bf16[32,16]{1,0} %b), custom_call_target=\"tpu_custom_call\"");
  ASSERT_TRUE(shapes.result);
  EXPECT_EQ(shapes.result->element_type, "bf16");
  EXPECT_THAT(shapes.result->dimensions, ElementsAre(8, 16));
  ASSERT_EQ(shapes.operands.size(), 2u);
  EXPECT_THAT(shapes.operands[1].dimensions, ElementsAre(32, 16));
}

TEST(CustomCallTest, AMatrixProductTellsItsOperations) {
  const CustomCallCost cost = DeriveCustomCallCost(
      "%c = bf16[4,8,16]{2,1,0} custom-call(bf16[4,8,32] %a, bf16[4,32,16] %b), "
      "custom_call_target=\"tpu_custom_call\"",
      "custom-call", "c");
  EXPECT_EQ(cost.provenance, Provenance::kDerivedFromShapes);
  EXPECT_EQ(cost.flops, 2.0 * 4 * 8 * 16 * 32);
  EXPECT_EQ(cost.bytes, 2.0 * (4 * 8 * 16 + 4 * 8 * 32 + 4 * 32 * 16));
}

TEST(CustomCallTest, AttentionCountsScoresAndSum) {
  // 6 queries over 10 keys of depth 4: no product of two operands gives [6, 4] but with 4 inner.
  const CustomCallCost cost = DeriveCustomCallCost(
      "%attention = f32[6,5]{1,0} custom-call(f32[6,5] %q, f32[10,5] %k, f32[10,5] %v), "
      "custom_call_target=\"flash\"",
      "custom-call", "attention");
  EXPECT_EQ(cost.provenance, Provenance::kDerivedFromShapes);
  EXPECT_EQ(cost.flops, 4.0 * 6 * 5 * 10);
}

TEST(CustomCallTest, MarksAreFreeAndTheRestIsOpaque) {
  const CustomCallCost mark = DeriveCustomCallCost(
      "%s = f32[8] custom-call(f32[8] %a), custom_call_target=\"Sharding\"", "custom-call", "s");
  EXPECT_EQ(mark.provenance, Provenance::kCostModel);
  EXPECT_EQ(mark.flops, 0);
  const CustomCallCost opaque = DeriveCustomCallCost(
      "%s = f32[8] custom-call(f32[8] %a), custom_call_target=\"mine\"", "custom-call", "s");
  EXPECT_EQ(opaque.provenance, Provenance::kOpaqueCustomCall);
  EXPECT_FALSE(opaque.flops);
  const CustomCallCost stated = DeriveCustomCallCost(
      "%s = f32[8] custom-call(f32[8] %a), custom_call_target=\"mine\", "
      "backend_config={\"cost_estimate\":{\"flops\":100,\"transcendentals\":5,"
      "\"bytes_accessed\":64}}",
      "custom-call", "s");
  EXPECT_EQ(stated.flops, 105);
  EXPECT_EQ(stated.bytes, 64);
  EXPECT_EQ(DeriveCustomCallCost("%d = f32[8] dot(%a)", "dot", "d").provenance,
            Provenance::kCostModel);
}

TEST(OverlapPartsTest, CoverageCountsNoInstantTwice) {
  const Coverage coverage(MergedIntervals({{10, 20}, {15, 30}, {40, 50}, {5, 5}}));
  EXPECT_EQ(coverage.Covered(0, 100), 30);
  EXPECT_EQ(coverage.Covered(12, 18), 6);
  EXPECT_EQ(coverage.Covered(25, 45), 10);
  EXPECT_EQ(coverage.Covered(30, 40), 0);
  EXPECT_EQ(coverage.Covered(60, 50), 0);
}

TEST(OverlapPartsTest, HalvesOfAsyncOpsFindEachOther) {
  EXPECT_EQ(InstructionName("%copy-start.3 = (f32[8]) copy-start(%p)"), "copy-start.3");
  EXPECT_EQ(AsyncRoleOf("copy-start.3").key, AsyncRoleOf("copy-done.3").key);
  EXPECT_TRUE(AsyncRoleOf("copy-start.3").is_start);
  EXPECT_FALSE(AsyncRoleOf("copy-done.3").is_start);
  EXPECT_NE(AsyncRoleOf("copy-start.3").key, AsyncRoleOf("copy-done.4").key);
  EXPECT_TRUE(AsyncRoleOf("send.7").is_start);
  EXPECT_EQ(AsyncRoleOf("fusion.3").key, "");
  EXPECT_EQ(OpFamily("all-reduce-start.12"), "all-reduce");
  EXPECT_EQ(OpFamily("jit.slice-start"), "slice");
}

TEST(OomRiskTest, FollowsItsThresholds) {
  EXPECT_EQ(OomRisk(-1, -1, 0, 0), "UNKNOWN");
  EXPECT_EQ(OomRisk(100, 50, 0, 0), "LOW");
  EXPECT_EQ(OomRisk(100, 80, 0, 0), "MEDIUM");
  EXPECT_EQ(OomRisk(100, 65, 0.25, 0), "MEDIUM");
  EXPECT_EQ(OomRisk(100, 95, 0, 0), "HIGH");
  EXPECT_EQ(OomRisk(100, 88, 0.5, 10), "HIGH");  // of 12 free 6 are usable
  EXPECT_EQ(OomRisk(100, 88, 0, 10), "MEDIUM");
}

TEST(WithoutTagsTest, KeepsTheText) {
  EXPECT_EQ(WithoutTags("<p>Use <b>bf16</b> &amp; fuse: a &lt; b</p>"), "Use bf16 & fuse: a < b");
  EXPECT_EQ(WithoutTags("1 < 2"), "1 < 2");
}

TEST(CustomCallTargetTest, KnowsWhatComputes) {
  EXPECT_TRUE(CustomCallComputes("tpu_custom_call"));
  EXPECT_TRUE(CustomCallComputes("__cublas$gemm"));
  EXPECT_TRUE(CustomCallComputes("someone's kernel"));
  EXPECT_FALSE(CustomCallComputes("Sharding"));
  EXPECT_FALSE(CustomCallComputes("MoveToHost"));
  EXPECT_FALSE(CustomCallComputes("annotate_device_placement"));
}

Value KernelsOf(std::initializer_list<std::pair<const char*, double>> kernels) {
  Value stats = Value::Object();
  double total = 0;
  Value records = Value::List();
  for (const auto& [name, us] : kernels) {
    Value& one = records.Add(Value::Object());
    one.Set("kernel_name", Value::String(name));
    one.Set("total_duration_us", Value::Double(us));
    total += us;
  }
  stats.Set("total_device_duration_us", Value::Double(total));
  stats.Set("kernel_records", std::move(records));
  return stats;
}

TEST(DiffSessionsTest, ListsWhatChangedMostFirst) {
  const Value diff = DiffOfSides(
      {.name = "a", .kernel_stats = KernelsOf({{"copy", 100}, {"dot", 50}, {"gone", 7}})},
      {.name = "b", .kernel_stats = KernelsOf({{"copy", 40}, {"dot", 55}, {"new", 3}})});
  EXPECT_EQ(NumberIn(diff, "total_device_duration_delta_us"), 98.0 - 157.0);
  EXPECT_EQ(NumberIn(diff, "total_device_duration_delta_pct"), -37.58);
  const std::vector<Value>& kernels = diff.Find("kernel_diffs")->items();
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_EQ(TextIn(kernels[0], "kernel_name"), "copy");
  EXPECT_EQ(NumberIn(kernels[0], "delta_duration_us"), -60);
  EXPECT_EQ(NumberIn(kernels[0], "delta_percent"), -60);
  EXPECT_EQ(TextIn(kernels[1], "kernel_name"), "gone");
  EXPECT_EQ(TextIn(kernels[2], "kernel_name"), "dot");
  EXPECT_EQ(NumberIn(kernels[3], "delta_percent"), 0);  // there was none before
  EXPECT_THAT(TextIn(diff, "markdown_summary"), HasSubstr("| `copy` | 100.00 | 40.00 | -60.00 |"));
}

}  // namespace
}  // namespace strobe::tools
