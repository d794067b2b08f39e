// Walks the events of a session's lines, for tools that look at the timeline itself.
//
//   STROBE_RETURN_IF_ERROR(ForEachTrack(context, [&](const Track& track) {
//     for (const uint32_t e : InTimeOrder(track.columns()))
//       Use(track.EventName(e), track.StartPs(e), track.columns().duration_ps[e]);
//     return OkStatus();
//   }));
//
// Times are session time: picoseconds from the session's origin, the same that the timeline uses,
// and for profiles without a wall clock the same numbers that XProf prints. A name that is only
// digits (a format id) is replaced by the event's message, as XProf does it. Lines are decoded on
// first use; cancellation is looked at once a line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/tools/agent_common.h"
#include "src/xplane/profile_file.h"

namespace strobe::tools {

class Track {
 public:
  Track(const ToolHost& host, size_t host_index, size_t plane, size_t line)
      : host_(host), host_index_(host_index), plane_(plane), line_(line) {}

  const std::string& host_name() const { return host_.name; }
  size_t host_index() const { return host_index_; }
  size_t plane_index() const { return plane_; }
  size_t line_index() const { return line_; }
  const xplane::ProfileFile& file() const { return *host_.file; }
  const xplane::Plane& plane() const { return host_.file->planes()[plane_]; }
  const xplane::Line& line() const { return plane().lines[line_]; }
  // Decodes on first use.
  const xplane::LineColumns& columns() const { return host_.file->Line(plane_, line_); }
  int64_t StartPs(uint32_t event) const { return columns().start_ps[event] + host_.shift_ps; }
  std::string_view RawName(uint32_t event) const {
    return plane().event_metadata[columns().name[event]].name;
  }
  std::string EventName(uint32_t event) const;

 private:
  const ToolHost& host_;
  const size_t host_index_;
  const size_t plane_;
  const size_t line_;
};

// All lines of the chosen hosts, in the order of the files. Stops at the first error.
Status ForEachTrack(const AgentContext& context, const std::function<Status(const Track&)>& visit);

// Events by start, of equal ones the longer first.
std::vector<uint32_t> InTimeOrder(const xplane::LineColumns& columns);

// Adds up intervals without counting any time twice. Not sorted input is sorted.
struct Interval {
  int64_t start = 0;
  int64_t end = 0;
  friend auto operator<=>(const Interval&, const Interval&) = default;
};
std::vector<Interval> MergedIntervals(std::vector<Interval> intervals);
int64_t TotalOf(const std::vector<Interval>& merged);

}  // namespace strobe::tools
