#include "src/tools/overview_analysis.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "src/tools/framework_op_stats.h"
#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

using analysis::HardwareType;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using analysis::OpStats;
using analysis::SafeDivide;

constexpr size_t kTopOps = 10;

bool IsIdle(const OpMetrics& op) { return op.category == analysis::kIdle; }

// Ops whose time and flops are those of the ops inside.
bool HasInnerOps(std::string_view category) {
  return category == "call" || category == "conditional" || category == "while" ||
         category == "megacore fusion";
}

struct KernelUse {
  bool eligible = false;
  bool uses = false;
};

std::map<std::string_view, KernelUse> KernelUseByOp(const OpStats& stats) {
  std::map<std::string_view, KernelUse> by_op;
  for (const analysis::KernelReport& kernel : stats.kernels) {
    KernelUse& use = by_op[kernel.op_name];
    use.eligible |= kernel.is_op_tensor_core_eligible;
    use.uses |= kernel.uses_tensor_core && kernel.total_duration_ns > 0;
  }
  return by_op;
}

std::vector<TopOp> TopOps(const OpStats& stats, const OpMetricsDb& framework_ops) {
  const std::map<std::string_view, KernelUse> kernels = KernelUseByOp(stats);
  const auto total = static_cast<double>(framework_ops.total_op_time_ps);
  std::vector<TopOp> top;
  double cumulative = 0;
  for (const OpMetrics* op : analysis::SortedBySelfTime(framework_ops)) {
    if (IsIdle(*op)) continue;
    if (top.size() == kTopOps) break;
    TopOp& shown = top.emplace_back();
    shown.name = op->name;
    shown.category = op->category;
    shown.self_time_fraction = SafeDivide(static_cast<double>(op->self_time_ps), total);
    cumulative += shown.self_time_fraction;
    shown.cumulative_fraction = cumulative;
    shown.flop_rate_gflops = SafeDivide(op->flops, static_cast<double>(op->time_ps) / 1e3);
    const auto use = kernels.find(op->name);
    if (use == kernels.end()) continue;
    shown.tensor_core_eligible = use->second.eligible;
    shown.uses_tensor_core = use->second.uses;
  }
  return top;
}

struct OpCounts {
  uint64_t occurrences = 0;
  uint64_t busy_ps = 0;
  uint64_t eager_ps = 0;
};

OpCounts CountsOf(const OpMetricsDb& db) {
  OpCounts counts;
  for (const OpMetrics& op : db.ops) {
    if (IsIdle(op)) continue;
    counts.occurrences += op.occurrences;
    counts.busy_ps += op.self_time_ps;
    if (op.is_eager) counts.eager_ps += op.self_time_ps;
  }
  return counts;
}

double PercentOf(uint64_t part, uint64_t whole) {
  return 100.0 * SafeDivide(static_cast<double>(part), static_cast<double>(whole));
}

double IdlePercent(const OpMetricsDb& db) {
  return 100.0 * (1.0 - SafeDivide(static_cast<double>(db.total_op_time_ps),
                                   static_cast<double>(db.total_time_ps)));
}

}  // namespace

HardwareType HardwareOfDevice(std::string_view device_type) {
  if (device_type.find("GPU") != std::string_view::npos) return HardwareType::kGpu;
  if (device_type == "CPU") return HardwareType::kCpuOnly;
  if (device_type.find("TPU") != std::string_view::npos) return HardwareType::kTpu;
  return HardwareType::kUnknown;
}

std::optional<HardwareUse> HardwareUseOf(const OpStats& stats, const OpMetricsDb& device_ops) {
  const double peak_gflops = stats.perf.peak_tera_flops_per_second * 1e3;
  const double peak_gbps = stats.perf.peak_hbm_gbps;
  const bool in_steps = !stats.complete_steps_ops.ops.empty();
  const OpMetricsDb& ops = in_steps ? stats.complete_steps_ops : device_ops;
  double flops = 0, model_flops = 0, bytes = 0;
  for (const OpMetrics& op : ops.ops) {
    if (op.occurrences == 0 || HasInnerOps(op.category)) continue;
    flops += op.flops;
    model_flops += op.model_flops;
    // Without a breakdown all is taken to go to HBM, as in the roofline.
    if (op.memory_accessed.empty()) bytes += static_cast<double>(op.bytes_accessed);
    for (const analysis::MemoryAccessed& access : op.memory_accessed) {
      if (access.space == static_cast<uint64_t>(analysis::MemorySpace::kHbm)) {
        bytes += static_cast<double>(access.bytes);
      }
    }
  }
  const double time_ns = static_cast<double>(ops.total_time_ps) / 1e3;
  if (peak_gflops <= 0 || peak_gbps <= 0 || time_ns <= 0 || flops <= 0) return std::nullopt;
  HardwareUse use;
  const double attainable =
      bytes > 0 ? std::min(flops / bytes * peak_gbps, peak_gflops) : peak_gflops;
  use.roofline_percent = 100.0 * SafeDivide(flops / time_ns, attainable);
  use.hbm_percent = 100.0 * (bytes / time_ns) / peak_gbps;
  use.goodput_percent = 100.0 * (model_flops / time_ns) / peak_gflops;
  return use;
}

OverviewAnalysis AnalyzeOverview(const OpStats& stats, const OpMetricsDb& device_ops) {
  OverviewAnalysis analysis;
  const OpMetricsDb framework_ops = GroupByFrameworkOp(device_ops);
  analysis.top_ops = TopOps(stats, framework_ops);
  const OpCounts host = CountsOf(stats.host_ops);
  const OpCounts device = CountsOf(framework_ops);
  analysis.host_op_percent = PercentOf(host.occurrences, host.occurrences + device.occurrences);
  analysis.device_op_percent = PercentOf(device.occurrences, host.occurrences + device.occurrences);
  analysis.host_eager_percent = PercentOf(host.eager_ps, host.busy_ps);
  analysis.device_eager_percent = PercentOf(device.eager_ps, device.busy_ps);
  const analysis::PrecisionStats& precision = stats.device_ops.precision;
  const uint64_t compute_ps = precision.compute_16bit_ps + precision.compute_32bit_ps;
  analysis.compute_16bit_percent = PercentOf(precision.compute_16bit_ps, compute_ps);
  analysis.compute_32bit_percent = PercentOf(precision.compute_32bit_ps, compute_ps);
  if (HardwareOfDevice(stats.run.device_type) == HardwareType::kTpu) {
    const uint64_t busy = device_ops.busy_time_ps;
    const uint64_t confident = device_ops.busy_time_high_confidence_ps;
    analysis.device_duty_cycle_percent = PercentOf(busy, busy + device_ops.idle_time_ps);
    analysis.device_duty_cycle_high_confidence_percent =
        PercentOf(confident, confident + device_ops.idle_time_high_confidence_ps);
    analysis.idle_high_confidence_ps = device_ops.idle_time_high_confidence_ps;
    analysis.device_idle_percent = IdlePercent(device_ops);
    analysis.host_idle_percent = IdlePercent(stats.host_ops);
  }
  analysis.use = HardwareUseOf(stats, device_ops);
  return analysis;
}

std::vector<LatencyRow> LatencyRows(const InferenceStats& stats) {
  std::vector<LatencyRow> sessions;
  LatencyRow mean;
  mean.label = "Avg";
  for (const ModelInference& model : stats.models) {
    for (const InferenceRequest& request : model.requests) {
      LatencyRow& row = sessions.emplace_back();
      row.total_ms = static_cast<double>(request.latency_ps()) / 1e9;
      row.device_ms = static_cast<double>(request.device_ps) / 1e9;
      row.communication_ms = static_cast<double>(request.read_ps + request.write_ps) / 1e9;
      row.host_ms = row.total_ms - row.device_ms - row.communication_ms;
      mean.total_ms += row.total_ms;
      mean.device_ms += row.device_ms;
      mean.communication_ms += row.communication_ms;
      mean.host_ms += row.host_ms;
    }
  }
  if (sessions.empty()) return {};
  std::ranges::sort(sessions, {}, &LatencyRow::total_ms);
  const auto count = static_cast<double>(sessions.size());
  for (double LatencyRow::* part : {&LatencyRow::total_ms, &LatencyRow::device_ms,
                                    &LatencyRow::communication_ms, &LatencyRow::host_ms}) {
    mean.*part /= count;
  }
  std::vector<LatencyRow> rows = {mean};
  for (const double percentile : {50.0, 75.0, 90.0, 99.0, 99.9}) {
    const auto index = static_cast<size_t>(percentile / 100.0 * count);
    LatencyRow row = sessions[std::min(index, sessions.size() - 1)];
    row.label = FixedDigits(percentile, 1) + "%";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strobe::tools
