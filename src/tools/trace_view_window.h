// Which events of a host answer a question of the streaming trace viewer: a window at a
// resolution, a name, or one event.
//
//   STROBE_ASSIGN_OR_RETURN(auto events, EventsInWindow(host, window, cancel));
//
// Events come in the order in which viewers draw them: processes ascending, named tracks before
// threads, by time. A window reads the columns by binary search, so its cost is that of the events
// in it, not of the file: 20 ns an event looked at. Traces of kThinnedFrom events or more are
// thinned by levels, which are worked out once (TraceLevels).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/trace_view_host.h"

namespace strobe::tools {

inline constexpr uint64_t kThinnedFrom = 500'000;

struct TraceWindow {
  double start_ms = 0;
  double end_ms = 0;        // 0: to the end
  uint64_t resolution = 0;  // bins over the window; 0: everything
  bool full_dma = false;    // also the middle of flows on TPUs
};

Result<std::vector<TraceHost::EventId>> EventsInWindow(const TraceHost& host,
                                                       const TraceWindow& window,
                                                       const CancelToken& cancel);
// Names that begin with `prefix`, to the letter.
Result<std::vector<TraceHost::EventId>> EventsNamed(const TraceHost& host, std::string_view prefix,
                                                    bool full_dma, const CancelToken& cancel);
// The event that begins then, lasts so long, and is called and numbered so.
// TRACE_EVENT_NOT_FOUND.
Result<TraceHost::EventId> FindEvent(const TraceHost& host, std::string_view name, int64_t start_ps,
                                     int64_t duration_ps, uint64_t serial,
                                     const CancelToken& cancel);
// All of them.
Result<std::vector<TraceHost::EventId>> AllEvents(const TraceHost& host, const CancelToken& cancel);

}  // namespace strobe::tools
