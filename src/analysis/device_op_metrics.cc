#include "src/analysis/device_op_metrics.h"

#include <algorithm>

#include "src/analysis/gpu_op_metrics.h"
#include "src/analysis/tpu_op_metrics.h"

namespace strobe::analysis {
namespace {

constexpr std::string_view kTpuPrefix = "/device:TPU:";
constexpr std::string_view kSparseInfix = " SparseCore ";

// The number that `text` is; -1 when it is none. An empty one counts as 0, as in the reference's
// pattern.
int NumberIn(std::string_view text) {
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || number > 1'000'000) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

int TensorCoreNumber(std::string_view plane_name) {
  if (!plane_name.starts_with(kTpuPrefix)) return -1;
  return NumberIn(plane_name.substr(kTpuPrefix.size()));
}

int SparseCoreNumber(std::string_view plane_name) {
  const size_t infix = plane_name.find(kSparseInfix);
  if (infix == std::string_view::npos || TensorCoreNumber(plane_name.substr(0, infix)) < 0) {
    return -1;
  }
  // "SparseCore 1" or "SparseCore word 1".
  std::string_view rest = plane_name.substr(infix + kSparseInfix.size());
  const size_t space = rest.rfind(' ');
  if (space != std::string_view::npos) rest.remove_prefix(space + 1);
  return rest.empty() ? -1 : NumberIn(rest);
}

void SetTotalTimeAndIdle(uint64_t total_time_ps, OpMetricsDb* db) {
  db->total_time_ps = std::max(db->total_op_time_ps, total_time_ps);
  OpMetrics& idle = db->ops.emplace_back();
  idle.name = kIdle;
  idle.category = kIdle;
  idle.time_ps = idle.self_time_ps = db->total_time_ps - db->total_op_time_ps;
}

std::vector<size_t> DevicePlanesOf(const xplane::ProfileFile& file) {
  for (const std::string_view prefix : {kTpuPrefix, std::string_view("/device:GPU:")}) {
    std::vector<size_t> planes;
    for (size_t p = 0; p < file.planes().size(); ++p) {
      if (file.planes()[p].name.starts_with(prefix)) planes.push_back(p);
    }
    if (!planes.empty()) return planes;
  }
  return {};
}

Result<std::vector<DevicePlaneMetrics>> MakeDevicePlaneMetrics(const PreparedHost& host,
                                                               HloOps* ops, DeviceGroups groups,
                                                               const CancelToken& cancel) {
  const xplane::ProfileFile& file = host.file();
  const std::vector<size_t> planes = DevicePlanesOf(file);
  SparseCoreOps sparse;
  for (const size_t plane : planes) {
    if (SparseCoreNumber(file.planes()[plane].name) < 0) continue;
    STROBE_RETURN_IF_ERROR(AddSparseCore(host, plane, cancel, &sparse));
  }
  std::vector<DevicePlaneMetrics> metrics(planes.size());
  STROBE_RETURN_IF_ERROR(ForEachPiece(host.parallel(), planes.size(), [&](size_t i) -> Status {
    const std::string_view name = file.planes()[planes[i]].name;
    Result<DevicePlaneMetrics> made =
        SparseCoreNumber(name) >= 0    ? SparseCoreMetrics(host, planes[i], cancel)
        : name.starts_with(kTpuPrefix) ? TensorCoreMetrics(host, planes[i], sparse, groups, cancel)
                                       : GpuMetrics(host, planes[i], ops, cancel);
    STROBE_ASSIGN_OR_RETURN(metrics[i], std::move(made));
    return OkStatus();
  }));
  return metrics;
}

Result<std::vector<DevicePlaneMetrics>> MakeDevicePlaneMetrics(const PreparedHost& host,
                                                               const hlo::ModuleSet& modules,
                                                               const CancelToken& cancel) {
  HloOps ops(modules, HloOps::kWithCost);
  return MakeDevicePlaneMetrics(host, &ops, DeviceGroups::kByGroup, cancel);
}

}  // namespace strobe::analysis
