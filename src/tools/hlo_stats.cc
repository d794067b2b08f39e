#include "src/tools/hlo_stats.h"

#include <string>
#include <string_view>

#include "src/tools/op_tool_input.h"
#include "src/tools/roofline_metrics.h"

namespace strobe::tools {
namespace {

using analysis::CoreType;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using analysis::OpStats;
using analysis::SafeDivide;

void AddColumns(Table* table) {
  table->AddColumn(
      NumberColumn("rank", "Rank", "count", "Place by self time; 0 below another op."));
  table->AddColumn(
      TextColumn("program_id", "Program id", "Program that the operation is part of."));
  table->AddColumn(TextColumn("category", "HLO op category", "What kind of operation it is."));
  table->AddColumn(TextColumn("hlo_op_name", "HLO op name", "Name within the program."));
  table->AddColumn(
      TextColumn("hlo_op_expression", "HLO op text", "The operation as the compiler has it."));
  table->AddColumn(
      TextColumn("tf_op_name", "Framework op name", "Where in the model it comes from."));
  table->AddColumn(
      NumberColumn("occurrences", "#Occurrences", "count", "Executions on all cores."));
  table->AddColumn(
      NumberColumn("total_time", "Total time (us)", "us", "With operations inside it."));
  table->AddColumn(NumberColumn("avg_time", "Avg. time (us)", "us", "Total time over executions."));
  table->AddColumn(NumberColumn("total_self_time", "Total self time (us)", "us",
                                "Without operations inside it."));
  table->AddColumn(
      NumberColumn("avg_self_time", "Avg. self time (us)", "us", "Self time over executions."));
  table->AddColumn(NumberColumn("total_self_time_percent", "Total self time (%)", "percent",
                                "Of the time of all cores, idle time included."));
  table->AddColumn(NumberColumn("cumulative_total_self_time_percent",
                                "Cumulative total self time (%)", "percent",
                                "Together with all rows above."));
  table->AddColumn(NumberColumn("dma_stall_percent", "%time stalled by DMA", "fraction",
                                "Time it waited for copies."));
  table->AddColumn(NumberColumn("model_flop_rate", "Model GFLOP/s", "GFLOP/s",
                                "Operations that the model asks for, over total time."));
  table->AddColumn(
      NumberColumn("normalized_flop_rate", "Normalized GFLOP/s", "GFLOP/s",
                   "Operations in units of the device's fastest type, over total time."));
  table->AddColumn(NumberColumn("measured_memory_bw", "Measured memory BW (GiB/s)", "GiB/s",
                                "All bytes read and written, over total time."));
  table->AddColumn(NumberColumn("hbm_bw", "HBM BW (GiB/s)", "GiB/s", "Bytes of main memory."));
  table->AddColumn(
      NumberColumn("cmem_read_bw", "CMEM Read BW (GiB/s)", "GiB/s", "Bytes read of CMEM."));
  table->AddColumn(
      NumberColumn("cmem_write_bw", "CMEM Write BW (GiB/s)", "GiB/s", "Bytes written to CMEM."));
  table->AddColumn(NumberColumn("operational_intensity", "Operational intensity (FLOPS/Byte)",
                                "flop/byte", "Operations for each byte moved."));
  table->AddColumn(
      TextColumn("bound_by", "Bound by", "Resource that it uses most of what there is."));
  table->AddColumn(
      TextColumn("hlo_rematerialization", "Rematerialization", "Computed again to save memory."));
  table->AddColumn(TextColumn("outside_compilation", "Outside Compilation",
                              "Runs on the host, out of the program."));
  table->AddColumn(TextColumn("autotuned", "Autotuned", "Compiled with tuned settings."));
  table->AddColumn(
      TextColumn("source_info", "Source Info", "Line of the model; its stack as a hint."));
  table->AddColumn(TextColumn("core_type", "TPU core type", "TensorCore or SparseCore."));
  table->AddColumn(TextColumn("parent_op_name", "Parent op name", "Operation that started it."));
  table->AddColumn(NumberColumn("vdd_energy", "VDD Energy (J)", "joules", "Energy of the core."));
}

// "%fusion.3 = ..." -> "fusion.3".
std::string NameOf(std::string_view expression) {
  std::string_view name = expression.substr(0, expression.find(" = "));
  if (name.starts_with('%')) name.remove_prefix(1);
  return std::string(name);
}

bool IsRematerialized(const OpMetrics& op) {
  const std::string_view expression = op.long_name;
  return expression.substr(0, expression.find('=')).find(".remat") != std::string_view::npos ||
         op.provenance.find("/rematted_computation/") != std::string::npos;
}

bool IsOutsideCompilation(const OpMetrics& op) {
  if (op.provenance.ends_with(":XlaSendToHost") || op.provenance.ends_with(":XlaRecvFromHost")) {
    return true;
  }
  return op.long_name.find("send-done") != std::string::npos &&
         op.long_name.find("is_host_transfer=true") != std::string::npos;
}

std::string_view CoreName(CoreType type) {
  if (type == CoreType::kTensorCore) return "TensorCore";
  return type == CoreType::kSparseCore ? "SparseCore" : "";
}

std::string_view YesNo(bool truth) { return truth ? "Yes" : "No"; }

class TableMaker {
 public:
  TableMaker(const OpStats& stats, double total_us, Table* table)
      : stats_(stats), total_us_(total_us), table_(table) {}

  // `parent`: the op that it is a child of; null for the ops of the device.
  void Add(const OpMetrics& op, const OpMetrics* parent) {
    if (op.occurrences == 0) return;  // stands for idle time
    if (parent == nullptr || op.core_type == CoreType::kSparseCore) AddRow(op, parent);
    if (op.children == nullptr) return;
    for (const OpMetrics* child : SortedBySelfTime(*op.children)) Add(*child, &op);
  }

 private:
  void AddRow(const OpMetrics& op, const OpMetrics* parent) {
    const OpTimes times = TimesOf(op);
    const RooflineMetrics m = RooflineOf(op, stats_.perf, stats_.run.hardware);
    double share = 0;
    uint32_t rank = 0;
    double running = 0;
    // The shares of children are of another whole.
    if (parent == nullptr) {
      share = SafeDivide(times.total_self_us, total_us_);
      rank = ++rank_;
      running = running_ += share;
    }
    const std::string& expression = op.long_name.empty() ? op.name : op.long_name;
    table_->AddRow(
        {rank,
         std::to_string(op.hlo_module_id),
         op.category,
         NameOf(expression),
         expression,
         op.provenance,
         op.occurrences,
         times.total_us,
         times.average_us,
         times.total_self_us,
         times.average_self_us,
         share * 100.0,
         running * 100.0,
         SafeDivide(static_cast<double>(op.dma_stall_ps), static_cast<double>(op.time_ps)),
         m.model_flop_rate,
         m.flop_rate,
         m.memory_bw,
         m.hbm_bw,
         m.cmem_read_bw,
         m.cmem_write_bw,
         m.intensity,
         m.bound_by,
         YesNo(IsRematerialized(op)),
         YesNo(IsOutsideCompilation(op)),
         YesNo(op.autotuned),
         SourceCell(op),
         CoreName(op.core_type),
         parent == nullptr ? std::string_view() : std::string_view(parent->name),
         op.vdd_energy_j},
        {.hlo_module_id = op.hlo_module_id,
         .op_name = op.name,
         .framework_op = op.provenance,
         .side = RowSubject::Side::kDevice});
  }

  const OpStats& stats_;
  const double total_us_;
  Table* const table_;
  uint32_t rank_ = 0;
  double running_ = 0;
};

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(OpToolInput ops,
                          ReadOpToolInput(question, input, OpToolNeeds::kOps, cancel));
  Table table("hlo_ops", "HLO operations");
  AddColumns(&table);
  const OpMetricsDb& db = ops.device_ops();
  TableMaker maker(*ops.stats, PicoToMicro(static_cast<double>(db.total_time_ps)), &table);
  for (const OpMetrics* op : SortedBySelfTime(db)) maker.Add(*op, nullptr);
  ToolResult result;
  result.shape = ToolResult::Shape::kTable;
  NoteNoDeviceOps(*ops.stats, &ops.notices);
  result.tables.push_back(std::move(table));
  result.notices = std::move(ops.notices);
  result.partial = ops.partial;
  return result;
}

}  // namespace

ToolDescriptor MakeHloStatsTool() {
  ToolDescriptor tool;
  tool.id = "hlo_stats";
  tool.version = 2;
  tool.aliases = {"hlo_op_stats"};
  tool.title = "HLO op stats";
  tool.question = "Which compiled operations take the time, and what bounds each?";
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
