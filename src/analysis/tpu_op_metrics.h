// Op metrics of the planes of a TPU: TensorCores, and SparseCores whose ops hang below the
// TensorCore ops that started them.
//
//   SparseCoreOps sparse;
//   for (each SparseCore plane) STROBE_RETURN_IF_ERROR(AddSparseCore(host, plane, cancel,
//   &sparse)); STROBE_ASSIGN_OR_RETURN(DevicePlaneMetrics metrics, TensorCoreMetrics(host, plane,
//   sparse, DeviceGroups::kByGroup, cancel));
//
// The interface that all callers but device_op_metrics.cc use is device_op_metrics.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "src/analysis/device_op_metrics.h"

namespace strobe::analysis {

// By (offload core, start id): what one call from a TensorCore ran.
using OffloadKey = std::pair<int64_t, int64_t>;
using SparseCoreOps = std::map<OffloadKey, std::shared_ptr<OpMetricsDb>>;

Status AddSparseCore(const PreparedHost& host, size_t plane, const CancelToken& cancel,
                     SparseCoreOps* ops);

Result<DevicePlaneMetrics> TensorCoreMetrics(const PreparedHost& host, size_t plane,
                                             const SparseCoreOps& sparse, DeviceGroups groups,
                                             const CancelToken& cancel);

// The ops of a SparseCore plane by group; `whole` stays empty.
Result<DevicePlaneMetrics> SparseCoreMetrics(const PreparedHost& host, size_t plane,
                                             const CancelToken& cancel);

}  // namespace strobe::analysis
