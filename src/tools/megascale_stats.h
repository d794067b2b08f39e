// Collectives between slices over the data centre network (DCN): for each rendezvous how much time
// there was to transfer (slack), how long its operations stalled the core, and how fast the network
// would have to be so that nobody waits.
//
// From the send and recv operations on TensorCore 0 of each host and the HLO that says which
// belong together: slack is the time between the end of a send's start and the start of the
// recv-done, less what other send and recv operations took in between. The table has a row a
// rendezvous; over several hosts durations are means weighted by occurrences.
//
//   perfetto=true    instead: a trace for ui.perfetto.dev (megascale_perfetto.h)
//
// As XProf has it, the table is empty unless every host has "MegaScale:" events; a notice says so.
// Durations are whole microseconds, as there. Cost: one walk over the operations of one core.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

// Rendezvous of one program; real ones have some hundreds.
inline constexpr size_t kMaxRendezvous = 100'000;

ToolDescriptor MakeMegascaleStatsTool();

}  // namespace strobe::tools
