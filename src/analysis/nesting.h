// Which event lies directly inside which, from the rows of a line.
//
//   ForEachNested(line, [&](uint32_t parent, uint32_t child) { self[parent] -= duration[child]; });
//
// The parent of an event is the event of the row above that contains it whole; an event that only
// overlaps one (asynchronous lines) has none. Rows are walked side by side: O(events), no memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "src/xplane/profile_file.h"

namespace strobe::analysis {

inline int64_t EventEnd(const xplane::LineColumns& line, uint32_t event) {
  int64_t end = 0;
  return __builtin_add_overflow(line.start_ps[event], line.duration_ps[event], &end)
             ? std::numeric_limits<int64_t>::max()
             : end;
}

inline bool Contains(const xplane::LineColumns& line, uint32_t outer, uint32_t inner) {
  return line.start_ps[outer] <= line.start_ps[inner] &&
         EventEnd(line, inner) <= EventEnd(line, outer);
}

template <typename Visit>
void ForEachNested(const xplane::LineColumns& line, Visit visit) {
  const auto rows = line.timed_rows();
  for (size_t r = 0; r + 1 < rows.size(); ++r) {
    uint32_t parent = rows[r].first;
    const uint32_t parents_end = rows[r].first + rows[r].count;
    const uint32_t children_end = rows[r + 1].first + rows[r + 1].count;
    for (uint32_t child = rows[r + 1].first; child < children_end; ++child) {
      // The last event of the row above that begins no later than the child.
      while (parent + 1 < parents_end && line.start_ps[parent + 1] <= line.start_ps[child]) {
        ++parent;
      }
      if (Contains(line, parent, child)) {
        visit(parent, child);
      } else if (parent > rows[r].first && Contains(line, parent - 1, child)) {
        visit(parent - 1, child);  // an empty event where its neighbour begins
      }
    }
  }
}

// The row of an event, and its parent if it has one.
inline uint32_t RowOf(const xplane::LineColumns& line, uint32_t event) {
  const auto after = std::upper_bound(
      line.rows.begin(), line.rows.end(), event,
      [](uint32_t e, const xplane::LineColumns::Row& row) { return e < row.first; });
  return static_cast<uint32_t>(after - line.rows.begin()) - 1;
}

std::optional<uint32_t> ParentOf(const xplane::LineColumns& line, uint32_t event);

// Duration less that of the events directly inside. Cost: those events.
int64_t SelfTimeOf(const xplane::LineColumns& line, uint32_t event);

}  // namespace strobe::analysis
