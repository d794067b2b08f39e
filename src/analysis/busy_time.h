// Time that something was going on: the union of intervals, so nested and overlapping ones count
// once.
//
//   BusyTime busy;
//   busy.AddLine(columns, nullptr);
//   busy.AddLine(other, &is_kernel);       // only events whose name is marked
//   const int64_t busy_ps = busy.Total();
//
// Cost: linear in the events of each row plus the intervals so far. Memory: 16 B an interval that
// touches no other.
#pragma once

#include <cstdint>
#include <vector>

#include "src/xplane/profile_file.h"

namespace strobe::analysis {

class BusyTime {
 public:
  // `names`: 1 for each metadata index that counts; nullptr for all.
  void AddLine(const xplane::LineColumns& line, const std::vector<uint8_t>* names);
  int64_t Total() const;

 private:
  struct Interval {
    int64_t start_ps;
    int64_t end_ps;
  };
  static void Append(std::vector<Interval>* intervals, Interval next);
  void Merge(const std::vector<Interval>& more);

  std::vector<Interval> intervals_;  // in time order, apart from each other
};

}  // namespace strobe::analysis
