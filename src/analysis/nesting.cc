#include "src/analysis/nesting.h"

#include "src/analysis/overview.h"

namespace strobe::analysis {

using xplane::LineColumns;

std::optional<uint32_t> ParentOf(const LineColumns& line, uint32_t event) {
  const uint32_t row = RowOf(line, event);
  if (row == 0 || row >= line.timed_rows().size()) return std::nullopt;
  const LineColumns::Row above = line.rows[row - 1];
  const auto begin = line.start_ps.begin() + above.first;
  const auto after = std::upper_bound(begin, begin + above.count, line.start_ps[event]);
  for (uint32_t back = 1; back <= 2; ++back) {
    if (after - begin < back) break;
    const auto candidate = static_cast<uint32_t>(after - back - line.start_ps.begin());
    if (Contains(line, candidate, event)) return candidate;
  }
  return std::nullopt;
}

int64_t SelfTimeOf(const LineColumns& line, uint32_t event) {
  const uint32_t row = RowOf(line, event);
  int64_t self_ps = line.duration_ps[event];
  if (row + 1 >= line.timed_rows().size()) return self_ps;
  const LineColumns::Row below = line.rows[row + 1];
  const auto begin = line.start_ps.begin() + below.first;
  const auto end = begin + below.count;
  const int64_t end_ps = EventEnd(line, event);
  for (auto at = std::lower_bound(begin, end, line.start_ps[event]); at != end && *at <= end_ps;
       ++at) {
    const auto child = static_cast<uint32_t>(at - line.start_ps.begin());
    if (ParentOf(line, child) == event) self_ps -= line.duration_ps[child];
  }
  return self_ps;
}

std::vector<int64_t> SelfTimes(const LineColumns& line) {
  std::vector<int64_t> self(line.duration_ps.begin(), line.duration_ps.end());
  ForEachNested(line,
                [&](uint32_t parent, uint32_t child) { self[parent] -= line.duration_ps[child]; });
  return self;
}

}  // namespace strobe::analysis
