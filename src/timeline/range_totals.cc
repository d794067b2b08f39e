#include "src/timeline/range_totals.h"

#include <algorithm>

#include "src/timeline/rows.h"

namespace strobe::timeline {
namespace {

using xplane::LineColumns;

// A row as one slice sees it. Times are clipped to the slice.
struct SlicedRow {
  const LineColumns& line;
  const TotalSlice& slice;
  EventRange range;

  SlicedRow(const LineColumns& columns, const LineColumns::Row& row, const TotalSlice& asked)
      : line(columns),
        slice(asked),
        range(EventsTouching(columns, row, asked.from_ps, asked.to_ps)) {}
  int64_t StartOf(uint32_t event) const { return std::max(line.start_ps[event], slice.from_ps); }
  int64_t EndInside(uint32_t event) const { return std::min(EndOf(line, event), slice.to_ps); }
};

// What the events of the next row cover of [start, end). `at` moves on with the events of the row.
int64_t CoveredBy(const SlicedRow& below, int64_t start_ps, int64_t end_ps, uint32_t* at) {
  int64_t covered_ps = 0;
  while (*at < below.range.last && below.EndInside(*at) <= start_ps) ++*at;
  for (uint32_t child = *at; child < below.range.last; ++child) {
    const int64_t child_start_ps = below.StartOf(child);
    if (child_start_ps >= end_ps) break;
    covered_ps += std::min(below.EndInside(child), end_ps) - std::max(child_start_ps, start_ps);
    *at = child;  // the last one may reach into the next event of the row above
  }
  return covered_ps;
}

// visit(event, time inside the slice, self time inside it) for each event that touches it.
template <typename Visit>
void ForEach(const LineColumns& line, const TotalSlice& slice, Visit visit) {
  const auto rows = line.timed_rows();
  for (size_t r = 0; r < rows.size(); ++r) {
    const SlicedRow row(line, rows[r], slice);
    if (row.range.count() == 0) continue;
    const SlicedRow below(line, r + 1 < rows.size() ? rows[r + 1] : LineColumns::Row{}, slice);
    uint32_t child = below.range.first;
    for (uint32_t e = row.range.first; e < row.range.last; ++e) {
      const int64_t start_ps = row.StartOf(e);
      const int64_t end_ps = std::max(start_ps, row.EndInside(e));
      const int64_t inside_ps = end_ps - start_ps;
      visit(e, inside_ps, inside_ps - CoveredBy(below, start_ps, end_ps, &child));
    }
  }
}

}  // namespace

void NameTotal::Add(const NameTotal& other) {
  count += other.count;
  total_ps = SaturatingAdd(total_ps, other.total_ps);
  self_ps = SaturatingAdd(self_ps, other.self_ps);
  if (other.longest_ps > longest_ps) {
    longest_ps = other.longest_ps;
    longest_line = other.longest_line;
    longest_event = other.longest_event;
  }
}

void LineTotal::Add(const LineTotal& other) {
  count += other.count;
  busy_ps = SaturatingAdd(busy_ps, other.busy_ps);
}

std::vector<TotalSlice> SlicesOf(const LineColumns& line, int64_t from_ps, int64_t to_ps) {
  EventRange longest;
  bool any = false;
  for (const LineColumns::Row& row : line.timed_rows()) {
    const EventRange range = EventsTouching(line, row, from_ps, to_ps);
    any = any || range.count() > 0;
    if (range.count() > longest.count()) longest = range;
  }
  std::vector<TotalSlice> slices;
  if (!any || to_ps <= from_ps) return slices;
  int64_t border_ps = from_ps;
  for (uint32_t e = longest.first; longest.last - e > kEventsPerSlice;) {
    e += kEventsPerSlice;
    const int64_t next_ps = line.start_ps[e];
    if (next_ps <= border_ps) continue;  // many events at one instant stay together
    slices.push_back({border_ps, next_ps, slices.empty()});
    border_ps = next_ps;
  }
  slices.push_back({border_ps, to_ps, slices.empty()});
  return slices;
}

LineTotal AddTotals(const LineColumns& line, const TotalSlice& slice, uint32_t line_index,
                    std::span<NameTotal> names) {
  LineTotal sum;
  ForEach(line, slice, [&](uint32_t e, int64_t inside_ps, int64_t self_ps) {
    NameTotal& name = names[line.name[e]];
    if (slice.is_first || line.start_ps[e] >= slice.from_ps) {
      ++name.count;
      ++sum.count;
    }
    name.total_ps = SaturatingAdd(name.total_ps, inside_ps);
    name.self_ps = SaturatingAdd(name.self_ps, self_ps);
    sum.busy_ps = SaturatingAdd(sum.busy_ps, self_ps);
    if (line.duration_ps[e] <= name.longest_ps) return;
    name.longest_ps = line.duration_ps[e];
    name.longest_line = line_index;
    name.longest_event = e;
  });
  return sum;
}

void ForEachSelf(const LineColumns& line, const TotalSlice& slice,
                 const std::function<void(uint32_t, int64_t)>& visit) {
  ForEach(line, slice, [&](uint32_t e, int64_t, int64_t self_ps) { visit(e, self_ps); });
}

}  // namespace strobe::timeline
