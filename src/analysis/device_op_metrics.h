// What the operations of each device plane cost: over the whole profile and in each step.
//
//   STROBE_ASSIGN_OR_RETURN(std::vector<DevicePlaneMetrics> devices,
//                           MakeDevicePlaneMetrics(prepared, modules, cancel));
//   for (const DevicePlaneMetrics& device : devices) Use(device.whole, device.by_group);
//
// TPU: events of the op lines are summed by their metadata entry (a dense table), self time by
// nesting in time order, whole plane and steps in one pass; what an op is comes from its metadata
// entry once, at the end. GPU: consecutive kernels of one HLO op on a stream are one op; flops and
// bytes from the trace, else from the cost of the HLO instruction.
//
// Cost: 4-10 ns an event of a TPU op line, one decode of the stats of each metadata entry, and
// 40 ns more an event when events carry device times or multipliers of their own. GPU: one decode
// of the stats of every event. Memory: 80 B a metadata entry. Immutable input, so thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/op_metrics.h"
#include "src/analysis/prepared_host.h"
#include "src/analysis/step_ops.h"
#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/hlo/module_set.h"

namespace strobe::analysis {

enum class DeviceKind : uint8_t { kTensorCore, kSparseCore, kGpu };

struct DevicePlaneMetrics {
  size_t plane = 0;      // index in the file
  int64_t plane_id = 0;  // XPlane.id: the core id of steps (sparse cores: + kSparseCoreIndexStart)
  DeviceKind kind = DeviceKind::kTensorCore;
  // All ops of the plane with total_time_ps and IDLE. Sparse cores: empty, their ops are children
  // of the TensorCore ops that started them.
  OpMetricsDb whole;
  // TPU: ops by group id (step). Sparse cores too. GPU: empty.
  std::map<int64_t, std::shared_ptr<const GroupOps>> by_group;
};

// The device planes that XProf takes: all `/device:TPU:` ones, or, when there are none, all
// `/device:GPU:` ones; in the order of the file. Errors: CANCELLED.
Result<std::vector<DevicePlaneMetrics>> MakeDevicePlaneMetrics(const PreparedHost& host,
                                                               const hlo::ModuleSet& modules,
                                                               const CancelToken& cancel);
// The same with ops that the caller looks up too. kWholeOnly: `by_group` stays empty, and sparse
// cores with it; half the time and little memory.
class HloOps;
enum class DeviceGroups : uint8_t { kWholeOnly, kByGroup };
Result<std::vector<DevicePlaneMetrics>> MakeDevicePlaneMetrics(const PreparedHost& host,
                                                               HloOps* ops, DeviceGroups groups,
                                                               const CancelToken& cancel);
// Indices of those planes.
std::vector<size_t> DevicePlanesOf(const xplane::ProfileFile& file);

// total_time_ps, never less than the time of the ops, and the op that stands for the rest.
void SetTotalTimeAndIdle(uint64_t total_time_ps, OpMetricsDb* db);

// "/device:TPU:3" -> 3, "/device:TPU:3 SparseCore 1" -> 1; -1 for any other name.
int TensorCoreNumber(std::string_view plane_name);
int SparseCoreNumber(std::string_view plane_name);

}  // namespace strobe::analysis
