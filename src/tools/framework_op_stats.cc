#include "src/tools/framework_op_stats.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "src/analysis/op_stats_facts.h"
#include "src/analysis/tf_op_name.h"
#include "src/tools/op_tool_input.h"
#include "src/tools/roofline_metrics.h"

namespace strobe::tools {
namespace {

using analysis::kIdle;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using analysis::OpStats;
using analysis::SafeDivide;

// XProf's page shows as many of the device and of the host.
constexpr size_t kMaxOps = 500;

void AddColumns(bool is_gpu, Table* table) {
  table->AddColumn(
      NumberColumn("rank", "Rank", "count", "Place by self time: devices, then hosts."));
  table->AddColumn(TextColumn("host_or_device", "Host/device", "Where it ran."));
  table->AddColumn(TextColumn("type", "Operation Type", "Kind of operation."));
  table->AddColumn(TextColumn("operation", "Operation Name", "Name in the model."));
  table->AddColumn(NumberColumn("occurrences", "#Occurrences", "count",
                                "Most executions of any compiled operation that it became."));
  table->AddColumn(
      NumberColumn("total_time", "Total time (us)", "us", "With operations inside it."));
  table->AddColumn(NumberColumn("avg_time", "Avg. time (us)", "us", "Total time over executions."));
  table->AddColumn(NumberColumn("total_self_time", "Total self-time (us)", "us",
                                "Without operations inside it."));
  table->AddColumn(
      NumberColumn("avg_self_time", "Avg. self-time (us)", "us", "Self time over executions."));
  table->AddColumn(NumberColumn("device_total_self_time_percent", "Total self-time on Device (%)",
                                "fraction", "Of the time of all devices."));
  table->AddColumn(NumberColumn("device_cumulative_total_self_time_percent",
                                "Cumulative total-self time on Device (%)", "fraction",
                                "Together with the device rows above."));
  table->AddColumn(NumberColumn("host_total_self_time_percent", "Total self-time on Host (%)",
                                "fraction", "Of the time of all host threads."));
  table->AddColumn(NumberColumn("Host_cumulative_total_self_time_percent",
                                "Cumulative total-self time on Host (%)", "fraction",
                                "Together with the host rows above."));
  table->AddColumn(
      NumberColumn("measured_flop_rate", "Normalized FLOP Rate (FLOPs/s)", "GFLOP/s",
                   "Operations in units of the device's fastest type, over total time."));
  table->AddColumn(NumberColumn("model_flop_rate", "Model FLOP Rate (GFLOP/s)", "GFLOP/s",
                                "Operations that the model asks for, over total time."));
  table->AddColumn(NumberColumn("measured_memory_bw", "Measured Memory BW (GBytes/Sec)", "GiB/s",
                                "All bytes read and written, over total time."));
  table->AddColumn(NumberColumn("operational_intensity", "Operational Intensity (FLOPs/Byte)",
                                "flop/byte", "Operations for each byte moved."));
  if (is_gpu) {
    table->AddColumn(NumberColumn("gpu_tensorcore_utilization", "GPU TensorCore utilization",
                                  "fraction",
                                  "Time in kernels that use matrix units, of all its kernels."));
  }
  table->AddColumn(
      TextColumn("bound_by", "Bound by", "Resource that it uses most of what there is."));
  table->AddColumn(TextColumn("eager", "Execution mode", "Eager: op by op; Function: compiled."));
}

// Share of the time of an op's kernels that is spent in such as use matrix units.
std::map<std::string_view, double> TensorCoreShares(const OpStats& stats) {
  struct Times {
    uint64_t all_ns = 0;
    uint64_t tensor_core_ns = 0;
  };
  std::map<std::string_view, Times> times;
  for (const analysis::KernelReport& kernel : stats.kernels) {
    Times& op = times[kernel.op_name];
    op.all_ns += kernel.total_duration_ns;
    if (kernel.uses_tensor_core) op.tensor_core_ns += kernel.total_duration_ns;
  }
  std::map<std::string_view, double> shares;
  for (const auto& [name, op] : times) {
    shares[name] =
        SafeDivide(static_cast<double>(op.tensor_core_ns), static_cast<double>(op.all_ns));
  }
  return shares;
}

class TableMaker {
 public:
  TableMaker(const OpStats& stats, bool without_idle, Table* table)
      : stats_(stats),
        without_idle_(without_idle),
        is_gpu_(stats.run.device_type.find("GPU") != std::string::npos),
        tensor_core_(TensorCoreShares(stats)),
        table_(table) {
    AddColumns(is_gpu_, table_);
  }

  void Add(const OpMetricsDb& db, bool on_device) {
    const double total_us =
        PicoToMicro(static_cast<double>(without_idle_ ? db.total_op_time_ps : db.total_time_ps));
    double running = 0;
    std::vector<const OpMetrics*> sorted = SortedBySelfTime(db);
    if (sorted.size() > kMaxOps) sorted.resize(kMaxOps);
    for (const OpMetrics* op : sorted) {
      if (without_idle_ && op->category == kIdle) continue;
      AddRow(*op, on_device, total_us, &running);
    }
  }

  void Finish() {
    table_->SetProperty("task_type", is_training_ ? "Training" : "Inference");
    table_->SetProperty("architecture_type", "Unknown");
  }

 private:
  void AddRow(const OpMetrics& op, bool on_device, double total_us, double* running) {
    const OpTimes times = TimesOf(op);
    const RooflineMetrics m = RooflineOf(op, stats_.perf, stats_.run.hardware);
    const double share = SafeDivide(times.total_self_us, total_us);
    *running += share;
    std::vector<Cell> cells = {++rank_,
                               on_device ? "Device" : "Host",
                               op.category,
                               op.name,
                               op.occurrences,
                               times.total_us,
                               times.average_us,
                               times.total_self_us,
                               times.average_self_us,
                               on_device ? share : 0.0,
                               on_device ? *running : 0.0,
                               on_device ? 0.0 : share,
                               on_device ? 0.0 : *running,
                               m.flop_rate,
                               m.model_flop_rate,
                               m.memory_bw,
                               m.intensity};
    if (is_gpu_) {
      const auto found = tensor_core_.find(op.name);
      cells.emplace_back(on_device && found != tensor_core_.end() ? found->second : 0.0);
    }
    cells.emplace_back(m.bound_by);
    cells.emplace_back(op.is_eager ? "Eager" : "Function");
    is_training_ |= analysis::IsGradientOp(op.name, op.category);
    RowSubject subject;
    (on_device ? subject.framework_op : subject.op_name) = op.name;
    subject.side = on_device ? RowSubject::Side::kDevice : RowSubject::Side::kHost;
    table_->AddRow(std::move(cells), std::move(subject));
  }

  const OpStats& stats_;
  const bool without_idle_;
  const bool is_gpu_;
  const std::map<std::string_view, double> tensor_core_;
  Table* const table_;
  uint32_t rank_ = 0;
  bool is_training_ = false;
};

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(OpToolInput ops,
                          ReadOpToolInput(question, input, OpToolNeeds::kOps, cancel));
  const OpMetricsDb device = GroupByFrameworkOp(ops.device_ops());
  ToolResult result;
  result.shape = ToolResult::Shape::kTables;
  for (const bool without_idle : {false, true}) {
    Table table(without_idle ? "without_idle" : "with_idle",
                without_idle ? "Operations without idle time" : "Operations with idle time");
    TableMaker maker(*ops.stats, without_idle, &table);
    maker.Add(device, true);
    maker.Add(ops.stats->host_ops, false);
    maker.Finish();
    result.tables.push_back(std::move(table));
  }
  NoteNoDeviceOps(*ops.stats, &ops.notices);
  result.notices = std::move(ops.notices);
  result.partial = ops.partial;
  return result;
}

}  // namespace

OpMetricsDb GroupByFrameworkOp(const OpMetricsDb& device) {
  OpMetricsDb grouped;
  std::map<std::string, size_t, std::less<>> places;
  for (const OpMetrics& op : device.ops) {
    std::string_view name = op.name;
    std::string_view type;
    if (op.category == kIdle) {
      name = type = kIdle;
    } else if (!op.provenance.empty()) {
      const analysis::FrameworkOp framework = analysis::ParseFrameworkOp(op.provenance);
      name = framework.name;
      type = framework.type;
    }
    const auto [place, is_new] = places.try_emplace(std::string(name), grouped.ops.size());
    if (is_new) grouped.ops.emplace_back().name = name;
    OpMetrics& into = grouped.ops[place->second];
    if (into.category.empty()) into.category = type.empty() ? "Unknown" : std::string(type);
    into.is_eager = op.is_eager;
    into.occurrences = std::max(into.occurrences, op.occurrences);
    into.time_ps += op.time_ps;
    into.self_time_ps += op.self_time_ps;
    into.flops += op.flops;
    into.model_flops += op.model_flops;
    into.bytes_accessed += op.bytes_accessed;
  }
  grouped.total_op_time_ps = device.total_op_time_ps;
  grouped.total_time_ps = device.total_time_ps;
  return grouped;
}

ToolDescriptor MakeFrameworkOpStatsTool() {
  ToolDescriptor tool;
  tool.id = "framework_op_stats";
  tool.version = 2;
  tool.aliases = {"tensorflow_stats"};
  tool.title = "Framework op stats";
  tool.question = "Which operations of the model take the time, on devices and on the host?";
  tool.offers_all_hosts = true;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
