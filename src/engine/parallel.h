// One piece of work for each of many things, shared between the caller and the executor.
//
//   ParallelFor(executor, Executor::Priority::kInteractive, hosts.size(), [&](size_t i) {...});
//
// Returns when all are done. A caller that helps works too and waits only for pieces that others
// have begun. One that waits leaves the pieces to the executor, whose threads give way to those
// that answer and are shared fairly by users: for pieces that are long, such as decoding. Neither
// deadlocks: threads of the executor itself always help, and what the executor has no room for or
// lets fall the caller does. Without an executor the caller does all of it. When `cancel` is set
// the caller takes the pieces that nobody has begun, within kCancelLookMs: they must look at it
// themselves and end at once. A thread of the executor goes to the back of its user's queue after
// kHelperTurnNs, so that users with long loops take turns. Pieces must not throw.
#pragma once

#include <functional>

#include "src/base/cancel.h"
#include "src/base/executor.h"

namespace strobe::engine {

enum class CallerPart : uint8_t { kHelps, kWaits };
inline constexpr int kCancelLookMs = 50;
// As long as a tile or two take: what another user waits for a turn.
inline constexpr int64_t kHelperTurnNs = 20'000'000;

void ParallelFor(Executor* executor, Executor::Priority priority, size_t count,
                 const std::function<void(size_t)>& work, CallerPart part = CallerPart::kHelps,
                 const CancelToken& cancel = CancelToken());

}  // namespace strobe::engine
