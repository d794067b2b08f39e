// The steps of a profile: what each core did in each of them.
//
//   StepDatabase steps = MakeStepDatabase(prepared, device metrics, ...);   // step_database.cc
//   for (const Step& step : steps.steps) for (const auto& [core, part] : step.cores) ...
//
// TPU: a step exists when every TPU plane has it; `category_ps` holds self time by HLO category,
// with IDLE. GPU and CPU: `type_ps` holds exclusive time by EventType (the highest active type wins
// each instant). Sources: XProf's step events and step intersection (its OpStats step_db).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/analysis/op_metrics.h"
#include "src/analysis/step_ops.h"
#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::analysis {

// XProf's event types divided by 10; the order is the priority.
enum class EventType : uint8_t {
  kUnknown = 0,
  kHostCompute = 1,
  kHostPreprocess = 2,
  kHostPostprocess = 3,
  kHostBatchFormation = 4,
  kHostRuntime = 5,
  kHostCompile = 6,
  kHostToHost = 7,
  kHostToDevice = 8,
  kHostPrepare = 9,
  kDeviceCollectives = 10,
  kHostWaitInput = 11,
  kDeviceToDevice = 12,
  kDeviceToHost = 13,
  kDeviceCompute32 = 14,
  kDeviceCompute16 = 15,
  kDeviceWaitDevice = 16,
  kDeviceWaitHost = 17,
};
inline constexpr size_t kEventTypes = 18;

struct CoreStep {
  int64_t step_num = 0;
  std::string step_name;
  int64_t begin_ps = 0;  // file time
  uint64_t duration_ps = 0;
  std::map<std::string, uint64_t> category_ps;     // TPU
  std::array<uint64_t, kEventTypes> type_ps = {};  // GPU, CPU
  bool is_tpu = false;
};

struct AllReduceTime {
  uint64_t id = 0;
  std::string name;
  uint64_t byte_size = 0;
  uint64_t occurrences = 0;
  uint64_t duration_ps = 0;
};

struct Step {
  int64_t step_num = 0;
  std::string step_name;
  std::map<uint32_t, CoreStep>
      cores;  // by core id; generic: core 1. After combining: host*1000+core
  std::map<uint32_t, std::vector<AllReduceTime>> all_reduces;  // by core id
  std::shared_ptr<const StepOps> ops;  // of all cores in this step; null: none
};

// The one core under which a GPU or CPU host tells its steps.
inline constexpr uint32_t kGenericCore = 1;
// SparseCore planes count from here (XProf's kSparseCoreIndexStart).
inline constexpr uint32_t kSparseCoreIndexStart = 1'000'000;

struct StepDatabase {
  std::vector<Step> steps;
  bool use_incomplete_step = false;
  bool empty_intersect = false;
  uint32_t steps_dropped = 0;
  // GPU and CPU: time that each precision owns in the steps.
  PrecisionStats precision;
  // Of one host: the Unix time at which begin_ps counts from 0; 0 when the device's own clock or
  // relative times were recorded. Hosts are aligned with it.
  int64_t origin_unix_ns = 0;
};

struct DevicePlaneMetrics;  // device_op_metrics.h
class PreparedHost;         // prepared_host.h

// Of one host, from the op metrics of its device planes. Errors: CANCELLED.
Result<StepDatabase> MakeStepDatabase(const PreparedHost& host,
                                      const std::vector<DevicePlaneMetrics>& devices,
                                      const CancelToken& cancel);

// The ops of all steps together (XProf's hlo_metrics_db_complete_steps_only); TPU only, else empty.
OpMetricsDb CompleteStepsOps(const StepDatabase& steps);

}  // namespace strobe::analysis
