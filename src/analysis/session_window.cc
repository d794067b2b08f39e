#include "src/analysis/session_window.h"

#include <algorithm>

namespace strobe::analysis {
namespace {

using xplane::LineColumns;

// Saturating, so that a shift cannot turn the ends around.
int64_t Add(int64_t left, int64_t right) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(left, right, &sum)) return sum;
  return right > 0 ? INT64_MAX : INT64_MIN;
}

void Extend(std::optional<TimeWindow>* window, TimeWindow more) {
  if (!window->has_value()) {
    *window = more;
    return;
  }
  (*window)->start_ps = std::min((*window)->start_ps, more.start_ps);
  (*window)->end_ps = std::max((*window)->end_ps, more.end_ps);
}

std::optional<TimeWindow> RowWindow(const LineColumns& line, const LineColumns::Row& row) {
  const auto begin = line.start_ps.begin() + row.first;
  const auto end = begin + row.count;
  const auto first = std::lower_bound(begin, end, -kMaxPlausiblePs);
  const auto last = std::upper_bound(first, end, kMaxPlausiblePs);
  if (first == last) return std::nullopt;
  const size_t event = static_cast<size_t>(last - 1 - line.start_ps.begin());
  const int64_t end_ps = Add(line.start_ps[event], line.duration_ps[event]);
  // An event that never ends counts as far as it is plausible: its start.
  return TimeWindow{*first, end_ps > kMaxPlausiblePs ? line.start_ps[event] : end_ps};
}

}  // namespace

std::optional<TimeWindow> LineWindow(const LineColumns& line) {
  std::optional<TimeWindow> window;
  if (line.timed_rows().empty()) return window;
  if (line.first_start_ps >= -kMaxPlausiblePs && line.last_end_ps <= kMaxPlausiblePs) {
    return TimeWindow{line.first_start_ps, line.last_end_ps};
  }
  for (const LineColumns::Row& row : line.timed_rows()) {
    if (const std::optional<TimeWindow> of_row = RowWindow(line, row)) Extend(&window, *of_row);
  }
  return window;
}

std::optional<TimeWindow> HostWindow(const xplane::ProfileFile& file, bool decode) {
  std::optional<TimeWindow> events;
  for (size_t p = 0; p < file.planes().size(); ++p) {
    for (size_t l = 0; l < file.planes()[p].lines.size(); ++l) {
      if (!decode && !file.LineDecoded(p, l)) continue;
      if (const auto window = LineWindow(file.Line(p, l))) Extend(&events, *window);
    }
  }
  const std::optional<xplane::ProfileFile::Window> task = file.task_window();
  if (!task || task->end_ps <= task->start_ps) return events;
  if (task->start_ps < -kMaxPlausiblePs || task->end_ps > kMaxPlausiblePs) return events;
  if (events && (events->end_ps < task->start_ps || events->start_ps > task->end_ps)) {
    return events;
  }
  return TimeWindow{task->start_ps, task->end_ps};
}

TimeWindow SessionWindow(const std::vector<HostInput>& hosts, bool decode,
                         std::span<const std::optional<TimeWindow>> known) {
  std::optional<TimeWindow> session;
  for (size_t h = 0; h < hosts.size(); ++h) {
    const HostInput& host = hosts[h];
    if (host.file == nullptr) continue;
    const bool is_known = h < known.size() && known[h].has_value();
    if (const auto window = is_known ? known[h] : HostWindow(*host.file, decode)) {
      Extend(&session, {Add(window->start_ps, host.shift_ps), Add(window->end_ps, host.shift_ps)});
    }
  }
  return session.value_or(TimeWindow{});
}

}  // namespace strobe::analysis
