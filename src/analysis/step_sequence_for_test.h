// Made-up steps of several hosts, for tests and benchmarks of aligning and combining.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/op_stats.h"

namespace strobe::analysis {

inline constexpr int64_t kTestStepPs = 1'000'000'000;  // 1 ms

// Steps number `first` .. `first + count - 1`, each kTestStepPs long and followed by a gap of a
// tenth, of one TensorCore (plane 2) with `ops` ops.
inline OpStats HostWithSteps(int64_t first, size_t count, size_t ops, int64_t late_ps = 0) {
  OpStats stats;
  stats.run.hardware = HardwareType::kTpu;
  stats.run.device_type = "TPU v6 Lite";
  stats.run.device_core_count = 1;
  stats.run.task_count = 1;
  stats.cores[2].hostname = "host";
  for (size_t i = 0; i < count; ++i) {
    Step& step = stats.steps.steps.emplace_back();
    step.step_num = first + static_cast<int64_t>(i);
    CoreStep& core = step.cores[2];
    core.is_tpu = true;
    core.step_num = step.step_num;
    core.begin_ps = step.step_num * (kTestStepPs + kTestStepPs / 10) + late_ps;
    core.duration_ps = kTestStepPs;
    core.category_ps["fusion"] = kTestStepPs;
    if (ops == 0) continue;
    auto made = std::make_shared<OpMetricsDb>();
    for (size_t o = 0; o < ops; ++o) {
      OpMetrics& op = made->ops.emplace_back();
      op.name = "fusion." + std::to_string(o);
      op.category = "fusion";
      op.occurrences = 1;
      op.time_ps = op.self_time_ps = kTestStepPs / ops;
    }
    made->total_time_ps = made->total_op_time_ps = kTestStepPs;
    auto step_ops = std::make_shared<StepOps>();
    step_ops->AddMade(std::move(made));
    step.ops = std::move(step_ops);
  }
  return stats;
}

inline std::vector<const OpStats*> Pointers(const std::vector<OpStats>& hosts) {
  std::vector<const OpStats*> pointers;
  for (const OpStats& host : hosts) pointers.push_back(&host);
  return pointers;
}

}  // namespace strobe::analysis
