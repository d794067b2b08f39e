// Single events of an opened session: their details and their neighbours.
#include <algorithm>

#include "src/analysis/nesting.h"
#include "src/engine/opened_session.h"

namespace strobe::engine {
namespace {

using analysis::EventRef;
using xplane::LineColumns;
using Int128 = __int128;

// How far an event is from a time; 0 when it contains it.
Int128 Distance(const LineColumns& line, uint32_t event, Int128 time_ps) {
  const Int128 start = line.start_ps[event];
  const Int128 end = start + line.duration_ps[event];
  if (time_ps < start) return start - time_ps;
  return time_ps > end ? time_ps - end : 0;
}

// Nearest event of a row: the last that begins at or before the time, or the one after it.
uint32_t NearestInRow(const LineColumns& line, const LineColumns::Row& row, Int128 time_ps) {
  const auto begin = line.start_ps.begin() + row.first;
  const auto after = std::upper_bound(begin, begin + row.count, time_ps,
                                      [](Int128 time, int64_t start) { return time < start; });
  const auto next = static_cast<uint32_t>(after - line.start_ps.begin());
  if (next == row.first) return next;
  if (next == row.first + row.count) return next - 1;
  return Distance(line, next - 1, time_ps) <= Distance(line, next, time_ps) ? next - 1 : next;
}

}  // namespace

Result<EventDetail> SessionState::Event(const EventRef& ref) {
  STROBE_RETURN_IF_ERROR(CheckEvent(ref));
  const HostState& host = hosts_[ref.host];
  const xplane::ProfileFile& profile = *host.profile;
  const xplane::Plane& plane = profile.planes()[ref.plane];
  const LineColumns& columns = profile.Line(ref.plane, ref.line);
  const uint32_t name = columns.name[ref.event];
  const xplane::EventMetadata& metadata = plane.event_metadata[name];

  EventDetail detail;
  detail.ref = ref;
  detail.name = metadata.label();
  detail.full_name = metadata.name;
  detail.host = host.file.host;
  detail.plane = plane.name;
  detail.line = columns.display_name.empty() ? plane.lines[ref.line].label() : columns.display_name;
  if (__builtin_add_overflow(columns.start_ps[ref.event], host.shift_ps, &detail.start_ps)) {
    detail.start_ps = columns.start_ps[ref.event];
  }
  detail.duration_ps = columns.duration_ps[ref.event];
  detail.self_ps = analysis::SelfTimeOf(columns, ref.event);
  detail.depth = analysis::RowOf(columns, ref.event);
  detail.occurrences = profile.EventOccurrences(ref.plane, ref.line, ref.event);
  if (const std::optional<uint32_t> parent = analysis::ParentOf(columns, ref.event)) {
    detail.parent = EventRef{ref.host, ref.plane, ref.line, *parent};
  }
  detail.offset_bytes = profile.EventOffset(ref.plane, ref.line, ref.event);
  for (xplane::Stat& stat : profile.EventStats(ref.plane, ref.line, ref.event)) {
    detail.stats.push_back({.stat = stat, .from_metadata = false});
  }
  for (xplane::Stat& stat : profile.MetadataStats(ref.plane, name)) {
    detail.stats.push_back({.stat = stat, .from_metadata = true});
  }
  STROBE_RETURN_IF_ERROR(CheckColumns());
  return detail;
}

Neighbours SessionState::NeighboursOfKnown(const EventRef& ref) const {
  const LineColumns& columns = hosts_[ref.host].profile->Line(ref.plane, ref.line);
  const LineColumns::Row row = columns.rows[analysis::RowOf(columns, ref.event)];
  Neighbours neighbours;
  neighbours.event = ref;
  if (ref.event > row.first) {
    neighbours.previous = EventRef{ref.host, ref.plane, ref.line, ref.event - 1};
  }
  if (ref.event + 1 < row.first + row.count) {
    neighbours.next = EventRef{ref.host, ref.plane, ref.line, ref.event + 1};
  }
  return neighbours;
}

Result<Neighbours> SessionState::NeighboursAt(uint32_t host, uint32_t plane, uint32_t line,
                                              int64_t at_ps) {
  STROBE_RETURN_IF_ERROR(CheckLine(host, plane, line));
  const LineColumns& columns = hosts_[host].profile->Line(plane, line);
  const Int128 time_ps = static_cast<Int128>(at_ps) - hosts_[host].shift_ps;
  std::optional<uint32_t> nearest;
  for (const LineColumns::Row& row : columns.timed_rows()) {
    const uint32_t event = NearestInRow(columns, row, time_ps);
    // Of equally near ones the innermost.
    if (!nearest || Distance(columns, event, time_ps) <= Distance(columns, *nearest, time_ps)) {
      nearest = event;
    }
  }
  if (!nearest) return Neighbours{};
  return NeighboursOfKnown({host, plane, line, *nearest});
}

Result<Neighbours> SessionState::NeighboursOf(const EventRef& ref) {
  STROBE_RETURN_IF_ERROR(CheckEvent(ref));
  return NeighboursOfKnown(ref);
}

}  // namespace strobe::engine
