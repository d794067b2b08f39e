// The operations of TPU cores and the transfers between slices as a trace for ui.perfetto.dev.
//
//   STROBE_ASSIGN_OR_RETURN(const std::string gzip, MegascalePerfetto(*file, as_xprof, cancel));
//
// Tracks: each TPU with its steps, modules, operations and trace annotations, and the collectives
// of the megascale plane; flows from send to the network and back to recv-done; counters of what is
// in flight. Runs of operations shorter than 1 ns at one time are drawn as one. The answer is gzip
// of level 1; a profile without TPU planes gives an empty stream of 20 bytes.
//
// Cost: one walk over the TPU planes, some 60 B an event. Limit: kMaxPerfettoEvents
// (MEGASCALE_TRACE_TOO_LARGE).
#pragma once

#include <cstdint>
#include <string>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/profile_file.h"

namespace strobe::tools {

// What the page of Perfetto still opens in a browser.
inline constexpr uint64_t kMaxPerfettoEvents = 20'000'000;

Result<std::string> MegascalePerfetto(const xplane::ProfileFile& file, bool as_xprof,
                                      const CancelToken& cancel);

}  // namespace strobe::tools
