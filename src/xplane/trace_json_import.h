// Chrome trace JSON (JAX's <host>.trace.json.gz, PyTorch's, anything of that format) as an XSpace.
//
//   STROBE_ASSIGN_OR_RETURN(TraceImport import, ImportTraceJson(json, cancel));
//   ProfileFile::Open(storage::OwnBytes(std::move(import.xspace)), {.known_damage =
//   import.damage});
//
// Understood: a list of events, or an object with `traceEvents`; phases X, B/E, i/I, C, b/n/e (and
// S/T/p/F), s/t/f, M with process and thread names, labels and sort indexes. Other kinds are
// counted in XSpace.warnings. Text that ends early gives what came before, with a Damage. Times are
// exact to the picosecond.
//
// The list is cut into events first and each is parsed by itself, so the parser's memory is that of
// the largest event. Cost: about 100 MB/s; memory 56 bytes an event and the result. Errors:
// TRACE_JSON_NOT_A_TRACE, TRACE_JSON_TRUNCATED (when nothing could be read), CANCELLED.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/profile_file.h"

namespace strobe::xplane {

struct TraceImport {
  std::string xspace;
  uint64_t events = 0;
  std::vector<Damage> damage;
};

Result<TraceImport> ImportTraceJson(std::string_view json, const CancelToken& cancel);

}  // namespace strobe::xplane
