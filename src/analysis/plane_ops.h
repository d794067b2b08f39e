// The ops of a plane: each metadata entry's identity, and which entries are the same op. What sums
// by entry (op_accumulator.h) become op metrics with.
//
//   const PlaneOps ops(file, plane, sums.order());
//   PlaneOps::Places places;
//   OpMetricsDb db = ops.Build(CoreType::kTensorCore, /*light=*/false, &places, [&](auto add) {
//     for (const uint32_t entry : sums.order()) add(entry, sums.whole()[entry]);
//   });
//
// Cost of making one: a decode of the stats of each entry that was executed. Immutable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/op_accumulator.h"
#include "src/analysis/op_identity.h"
#include "src/analysis/op_metrics.h"

namespace strobe::analysis {

class PlaneOps {
 public:
  // Where ops stand in the database that is being built; used for one after the other.
  struct Places {
    std::vector<uint64_t> of_op;  // round << 32 | index
    uint64_t round = 0;
  };

  PlaneOps(const xplane::ProfileFile& file, size_t plane, const std::vector<uint32_t>& executed)
      : ops_(file.planes()[plane].event_metadata.size()),
        same_(ops_.size(), 0),
        category_(ops_.size(), 0) {
    std::map<OpKey, uint32_t> first;
    for (const uint32_t entry : executed) {
      ops_[entry] = ReadOpIdentity(file, plane, entry);
      if (!ops_[entry]) continue;
      same_[entry] = first.try_emplace(ops_[entry]->key, entry).first->second;
    }
    std::map<std::string, uint32_t> categories;
    for (const uint32_t entry : executed) {
      if (!ops_[entry]) continue;
      const std::string& category = ops_[same_[entry]]->op.category;
      const auto [known, is_new] = categories.try_emplace(category, categories_.size());
      if (is_new) categories_.push_back(category);
      category_[entry] = known->second;
    }
  }

  size_t entries() const { return ops_.size(); }
  // False for entries that are no op, which nothing counts.
  bool IsOp(uint32_t entry) const { return ops_[entry].has_value(); }
  // The entry that stands for all that are the same op.
  uint32_t Same(uint32_t entry) const { return same_[entry]; }
  // What an op is, with the costs of one execution.
  const OpMetrics& One(uint32_t entry) const { return ops_[same_[entry]]->op; }
  const std::vector<std::string>& categories() const { return categories_; }
  uint32_t CategoryOf(uint32_t entry) const { return category_[entry]; }

  // Adds up entries that are the same op. `light`: without the texts that only the whole needs.
  template <typename Each>
  OpMetricsDb Build(CoreType core, bool light, Places* places, Each each) const {
    OpMetricsDb db;
    ++places->round;
    if (places->of_op.size() < ops_.size()) places->of_op.resize(ops_.size());
    double normalized_total = 0;
    each([&](uint32_t entry, const OpSums& sums) {
      if (!ops_[entry]) return;
      uint64_t& place = places->of_op[same_[entry]];
      if (place >> 32 != places->round) {
        place = places->round << 32 | db.ops.size();
        const OpMetrics& op = ops_[same_[entry]]->op;
        db.ops.push_back(light ? Light(op) : op);
        db.ops.back().core_type = core;
        db.ops.back().num_cores = 1;
      }
      AddSums(sums, light, &db.ops[static_cast<uint32_t>(place)]);
    });
    for (OpMetrics& op : db.ops) {
      ScaleByOccurrences(&op);
      db.total_op_time_ps += op.self_time_ps;
      normalized_total +=
          static_cast<double>(op.self_time_ps) *
          SafeDivide(static_cast<double>(op.normalized_time_ps), static_cast<double>(op.time_ps));
    }
    db.normalized_total_op_time_ps = static_cast<uint64_t>(normalized_total);
    return db;
  }

  // The op that a metadata entry stands for, in the database built last; npos: none.
  size_t PlaceOf(uint32_t entry, const Places& places) const {
    if (!ops_[entry]) return std::string::npos;
    const uint64_t place = places.of_op[same_[entry]];
    return place >> 32 == places.round ? static_cast<uint32_t>(place) : std::string::npos;
  }

 private:
  static OpMetrics Light(const OpMetrics& op) {
    OpMetrics light;
    light.hlo_module_id = op.hlo_module_id;
    light.name = op.name;
    light.category = op.category;
    light.flops = op.flops;
    light.model_flops = op.model_flops;
    light.bytes_accessed = op.bytes_accessed;
    light.memory_accessed = op.memory_accessed;
    return light;
  }

  static void AddSums(const OpSums& sums, bool light, OpMetrics* op) {
    op->min_time_ps = op->occurrences == 0 ? sums.min_ps : std::min(op->min_time_ps, sums.min_ps);
    op->occurrences += sums.occurrences;
    op->time_ps += sums.time_ps;
    op->self_time_ps += sums.self_ps;
    // The whole takes an execution without a time scale as it is, steps leave it out.
    op->normalized_time_ps += sums.normalized_ps + (light ? 0 : sums.unscaled_ps);
    op->dma_stall_ps += sums.dma_stall_ps;
    op->vdd_energy_j += sums.vdd_energy_j;
  }

  std::vector<std::optional<OpIdentity>> ops_;
  std::vector<uint32_t> same_;      // the first entry that is the same op
  std::vector<uint32_t> category_;  // index into categories_
  std::vector<std::string> categories_;
};

}  // namespace strobe::analysis
