// The tools `trace_viewer@` (a window, a search or one event of a trace, as its page streams it)
// and `trace_viewer` (the whole trace of one host, as older pages load it).
//
//   const ToolDescriptor tool = MakeStreamingTraceViewerTool();
//   STROBE_ASSIGN_OR_RETURN(ToolResult result, tool.run(question, input, cancel));
//   Write(*result.trace);
//
// Options of the streaming one: start_time_ms, end_time_ms, resolution (bins over the window), or
// search_prefix (with search_metadata), or event_name with duration_ms and unique_id; full_dma;
// format json or pb. Errors: TRACE_OPTION_NOT_A_NUMBER, TRACE_EVENT_NOT_FOUND,
// TRACE_NEEDS_ONE_HOST (the older one), HOST_UNREADABLE. Cost: trace_view_window.h; the older
// viewer builds everything, at most kMostLegacyEvents.
#pragma once

#include <cstdint>

#include "src/tools/tool.h"

namespace strobe::tools {

// XProf's limit; beyond it the earliest events are kept.
inline constexpr uint64_t kMostLegacyEvents = 5'000'000;

ToolDescriptor MakeStreamingTraceViewerTool();
ToolDescriptor MakeTraceViewerTool();

}  // namespace strobe::tools
