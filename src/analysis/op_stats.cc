#include "src/analysis/op_stats.h"

#include <utility>
#include <vector>

#include "src/analysis/device_op_metrics.h"
#include "src/analysis/duty_cycle.h"
#include "src/analysis/hlo_ops.h"
#include "src/analysis/host_op_metrics.h"
#include "src/analysis/kernel_reports.h"
#include "src/analysis/op_stats_facts.h"

namespace strobe::analysis {
namespace {

// Device metrics of all planes as one, with the instructions of fusions.
void AddDevices(const std::vector<DevicePlaneMetrics>& devices, HloOps* ops, OpStats* stats) {
  OpMetricsCombiner combiner(&stats->device_ops);
  bool is_tpu = false;
  for (const DevicePlaneMetrics& device : devices) {
    is_tpu |= device.kind != DeviceKind::kGpu;
    if (device.kind != DeviceKind::kSparseCore) combiner.Add(device.whole, false);
  }
  if (!is_tpu) return;
  for (OpMetrics& op : stats->device_ops.ops) ops->AddFusedChildren(&op);
}

Status AddTpu(const PreparedHost& host, OpStats* stats, const CancelToken& cancel) {
  const std::vector<size_t> planes = DevicePlanesOf(host.file());
  STROBE_ASSIGN_OR_RETURN(const DutyCycle duty, DutyCycleOf(host, planes, stats->cores, cancel));
  stats->device_ops.busy_time_ps = duty.busy_ps;
  stats->device_ops.idle_time_ps = duty.idle_ps;
  stats->device_ops.busy_time_high_confidence_ps = duty.busy_high_confidence_ps;
  stats->device_ops.idle_time_high_confidence_ps = duty.idle_high_confidence_ps;
  stats->has_complete_steps = true;
  stats->complete_steps_ops = CompleteStepsOps(stats->steps);
  return OkStatus();
}

struct Start {
  OpStats stats;
  std::vector<DevicePlaneMetrics> devices;
};

bool HasTpu(const Start& start) {
  return !start.devices.empty() && start.devices[0].kind != DeviceKind::kGpu;
}

Result<Start> StartOpStats(const PreparedHost& host, const hlo::ModuleSet& modules,
                           DeviceGroups groups, const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(cancel.Check());
  const xplane::ProfileFile& file = host.file();
  Start start;
  OpStats& stats = start.stats;
  stats.diagnostics = DiagnosticsOf(file);
  stats.run = RunEnvironmentOf(file);
  stats.run.is_training = IsTraining(modules);
  stats.perf = PerfEnvOf(file);
  stats.cores = CoresOf(file);
  stats.program_names = ProgramNamesOf(modules);

  const std::vector<size_t> planes = DevicePlanesOf(file);
  const bool is_gpu = planes.empty() || !file.planes()[planes[0]].name.starts_with("/device:TPU:");
  HloOps ops(modules, is_gpu ? HloOps::kWithCost : HloOps::kWithoutCost);
  STROBE_ASSIGN_OR_RETURN(start.devices, MakeDevicePlaneMetrics(host, &ops, groups, cancel));
  AddDevices(start.devices, &ops, &stats);
  if (!HasTpu(start)) {
    STROBE_ASSIGN_OR_RETURN(stats.kernels,
                            HeaviestKernels(host, planes, &ops, OpStats::kMaxKernels, cancel));
  }
  const size_t plane = HostPlaneOf(file);
  if (plane != std::string::npos) {
    STROBE_ASSIGN_OR_RETURN(stats.host_ops, HostOpMetrics(host, plane, cancel));
  }
  return start;
}

}  // namespace

std::string_view HardwareTypeName(HardwareType type) {
  switch (type) {
    case HardwareType::kCpuOnly:
      return "CPU_ONLY";
    case HardwareType::kGpu:
      return "GPU";
    case HardwareType::kTpu:
      return "TPU";
    case HardwareType::kUnknown:
      break;
  }
  return "UNKNOWN_HARDWARE";
}

Result<OpStats> MakeOps(const PreparedHost& host, const hlo::ModuleSet& modules,
                        const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(Start start,
                          StartOpStats(host, modules, DeviceGroups::kWholeOnly, cancel));
  return std::move(start.stats);
}

Result<OpStats> MakeOpStats(const PreparedHost& host, const hlo::ModuleSet& modules,
                            const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(Start start, StartOpStats(host, modules, DeviceGroups::kByGroup, cancel));
  STROBE_RETURN_IF_ERROR(cancel.Check());
  OpStats& stats = start.stats;
  STROBE_ASSIGN_OR_RETURN(stats.steps, MakeStepDatabase(host, start.devices, cancel));
  stats.device_ops.precision = stats.steps.precision;
  if (HasTpu(start)) STROBE_RETURN_IF_ERROR(AddTpu(host, &stats, cancel));
  const size_t plane = HostPlaneOf(host.file());
  if (plane != std::string::npos) {
    stats.counters = CountersOf(host.file());
    stats.tf_functions = TfFunctionsOf(host, plane);
  }
  if (!stats.run.is_training) stats.disaggregated_prefill_latency_ms = DecodeStepMilliseconds(host);
  return std::move(stats);
}

}  // namespace strobe::analysis
