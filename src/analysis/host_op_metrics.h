// Op metrics of the host: framework ops and input pipeline stages that its threads ran.
//
//   STROBE_ASSIGN_OR_RETURN(OpMetricsDb db, HostOpMetrics(host, plane, cancel));
//
// An event counts when its name is that of a framework op (tf_op_name.h), it is a stage of an input
// pipeline, or it names an op in its stat `tf_op`. Ops of a thread nest by time; each thread's rest
// is IDLE. Cost: nothing for threads without such events (names are looked at once), else 30 ns an
// event and a sort of theirs. Memory: 40 B a counted event of one thread.
#pragma once

#include <cstddef>

#include "src/analysis/op_metrics.h"
#include "src/analysis/op_stats.h"
#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::analysis {

Result<OpMetricsDb> HostOpMetrics(const PreparedHost& host, size_t plane,
                                  const CancelToken& cancel);

// Calls of tf.functions by how they ran. "Expensive" are those that trace or run eagerly.
TfFunctionTotals TfFunctionsOf(const PreparedHost& host, size_t plane);

}  // namespace strobe::analysis
