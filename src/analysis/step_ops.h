// The ops of steps, kept as what was measured.
//
//   auto ops = std::make_shared<StepOps>();
//   ops->AddCore(group, step_duration_ps);          // of each core
//   OpMetricsDb db = ops->Build();                  // when somebody asks for this step
//   StepOpsSum all; for (step) all.Add(*step.ops);  // many steps, without making each
//   OpMetricsDb complete = all.Finish();
//
// Steps are many, each has most of the ops of the program on every core, and hardly anybody looks
// at the ops of one step. So a step keeps the sums of its ops by metadata entry (32 B an op); op
// metrics (400 B and texts) are made when they are asked for. Cost: Build about 0.5 us an op of
// each core, StepOpsSum 5 ns.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/analysis/op_accumulator.h"
#include "src/analysis/op_metrics.h"

namespace strobe::analysis {

class PlaneOps;  // plane_ops.h

// The ops of one step of one plane.
class GroupOps {
 public:
  GroupOps() = default;
  GroupOps(std::shared_ptr<const PlaneOps> ops, GroupSums sums)
      : ops_(std::move(ops)), sums_(std::move(sums)) {}
  // With total_op_time_ps, but without total_time_ps and IDLE, which depend on how long the step
  // is.
  OpMetricsDb Build() const;
  // Self time of all ops.
  uint64_t OpTimePs() const;
  // Adds self time by category; a category whose ops took no time stands there with 0.
  void AddCategoryTimes(std::map<std::string, uint64_t>* times_ps) const;
  uint64_t resident_bytes() const { return sizeof(*this) + sums_.resident_bytes(); }

 private:
  friend class StepOps;
  friend class StepOpsSum;
  std::shared_ptr<const PlaneOps> ops_;
  GroupSums sums_;
};

class StepOps {
 public:
  // `duration_ps`: of the step on this core; what the ops leave of it is IDLE.
  void AddCore(std::shared_ptr<const GroupOps> ops, uint64_t duration_ps);
  // Ops that are op metrics already.
  void AddMade(std::shared_ptr<const OpMetricsDb> ops) {
    parts_.push_back({.made = std::move(ops)});
  }
  void Add(const StepOps& other) {
    parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
  }

  // What an op did on one core. `one` says what it is, and its memory_accessed is of one execution.
  struct OpShare {
    const OpMetrics& one;
    double flops;
    double model_flops;
    uint64_t bytes_accessed;
    uint64_t occurrences;
    uint64_t time_ps;
  };
  // Every op of every core, IDLE left out, without making op metrics: some ns each.
  void ForEachOp(const std::function<void(const OpShare&)>& visit) const;
  // Of the step, over all cores, idle time included.
  uint64_t TotalTimePs() const;

  // All cores together; num_cores says on how many an op ran.
  OpMetricsDb Build() const;
  uint64_t resident_bytes() const;

 private:
  friend class StepOpsSum;
  struct Part {
    std::shared_ptr<const GroupOps> ops = nullptr;
    uint64_t idle_ps = 0;
    uint64_t total_ps = 0;
    std::shared_ptr<const OpMetricsDb> made = nullptr;  // or this
  };
  std::vector<Part> parts_;
};

// The ops of many steps together.
class StepOpsSum {
 public:
  StepOpsSum();
  ~StepOpsSum();
  StepOpsSum(const StepOpsSum&) = delete;
  StepOpsSum& operator=(const StepOpsSum&) = delete;

  void Add(const StepOps& step);
  OpMetricsDb Finish();

 private:
  struct OfPlane;
  OfPlane& PlaneOf(const std::shared_ptr<const PlaneOps>& ops);

  std::vector<std::unique_ptr<OfPlane>> planes_;  // few; in the order of their first step
  OpMetricsDb made_;
  OpMetricsCombiner made_combiner_;
  uint64_t total_ps_ = 0;
  uint64_t idle_ps_ = 0;
  bool any_core_ = false;
};

}  // namespace strobe::analysis
