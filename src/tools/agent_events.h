// The timeline's own events, listed and added up, for agents.
//
//   list_xplane_events        events of planes and names that match, page by page
//   aggregate_xplane_events   count, total, mean, percentiles by event, line, plane or host
//   inspect_capture           which planes and lines there are and what they suffice for
//
// Expressions are RE2, found anywhere; `filter` is agent_event_filter.h. Sums count nested and
// parallel events each by itself, as XProf's do; busy_ps beside them counts no instant of a plane
// twice. Cost: one pass over the lines of the planes that match, 30-100 ns an event. Limits:
// kMaxEventsScanned, beyond which the answer says truncated.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

inline constexpr int64_t kMaxEventsScanned = 5'000'000;

ToolDescriptor MakeListXplaneEventsTool();
ToolDescriptor MakeAggregateXplaneEventsTool();
ToolDescriptor MakeInspectCaptureTool();

}  // namespace strobe::tools
