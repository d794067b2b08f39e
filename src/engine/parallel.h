// One piece of work for each of many things, shared between the caller and the executor.
//
//   ParallelFor(executor, Executor::Priority::kInteractive, hosts.size(), [&](size_t i) {...});
//
// Returns when all are done. The caller works too and waits only for pieces that others have begun,
// so it never deadlocks, not even when called from the executor's own threads or when its queue is
// full. Without an executor the caller does all of it. Pieces must not throw.
#pragma once

#include <functional>

#include "src/base/executor.h"

namespace strobe::engine {

void ParallelFor(Executor* executor, Executor::Priority priority, size_t count,
                 const std::function<void(size_t)>& work);

}  // namespace strobe::engine
