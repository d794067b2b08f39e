#include "src/analysis/device_op_metrics.h"

#include <gtest/gtest.h>

#include "src/analysis/line_order.h"
#include "src/analysis/op_profile_for_test.h"

namespace strobe::analysis {
namespace {

using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

std::vector<DevicePlaneMetrics> MetricsOf(const PreparedForTest& made) {
  Result<std::vector<DevicePlaneMetrics>> metrics =
      MakeDevicePlaneMetrics(*made.host, made.modules, CancelToken());
  EXPECT_TRUE(metrics.ok()) << metrics.status().ToString();
  return metrics.ok() ? std::move(*metrics) : std::vector<DevicePlaneMetrics>();
}

TEST(DeviceOpMetricsTest, SelfTimeLeavesOutWhatLiesInside) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0", 4);
  const int64_t loop = AddTpuOp(&plane, {.name = "while.1", .category = "while", .symbol = 1});
  const int64_t fusion =
      AddTpuOp(&plane, {.name = "fusion.3", .symbol = 2, .flops = 10, .bytes = 3});
  const int64_t unknown = AddTpuOp(&plane, {.name = "no symbol"});
  LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
  ops.AddEvent(loop, 1000, 100);
  ops.AddEvent(fusion, 1010, 20);
  ops.AddEvent(fusion, 1040, 60);
  ops.AddEvent(fusion, 2000, 50);
  ops.AddEvent(unknown, 2900, 100);
  const std::vector<DevicePlaneMetrics> devices = MetricsOf(PreparedForTest(space));
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].plane_id, 4);
  EXPECT_EQ(devices[0].kind, DeviceKind::kTensorCore);
  const OpMetricsDb& db = devices[0].whole;
  ExpectSane(db);
  ASSERT_EQ(db.ops.size(), 3u);
  const OpMetrics* outer = FindOp(db, "while.1");
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->time_ps, 100u);
  EXPECT_EQ(outer->self_time_ps, 20u);
  const OpMetrics* inner = FindOp(db, "fusion.3");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->occurrences, 3u);
  EXPECT_EQ(inner->time_ps, 130u);
  EXPECT_EQ(inner->min_time_ps, 20u);
  EXPECT_EQ(inner->flops, 30);        // of each execution
  EXPECT_EQ(inner->model_flops, 30);  // none of its own, so the same
  EXPECT_EQ(inner->bytes_accessed, 9u);
  EXPECT_EQ(inner->hlo_module_id, 7u);
  EXPECT_EQ(inner->long_name, "%fusion.3 = f32[8] op(x)");
  // From the first event to the last, with the one that is no op.
  EXPECT_EQ(db.total_time_ps, 2000u);
  EXPECT_EQ(db.total_op_time_ps, 150u);
  EXPECT_EQ(FindOp(db, kIdle)->self_time_ps, 1850u);
}

TEST(DeviceOpMetricsTest, OneSymbolIsOneOpWhateverItsMetadataEntry) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  const int64_t first = AddTpuOp(&plane, {.name = "a", .symbol = 5});
  const int64_t second = AddTpuOp(&plane, {.name = "b", .symbol = 5});
  const int64_t other_program = AddTpuOp(&plane, {.name = "a2", .symbol = 5, .program = 8});
  LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
  ops.AddEvent(first, 0, 10);
  ops.AddEvent(second, 10, 10);
  ops.AddEvent(other_program, 20, 10);
  const std::vector<DevicePlaneMetrics> devices = MetricsOf(PreparedForTest(space));
  const OpMetricsDb& db = devices.at(0).whole;
  ASSERT_EQ(db.ops.size(), 3u);  // two ops and IDLE
  EXPECT_EQ(FindOp(db, "a")->occurrences, 2u);
  EXPECT_EQ(FindOp(db, "a2")->occurrences, 1u);
}

TEST(DeviceOpMetricsTest, DeviceTimesAndMultipliersOfTheEventsCount) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  const int64_t loop = AddTpuOp(&plane, {.name = "while.1", .category = "while", .symbol = 1});
  const int64_t fusion = AddTpuOp(&plane, {.name = "fusion.3", .symbol = 2});
  LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
  const auto add = [&](int64_t op, int64_t offset, int64_t duration) -> xplane::StatSink& {
    // The host's clock says something else.
    return ops.AddEvent(op, offset / 2, duration / 2)
        .AddStat(plane.StatId("device_offset_ps"), offset)
        .AddStat(plane.StatId("device_duration_ps"), duration);
  };
  add(loop, 1000, 1000);
  add(fusion, 1200, 300)
      .AddStat(plane.StatId("Time Scale Multiplier"), 0.5)
      .AddStat(plane.StatId("dma_stall_duration_ps"), int64_t{40})
      .AddStat(plane.StatId("vdd_energy_j"), 1.5);
  add(fusion, 1600, 200).AddStat(plane.StatId("dma_stall_duration_ps"), uint64_t{2});
  const std::vector<DevicePlaneMetrics> devices = MetricsOf(PreparedForTest(space));
  const OpMetricsDb& db = devices.at(0).whole;
  ExpectSane(db);
  EXPECT_EQ(FindOp(db, "while.1")->self_time_ps, 500u);
  const OpMetrics* op = FindOp(db, "fusion.3");
  EXPECT_EQ(op->time_ps, 500u);
  EXPECT_EQ(op->normalized_time_ps, 150u + 200u);
  EXPECT_EQ(op->dma_stall_ps, 42u);
  EXPECT_EQ(op->vdd_energy_j, 1.5);
  EXPECT_EQ(db.total_time_ps, 1000u);
  // 500 of the loop, and 500 of the fusion at 350/500 of the speed.
  EXPECT_EQ(db.normalized_total_op_time_ps, 850u);
}

TEST(DeviceOpMetricsTest, StepsAddUpToTheWhole) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  const int64_t a = AddTpuOp(&plane, {.name = "a", .category = "copy", .symbol = 1, .bytes = 4});
  const int64_t b = AddTpuOp(&plane, {.name = "b", .symbol = 2});
  const int64_t group = plane.StatId("group_id");
  LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
  for (int64_t step = 0; step < 3; ++step) {
    ops.AddEvent(a, step * 100, 50).AddStat(group, step);
    ops.AddEvent(b, step * 100 + 10, 20).AddStat(group, step);
    ops.AddEvent(b, step * 100 + 60, 5 + step).AddStat(group, step);
  }
  const std::vector<DevicePlaneMetrics> devices = MetricsOf(PreparedForTest(space));
  std::map<int64_t, OpMetricsDb> groups;
  for (const auto& [id, group] : devices.at(0).by_group) groups[id] = group->Build();
  ASSERT_EQ(groups.size(), 3u);
  uint64_t total_ps = 0;
  for (const auto& [step, db] : groups) {
    EXPECT_EQ(db.total_time_ps, 0u);  // the step's length is not known here
    EXPECT_EQ(FindOp(db, kIdle), nullptr);
    ASSERT_EQ(db.ops.size(), 2u);
    EXPECT_EQ(FindOp(db, "a")->self_time_ps, 30u);
    EXPECT_EQ(FindOp(db, "a")->bytes_accessed, 4u);
    EXPECT_EQ(FindOp(db, "a")->category, "copy");
    EXPECT_EQ(FindOp(db, "b")->time_ps, static_cast<uint64_t>(25 + step));
    total_ps += db.total_op_time_ps;
  }
  EXPECT_EQ(total_ps, devices[0].whole.total_op_time_ps);
}

TEST(DeviceOpMetricsTest, SparseCoreOpsHangBelowWhatStartedThem) {
  XSpaceBuilder space;
  PlaneBuilder& tensor = space.AddPlane("/device:TPU:0");
  const int64_t call = AddTpuOp(&tensor, {.name = "call.1", .category = "call", .symbol = 1});
  tensor.AddLine(3, "XLA Ops", 0)
      .AddEvent(call, 0, 1000)
      .AddStat(tensor.StatId("offload_core_id"), uint64_t{2})
      .AddStat(tensor.StatId("tc_offload_start_id"), int64_t{9});
  PlaneBuilder& sparse = space.AddPlane("/device:TPU:0 SparseCore 1");
  const int64_t module = sparse.AddEventMetadata("module");
  const int64_t gather = AddTpuOp(&sparse, {.name = "gather.1", .category = "gather", .symbol = 3});
  sparse.AddLine(1, "Sparse Core Modules", 0)
      .AddEvent(module, 100, 500)
      .AddStat(sparse.StatId("offload_core_id"), uint64_t{2})
      .AddStat(sparse.StatId("tc_offload_start_id"), uint64_t{9});
  LineBuilder& ops = sparse.AddLine(2, "Sparse Core Ops", 0);
  ops.AddEvent(gather, 150, 200);
  ops.AddEvent(gather, 700, 100);  // in no module
  const std::vector<DevicePlaneMetrics> devices = MetricsOf(PreparedForTest(space));
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].kind, DeviceKind::kSparseCore);
  EXPECT_TRUE(devices[1].whole.ops.empty());
  const OpMetrics* op = FindOp(devices[0].whole, "call.1");
  ASSERT_NE(op, nullptr);
  ASSERT_NE(op->children, nullptr);
  const OpMetrics* child = FindOp(*op->children, "gather.1");
  ASSERT_NE(child, nullptr);
  EXPECT_EQ(child->core_type, CoreType::kSparseCore);
  EXPECT_EQ(child->time_ps, 200u);
  EXPECT_EQ(op->children->total_time_ps, 500u);
}

TEST(DeviceOpMetricsTest, CoresAreKnownByTheNamesOfTheirPlanes) {
  EXPECT_EQ(TensorCoreNumber("/device:TPU:12"), 12);
  EXPECT_EQ(TensorCoreNumber("/device:TPU:1 SparseCore 0"), -1);
  EXPECT_EQ(TensorCoreNumber("/device:GPU:1"), -1);
  EXPECT_EQ(SparseCoreNumber("/device:TPU:1 SparseCore 3"), 3);
  EXPECT_EQ(SparseCoreNumber("/device:TPU:1 SparseCore word 3"), 3);
  EXPECT_EQ(SparseCoreNumber("/device:TPU:1"), -1);
}

TEST(LineOrderTest, RowsAreWalkedByStartThenLongestFirst) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  const int64_t op = plane.AddEventMetadata("op");
  LineBuilder& line = plane.AddLine(1, "XLA Ops", 0);
  // Deeper than the rows that are searched one by one, then flat.
  for (int64_t depth = 0; depth < 12; ++depth) line.AddEvent(op, depth, 100 - 2 * depth);
  line.AddEvent(op, 200, 10);
  line.AddEvent(op, 200, 5);
  line.AddEvent(op, 205, 1);
  line.AddAggregatedEvent(op, 3, 30);
  const PreparedForTest made(space);
  const xplane::LineColumns& columns = made.file->Line(0, 0);
  std::vector<std::pair<int64_t, int64_t>> seen;
  ForEachInOrder(columns, [&](uint32_t event) {
    seen.emplace_back(columns.start_ps[event], -columns.duration_ps[event]);
  });
  EXPECT_EQ(seen.size(), columns.event_count());
  EXPECT_TRUE(std::ranges::is_sorted(seen));
}

}  // namespace
}  // namespace strobe::analysis
