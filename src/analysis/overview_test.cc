#include "src/analysis/overview.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/analysis/nesting.h"
#include "src/analysis/op_totals.h"
#include "src/analysis/session_window.h"
#include "src/analysis/stat_unit.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::ProfileFile;
using xplane::XSpaceBuilder;

// One host of a made profile.
struct MadeHost {
  explicit MadeHost(XSpaceBuilder& space)
      : bytes(space.Serialize()), file(xplane::MustOpen(bytes)) {}
  std::vector<HostInput> Inputs(int64_t shift_ps = 0) const {
    return {{.host = "h0", .file = file.get(), .shift_ps = shift_ps}};
  }
  std::string bytes;
  std::shared_ptr<ProfileFile> file;
};

const OpSummary* FindOp(const Overview& overview, std::string_view name) {
  for (const OpSummary& op : overview.top_ops) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

TEST(OverviewTest, DeviceOpsCountOnceAndSelfTimeExcludesWhatIsInside) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  plane.PlaneStats().AddStat(plane.StatId("device_type_string"), std::string_view("TPU v6 Lite"));
  const int64_t loop = plane.AddEventMetadata("%while.1 = f32 while(x)", "while.1");
  const int64_t fusion = plane.AddEventMetadata("%fusion.3 = f32 fusion(x)", "fusion.3");
  plane.EventMetadataStats(fusion)
      .AddStat(plane.StatId("hlo_category"), std::string_view("convolution fusion"))
      .AddStat(plane.StatId("source"), std::string_view("model.py:118"));
  LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
  ops.AddEvent(loop, 1000, 100);
  ops.AddEvent(fusion, 1010, 20);
  ops.AddEvent(fusion, 1040, 30);
  ops.AddEvent(fusion, 2000, 50);
  LineBuilder& derived = plane.AddLine(-559038735, "Framework Ops", 0);
  derived.AddEvent(fusion, 1000, 500);
  LineBuilder& steps = plane.AddLine(1, "Steps", 0);
  steps.AddEvent(plane.AddEventMetadata("7"), 1000, 600);
  steps.AddEvent(plane.AddEventMetadata("8"), 1600, 400);
  const MadeHost host(space);

  const Overview overview = MakeOverview(host.Inputs(5), {});
  EXPECT_EQ(overview.window_start_ps, 1005);
  EXPECT_EQ(overview.window_end_ps, 2055);
  EXPECT_EQ(overview.event_count, 7u);
  ASSERT_EQ(overview.devices.size(), 1u);
  EXPECT_EQ(overview.devices[0].kind, "TPU");
  EXPECT_EQ(overview.devices[0].name, "TPU v6 Lite");
  EXPECT_EQ(overview.devices[0].busy_ps, 150);
  EXPECT_NEAR(*overview.devices[0].busy_share, 150.0 / 1050, 1e-12);

  EXPECT_EQ(overview.top_ops_by, "device");
  EXPECT_EQ(overview.top_ops_total_ps, 150);
  ASSERT_EQ(overview.top_ops.size(), 2u);
  const OpSummary& top = overview.top_ops[0];
  EXPECT_EQ(top.name, "fusion.3");
  EXPECT_EQ(top.count, 3u);
  EXPECT_EQ(top.self_ps, 100);
  EXPECT_EQ(top.total_ps, 100);
  EXPECT_EQ(top.hlo_category, "convolution fusion");
  EXPECT_EQ(top.category, OpCategory::kMatmul);
  EXPECT_EQ(top.source, "model.py:118");
  EXPECT_NEAR(top.share, 100.0 / 150, 1e-12);
  const xplane::LineColumns& columns = host.file->Line(0, top.longest.line);
  EXPECT_EQ(columns.duration_ps[top.longest.event], 50);
  EXPECT_EQ(overview.top_ops[1].self_ps, 50);
  EXPECT_EQ(overview.top_ops[1].total_ps, 100);

  ASSERT_TRUE(overview.steps.has_value());
  EXPECT_EQ(overview.steps->source, "Steps line of /device:TPU:0");
  EXPECT_EQ(overview.steps->count, 2u);
  EXPECT_EQ(overview.steps->mean_ps, 500);
  EXPECT_EQ(overview.steps->min_ps, 400);
  EXPECT_EQ(overview.steps->max_ps, 600);
  EXPECT_EQ(overview.steps->items[0].name, "7");
  EXPECT_EQ(overview.steps->items[0].start_ps, 1005);
}

TEST(OverviewTest, GpuIsBusyWithKernelsNotWithCopies) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:GPU:0");
  const int64_t kernel = plane.AddEventMetadata("gemm_kernel");
  const int64_t copy = plane.AddEventMetadata("MemcpyH2D");
  LineBuilder& first = plane.AddLine(16, "Stream #16(Kernel)", 0);
  first.AddEvent(kernel, 0, 100);
  LineBuilder& second = plane.AddLine(17, "Stream #17(Kernel,MemcpyH2D)", 0);
  second.AddEvent(kernel, 50, 100);
  second.AddEvent(copy, 1000, 1000);
  space.AddPlane("/device:GPU:1");
  const MadeHost host(space);
  const Overview overview = MakeOverview(host.Inputs(), {});
  ASSERT_EQ(overview.devices.size(), 2u);
  EXPECT_EQ(overview.devices[0].busy_ps, 150);
  EXPECT_EQ(overview.devices[1].busy_ps, 0);
  EXPECT_EQ(FindOp(overview, "gemm_kernel")->self_ps, 200);
  EXPECT_FALSE(overview.steps.has_value());
  EXPECT_THAT(overview.steps_reason, HasSubstr("marks no steps"));
}

TEST(OverviewTest, ModulesAloneAreNotSteps) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  LineBuilder& modules = plane.AddLine(2, "XLA Modules", 0);
  modules.AddEvent(plane.AddEventMetadata("jit_f(1)"), 0, 100);
  modules.AddEvent(plane.AddEventMetadata("jit_f(1)"), 200, 100);
  const MadeHost host(space);
  const Overview overview = MakeOverview(host.Inputs(), {});
  EXPECT_FALSE(overview.steps.has_value());
  EXPECT_THAT(overview.steps_reason, HasSubstr("2 runs of XLA modules"));
  EXPECT_EQ(overview.devices[0].busy_ps, 200) << "busy while a module runs, nothing finer is known";
  EXPECT_TRUE(overview.top_ops.empty());
  EXPECT_FALSE(overview.top_ops_reason.empty());
}

TEST(OverviewTest, StepNumbersThatCameAsText) {
  // JAX writes every argument of its trace JSON as text.
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t step = plane.AddEventMetadata("train");
  LineBuilder& python = plane.AddLine(1, "python", 0);
  python.AddEvent(step, 0, 1000).AddStat(plane.StatId("step_num"), std::string_view("7"));
  python.AddEvent(step, 1000, 1000).AddStat(plane.StatId("step_num"), std::string_view("8"));
  const MadeHost host(space);
  const Overview overview = MakeOverview(host.Inputs(), {});
  ASSERT_TRUE(overview.steps.has_value());
  ASSERT_EQ(overview.steps->items.size(), 2u);
  EXPECT_EQ(overview.steps->items[0].name, "7");
  EXPECT_EQ(overview.steps->items[1].name, "8");
}

TEST(OverviewTest, CpuOnlyProfilesUseEventsThatCarryHloOp) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t dot = plane.AddEventMetadata("dot.4");
  const int64_t step = plane.AddEventMetadata("train");
  const int64_t other = plane.AddEventMetadata("wait");
  LineBuilder& python = plane.AddLine(1, "python", 0);
  python.AddEvent(step, 0, 1000).AddStat(plane.StatId("step_num"), int64_t{41});
  python.AddEvent(step, 100, 10).AddStat(plane.StatId("step_num"), int64_t{99});  // inside
  python.AddEvent(step, 1000, 500).AddStat(plane.StatId("step_num"), uint64_t{42});
  LineBuilder& pool = plane.AddLine(2, "tf_XLAEigen", 0);
  pool.AddEvent(other, 0, 900);
  pool.AddEvent(dot, 100, 200).AddStat(plane.StatId("hlo_op"), std::string_view("dot.4"));
  const MadeHost host(space);
  const Overview overview = MakeOverview(host.Inputs(), {});
  EXPECT_EQ(overview.top_ops_by, "host");
  ASSERT_EQ(overview.top_ops.size(), 1u);
  EXPECT_EQ(overview.top_ops[0].name, "dot.4");
  EXPECT_EQ(overview.top_ops[0].category, OpCategory::kMatmul);
  ASSERT_EQ(overview.devices.size(), 1u);
  EXPECT_EQ(overview.devices[0].kind, "CPU");
  EXPECT_EQ(overview.devices[0].busy_ps, 200);
  ASSERT_TRUE(overview.steps.has_value());
  EXPECT_EQ(overview.steps->source, "step_num annotations of /host:CPU");
  EXPECT_EQ(overview.steps->count, 2u);
  EXPECT_EQ(overview.steps->items[0].name, "41");
  EXPECT_EQ(overview.steps->items[1].name, "42");
  EXPECT_EQ(overview.steps->max_ps, 1000);
}

TEST(OverviewTest, FallsBackToAllHostEventsAndBoundsWhatItLists) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  LineBuilder& line = plane.AddLine(1, "python", 0);
  for (int i = 0; i < 20; ++i) {
    line.AddEvent(plane.AddEventMetadata("f" + std::to_string(i)), i * 100, i + 1);
  }
  const MadeHost host(space);
  const Overview overview = MakeOverview(host.Inputs(), {.max_steps = 5, .max_ops = 3});
  ASSERT_EQ(overview.top_ops.size(), 3u);
  EXPECT_EQ(overview.top_ops[0].name, "f19");
  EXPECT_EQ(overview.top_ops_total_ps, 210);
  EXPECT_TRUE(overview.devices.empty());
}

TEST(OverviewTest, NothingAtAllIsStillAnOverview) {
  const Overview none = MakeOverview({}, {});
  EXPECT_FALSE(none.top_ops_reason.empty());
  EXPECT_FALSE(none.steps_reason.empty());
  const Overview failed = MakeOverview({{.host = "gone", .file = nullptr}}, {});
  EXPECT_EQ(failed.event_count, 0u);
}

TEST(SessionWindowTest, GarbageTimesDoNotStretchIt) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t name = plane.AddEventMetadata("f");
  LineBuilder& line = plane.AddLine(1, "t", 0);
  line.AddEvent(name, 100, 50);
  line.AddEvent(name, 500, 100);
  line.AddEvent(name, INT64_MAX, 10);
  const MadeHost host(space);
  ASSERT_EQ(host.file->Line(0, 0).saturated, 1u);
  const TimeWindow window = SessionWindow(host.Inputs(7), true);
  EXPECT_EQ(window.start_ps, 107);
  EXPECT_EQ(window.end_ps, 607);
}

TEST(SessionWindowTest, TaskEnvironmentWinsWhenItIsSane) {
  const auto window_of = [](uint64_t start_ns, uint64_t stop_ns, int64_t event_ns) {
    XSpaceBuilder space;
    PlaneBuilder& plane = space.AddPlane("/host:CPU");
    plane.AddLine(1, "t", event_ns).AddEvent(plane.AddEventMetadata("f"), 0, 2000);
    PlaneBuilder& task = space.AddPlane("Task Environment");
    task.PlaneStats()
        .AddStat(task.StatId("profile_start_time"), start_ns)
        .AddStat(task.StatId("profile_stop_time"), stop_ns);
    const MadeHost host(space);
    return SessionWindow(host.Inputs(), true).length_ps();
  };
  constexpr uint64_t kNow = 1'795'980'234'388'363'337;
  EXPECT_EQ(window_of(kNow, kNow + 50, static_cast<int64_t>(kNow) + 10), 50'000);
  EXPECT_EQ(window_of(kNow, kNow - 50, static_cast<int64_t>(kNow) + 10), 2000)
      << "a window that ends before it begins says nothing";
}

TEST(NestingTest, ParentsAndSelfTimes) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  LineBuilder& line = plane.AddLine(1, "t", 0);
  const auto add = [&](const char* name, int64_t start, int64_t duration) {
    line.AddEvent(plane.AddEventMetadata(name), start, duration);
  };
  add("a", 0, 100);
  add("b", 10, 20);
  add("c", 15, 5);
  add("d", 40, 60);
  add("e", 50, 100);  // begins in d, outlives it
  add("f", 200, 0);
  const MadeHost host(space);
  const xplane::LineColumns& columns = host.file->Line(0, 0);
  const auto& metadata = host.file->planes()[0].event_metadata;
  const std::vector<int64_t> self = SelfTimes(columns);
  std::vector<std::string> seen;
  for (uint32_t e = 0; e < columns.event_count(); ++e) {
    const std::optional<uint32_t> parent = ParentOf(columns, e);
    seen.push_back(std::string(metadata[columns.name[e]].name) + "<" +
                   (parent ? std::string(metadata[columns.name[*parent]].name) : "") + ":" +
                   std::to_string(self[e]));
    EXPECT_EQ(SelfTimeOf(columns, e), self[e]);
  }
  EXPECT_THAT(
      seen, testing::UnorderedElementsAre("a<:20", "b<a:15", "c<b:5", "d<a:60", "e<:100", "f<:0"));
}

TEST(StatUnitTest, KnownNamesAndEndings) {
  EXPECT_EQ(StatUnit("bytes_accessed"), "B");
  EXPECT_EQ(StatUnit("flops"), "FLOP");
  EXPECT_EQ(StatUnit("device_duration_ps"), "ps");
  EXPECT_EQ(StatUnit("duration_us"), "us");
  EXPECT_EQ(StatUnit("peak_hbm_bw_gigabytes_per_second"), "GB/s");
  EXPECT_EQ(StatUnit("program_id"), "");
  EXPECT_EQ(StatUnit("ps"), "");
}

}  // namespace
}  // namespace strobe::analysis
