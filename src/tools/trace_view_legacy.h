// The whole trace of one host as the older viewer loads it: every stat of an event as a text.
//
//   TraceView view;
//   STROBE_RETURN_IF_ERROR(FillLegacyTrace(*prepared, 5'000'000, cancel, &view));
//
// Of more events than `most` the earliest are kept. Cost: 0.5-1 us and 300 B an event.
#pragma once

#include <cstdint>

#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/trace_view.h"

namespace strobe::tools {

Status FillLegacyTrace(const analysis::PreparedHost& host, uint64_t most, const CancelToken& cancel,
                       TraceView* view);

}  // namespace strobe::tools
