#include "src/analysis/step_ops.h"

#include <algorithm>

#include "src/analysis/plane_ops.h"

namespace strobe::analysis {
namespace {

// The rest of a step that its ops leave, as a database of its own.
OpMetricsDb Frame(uint64_t total_ps, uint64_t idle_ps) {
  OpMetricsDb frame;
  frame.total_time_ps = total_ps;
  OpMetrics& idle = frame.ops.emplace_back();
  idle.name = kIdle;
  idle.category = kIdle;
  idle.time_ps = idle.self_time_ps = idle_ps;
  return frame;
}

}  // namespace

OpMetricsDb GroupOps::Build() const {
  if (ops_ == nullptr) return OpMetricsDb();
  // Kept from step to step, so that a large table is not cleared for each.
  thread_local PlaneOps::Places places;
  return ops_->Build(CoreType::kUnknown, /*light=*/true, &places,
                     [&](auto add) { sums_.ForEach(add); });
}

uint64_t GroupOps::OpTimePs() const {
  uint64_t time_ps = 0;
  sums_.ForEach([&](uint32_t entry, const OpSums& sums) {
    if (ops_->IsOp(entry)) time_ps += sums.self_ps;
  });
  return time_ps;
}

void GroupOps::AddCategoryTimes(std::map<std::string, uint64_t>* times_ps) const {
  if (ops_ == nullptr) return;
  struct Time {
    uint64_t ps = 0;
    bool present = false;
  };
  std::vector<Time> times(ops_->categories().size());
  sums_.ForEach([&](uint32_t entry, const OpSums& sums) {
    if (!ops_->IsOp(entry)) return;
    Time& time = times[ops_->CategoryOf(entry)];
    time.ps += sums.self_ps;
    time.present = true;
  });
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].present) (*times_ps)[ops_->categories()[i]] += times[i].ps;
  }
}

void StepOps::AddCore(std::shared_ptr<const GroupOps> ops, uint64_t duration_ps) {
  const uint64_t op_ps = ops->OpTimePs();
  const uint64_t total_ps = std::max(op_ps, duration_ps);
  parts_.push_back({.ops = std::move(ops), .idle_ps = total_ps - op_ps, .total_ps = total_ps});
}

OpMetricsDb StepOps::Build() const {
  OpMetricsDb db;
  OpMetricsCombiner combiner(&db);
  for (const Part& part : parts_) {
    if (part.made != nullptr) {
      combiner.Add(*part.made, /*add_cores=*/true);
      continue;
    }
    combiner.Add(part.ops->Build(), /*add_cores=*/true);
    combiner.Add(Frame(part.total_ps, part.idle_ps), /*add_cores=*/true);
  }
  return db;
}

void StepOps::ForEachOp(const std::function<void(const OpShare&)>& visit) const {
  std::vector<uint32_t> custom_calls;  // seen on this core
  for (const Part& part : parts_) {
    if (part.made != nullptr) {
      for (const OpMetrics& op : part.made->ops) {
        if (op.name == kIdle) continue;
        visit({op, op.flops, op.model_flops, op.bytes_accessed, 1, op.time_ps});
      }
      continue;
    }
    if (part.ops->ops_ == nullptr) continue;
    const PlaneOps& ops = *part.ops->ops_;
    custom_calls.clear();
    part.ops->sums_.ForEach([&](uint32_t entry, const OpSums& sums) {
      if (!ops.IsOp(entry)) return;
      const OpMetrics& one = ops.One(entry);
      // As ScaleByOccurrences has it: the costs of a custom call count once.
      uint64_t times = sums.occurrences;
      const bool custom = one.category == kCustomCall;
      if (custom) {
        const uint32_t op = ops.Same(entry);
        times = std::ranges::find(custom_calls, op) == custom_calls.end() ? 1 : 0;
        if (times == 1) custom_calls.push_back(op);
      }
      const auto factor = static_cast<double>(times);
      const double model_flops = one.model_flops > 0 || custom ? one.model_flops : one.flops;
      visit({one, one.flops * factor, model_flops * factor, one.bytes_accessed * times,
             sums.occurrences, sums.time_ps});
    });
  }
}

uint64_t StepOps::TotalTimePs() const {
  uint64_t total_ps = 0;
  for (const Part& part : parts_) {
    total_ps += part.made != nullptr ? part.made->total_time_ps : part.total_ps;
  }
  return total_ps;
}

uint64_t StepOps::resident_bytes() const {
  uint64_t bytes = sizeof(*this) + parts_.capacity() * sizeof(Part);
  for (const Part& part : parts_) {
    if (part.ops != nullptr) bytes += part.ops->resident_bytes();
    if (part.made != nullptr) bytes += part.made->ops.size() * sizeof(OpMetrics);
  }
  return bytes;
}

struct StepOpsSum::OfPlane {
  explicit OfPlane(std::shared_ptr<const PlaneOps> of)
      : ops(std::move(of)),
        sums(ops->entries()),
        steps(ops->entries(), 0),
        last_step(ops->entries(), 0) {}

  std::shared_ptr<const PlaneOps> ops;
  std::vector<OpSums> sums;     // by entry
  std::vector<uint32_t> order;  // entries that have any
  std::vector<uint32_t> steps;  // in how many an op ran, at the entry that stands for it
  std::vector<uint64_t> last_step;
  uint64_t step = 0;
};

StepOpsSum::StepOpsSum() : made_combiner_(&made_) {}
StepOpsSum::~StepOpsSum() = default;

StepOpsSum::OfPlane& StepOpsSum::PlaneOf(const std::shared_ptr<const PlaneOps>& ops) {
  for (const std::unique_ptr<OfPlane>& plane : planes_) {
    if (plane->ops == ops) return *plane;
  }
  return *planes_.emplace_back(std::make_unique<OfPlane>(ops));
}

void StepOpsSum::Add(const StepOps& step) {
  for (const StepOps::Part& part : step.parts_) {
    if (part.made != nullptr) {
      made_combiner_.Add(*part.made, /*add_cores=*/true);
      continue;
    }
    any_core_ = true;
    total_ps_ += part.total_ps;
    idle_ps_ += part.idle_ps;
    if (part.ops->ops_ == nullptr) continue;
    OfPlane& plane = PlaneOf(part.ops->ops_);
    ++plane.step;
    part.ops->sums_.ForEach([&](uint32_t entry, const OpSums& sums) {
      if (!plane.ops->IsOp(entry)) return;
      if (plane.sums[entry].occurrences == 0) plane.order.push_back(entry);
      plane.sums[entry].Add(sums);
      const uint32_t op = plane.ops->Same(entry);
      if (plane.last_step[op] == plane.step) return;
      plane.last_step[op] = plane.step;
      ++plane.steps[op];
    });
  }
}

OpMetricsDb StepOpsSum::Finish() {
  OpMetricsDb all;
  OpMetricsCombiner combiner(&all);
  for (const std::unique_ptr<OfPlane>& plane : planes_) {
    PlaneOps::Places places;
    OpMetricsDb db = plane->ops->Build(CoreType::kUnknown, /*light=*/true, &places, [&](auto add) {
      for (const uint32_t entry : plane->order) add(entry, plane->sums[entry]);
    });
    for (const uint32_t entry : plane->order) {
      OpMetrics& op = db.ops[plane->ops->PlaceOf(entry, places)];
      if (op.num_cores != 1) continue;  // told by another entry
      const uint32_t steps = plane->steps[plane->ops->Same(entry)];
      if (steps > 1 && op.category == kCustomCall) {
        // Its costs count once a step (ScaleByOccurrences).
        op.flops *= steps;
        op.model_flops *= steps;
        op.bytes_accessed *= steps;
      }
      op.num_cores = steps;
    }
    combiner.Add(db, /*add_cores=*/true);
  }
  combiner.Add(made_, /*add_cores=*/true);
  if (any_core_) combiner.Add(Frame(total_ps_, idle_ps_), /*add_cores=*/true);
  return all;
}

}  // namespace strobe::analysis
