// Op metrics of a GPU: consecutive kernels of one HLO op on a stream make one execution's time.
//
//   STROBE_ASSIGN_OR_RETURN(DevicePlaneMetrics gpu, GpuMetrics(host, plane, &hlo_ops, cancel));
//
// Callers but device_op_metrics.cc use device_op_metrics.h.
#pragma once

#include <cstddef>

#include "src/analysis/device_op_metrics.h"
#include "src/analysis/hlo_ops.h"

namespace strobe::analysis {

Result<DevicePlaneMetrics> GpuMetrics(const PreparedHost& host, size_t plane, HloOps* ops,
                                      const CancelToken& cancel);

}  // namespace strobe::analysis
