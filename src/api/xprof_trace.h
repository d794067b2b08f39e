// Writes a TraceView as XProf's trace viewers answer: JSON or the packed form of its newer page.
//
//   std::string json = XprofTraceJson(view);
//   STROBE_ASSIGN_OR_RETURN(std::string packed, XprofTracePacked(view));
//
// The JSON has XProf's order of keys and its number formats; both viewers' forms
// (`TraceView::form`) are known. Packed: a protobuf of delta-coded series in one zstd frame,
// level 1. Cost: about 0.5 us and 120 B an event as JSON, 12 B packed before compression. Errors of
// packing: TRACE_PACK_FAILED (the compressor had no memory).
#pragma once

#include <string>

#include "src/base/status.h"
#include "src/tools/trace_view.h"

namespace strobe::api {

std::string XprofTraceJson(const tools::TraceView& view);
Result<std::string> XprofTracePacked(const tools::TraceView& view);

}  // namespace strobe::api
