// Derived lines of a TensorCore plane: scopes, framework ops and source lines of its ops, and what
// was moved between device and host meanwhile (rows of "Host Offload Ops").
//
//   DeriveTpuLines(file, plane, cancel, &prepared_plane, &texts);
//
// Only events that say something of the kind are looked at: names are judged once each, events are
// merged in time order. Cost: 2 ns an event of the plane, 60 ns an event that has a framework op or
// a source line.
#pragma once

#include <deque>
#include <string>

#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"

namespace strobe::analysis {

// Errors: CANCELLED.
Status DeriveTpuLines(const xplane::ProfileFile& file, size_t plane_index,
                      const CancelToken& cancel, PreparedPlane* plane,
                      std::deque<std::string>* texts);

}  // namespace strobe::analysis
