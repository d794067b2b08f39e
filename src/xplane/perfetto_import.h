// Perfetto traces (.pftrace, .perfetto-trace) as an XSpace.
//
//   STROBE_ASSIGN_OR_RETURN(TraceImport import, ImportPerfetto(bytes, cancel));
//   ProfileFile::Open(storage::OwnBytes(std::move(import.xspace)), {.known_damage =
//   import.damage});
//
// Understood: track events (slices, instants, counters, arguments, flows) with tracks of processes,
// threads and their own, interned texts, defaults, clocks of a sequence and the wall clock; names
// of processes and threads. Other packets (kernel scheduling, logs, compressed ones) are counted in
// XSpace.warnings by what they are. Bytes that end in the middle give what came before, with a
// Damage.
//
// Nothing of libprotobuf, one walk over the bytes. Cost: about 100 MB/s; memory 56 bytes an event,
// 16 an argument, and the result. Errors: PERFETTO_NOT_A_TRACE, CANCELLED, OUT_OF_MEMORY. Field
// numbers: Perfetto's public schema.
#pragma once

#include <string_view>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/trace_json_import.h"

namespace strobe::xplane {

Result<TraceImport> ImportPerfetto(std::string_view bytes, const CancelToken& cancel);

// By the first bytes: a packet has fields that no plane of an XSpace has.
bool LooksLikePerfetto(std::string_view head);

}  // namespace strobe::xplane
