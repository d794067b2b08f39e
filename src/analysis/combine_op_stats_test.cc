#include "src/analysis/combine_op_stats.h"

#include <gtest/gtest.h>

#include "src/analysis/step_alignment.h"
#include "src/analysis/step_sequence_for_test.h"

namespace strobe::analysis {
namespace {

TEST(AlignSteps, EqualHostsKeepAllSteps) {
  const OpStats a = HostWithSteps(0, 10, 0);
  const OpStats b = HostWithSteps(0, 10, 0, /*late_ps=*/1000);
  const StepAlignment alignment = AlignSteps({&a.steps, &b.steps});
  EXPECT_EQ(alignment.step_count, 10u);
  EXPECT_EQ(alignment.first_step, (std::vector<size_t>{0, 0}));
  EXPECT_FALSE(alignment.empty_intersect);
}

TEST(AlignSteps, HostThatBeganLaterIsMovedByWholeSteps) {
  const OpStats early = HostWithSteps(0, 10, 0);
  const OpStats late = HostWithSteps(3, 10, 0, /*late_ps=*/kTestStepPs / 5);
  const StepAlignment alignment = AlignSteps({&early.steps, &late.steps});
  EXPECT_EQ(alignment.step_count, 7u);
  EXPECT_EQ(alignment.first_step, (std::vector<size_t>{3, 0}));
}

TEST(AlignSteps, HostsThatHaveNoStepInCommonAreTold) {
  // The chief is host 0 (shortest); host 1 lies before it, host 2 behind it, so what each shares
  // with the chief is not what the other shares.
  const OpStats chief = HostWithSteps(10, 4, 0);
  const OpStats before = HostWithSteps(5, 6, 0);   // has step 10
  const OpStats behind = HostWithSteps(13, 6, 0);  // has step 13
  const StepAlignment alignment = AlignSteps({&chief.steps, &before.steps, &behind.steps});
  EXPECT_TRUE(alignment.empty_intersect);
  EXPECT_EQ(alignment.step_count, 0u);
}

TEST(AlignSteps, HostWithoutStepsLeavesNone) {
  const OpStats some = HostWithSteps(0, 5, 0);
  const OpStats none = HostWithSteps(0, 0, 0);
  EXPECT_EQ(AlignSteps({&some.steps, &none.steps}).step_count, 0u);
  EXPECT_EQ(AlignSteps({&some.steps, nullptr}).step_count, 5u) << "a coordinator takes no part";
}

TEST(AlignSteps, ClocksOfTheHostsAreBroughtTogether) {
  OpStats a = HostWithSteps(0, 10, 0);
  OpStats b = HostWithSteps(0, 10, 0);
  // b's clock begins two steps later: its step 0 is a's step 2.
  a.steps.origin_unix_ns = 1'700'000'000'000'000'000;
  b.steps.origin_unix_ns = a.steps.origin_unix_ns + 2 * (kTestStepPs + kTestStepPs / 10) / 1000;
  const StepAlignment alignment = AlignSteps({&a.steps, &b.steps});
  EXPECT_EQ(alignment.step_count, 8u);
  EXPECT_EQ(alignment.first_step, (std::vector<size_t>{2, 0}));
}

TEST(CombineOpStats, OneHostIsReturnedAsItIs) {
  const OpStats host = HostWithSteps(5, 3, 2);
  const OpStats all = CombineOpStats({&host});
  ASSERT_EQ(all.steps.steps.size(), 3u);
  EXPECT_EQ(all.steps.steps[0].step_num, 5);
  EXPECT_TRUE(all.steps.steps[0].cores.contains(2));
}

TEST(CombineOpStats, CoresOfAllHostsStandInEachStep) {
  const OpStats a = HostWithSteps(5, 3, 2);
  const OpStats b = HostWithSteps(5, 3, 2);
  const OpStats all = CombineOpStats({&a, &b});
  ASSERT_EQ(all.steps.steps.size(), 3u);
  const Step& step = all.steps.steps[1];
  EXPECT_EQ(step.step_num, 1) << "steps count anew";
  ASSERT_EQ(step.cores.size(), 2u);
  EXPECT_EQ(step.cores.at(2).step_num, 1);
  EXPECT_EQ(step.cores.at(1002).duration_ps, static_cast<uint64_t>(kTestStepPs));
  ASSERT_NE(step.ops, nullptr);
  EXPECT_EQ(step.ops->Build().total_time_ps, 2u * kTestStepPs);
  EXPECT_EQ(all.complete_steps_ops.total_time_ps, 6u * kTestStepPs);
  EXPECT_EQ(all.run.device_core_count, 2u);
  EXPECT_EQ(all.run.task_count, 2u);
  EXPECT_TRUE(all.cores.contains(2) && all.cores.contains(1002));
}

TEST(CombineOpStats, CoordinatorWithoutDeviceAddsNoSteps) {
  const OpStats worker = HostWithSteps(0, 4, 1);
  OpStats coordinator;
  coordinator.run.hardware = HardwareType::kCpuOnly;
  coordinator.run.device_type = "CPU";
  coordinator.run.task_count = 1;
  const OpStats all = CombineOpStats({&coordinator, &worker});
  EXPECT_EQ(all.steps.steps.size(), 4u);
  EXPECT_TRUE(all.steps.steps[0].cores.contains(1002));
  EXPECT_EQ(all.run.device_type, "TPU v6 Lite");
  EXPECT_EQ(all.run.hardware, HardwareType::kTpu);
}

TEST(CombineOpStats, CountersAreDividedByAllHosts) {
  OpStats a = HostWithSteps(0, 1, 0);
  OpStats b = HostWithSteps(0, 1, 0);
  a.counters.matrix_unit_utilization_percent = 60;
  const OpStats all = CombineOpStats({&a, &b});
  EXPECT_DOUBLE_EQ(*all.counters.matrix_unit_utilization_percent, 30);
  EXPECT_FALSE(all.counters.hbm_utilization_percent.has_value());
}

TEST(CombineOpStats, PermutingHostsChangesNothingButIds) {
  OpStats a = HostWithSteps(0, 6, 3);
  OpStats b = HostWithSteps(2, 6, 3, /*late_ps=*/5000);
  a.device_ops.total_time_ps = 7;
  b.device_ops.total_time_ps = 9;
  const OpStats ab = CombineOpStats({&a, &b});
  const OpStats ba = CombineOpStats({&b, &a});
  ASSERT_EQ(ab.steps.steps.size(), 4u);
  ASSERT_EQ(ba.steps.steps.size(), 4u);
  EXPECT_EQ(ab.device_ops.total_time_ps, ba.device_ops.total_time_ps);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(ab.steps.steps[i].cores.at(2).begin_ps, ba.steps.steps[i].cores.at(1002).begin_ps);
    EXPECT_EQ(ab.steps.steps[i].ops->Build().total_op_time_ps, ba.steps.steps[i].ops->Build().total_op_time_ps);
  }
}

// The shape on which the reference took hours: 61,000 steps on 8 hosts. What is quadratic in the
// steps does not end within a test's time.
TEST(CombineOpStats, SixtyOneThousandStepsOnEightHosts) {
  constexpr size_t kSteps = 61'000;
  constexpr size_t kHosts = 8;
  std::vector<OpStats> hosts;
  for (size_t h = 0; h < kHosts; ++h) {
    hosts.push_back(HostWithSteps(static_cast<int64_t>(h), kSteps, 2, static_cast<int64_t>(h)));
  }
  const OpStats all = CombineOpStats(Pointers(hosts));
  ASSERT_EQ(all.steps.steps.size(), kSteps - (kHosts - 1));
  const Step& last = all.steps.steps.back();
  EXPECT_EQ(last.cores.size(), kHosts);
  EXPECT_EQ(last.ops->Build().total_time_ps, kHosts * static_cast<uint64_t>(kTestStepPs));
}

}  // namespace
}  // namespace strobe::analysis
