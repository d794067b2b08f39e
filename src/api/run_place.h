// Where a run's profiles may be read from and written to.
//
//   STROBE_ASSIGN_OR_RETURN(std::string real, PlaceBelowRoots(engine, run.storage_path));
//
// A run's storage path is set by whoever may make runs, and must not become a way to read or write
// the rest of the disk: only what lies below one of the server's roots counts, links resolved.
// Errors: STORAGE_NOT_SUPPORTED, STORAGE_OUTSIDE_ROOTS.
#pragma once

#include <string>

#include "src/engine/engine.h"

namespace strobe::api {

// The real path of a directory (which need not be there), or the bucket's place without a slash at
// its end.
Result<std::string> PlaceBelowRoots(engine::Engine& engine, const std::string& storage_path);

}  // namespace strobe::api
