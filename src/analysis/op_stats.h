// Everything the op tools need of a profile: metrics by op, steps, kernels, the machine. XProf's
// OpStats, of one host or of several combined.
//
//   STROBE_ASSIGN_OR_RETURN(OpStats stats, MakeOpStats(prepared, modules, cancel));
//   OpStats all = CombineOpStats({&host0, &host1});          // combine_op_stats.h
//
// Cost of making one: one pass over the op lines (4-10 ns an event) and one decode of each event
// metadata's stats. Immutable once made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/op_metrics.h"
#include "src/analysis/prepared_host.h"
#include "src/analysis/step_database.h"
#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/hlo/module_set.h"

namespace strobe::analysis {

enum class HardwareType : uint8_t { kUnknown, kCpuOnly, kGpu, kTpu };
std::string_view HardwareTypeName(
    HardwareType type);  // "UNKNOWN_HARDWARE", "CPU_ONLY", "GPU", "TPU"

struct RunEnvironment {
  HardwareType hardware = HardwareType::kUnknown;
  std::string device_type;  // "TPU v6 Lite", "Nvidia GPU (Volta)", "CPU"
  uint32_t host_count = 0;
  uint32_t task_count = 0;
  uint32_t device_core_count = 0;
  uint32_t replica_count = 0;
  uint32_t num_cores_per_replica = 0;
  std::vector<std::string> hostnames;  // sorted, each once
  std::map<std::string, bool> flags;
  bool is_training = false;
  uint64_t profile_duration_ms = 0;
  int32_t host_trace_level = 0;
};

// Peaks of one device. Bandwidths in GB/s (decimal).
struct PerfEnv {
  double peak_tera_flops_per_second = 0;
  double peak_hbm_gbps = 0;
  // TPU: HBM_RW, SRAM_RD, SRAM_WR, CMEM_RD, CMEM_WR, VMEM_RD, VMEM_WR; GPU: HBM, shm, shm.
  std::vector<double> peak_bandwidths_gbps;
  double ridge_point = 0;
  bool has_cmem = false;
  bool has_merged_vmem = false;
  bool has_megacore = false;
};

// From the bytes of the stat `core_details`.
struct CoreDetails {
  std::string hostname;
  uint32_t device_ordinal = 0;
  uint32_t core_num = 0;
  uint32_t local_chip_id = 0;
  uint32_t global_chip_id = 0;
  uint32_t global_core_id = 0;
  bool is_sparse_core = false;
};

// One kernel of a GPU, all launches that agree in everything but time.
struct KernelReport {
  std::string name;
  uint32_t registers_per_thread = 0;
  uint32_t static_shmem_bytes = 0;
  uint32_t dynamic_shmem_bytes = 0;
  uint32_t block_dim[3] = {0, 0, 0};
  uint32_t grid_dim[3] = {0, 0, 0};
  double occupancy_percent = 0;
  bool is_op_tensor_core_eligible = false;
  bool uses_tensor_core = false;
  std::string op_name;
  uint64_t occurrences = 0;
  uint64_t total_duration_ns = 0;
  uint64_t min_duration_ns = 0;
  uint64_t max_duration_ns = 0;
};

// Averages of the counters that the host plane carries; nullopt: it carries none.
struct CounterAverages {
  std::optional<double> matrix_unit_utilization_percent;
  std::optional<double> hbm_utilization_percent;
};

// tf.function calls, for the recommendation of the overview.
struct TfFunctionTotals {
  double expensive_call_percent = 0;
  std::string worst_function;
};

struct Diagnostics {
  std::vector<std::string> info;
  std::vector<std::string> warnings;
  std::vector<std::string> errors;
};

struct OpStats {
  OpMetricsDb device_ops;
  OpMetricsDb host_ops;
  OpMetricsDb complete_steps_ops;  // hlo_metrics_db_complete_steps_only
  // The above means something: always on TPUs, and where several hosts were combined.
  bool has_complete_steps = false;
  PerfEnv perf;
  RunEnvironment run;
  StepDatabase steps;
  std::vector<KernelReport> kernels;  // heaviest first, at most kMaxKernels
  CounterAverages counters;
  TfFunctionTotals tf_functions;
  std::map<uint32_t, CoreDetails> cores;          // by core id
  std::map<uint64_t, std::string> program_names;  // program id -> module name
  Diagnostics diagnostics;
  // Disaggregated serving latency, mean ms; 0: none.
  double disaggregated_prefill_latency_ms = 0;
  static constexpr size_t kMaxKernels = 1000;
};

// The half that tables of ops need, in a fraction of the time: no steps nor what follows from them,
// no duty cycle, no counters.
Result<OpStats> MakeOps(const PreparedHost& host, const hlo::ModuleSet& modules,
                        const CancelToken& cancel);
// Of one host.
Result<OpStats> MakeOpStats(const PreparedHost& host, const hlo::ModuleSet& modules,
                            const CancelToken& cancel);

}  // namespace strobe::analysis
