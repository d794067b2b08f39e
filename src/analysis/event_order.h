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

// Moves each item that stands too late to its place, as long as that takes no more than `most`
// steps. False when it took more; what was moved until then is no less sorted. Stable.
template <typename Item, typename Less>
bool InsertNear(std::vector<Item>* items, Less less, size_t most) {
  std::vector<Item>& list = *items;
  size_t steps = 0;
  for (size_t i = 1; i < list.size(); ++i) {
    if (!less(list[i], list[i - 1])) continue;
    const Item moving = list[i];
    size_t place = i;
    do {
      list[place] = list[place - 1];
      --place;
      ++steps;
    } while (place > 0 && steps < most && less(moving, list[place - 1]));
    list[place] = moving;
    if (steps >= most) return false;
  }
  return true;
}

// A stable sort that is quick for what consists of few sorted runs (rows of a line, lines of a
// track), and for what is sorted but for items that stand near their place. Cost: one look at each
// pair of neighbours, and a merge for each doubling of runs; of very many runs first kNearSteps
// moves an item.
template <typename Item, typename Less>
void SortRuns(std::vector<Item>* items, Less less) {
  constexpr size_t kNearSteps = 2;
  constexpr size_t kManyRuns = 64;
  const auto find_starts = [&] {
    std::vector<size_t> starts = {0};
    for (size_t i = 1; i < items->size(); ++i) {
      if (less((*items)[i], (*items)[i - 1])) starts.push_back(i);
    }
    return starts;
  };
  std::vector<size_t> starts = find_starts();
  if (starts.size() > kManyRuns) {
    if (InsertNear(items, less, kNearSteps * items->size())) return;
    starts = find_starts();
  }
  if (starts.size() == 1) return;
  starts.push_back(items->size());
  std::vector<Item> other(items->size());
  const auto at = [](std::vector<Item>& list, size_t index) {
    return list.begin() + static_cast<ptrdiff_t>(index);
  };
  while (starts.size() > 2) {
    std::vector<size_t> merged;
    for (size_t run = 0; run + 1 < starts.size(); run += 2) {
      const auto first = at(*items, starts[run]);
      const auto middle = at(*items, starts[run + 1]);
      const auto end = run + 2 < starts.size() ? at(*items, starts[run + 2]) : middle;
      std::merge(first, middle, middle, end, at(other, starts[run]), less);
      merged.push_back(starts[run]);
    }
    merged.push_back(items->size());
    items->swap(other);
    starts = std::move(merged);
  }
}

}  // namespace strobe::analysis
