// The sum of many steps against the steps made one by one and added.
#include "src/analysis/step_ops.h"

#include <gtest/gtest.h>

#include "src/analysis/op_profile_for_test.h"
#include "src/analysis/plane_ops.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::analysis {
namespace {

// A plane with two ops, a custom call whose costs count once a step, and a second entry of the
// first op.
class StepOpsTest : public testing::Test {
 protected:
  StepOpsTest() {
    xplane::XSpaceBuilder space;
    xplane::PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
    AddTpuOp(&plane, {.name = "fusion.1", .symbol = 1, .flops = 100, .bytes = 7});
    AddTpuOp(&plane, {.name = "copy.2", .category = "copy", .symbol = 2, .bytes = 30});
    AddTpuOp(&plane, {.name = "call.3", .category = "custom-call", .symbol = 3, .flops = 50});
    AddTpuOp(&plane, {.name = "fusion.1.again", .symbol = 1, .flops = 100, .bytes = 7});
    file_ = xplane::MustOpen(space.Serialize());
    ops_ = std::make_shared<const PlaneOps>(*file_, 0, std::vector<uint32_t>{0, 1, 2, 3});
  }

  std::shared_ptr<const GroupOps> Group(
      const std::vector<std::pair<uint32_t, OpSums>>& of_entries) const {
    GroupSums sums;
    for (const auto& [entry, of_entry] : of_entries) sums.Add(entry, of_entry);
    return std::make_shared<const GroupOps>(ops_, std::move(sums));
  }
  static OpSums Sums(uint64_t occurrences, uint64_t each_ps) {
    return {.occurrences = occurrences,
            .time_ps = occurrences * each_ps,
            .self_ps = occurrences * each_ps,
            .min_ps = each_ps};
  }

  std::shared_ptr<xplane::ProfileFile> file_;
  std::shared_ptr<const PlaneOps> ops_;
};

TEST_F(StepOpsTest, SumEqualsStepsMadeOneByOne) {
  OpSums stalled = Sums(3, 20);
  stalled.dma_stall_ps = 11;
  stalled.normalized_ps = 90;
  stalled.vdd_energy_j = 0.5;
  StepOps first;
  first.AddCore(Group({{0, Sums(2, 10)}, {2, Sums(4, 5)}, {3, Sums(1, 8)}}), 100);
  first.AddCore(Group({{1, stalled}, {2, Sums(1, 6)}}), 100);
  StepOps second;
  second.AddCore(Group({{2, Sums(2, 4)}, {0, Sums(1, 9)}}), 10);  // shorter than its ops
  OpMetricsDb added;
  OpMetricsCombiner combiner(&added);
  StepOpsSum sum;
  for (const StepOps* step : {&first, &second}) {
    combiner.Add(step->Build(), /*add_cores=*/true);
    sum.Add(*step);
  }
  const OpMetricsDb all = sum.Finish();
  EXPECT_EQ(all.total_time_ps, added.total_time_ps);
  EXPECT_EQ(all.total_op_time_ps, added.total_op_time_ps);
  ASSERT_EQ(all.ops.size(), added.ops.size());
  for (const OpMetrics& wanted : added.ops) {
    const OpMetrics* op = FindOp(all, wanted.name);
    ASSERT_NE(op, nullptr) << wanted.name;
    EXPECT_EQ(op->occurrences, wanted.occurrences) << wanted.name;
    EXPECT_EQ(op->time_ps, wanted.time_ps) << wanted.name;
    EXPECT_EQ(op->self_time_ps, wanted.self_time_ps) << wanted.name;
    EXPECT_EQ(op->min_time_ps, wanted.min_time_ps) << wanted.name;
    EXPECT_EQ(op->normalized_time_ps, wanted.normalized_time_ps) << wanted.name;
    EXPECT_EQ(op->dma_stall_ps, wanted.dma_stall_ps) << wanted.name;
    EXPECT_EQ(op->vdd_energy_j, wanted.vdd_energy_j) << wanted.name;
    EXPECT_EQ(op->flops, wanted.flops) << wanted.name;
    EXPECT_EQ(op->model_flops, wanted.model_flops) << wanted.name;
    EXPECT_EQ(op->bytes_accessed, wanted.bytes_accessed) << wanted.name;
    EXPECT_EQ(op->num_cores, wanted.num_cores) << wanted.name;
  }
  EXPECT_EQ(FindOp(all, "call.3")->flops, 150);  // 50 a step and core, whatever the executions
  EXPECT_EQ(FindOp(all, "fusion.1")->occurrences, 4U);
}

TEST_F(StepOpsTest, SharesOfEachOpAddUpToTheStep) {
  StepOps step;
  step.AddCore(Group({{0, Sums(2, 10)}, {2, Sums(4, 5)}, {1, Sums(1, 7)}}), 100);
  const OpMetricsDb made = step.Build();
  double flops = 0;
  double model_flops = 0;
  uint64_t bytes = 0;
  step.ForEachOp([&](const StepOps::OpShare& op) {
    flops += op.flops;
    model_flops += op.model_flops;
    bytes += op.bytes_accessed;
  });
  double made_flops = 0;
  double made_model_flops = 0;
  uint64_t made_bytes = 0;
  for (const OpMetrics& op : made.ops) {
    made_flops += op.flops;
    made_model_flops += op.model_flops;
    made_bytes += op.bytes_accessed;
  }
  EXPECT_EQ(flops, made_flops);
  EXPECT_EQ(model_flops, made_model_flops);
  EXPECT_EQ(bytes, made_bytes);
  EXPECT_GT(flops, 0);
  EXPECT_EQ(step.TotalTimePs(), made.total_time_ps);
}

}  // namespace
}  // namespace strobe::analysis
