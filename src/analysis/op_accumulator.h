// Sums of the executions of each op of one plane: dense by event metadata entry, for the whole
// plane and for each group (step) at once.
//
//   OpAccumulator sums(file.planes()[p].event_metadata.size());
//   sums.Add(metadata, group, execution);      // in any order; cheap when groups come in runs
//   sums.Finish();
//   for (uint32_t entry : sums.order()) Use(sums.whole()[entry]);
//   for (auto& [group, entries] : sums.TakeGroups()) Use(group, entries);
//
// Cost: 2 ns an execution while the group stays the same; 10 ns an op at each change of group.
// Memory: 72 B a metadata entry, and as much for each op of each group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "src/analysis/prepared_host.h"

namespace strobe::analysis {

// What the executions of an op add up to.
struct OpSums {
  uint64_t occurrences = 0;
  uint64_t time_ps = 0;
  uint64_t self_ps = 0;
  uint64_t normalized_ps = 0;  // of the executions that carry a time scale
  uint64_t unscaled_ps = 0;    // time of those that carry none
  uint64_t dma_stall_ps = 0;
  uint64_t min_ps = std::numeric_limits<uint64_t>::max();
  double vdd_energy_j = 0;

  void Add(const OpSums& other) {
    occurrences += other.occurrences;
    time_ps += other.time_ps;
    self_ps += other.self_ps;
    normalized_ps += other.normalized_ps;
    unscaled_ps += other.unscaled_ps;
    dma_stall_ps += other.dma_stall_ps;
    min_ps = std::min(min_ps, other.min_ps);
    vdd_energy_j += other.vdd_energy_j;
  }
};

// The sums of one group by metadata entry; an entry may be there more than once. 32 B each, because
// a long profile has as many of them as a third of its events: only few ops have stalls, energy or
// a time scale, and those stand apart.
class GroupSums {
 public:
  // For the first that are added; a group that is left and entered again grows as vectors do.
  void Reserve(size_t count) {
    if (records_.empty()) records_.reserve(count);
  }
  void Add(uint32_t entry, const OpSums& sums) {
    const bool plain = sums.normalized_ps == 0 && sums.dma_stall_ps == 0 &&
                       sums.vdd_energy_j == 0 &&
                       sums.occurrences - 1 < std::numeric_limits<uint32_t>::max();
    if (plain) {
      records_.push_back({entry, static_cast<uint32_t>(sums.occurrences), sums.time_ps,
                          sums.self_ps, sums.min_ps});
    } else {
      records_.push_back({entry, kApart, apart_.size(), 0, 0});
      apart_.push_back(sums);
    }
  }
  // visit(entry, sums); `unscaled_ps` is not kept.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Record& record : records_) {
      if (record.occurrences == kApart) {
        visit(record.entry, apart_[record.time_ps]);
      } else {
        visit(record.entry, OpSums{.occurrences = record.occurrences,
                                   .time_ps = record.time_ps,
                                   .self_ps = record.self_ps,
                                   .min_ps = record.min_ps});
      }
    }
  }
  uint64_t resident_bytes() const {
    return records_.capacity() * sizeof(Record) + apart_.capacity() * sizeof(OpSums);
  }

 private:
  static constexpr uint32_t kApart = 0;
  struct Record {
    uint32_t entry;
    uint32_t occurrences;  // kApart: time_ps is the place in apart_
    uint64_t time_ps;
    uint64_t self_ps;
    uint64_t min_ps;
  };
  std::vector<Record> records_;
  std::vector<OpSums> apart_;
};

class OpAccumulator {
 public:
  explicit OpAccumulator(size_t metadata_entries)
      : current_(metadata_entries), whole_(metadata_entries) {}

  // The sums of `metadata` within `group`, to add an execution to.
  OpSums& At(uint32_t metadata, int64_t group) {
    if (group != group_) [[unlikely]] {
      Flush();
      group_ = group;
    }
    OpSums& sums = current_[metadata];
    if (sums.occurrences == 0) [[unlikely]] {
      touched_.push_back(metadata);
    }
    return sums;
  }

  // The sums of `metadata` over all groups, for who needs no groups.
  OpSums& Whole(uint32_t metadata) {
    OpSums& sums = whole_[metadata];
    if (sums.occurrences == 0) [[unlikely]] {
      order_.push_back(metadata);
    }
    return sums;
  }

  void Finish() { Flush(); }

  const std::vector<OpSums>& whole() const { return whole_; }
  // Entries that were executed, in the order in which their first execution was added.
  const std::vector<uint32_t>& order() const { return order_; }
  // Those with a group. An entry may stand in a group more than once.
  std::map<int64_t, GroupSums> TakeGroups() { return std::move(groups_); }

 private:
  void Flush() {
    GroupSums* group = group_ == kNoGroup || touched_.empty() ? nullptr : &groups_[group_];
    if (group != nullptr) group->Reserve(touched_.size());
    for (const uint32_t metadata : touched_) {
      OpSums& sums = current_[metadata];
      if (whole_[metadata].occurrences == 0) order_.push_back(metadata);
      whole_[metadata].Add(sums);
      if (group != nullptr) group->Add(metadata, sums);
      sums = OpSums();
    }
    touched_.clear();
  }

  int64_t group_ = kNoGroup;
  std::vector<OpSums> current_;
  std::vector<uint32_t> touched_;
  std::vector<OpSums> whole_;
  std::vector<uint32_t> order_;
  std::map<int64_t, GroupSums> groups_;
};

}  // namespace strobe::analysis
