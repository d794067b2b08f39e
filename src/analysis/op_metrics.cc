#include "src/analysis/op_metrics.h"

#include <algorithm>

#include "src/base/hash.h"

namespace strobe::analysis {
namespace {

void CopyText(const std::string& from, std::string* into) {
  if (into->empty()) *into = from;
}

// What an op is, apart from its measurements: the first that knows a text tells it.
void CopyIdentity(const OpMetrics& from, OpMetrics* into) {
  CopyText(from.long_name, &into->long_name);
  CopyText(from.category, &into->category);
  CopyText(from.provenance, &into->provenance);
  CopyText(from.deduplicated_name, &into->deduplicated_name);
  CopyText(from.source_file, &into->source_file);
  CopyText(from.source_stack, &into->source_stack);
  if (into->source_line == 0) into->source_line = from.source_line;
  if (into->fingerprint == 0) into->fingerprint = from.fingerprint;
  if (into->core_type == CoreType::kUnknown) into->core_type = from.core_type;
  if (into->children == nullptr) into->children = from.children;
}

void AddMemory(const std::vector<MemoryAccessed>& from, std::vector<MemoryAccessed>* into) {
  for (const MemoryAccessed& access : from) {
    const auto same = std::ranges::find_if(*into, [&](const MemoryAccessed& known) {
      return known.space == access.space && known.is_write == access.is_write;
    });
    if (same == into->end()) {
      into->push_back(access);
    } else {
      same->bytes += access.bytes;
    }
  }
}

void AddMeasurements(const OpMetrics& from, bool add_cores, OpMetrics* into) {
  // An op that has not run yet has no shortest run.
  if (into->occurrences == 0 || (from.occurrences != 0 && from.min_time_ps < into->min_time_ps)) {
    into->min_time_ps = from.min_time_ps;
  }
  into->is_eager |= from.is_eager;
  into->autotuned |= from.autotuned;
  into->reference_lacks_cost |= from.reference_lacks_cost;
  into->occurrences += from.occurrences;
  into->time_ps += from.time_ps;
  into->self_time_ps += from.self_time_ps;
  into->normalized_time_ps += from.normalized_time_ps;
  into->dma_stall_ps += from.dma_stall_ps;
  into->flops += from.flops;
  into->model_flops += from.model_flops;
  into->bytes_accessed += from.bytes_accessed;
  into->vdd_energy_j += from.vdd_energy_j;
  if (add_cores) into->num_cores += from.num_cores;
  AddMemory(from.memory_accessed, &into->memory_accessed);
}

uint64_t HashOf(const OpMetrics& op) { return Hash64(op.name, op.hlo_module_id); }

}  // namespace

OpMetricsCombiner::OpMetricsCombiner(OpMetricsDb* into) : into_(into) {
  for (size_t i = 0; i < into_->ops.size(); ++i) index_.emplace(HashOf(into_->ops[i]), i);
}

OpMetrics& OpMetricsCombiner::Place(const OpMetrics& op, bool add_cores) {
  const uint64_t hash = HashOf(op);
  const auto [begin, end] = index_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    OpMetrics& known = into_->ops[at->second];
    if (known.hlo_module_id == op.hlo_module_id && known.name == op.name) return known;
  }
  index_.emplace(hash, into_->ops.size());
  OpMetrics& added = into_->ops.emplace_back();
  added.hlo_module_id = op.hlo_module_id;
  added.name = op.name;
  added.num_cores = add_cores ? 0 : op.num_cores;
  return added;
}

void OpMetricsCombiner::Add(const OpMetricsDb& from, bool add_cores) {
  into_->total_time_ps += from.total_time_ps;
  into_->total_op_time_ps += from.total_op_time_ps;
  into_->normalized_total_op_time_ps += from.normalized_total_op_time_ps;
  into_->idle_time_ps += from.idle_time_ps;
  into_->busy_time_ps += from.busy_time_ps;
  into_->idle_time_high_confidence_ps += from.idle_time_high_confidence_ps;
  into_->busy_time_high_confidence_ps += from.busy_time_high_confidence_ps;
  into_->host_infeed_enqueue_duration_ps += from.host_infeed_enqueue_duration_ps;
  into_->host_infeed_enqueue_start_difference_ps += from.host_infeed_enqueue_start_difference_ps;
  into_->precision.compute_16bit_ps += from.precision.compute_16bit_ps;
  into_->precision.compute_32bit_ps += from.precision.compute_32bit_ps;
  for (const OpMetrics& op : from.ops) {
    OpMetrics& known = Place(op, add_cores);
    CopyIdentity(op, &known);
    AddMeasurements(op, add_cores, &known);
  }
}

void DropCostsThatReferenceLacks(OpMetricsDb* db) {
  for (OpMetrics& op : db->ops) {
    if (!op.reference_lacks_cost) continue;
    op.flops = 0;
    op.model_flops = 0;
    op.bytes_accessed = 0;
    op.memory_accessed.clear();
  }
}

std::vector<const OpMetrics*> SortedBySelfTime(const OpMetricsDb& db) {
  std::vector<const OpMetrics*> sorted;
  sorted.reserve(db.ops.size());
  for (const OpMetrics& op : db.ops) sorted.push_back(&op);
  std::ranges::stable_sort(sorted, [](const OpMetrics* left, const OpMetrics* right) {
    return left->self_time_ps != right->self_time_ps ? left->self_time_ps > right->self_time_ps
                                                     : left->name < right->name;
  });
  return sorted;
}

}  // namespace strobe::analysis
