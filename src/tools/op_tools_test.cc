// The op tools over profiles whose numbers are worked out by hand.
#include <gtest/gtest.h>

#include "src/analysis/op_profile_for_test.h"
#include "src/tools/op_profile_tree.h"
#include "src/tools/roofline_metrics.h"
#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

using analysis::AddTpuOp;
using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

// One TensorCore of 1 TFLOP/s and 100 GB/s. In 1 us: a loop of 600 ns with a product of 400 ns
// inside, then an infeed of 100 ns.
std::string MadeTpu() {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  plane.PlaneStats()
      .AddStat(plane.StatId("device_type_string"), std::string_view("TPU v6 Lite"))
      .AddStat(plane.StatId("peak_teraflops_per_second"), 1.0)
      .AddStat(plane.StatId("peak_hbm_bw_gigabytes_per_second"), 100.0);
  const int64_t loop = AddTpuOp(&plane, {.name = "while.1", .category = "while", .symbol = 1});
  const int64_t dot = AddTpuOp(&plane, {.name = "fusion.2.remat",
                                        .category = "convolution fusion",
                                        .symbol = 2,
                                        .flops = 200'000,
                                        .bytes = 4'000,
                                        .framework_op = "jit(f)/layer/dot_general:"});
  const int64_t feed = AddTpuOp(&plane, {.name = "infeed.3", .category = "infeed", .symbol = 3});
  LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
  ops.AddEvent(loop, 0, 600'000);
  ops.AddEvent(dot, 100'000, 400'000);
  ops.AddEvent(feed, 900'000, 100'000);
  return space.Serialize();
}

TEST(HloStatsTest, RowsHaveTimesSharesAndRates) {
  const auto session = SessionForTest({{"h0", MadeTpu()}});
  const ToolResult result = MustAnswer("hlo_stats", *session);
  ASSERT_EQ(result.tables.size(), 1u);
  const Table& table = result.tables[0];
  ASSERT_EQ(table.rows().size(), 3u);
  const RowForTest dot(table, 0);
  EXPECT_EQ(dot.Text("hlo_op_name"), "fusion.2.remat");
  EXPECT_EQ(dot.Number("rank"), 1);
  EXPECT_EQ(dot.Number("total_time"), 0.4);
  EXPECT_EQ(dot.Number("total_self_time_percent"), 40);
  EXPECT_EQ(dot.Number("model_flop_rate"), 500);  // 200,000 in 400 ns
  EXPECT_DOUBLE_EQ(dot.Number("hbm_bw"), 10 / 1.073741824);
  EXPECT_EQ(dot.Number("operational_intensity"), 50);
  EXPECT_EQ(dot.Text("bound_by"), "Compute");  // half of the flops, a tenth of the bandwidth
  EXPECT_EQ(dot.Text("hlo_rematerialization"), "Yes");
  EXPECT_EQ(dot.Text("core_type"), "TensorCore");
  const RowForTest loop = FindRow(table, "hlo_op_name", "while.1");
  EXPECT_EQ(loop.Number("total_time"), 0.6);
  EXPECT_EQ(loop.Number("total_self_time"), 0.2);
  EXPECT_DOUBLE_EQ(loop.Number("cumulative_total_self_time_percent"), 60);
  EXPECT_EQ(loop.Text("hlo_rematerialization"), "No");
  EXPECT_EQ(table.subjects()[0].op_name, "fusion.2.remat");
  EXPECT_EQ(table.subjects()[0].hlo_module_id, 7u);
  EXPECT_EQ(table.subjects()[0].framework_op, "jit(f)/layer/dot_general:");
  for (const Column& column : table.columns()) {
    EXPECT_FALSE(column.description.empty()) << column.id;
    EXPECT_TRUE(column.type != ColumnType::kNumber || !column.unit.empty()) << column.id;
  }
}

TEST(FrameworkOpStatsTest, OpsOfTheModelAndIdleTime) {
  const auto session = SessionForTest({{"h0", MadeTpu()}});
  const ToolResult result = MustAnswer("framework_op_stats", *session);
  ASSERT_EQ(result.tables.size(), 2u);
  const RowForTest dot = FindRow(result.tables[0], "operation", "jit(f)/layer/dot_general");
  EXPECT_EQ(dot.Text("type"), "dot_general");
  EXPECT_EQ(dot.Number("device_total_self_time_percent"), 0.4);
  EXPECT_EQ(FindRow(result.tables[0], "operation", "IDLE").Number("total_self_time"), 0.3);
  EXPECT_EQ(FindRow(result.tables[0], "operation", "while.1").Text("type"), "Unknown");
  EXPECT_EQ(result.tables[1].rows().size(), 3u);  // without IDLE
  EXPECT_DOUBLE_EQ(FindRow(result.tables[1], "operation", "jit(f)/layer/dot_general")
                       .Number("device_total_self_time_percent"),
                   0.4 / 0.7);
  EXPECT_EQ(*result.tables[0].FindProperty("task_type"), "Inference");
}

TEST(RooflineModelTest, ProgramsCountInnermostOpsAndMayLeaveOutFeeds) {
  const auto session = SessionForTest({{"h0", MadeTpu()}});
  const ToolResult result = MustAnswer("roofline_model", *session);
  const Table& table = result.tables[0];
  const RowForTest program(table, 0);
  EXPECT_EQ(program.Text("step"), "Total");
  EXPECT_EQ(program.Text("operation"), "Program");
  EXPECT_EQ(program.Number("total_time"), 1);
  EXPECT_EQ(program.Number("measured_flop_rate"), 200);
  EXPECT_EQ(program.Number("compute_efficiency"), 0.2);
  EXPECT_EQ(program.Number("roofline_efficiency"), 0.2);
  EXPECT_EQ(program.Number("optimal_flop_rate"), 1000);
  EXPECT_EQ(*table.FindProperty("peak_flop_rate"), "1000");
  EXPECT_EQ(*table.FindProperty("hbm_ridge_point"), "10");
  bool saw_without_feeds = false;
  for (size_t row = 1; row < table.rows().size(); ++row) {
    const RowForTest r(table, row);
    if (r["include_infeed_outfeed"] == Cell(true)) continue;
    EXPECT_NE(r.Text("operation"), "infeed.3");
    if (r.Text("operation") != "Program" || r.Text("step") != "Total") continue;
    saw_without_feeds = true;
    EXPECT_DOUBLE_EQ(r.Number("total_time"), 0.9);
  }
  EXPECT_TRUE(saw_without_feeds);
  // No steps are marked; the notes say so in the words of who asked.
  const ToolResult theirs = MustAnswer("roofline_model", *session, {}, /*as_xprof=*/true);
  EXPECT_EQ(theirs.tables[1].rows().size(), 1u);
}

double NumberOf(const Value& node, std::string_view field) {
  const Value* metrics = node.Find("metrics");
  return metrics == nullptr ? -1 : metrics->Find(field)->AsNumber();
}

TEST(OpProfileTest, TreesGoFromProgramToOp) {
  const auto session = SessionForTest({{"h0", MadeTpu()}});
  const Value document = MustAnswer("op_profile", *session).document;
  const Value* root = document.Find("byProgram");
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(root->Find("name")->string_value(), "by_program");
  EXPECT_EQ(NumberOf(*root, "rawTime"), 1'000'000);
  const Value* children = root->Find("children");
  ASSERT_EQ(children->items().size(), 2u);  // the program and IDLE
  const Value& program = children->items()[0];
  EXPECT_EQ(program.Find("name")->string_value(), "main");  // no module tells its name
  EXPECT_EQ(NumberOf(program, "rawTime"), 700'000);
  EXPECT_EQ(NumberOf(program, "rawFlops"), 200'000);
  // The loop's time is in the ops inside it and in the program.
  ASSERT_EQ(program.Find("children")->items().size(), 2u);
  const Value& category = program.Find("children")->items()[0];
  EXPECT_EQ(category.Find("name")->string_value(), "convolution fusion");
  const Value& op = category.Find("children")->items()[0];
  EXPECT_EQ(op.Find("name")->string_value(), "fusion.2.remat");
  EXPECT_EQ(op.Find("xla")->Find("provenance")->string_value(), "jit(f)/layer/dot_general:");
  // Half of the peak, for 40 % of the time.
  EXPECT_DOUBLE_EQ(NumberOf(op, "flops"), 0.2);
  EXPECT_EQ(document.Find("byProgramExcludeIdle")->Find("children")->items().size(), 1u);

  const Value by_scope = MustAnswer("op_profile", *session, {{"group_by", "provenance"}}).document;
  const Value& scoped = by_scope.Find("byProvenance")->Find("children")->items()[0];
  EXPECT_EQ(scoped.Find("children")->items()[0].Find("name")->string_value(), "jit(f)");
}

TEST(OpProfileTest, PartsOfNames) {
  EXPECT_EQ(ProvenanceParts("a//b/c:type"), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(ProvenanceParts("").empty());
  EXPECT_EQ(KernelMetadata("%k = f32[] custom-call()"), "");
  EXPECT_EQ(KernelMetadata(R"(%k = f32[] custom-call(), frontend_attributes={kernel_metadata=)"
                           R"("{\"xprof_metadata\": {\"a\": [1, 2], \"b\": \"x y\"}, \"c\": 1}"})"),
            R"({"a":[1,2],"b":"x y"})");
  EXPECT_EQ(KernelMetadata(R"(frontend_attributes={kernel_metadata="{\"xprof_metadata\":)"
                           R"(\"{\\\"a\\\": 1}\"}"})"),
            R"({"a":1})");
}

TEST(KernelStatsTest, LaunchesThatAgreeAreOneRow) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:GPU:0");
  const int64_t gemm = plane.AddEventMetadata("sm80_xmma_gemm_f16");
  const int64_t details = plane.StatId("kernel_details");
  constexpr std::string_view kDetails =
      "regs:32 static_shared:100 dynamic_shared:28 grid:3,1,1 block:128,1,1 occ_pct:75.5";
  LineBuilder& stream = plane.AddLine(7, "Stream #7(Compute)", 0);
  stream.AddEvent(gemm, 0, 2'000'000).AddStat(details, kDetails);
  stream.AddEvent(gemm, 3'000'000, 5'000'000).AddStat(details, kDetails);
  stream.AddEvent(gemm, 9'000'000, 1'000'000)
      .AddStat(details, std::string_view("regs:32 grid:4,1,1 block:128,1,1"));
  stream.AddEvent(gemm, 11'000'000, 500).AddStat(details, kDetails);  // shorter than 1 ns
  const auto session = SessionForTest({{"h0", space.Serialize()}});
  const ToolResult result = MustAnswer("kernel_stats", *session);
  const Table& table = result.tables[0];
  ASSERT_EQ(table.rows().size(), 2u);
  const RowForTest row(table, 0);
  EXPECT_EQ(row.Number("occurrences"), 2);
  EXPECT_EQ(row.Number("shmem_bytes"), 128);
  EXPECT_EQ(row.Text("grid_dim"), "3,1,1");
  EXPECT_EQ(row.Number("occupancy_pct"), 75.5);
  EXPECT_EQ(row["is_kernel_using_tensor_core"], Cell(true));
  EXPECT_EQ(row.Number("total_duration_us"), 7);
  EXPECT_EQ(row.Number("avg_duration_us"), 3.5);
  EXPECT_EQ(row.Number("min_duration_us"), 2);
  EXPECT_EQ(row.Number("max_duration_us"), 5);
}

TEST(OpToolsTest, AHostWithoutDevicesSaysSo) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  plane.AddLine(1, "main", 0).AddEvent(plane.AddEventMetadata("f"), 0, 10);
  const auto session = SessionForTest({{"h0", space.Serialize()}});
  for (const std::string_view tool :
       {"hlo_stats", "framework_op_stats", "op_profile", "roofline_model"}) {
    const ToolResult result = MustAnswer(tool, *session);
    ASSERT_FALSE(result.notices.empty()) << tool;
    EXPECT_EQ(result.notices[0].name, "NO_DEVICE") << tool;
    EXPECT_FALSE(result.notices[0].hint.empty());
  }
}

}  // namespace
}  // namespace strobe::tools
