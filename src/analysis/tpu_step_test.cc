#include "src/analysis/tpu_step.h"

#include <gtest/gtest.h>

namespace strobe::analysis {
namespace {

constexpr uint64_t kMs = 1'000'000'000;

CoreStep Core(uint64_t duration_ms, std::map<std::string, uint64_t> category_ms) {
  CoreStep core;
  core.step_num = 4;
  core.duration_ps = duration_ms * kMs;
  core.is_tpu = true;
  for (const auto& [category, ms] : category_ms) core.category_ps[category] = ms * kMs;
  return core;
}

TEST(TpuStep, BreaksDownOneCore) {
  const TpuCoreBreakdown tpu = BreakDownTpuCore(Core(100, {{"fusion", 40},
                                                           {"infeed", 10},
                                                           {"outfeed", 5},
                                                           {"host send", 2},
                                                           {"host recv-done", 3},
                                                           {"async-done", 6},
                                                           {"all-reduce", 14},
                                                           {"IDLE", 20}}));
  EXPECT_EQ(tpu.infeed_ps, 10 * kMs);
  EXPECT_EQ(tpu.outfeed_ps, 5 * kMs);
  EXPECT_EQ(tpu.host_send_ps, 2 * kMs);
  EXPECT_EQ(tpu.host_recv_ps, 3 * kMs);
  EXPECT_EQ(tpu.all_reduce_ps, 14 * kMs);
  EXPECT_EQ(tpu.idle_ps, 20 * kMs);
  EXPECT_EQ(tpu.busy_ps, 54 * kMs) << "fusion and all-reduce";
}

TEST(TpuStep, InfeedOfSparseCoreV0WaitsForWhatItsOutfeedDoesNotExplain) {
  const TpuCoreBreakdown tpu =
      BreakDownTpuCore(Core(10, {{"sparsecorev0 infeed", 5}, {"sparsecorev0 outfeed", 2}}));
  EXPECT_EQ(tpu.scv0_transform_ps, 2 * kMs);
  EXPECT_EQ(tpu.scv0_wait_ps, 3 * kMs);
}

TEST(TpuStep, AcrossCoresTakesTheFastestForComputeAndTheSlowestForInput) {
  Step step;
  step.cores[0] = Core(100, {{"fusion", 70}, {"infeed", 20}, {"outfeed", 4}, {"IDLE", 6}});
  step.cores[1] = Core(100, {{"fusion", 80}, {"infeed", 5}, {"host send", 5}, {"IDLE", 10}});
  const TpuStepDetails details = ComputeTpuStepDetails(step);
  EXPECT_EQ(details.step_number, 4);
  EXPECT_DOUBLE_EQ(details.tc_compute_ms, 70);
  EXPECT_DOUBLE_EQ(details.tc_infeed_ms, 20);
  EXPECT_EQ(details.longest_infeed_core, 0u);
  EXPECT_DOUBLE_EQ(details.tc_outfeed_ms, 2) << "mean of the cores";
  EXPECT_DOUBLE_EQ(details.host_transfer_ms, 5);
  EXPECT_DOUBLE_EQ(details.tc_idle_ms, 100 - 70 - 20 - 2);
  EXPECT_DOUBLE_EQ(details.infeed_percent_average, 12.5);
  EXPECT_DOUBLE_EQ(details.infeed_percent_minimum, 5);
  EXPECT_DOUBLE_EQ(details.infeed_percent_maximum, 20);
  EXPECT_DOUBLE_EQ(details.tc_busy_ms, 75);
}

TEST(TpuStep, ShortestOfEqualAllReducesIsTheWorkTheRestIsWaiting) {
  const std::map<uint32_t, std::vector<AllReduceTime>> by_core = {
      {0, {{.id = 7, .duration_ps = 30}, {.id = 8, .duration_ps = 10}}},
      {1, {{.id = 7, .duration_ps = 50}}}};
  const std::map<uint32_t, AllReduceSplit> splits = SplitAllReduces(by_core);
  EXPECT_EQ(splits.at(0).compute_ps, 40u);
  EXPECT_EQ(splits.at(0).sync_ps, 0u);
  EXPECT_EQ(splits.at(1).compute_ps, 30u);
  EXPECT_EQ(splits.at(1).sync_ps, 20u);
}

TEST(TpuStep, SparseCoresAreToldApart) {
  Step step;
  step.cores[0] = Core(100, {{"fusion", 60}, {"IDLE", 40}});
  step.cores[kSparseCoreIndexStart + 3] = Core(50, {{"gather", 20}, {"IDLE", 30}});
  const TpuStepDetails details = ComputeTpuStepDetails(step);
  EXPECT_DOUBLE_EQ(details.sc_step_ms, 50);
  EXPECT_DOUBLE_EQ(details.sc_compute_ms, 20);
  EXPECT_DOUBLE_EQ(details.sc_idle_ms, 30);
  EXPECT_DOUBLE_EQ(details.tc_compute_ms, 60);
}

TEST(TpuStep, StepWithoutCoresIsAllZero) {
  const TpuStepDetails details = ComputeTpuStepDetails(Step());
  EXPECT_EQ(details.step_number, -1);
  EXPECT_EQ(details.StepMs(), 0);
  EXPECT_FALSE(details.longest_infeed_core.has_value());
}

}  // namespace
}  // namespace strobe::analysis
