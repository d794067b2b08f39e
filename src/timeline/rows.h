// Rows of a line and the events of a row that touch a span of time.
//
//   for (const LineColumns::Row& row : line.timed_rows()) {
//     const EventRange range = EventsTouching(line, row, from_ps, to_ps);
//     for (uint32_t e = range.first; e < range.last; ++e) Use(line.start_ps[e]);
//   }
//
// An event touches [from, to) when it begins inside, or began before and ends after `from`; one of
// zero length touches it when it lies inside. So neighbouring spans share only events that are in
// both. Cost: two binary searches. Relies on rows whose events do not overlap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "src/xplane/profile_file.h"

namespace strobe::timeline {

struct EventRange {
  uint32_t first = 0;
  uint32_t last = 0;  // one past the end
  uint32_t count() const { return last - first; }
};

inline int64_t SaturatingAdd(int64_t left, int64_t right) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(left, right, &sum)) return sum;
  return right > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

inline int64_t EndOf(const xplane::LineColumns& line, uint32_t event) {
  return SaturatingAdd(line.start_ps[event], line.duration_ps[event]);
}

// First event of [first, last) that starts at or after `time_ps`; `last` when there is none.
inline uint32_t FirstStartingAt(const xplane::LineColumns& line, uint32_t first, uint32_t last,
                                int64_t time_ps) {
  const auto begin = line.start_ps.begin();
  return static_cast<uint32_t>(std::lower_bound(begin + first, begin + last, time_ps) - begin);
}

inline EventRange EventsTouching(const xplane::LineColumns& line,
                                 const xplane::LineColumns::Row& row, int64_t from_ps,
                                 int64_t to_ps) {
  const uint32_t row_end = row.first + row.count;
  EventRange range;
  range.first = FirstStartingAt(line, row.first, row_end, from_ps);
  range.last = FirstStartingAt(line, range.first, row_end, to_ps);
  if (range.first > row.first && EndOf(line, range.first - 1) > from_ps) --range.first;
  return range;
}

}  // namespace strobe::timeline
