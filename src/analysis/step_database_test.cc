// Steps of made-up profiles: markers, classification, TPU cores, all-reduces, host input.
#include "src/analysis/step_database.h"

#include <gtest/gtest.h>

#include "src/analysis/op_stats.h"
#include "src/analysis/step_events.h"
#include "src/analysis/tpu_step.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::analysis {
namespace {

using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

constexpr int64_t kMs = 1'000'000'000;

OpStats StatsOf(XSpaceBuilder* space) {
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(space->Serialize());
  const auto prepared = PreparedHost::Prepare(file, *file, {}, CancelToken());
  EXPECT_TRUE(prepared.ok());
  hlo::ModuleSet modules;
  modules.Finish();
  const Result<OpStats> stats = MakeOpStats(**prepared, modules, CancelToken());
  EXPECT_TRUE(stats.ok());
  return stats.ok() ? *stats : OpStats();
}

uint64_t TypePs(const Step& step, EventType type) {
  return step.cores.at(kGenericCore).type_ps[static_cast<size_t>(type)];
}

TEST(ClassifyHostEvent, ByName) {
  EXPECT_EQ(ClassifyHostEvent("IteratorGetNext::Next"), EventType::kHostWaitInput);
  EXPECT_EQ(ClassifyHostEvent("InfeedEnqueueTuple:InfeedEnqueueTuple"), EventType::kHostToDevice);
  EXPECT_EQ(ClassifyHostEvent("MemcpyHToD"), EventType::kHostToDevice);
  EXPECT_EQ(ClassifyHostEvent("MEMCPYHtoH bytes"), EventType::kHostToHost);
  EXPECT_EQ(ClassifyHostEvent("MatMul:MatMul"), EventType::kHostCompute);
  EXPECT_TRUE(IsExplicitStepMarker("train 7"));
  EXPECT_TRUE(IsExplicitStepMarker("test_epoch"));
  EXPECT_FALSE(IsExplicitStepMarker("train/step"));
  EXPECT_FALSE(IsExplicitStepMarker("step"));
}

TEST(ClassifyGpuEvent, ByNameAndShapes) {
  EXPECT_EQ(ClassifyGpuEvent("MemcpyD2H", ""), EventType::kDeviceCompute32);
  EXPECT_EQ(ClassifyGpuEvent("MemcpyDtoH", ""), EventType::kDeviceToHost);
  EXPECT_EQ(ClassifyGpuEvent("MemcpyDToD", ""), EventType::kDeviceToDevice);
  EXPECT_EQ(ClassifyGpuEvent("ncclAllReduceKernel", ""), EventType::kDeviceCollectives);
  EXPECT_EQ(ClassifyGpuEvent("gemm_fp16_128", ""), EventType::kDeviceCompute16);
  EXPECT_EQ(ClassifyGpuEvent("gemm_fp16_128", "(float)"), EventType::kDeviceCompute32);
  EXPECT_EQ(ClassifyGpuEvent("gemm", "(half)"), EventType::kDeviceCompute16);
}

// Two `train` steps of 10 ms; in each 3 ms of work, 2 ms of waiting for input inside of that work.
TEST(StepDatabase, HostWithoutDeviceIsSharedOutByType) {
  XSpaceBuilder space;
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  LineBuilder& line = host.AddLine(1, "python", 0);
  const int64_t train = host.AddEventMetadata("train");
  const int64_t work = host.AddEventMetadata("work");
  const int64_t wait = host.AddEventMetadata("IteratorGetNext");
  for (int64_t step = 0; step < 2; ++step) {
    const int64_t at = step * 20 * kMs;
    line.AddEvent(train, at, 10 * kMs)
        .AddStat(host.StatId("_r"), int64_t{1})
        .AddStat(host.StatId("step_num"), step + 5);
    line.AddEvent(work, at + kMs, 3 * kMs);
    line.AddEvent(wait, at + 2 * kMs, 2 * kMs);
  }
  const OpStats stats = StatsOf(&space);
  ASSERT_EQ(stats.steps.steps.size(), 2u);
  const Step& step = stats.steps.steps[1];
  EXPECT_EQ(step.step_name, "train 6");
  EXPECT_EQ(step.cores.at(kGenericCore).duration_ps, 10u * kMs);
  EXPECT_EQ(TypePs(step, EventType::kHostCompute), 1u * kMs);
  EXPECT_EQ(TypePs(step, EventType::kHostWaitInput), 2u * kMs);
  EXPECT_EQ(TypePs(step, EventType::kUnknown), 7u * kMs);
}

TEST(StepDatabase, StepWithoutWorkIsNoStep) {
  XSpaceBuilder space;
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  LineBuilder& line = host.AddLine(1, "python", 0);
  line.AddEvent(host.AddEventMetadata("train"), 0, 10 * kMs)
      .AddStat(host.StatId("_r"), int64_t{1})
      .AddStat(host.StatId("step_num"), int64_t{0});
  EXPECT_TRUE(StatsOf(&space).steps.steps.empty());
}

struct TpuOp {
  std::string name;
  std::string category;
  int64_t start_ms;
  int64_t length_ms;
  int64_t all_reduce = 0;
};

// A TensorCore with steps of 10 ms every 12 ms, in each of which `ops` run.
void AddTensorCore(XSpaceBuilder* space, int64_t core, int64_t first_step, int64_t steps,
                   const std::vector<TpuOp>& ops) {
  PlaneBuilder& plane = space->AddPlane("/device:TPU:" + std::to_string(core), core + 10);
  LineBuilder& markers = plane.AddLine(1, "Steps", 0);
  LineBuilder& line = plane.AddLine(3, "XLA Ops", 0);
  int64_t symbol = 0;
  std::map<std::string, int64_t> ids;
  for (const TpuOp& op : ops) {
    ids[op.name] = plane.AddEventMetadata("%" + op.name + " = f32[] op()", op.name);
    plane.EventMetadataStats(ids[op.name])
        .AddStat(plane.StatId("hlo_category"), op.category)
        .AddStat(plane.StatId("program_id"), uint64_t{7})
        .AddStat(plane.StatId("symbol_id"), static_cast<uint64_t>(++symbol));
  }
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t at = (first_step + s) * 12 * kMs;
    markers.AddEvent(plane.AddEventMetadata(std::to_string(first_step + s)), at, 10 * kMs)
        .AddStat(plane.StatId("group_id"), first_step + s);
    for (const TpuOp& op : ops) {
      xplane::StatSink& event =
          line.AddEvent(ids[op.name], at + op.start_ms * kMs, op.length_ms * kMs);
      event.AddStat(plane.StatId("group_id"), first_step + s);
      if (op.all_reduce != 0) {
        event.AddStat(plane.StatId("all_reduce_unique_id"), static_cast<uint64_t>(op.all_reduce));
      }
    }
  }
}

// With group ids in every plane nothing is grouped anew, so that the steps are those planted.
void AddGroupedHost(XSpaceBuilder* space) { space->AddPlane("/host:CPU").StatId("group_id"); }

TEST(StepDatabase, TensorCoresTellTimeByCategory) {
  XSpaceBuilder space;
  AddTensorCore(&space, 0, 0, 3, {{"fusion.1", "fusion", 0, 6}, {"copy.1", "copy", 2, 1}});
  AddGroupedHost(&space);
  const OpStats stats = StatsOf(&space);
  ASSERT_EQ(stats.steps.steps.size(), 3u);
  const CoreStep& core = stats.steps.steps[1].cores.at(10);
  EXPECT_TRUE(core.is_tpu);
  EXPECT_EQ(core.duration_ps, 10u * kMs);
  EXPECT_EQ(core.category_ps.at("fusion"), 5u * kMs) << "the copy inside is not its own";
  EXPECT_EQ(core.category_ps.at("copy"), 1u * kMs);
  EXPECT_EQ(core.category_ps.at("IDLE"), 4u * kMs);
  ASSERT_NE(stats.steps.steps[1].ops, nullptr);
  EXPECT_EQ(stats.steps.steps[1].ops->Build().total_time_ps, 10u * kMs);
  EXPECT_EQ(stats.steps.steps[1].ops->Build().total_op_time_ps, 6u * kMs);
  EXPECT_EQ(stats.complete_steps_ops.total_time_ps, 30u * kMs);
}

TEST(StepDatabase, StepIsOneThatEveryCoreHas) {
  XSpaceBuilder space;
  AddTensorCore(&space, 0, 0, 4, {{"fusion.1", "fusion", 0, 6}});
  AddTensorCore(&space, 1, 2, 4, {{"fusion.1", "fusion", 0, 6}});
  AddGroupedHost(&space);
  const OpStats stats = StatsOf(&space);
  ASSERT_EQ(stats.steps.steps.size(), 2u);
  EXPECT_EQ(stats.steps.steps[0].step_num, 2);
  EXPECT_EQ(stats.steps.steps[0].cores.size(), 2u);
}

TEST(StepDatabase, AllReducesAreKeptByCore) {
  XSpaceBuilder space;
  AddTensorCore(&space, 0, 0, 1, {{"all-reduce.1", "all-reduce", 0, 6, 9}});
  AddTensorCore(&space, 1, 0, 1, {{"all-reduce.1", "all-reduce", 4, 2, 9}});
  AddGroupedHost(&space);
  const OpStats stats = StatsOf(&space);
  ASSERT_EQ(stats.steps.steps.size(), 1u);
  const auto splits = SplitAllReduces(stats.steps.steps[0].all_reduces);
  EXPECT_EQ(splits.at(10).compute_ps, 2u * kMs);
  EXPECT_EQ(splits.at(10).sync_ps, 4u * kMs);
  EXPECT_EQ(splits.at(11).sync_ps, 0u);
}

// 4 ms of the step are idle, during 2 of which the host sends input.
TEST(StepDatabase, HostInputBecomesInfeedWhereThereIsNone) {
  XSpaceBuilder space;
  AddTensorCore(&space, 0, 0, 1, {{"fusion.1", "fusion", 0, 6}});
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  host.AddLine(1, "feeder", 0)
      .AddEvent(host.AddEventMetadata("MemcpyHToD"), 7 * kMs, 2 * kMs)
      .AddStat(host.StatId("group_id"), int64_t{0});
  const OpStats stats = StatsOf(&space);
  ASSERT_EQ(stats.steps.steps.size(), 1u);
  const CoreStep& core = stats.steps.steps[0].cores.at(10);
  EXPECT_EQ(core.category_ps.at("infeed"), 2u * kMs);
  EXPECT_EQ(core.category_ps.at("IDLE"), 2u * kMs);
}

TEST(StepDatabase, InfeedOpsLeaveIdleTimeAlone) {
  XSpaceBuilder space;
  AddTensorCore(&space, 0, 0, 1, {{"infeed.1", "infeed", 0, 1}, {"fusion.1", "fusion", 1, 5}});
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  host.AddLine(1, "feeder", 0)
      .AddEvent(host.AddEventMetadata("MemcpyHToD"), 7 * kMs, 2 * kMs)
      .AddStat(host.StatId("group_id"), int64_t{0});
  const OpStats stats = StatsOf(&space);
  ASSERT_EQ(stats.steps.steps.size(), 1u);
  EXPECT_EQ(stats.steps.steps[0].cores.at(10).category_ps.at("infeed"), 1u * kMs);
  EXPECT_EQ(stats.steps.steps[0].cores.at(10).category_ps.at("IDLE"), 4u * kMs);
}

// Kernels of two streams: the collective is on top of nothing, 16 bit on top of 32 bit.
TEST(StepDatabase, StreamsOfAGpuAreOneStory) {
  XSpaceBuilder space;
  PlaneBuilder& gpu = space.AddPlane("/device:GPU:0", 4);
  const auto add = [&](LineBuilder& line, std::string_view name, int64_t start_ms,
                       int64_t length_ms) {
    line.AddEvent(gpu.AddEventMetadata(name), start_ms * kMs, length_ms * kMs)
        .AddStat(gpu.StatId("correlation_id"), int64_t{start_ms + 1})
        .AddStat(gpu.StatId("group_id"), int64_t{0});
  };
  gpu.AddLine(0xdeadbeef, "Steps", 0)
      .AddEvent(gpu.AddEventMetadata("0"), 0, 10 * kMs)
      .AddStat(gpu.StatId("group_id"), int64_t{0});
  LineBuilder& first = gpu.AddLine(7, "Stream #7(Compute)", 0);
  add(first, "gemm", 0, 6);
  LineBuilder& second = gpu.AddLine(8, "Stream #8(Compute)", 0);
  add(second, "gemm_fp16", 2, 2);
  add(second, "ncclAllReduce", 5, 3);
  AddGroupedHost(&space);
  const OpStats stats = StatsOf(&space);
  ASSERT_EQ(stats.steps.steps.size(), 1u);
  const Step& step = stats.steps.steps[0];
  EXPECT_EQ(TypePs(step, EventType::kDeviceCompute32), 4u * kMs);
  EXPECT_EQ(TypePs(step, EventType::kDeviceCompute16), 2u * kMs);
  EXPECT_EQ(TypePs(step, EventType::kDeviceCollectives), 2u * kMs);
  EXPECT_EQ(TypePs(step, EventType::kUnknown), 2u * kMs);
  EXPECT_EQ(stats.device_ops.precision.compute_16bit_ps, 2u * kMs);
  EXPECT_EQ(stats.device_ops.precision.compute_32bit_ps, 4u * kMs);
}

}  // namespace
}  // namespace strobe::analysis
