// The numbers of the overview: heaviest operations, utilisation, precision, eager execution.
//
//   const OverviewAnalysis analysis = AnalyzeOverview(stats, stats.device_ops);
//
// XProf's formulas, and the ones its open build leaves at 0: the rates against the limits of the
// hardware, and the goodput. They are taken over the steps where the profile has steps, else over
// the whole profile:
//   roofline % = 100 * flop rate / min(flops per HBM byte * HBM bandwidth, peak flop rate)
//   bandwidth % = 100 * HBM bytes per second / HBM bandwidth
//   goodput % = 100 * model flops / (time * peak flop rate), idle time included
// Ops that only contain others (while, call, conditional, megacore fusion) count in none of them.
// Pure functions; cost: the ops.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/analysis/op_stats.h"
#include "src/tools/inference_stats.h"
#include "src/tools/tool.h"

namespace strobe::tools {

struct TopOp {
  std::string name;
  std::string category;
  double self_time_fraction = 0;
  double cumulative_fraction = 0;
  double flop_rate_gflops = 0;
  bool tensor_core_eligible = false;
  bool uses_tensor_core = false;
};

struct HardwareUse {
  double roofline_percent = 0;
  double hbm_percent = 0;
  double goodput_percent = 0;
};

struct OverviewAnalysis {
  std::vector<TopOp> top_ops;  // framework ops of the device, heaviest self time first
  double host_op_percent = 0;  // of the executions of all ops
  double device_op_percent = 0;
  double host_eager_percent = 0;  // of the self time of all ops
  double device_eager_percent = 0;
  double compute_16bit_percent = 0;
  double compute_32bit_percent = 0;
  // TPU; 0 else.
  double device_duty_cycle_percent = 0;
  double device_duty_cycle_high_confidence_percent = 0;
  double device_idle_percent = 0;
  double host_idle_percent = 0;
  uint64_t idle_high_confidence_ps = 0;
  std::optional<HardwareUse> use;  // nullopt: the peaks or the flops are not known
};

OverviewAnalysis AnalyzeOverview(const analysis::OpStats& stats,
                                 const analysis::OpMetricsDb& device_ops);

std::optional<HardwareUse> HardwareUseOf(const analysis::OpStats& stats,
                                         const analysis::OpMetricsDb& device_ops);

// By XProf's reading of the device's name: "TPU v6 Lite", "Nvidia GPU (Volta)", "CPU".
analysis::HardwareType HardwareOfDevice(std::string_view device_type);

// Where the requests' time goes; the average and percentiles.
struct LatencyRow {
  std::string label;
  double host_ms = 0;
  double device_ms = 0;
  double communication_ms = 0;
  double total_ms = 0;
};
std::vector<LatencyRow> LatencyRows(const InferenceStats& stats);

}  // namespace strobe::tools
