// The order in which a line's events stand in the file. Columns are laid out row by row; what
// depends on the order (nesting as XProf sees it, pairs of start and stop) goes through this.
//
//   const EventOrder order = FileOrder(bytes, columns);
//   for (size_t p = 0; p < order.size(); ++p) Use(order[p]);
//
// Cost: nothing but a check for a line of one row; else a merge of the rows, about 4 ns an event
// and doubling of rows, and 4 B an event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/analysis/event_stats.h"

namespace strobe::analysis {

class EventOrder {
 public:
  explicit EventOrder(size_t count = 0) : count_(count) {}
  explicit EventOrder(std::vector<uint32_t> events)
      : count_(events.size()), events_(std::move(events)) {}

  size_t size() const { return count_; }
  uint32_t operator[](size_t position) const {
    return events_.empty() ? static_cast<uint32_t>(position) : events_[position];
  }
  bool is_identity() const { return events_.empty(); }

 private:
  size_t count_ = 0;
  std::vector<uint32_t> events_;  // empty: position i is event i
};

EventOrder FileOrder(const LineBytes& bytes, const xplane::LineColumns& columns);

// Sorts what consists of sorted runs already: `starts` holds the first position of each. Stable.
template <typename Less>
void MergeRuns(std::vector<uint32_t>* events, std::vector<uint32_t> starts, Less less) {
  if (starts.size() <= 1) return;
  const auto count = static_cast<uint32_t>(events->size());
  starts.push_back(count);
  std::vector<uint32_t> other(count);
  while (starts.size() > 2) {
    std::vector<uint32_t> merged;
    for (size_t run = 0; run + 1 < starts.size(); run += 2) {
      const auto first = events->begin() + starts[run];
      const auto middle = events->begin() + starts[run + 1];
      const auto end = run + 2 < starts.size() ? events->begin() + starts[run + 2] : middle;
      std::merge(first, middle, middle, end, other.begin() + starts[run], less);
      merged.push_back(starts[run]);
    }
    merged.push_back(count);
    events->swap(other);
    starts = std::move(merged);
  }
}

}  // namespace strobe::analysis
