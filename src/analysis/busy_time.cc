#include "src/analysis/busy_time.h"

#include <algorithm>

#include "src/analysis/nesting.h"

namespace strobe::analysis {

void BusyTime::Append(std::vector<Interval>* intervals, Interval next) {
  if (next.end_ps <= next.start_ps) return;
  if (!intervals->empty() && intervals->back().end_ps >= next.start_ps) {
    intervals->back().end_ps = std::max(intervals->back().end_ps, next.end_ps);
  } else {
    intervals->push_back(next);
  }
}

void BusyTime::AddLine(const xplane::LineColumns& line, const std::vector<uint8_t>* names) {
  std::vector<Interval> of_row;
  for (const xplane::LineColumns::Row& row : line.timed_rows()) {
    of_row.clear();
    for (uint32_t e = row.first; e < row.first + row.count; ++e) {
      if (names != nullptr && (*names)[line.name[e]] == 0) continue;
      Append(&of_row, {line.start_ps[e], EventEnd(line, e)});
    }
    if (!of_row.empty()) Merge(of_row);
  }
}

void BusyTime::Merge(const std::vector<Interval>& more) {
  std::vector<Interval> merged;
  merged.reserve(intervals_.size() + 16);
  size_t i = 0;
  size_t j = 0;
  while (i < intervals_.size() || j < more.size()) {
    const bool take_old =
        j == more.size() || (i < intervals_.size() && intervals_[i].start_ps <= more[j].start_ps);
    Append(&merged, take_old ? intervals_[i++] : more[j++]);
  }
  intervals_ = std::move(merged);
}

int64_t BusyTime::Total() const {
  int64_t total_ps = 0;
  for (const Interval& interval : intervals_) {
    int64_t sum = 0;
    if (__builtin_add_overflow(total_ps, interval.end_ps - interval.start_ps, &sum)) {
      return INT64_MAX;
    }
    total_ps = sum;
  }
  return total_ps;
}

}  // namespace strobe::analysis
