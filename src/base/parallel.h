// Independent pieces of work, side by side where the caller was given a way to do that.
//
//   const Parallel& parallel = host.parallel();      // empty: one piece after the other
//   std::vector<Result> results(planes.size());      // each piece writes its own place
//   STROBE_RETURN_IF_ERROR(ForEachPiece(parallel, planes.size(), [&](size_t i) -> Status {
//     results[i] = ...;
//     return OkStatus();
//   }));
//
// What is made must not depend on the order in which pieces run; of several errors that of the
// first piece is returned, so that an answer is the same on any number of threads. Pieces must not
// throw. The engine's ParallelFor (src/engine/parallel.h) is what servers put in.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace strobe {

// Calls work(0) ... work(count - 1) in any order and on any threads, and returns when all are done.
using Parallel = std::function<void(size_t count, const std::function<void(size_t piece)>& work)>;

// Of the errors that of the first piece; the others are dropped.
inline Status ForEachPiece(const Parallel& parallel, size_t count,
                           const std::function<Status(size_t piece)>& work) {
  if (!parallel || count < 2) {
    for (size_t piece = 0; piece < count; ++piece) STROBE_RETURN_IF_ERROR(work(piece));
    return OkStatus();
  }
  std::vector<Status> statuses(count);
  parallel(count, [&](size_t piece) { statuses[piece] = work(piece); });
  for (Status& status : statuses) {
    if (!status.ok()) return std::move(status);
  }
  return OkStatus();
}

}  // namespace strobe
