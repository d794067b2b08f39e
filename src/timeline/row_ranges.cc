#include "src/timeline/row_ranges.h"

#include <algorithm>

namespace strobe::timeline {
namespace {

using xplane::LineColumns;

void Prefetch(std::span<const int64_t> values) {
  constexpr size_t kPerCacheLine = 8;
  if (values.empty()) return;
  for (size_t i = 0; i < values.size(); i += kPerCacheLine) __builtin_prefetch(&values[i]);
  __builtin_prefetch(&values.back());
}

// Part of an array in which the first value that is not before a time lies, or right behind it.
struct Window {
  uint32_t first = 0;
  uint32_t last = 0;

  std::span<const int64_t> In(std::span<const int64_t> values) const {
    return values.subspan(first, last - first);
  }
  uint32_t Find(std::span<const int64_t> values, int64_t time_ps) const {
    const std::span<const int64_t> part = In(values);
    return first + static_cast<uint32_t>(std::lower_bound(part.begin(), part.end(), time_ps) -
                                         part.begin());
  }
};

// Of an array with a value for every kFanout values of the next finer one, `found` is the first
// value that is not before: the same place in the finer array. A coarse array that is empty says
// nothing.
Window Inside(size_t coarse_size, uint32_t found, size_t fine_size) {
  const uint32_t size = static_cast<uint32_t>(fine_size);
  if (coarse_size == 0) return {.first = 0, .last = size};
  const uint32_t first = found == 0 ? 0 : (found - 1) * RowPyramid::kFanout;
  return {.first = first, .last = first + std::min(size - first, RowPyramid::kFanout)};
}

struct RowSearch {
  const LineColumns* line;
  const RowPyramid* pyramid;
  LineColumns::Row row;
  Window from;
  Window to;

  std::span<const int64_t> starts() const { return line->start_ps.subspan(row.first, row.count); }
};

}  // namespace

void FindTouching(std::span<const TileLine> lines, int64_t from_ps, int64_t to_ps,
                  std::vector<EventRange>* ranges) {
  thread_local std::vector<RowSearch> searches;
  searches.clear();
  for (const TileLine& line : lines) {
    for (size_t r = 0; r < line.columns->timed_rows().size(); ++r) {
      RowSearch& search = searches.emplace_back();
      search = {.line = line.columns,
                .pyramid = &line.pyramids[r],
                .row = line.columns->rows[r],
                .from = {},
                .to = {}};
      const std::span<const int64_t> groups = search.pyramid->group_start_ps();
      const std::span<const int64_t> blocks = search.pyramid->block_start_ps();
      const Window all = {.first = 0, .last = static_cast<uint32_t>(groups.size())};
      search.from = Inside(groups.size(), all.Find(groups, from_ps), blocks.size());
      search.to = Inside(groups.size(), all.Find(groups, to_ps), blocks.size());
      Prefetch(search.from.In(blocks));
      Prefetch(search.to.In(blocks));
    }
  }
  for (RowSearch& search : searches) {
    const std::span<const int64_t> blocks = search.pyramid->block_start_ps();
    search.from = Inside(blocks.size(), search.from.Find(blocks, from_ps), search.row.count);
    search.to = Inside(blocks.size(), search.to.Find(blocks, to_ps), search.row.count);
    Prefetch(search.from.In(search.starts()));
    Prefetch(search.to.In(search.starts()));
  }
  for (RowSearch& search : searches) {
    search.from.first = search.row.first + search.from.Find(search.starts(), from_ps);
    search.to.first = search.row.first + search.to.Find(search.starts(), to_ps);
    if (search.from.first > search.row.first) {
      __builtin_prefetch(&search.line->duration_ps[search.from.first - 1]);
    }
  }
  ranges->clear();
  for (const RowSearch& search : searches) {
    EventRange range = {.first = search.from.first,
                        .last = std::max(search.from.first, search.to.first)};
    if (range.first > search.row.first && EndOf(*search.line, range.first - 1) > from_ps) {
      --range.first;
    }
    ranges->push_back(range);
  }
}

}  // namespace strobe::timeline
