#include "src/tools/roofline_model.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "src/tools/op_tool_input.h"
#include "src/tools/roofline_columns.h"
#include "src/tools/roofline_metrics.h"
#include "src/tools/step_texts.h"

namespace strobe::tools {
namespace {

using analysis::HardwareType;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using analysis::OpStats;
using analysis::SafeDivide;
using analysis::Step;

// XProf's page shows as many.
constexpr size_t kMaxOps = 1000;

// Peaks that utilizations are taken of: GFLOP/s and GiB/s; 0 where the device has no such memory.
struct Peaks {
  double flop_rate = 0;
  double hbm = 0;
  double cmem_read = 0;
  double cmem_write = 0;
  double vmem_read = 0;
  double vmem_write = 0;
  bool has_cmem = false;
  bool has_merged_vmem = false;
};

Peaks PeaksOf(const OpStats& stats) {
  const auto bandwidth = [&](size_t index) { return GigaToGibi(PeakBandwidth(stats.perf, index)); };
  Peaks peaks;
  peaks.flop_rate = stats.perf.peak_tera_flops_per_second * 1000.0;
  peaks.hbm = bandwidth(0);
  if (stats.run.hardware == HardwareType::kGpu) {
    peaks.has_merged_vmem = true;
    peaks.vmem_read = bandwidth(1);
    peaks.vmem_write = bandwidth(2);
    return peaks;
  }
  peaks.has_cmem = stats.perf.has_cmem;
  peaks.has_merged_vmem = stats.perf.has_merged_vmem;
  if (peaks.has_cmem) {
    peaks.cmem_read = bandwidth(3);
    peaks.cmem_write = bandwidth(4);
  } else if (peaks.has_merged_vmem) {
    peaks.vmem_read = bandwidth(5);
    peaks.vmem_write = bandwidth(6);
  }
  return peaks;
}

// Rows of one part of the profile.
struct Part {
  std::string step;      // as the column shows it
  int64_t number = -1;   // of a single step
  double divide_by = 1;  // times are means over so many steps
  bool normalized = false;
};

// The whole program: what its innermost ops did in the time of the whole, with infeed and outfeed
// and without.
class Program {
 public:
  Program() {
    for (OpMetrics* part : {&with_, &without_}) {
      part->name = part->category = "Program";
      part->occurrences = 1;
    }
  }

  void Add(const analysis::StepOps::OpShare& op) {
    if (MayHaveInnerOps(op.one.category)) return;
    AddCosts(op, &with_);
    if (IsInfeedOrOutfeed(op.one.category)) {
      feeds_ps_ += op.time_ps;
    } else {
      AddCosts(op, &without_);
    }
  }
  void Finish(uint64_t total_ps) {
    with_.time_ps = total_ps;
    without_.time_ps = total_ps - std::min(total_ps, feeds_ps_);
  }

  static Program Of(const OpMetricsDb& db) {
    Program program;
    for (const OpMetrics& op : db.ops) {
      program.Add({op, op.flops, op.model_flops, op.bytes_accessed, 1, op.time_ps});
    }
    program.Finish(db.total_time_ps);
    return program;
  }
  static Program Of(const analysis::StepOps& step) {
    Program program;
    step.ForEachOp([&](const analysis::StepOps::OpShare& op) { program.Add(op); });
    program.Finish(step.TotalTimePs());
    return program;
  }

  const OpMetrics& with_feeds() const { return with_; }
  const OpMetrics& without_feeds() const { return without_; }

 private:
  static void AddCosts(const analysis::StepOps::OpShare& op, OpMetrics* into) {
    into->flops += op.flops;
    into->model_flops += op.model_flops;
    into->bytes_accessed += op.bytes_accessed;
    for (const analysis::MemoryAccessed& access : op.one.memory_accessed) {
      const auto same =
          std::ranges::find_if(into->memory_accessed, [&](const analysis::MemoryAccessed& known) {
            return known.space == access.space && known.is_write == access.is_write;
          });
      if (same == into->memory_accessed.end()) {
        into->memory_accessed.push_back(access);
        into->memory_accessed.back().bytes *= op.occurrences;
      } else {
        same->bytes += access.bytes * op.occurrences;
      }
    }
  }

  OpMetrics with_;
  OpMetrics without_;
  uint64_t feeds_ps_ = 0;
};

class RowMaker {
 public:
  RowMaker(const OpStats& stats, const Peaks& peaks, bool with_feeds, Table* table)
      : stats_(stats),
        peaks_(peaks),
        device_(stats.run.device_type.find("GPU") != std::string::npos ? RooflineDevice::kGpu
                                                                       : RooflineDevice::kTpu),
        with_feeds_(with_feeds),
        table_(table) {}

  void AddProgram(const Program& program, const Part& part) {
    const OpMetrics& shown = with_feeds_ ? program.with_feeds() : program.without_feeds();
    AddRow(shown, part, shown.time_ps, 0, 0, 0);
  }

  void AddOps(const OpMetricsDb& db, const Part& part) {
    uint64_t feeds_ps = 0;
    for (const OpMetrics& op : db.ops) {
      if (!with_feeds_ && IsInfeedOrOutfeed(op.category)) feeds_ps += op.time_ps;
    }
    const uint64_t total_ps = db.total_time_ps - std::min(db.total_time_ps, feeds_ps);
    std::vector<const OpMetrics*> sorted = SortedBySelfTime(db);
    if (sorted.size() > kMaxOps) sorted.resize(kMaxOps);
    uint32_t rank = 0;
    double running = 0;
    for (const OpMetrics* op : sorted) {
      if (op->occurrences == 0) continue;
      if (!with_feeds_ && IsInfeedOrOutfeed(op->category)) continue;
      const double share = SafeDivide(PicoToMicro(static_cast<double>(op->self_time_ps)),
                                      PicoToMicro(static_cast<double>(total_ps)));
      running += share;
      AddRow(*op, part, total_ps, ++rank, share, running);
    }
  }

 private:
  void AddRow(const OpMetrics& op, const Part& part, uint64_t total_ps, uint32_t rank, double share,
              double running) {
    OpTimes times = TimesOf(op);
    times.total_us = SafeDivide(times.total_us, part.divide_by);
    times.total_self_us = SafeDivide(times.total_self_us, part.divide_by);
    const RooflineMetrics m = RooflineOf(op, stats_.perf, stats_.run.hardware, part.normalized);
    const double compute =
        SafeDivide(part.normalized ? NormalizedFlopRate(op) : m.flop_rate, peaks_.flop_rate);
    const double memory = MemoryUtilization(m);
    const double efficiency = std::max(memory, compute);
    const std::vector<std::pair<std::string_view, Cell>> cells = {
        {"step", part.step},
        {"rank", rank},
        {"category", op.category},
        {"operation", op.name},
        {"occurrences", op.occurrences},
        {"total_time", times.total_us},
        {"avg_time", times.average_us},
        {"total_self_time", times.total_self_us},
        {"avg_self_time", times.average_self_us},
        {"total_self_time_percent", share},
        {"cumulative_total_self_time_percent", running},
        {"dma_stall_percent",
         SafeDivide(static_cast<double>(op.dma_stall_ps), static_cast<double>(op.time_ps))},
        {"measured_flop_rate", m.flop_rate},
        {"model_flop_rate", m.model_flop_rate},
        {"measured_memory_bw", m.memory_bw},
        {"hbm_bw", m.hbm_bw},
        {"cmem_read_bw", m.cmem_read_bw},
        {"cmem_write_bw", m.cmem_write_bw},
        {"vmem_read_bw", m.vmem_read_bw},
        {"vmem_write_bw", m.vmem_write_bw},
        {"operational_intensity", m.intensity},
        {"hbm_operational_intensity", m.hbm_intensity},
        {"cmem_read_operational_intensity", m.cmem_read_intensity},
        {"cmem_write_operational_intensity", m.cmem_write_intensity},
        {"vmem_read_operational_intensity", m.vmem_read_intensity},
        {"vmem_write_operational_intensity", m.vmem_write_intensity},
        {"bottleneck_operational_intensity", m.bottleneck_intensity},
        {"bound_by", m.bound_by},
        {"total_time_per_core",
         SafeDivide(times.total_us, static_cast<double>(stats_.run.device_core_count))},
        {"total_time_in_percentage",
         SafeDivide(static_cast<double>(op.time_ps), static_cast<double>(total_ps))},
        {"optimal_flop_rate", SafeDivide(m.flop_rate, efficiency)},
        {"roofline_efficiency", efficiency},
        {"compute_efficiency", compute},
        {"max_mem_bw_utilization", memory},
        {"include_infeed_outfeed", with_feeds_},
        {"hlo_module_id", std::to_string(op.hlo_module_id)},
        {"source_info", SourceCell(op)},
    };
    std::vector<Cell> row;
    for (const auto& [id, cell] : cells) {
      if (HasRooflineColumn(id, device_)) row.push_back(cell);
    }
    RowSubject subject = {.hlo_module_id = op.hlo_module_id, .step = part.number};
    if (rank > 0) {
      subject.op_name = op.name;
      subject.framework_op = op.provenance;
      subject.side = RowSubject::Side::kDevice;
    }
    table_->AddRow(std::move(row), std::move(subject));
  }

  double MemoryUtilization(const RooflineMetrics& m) const {
    double most = SafeDivide(m.hbm_bw, peaks_.hbm);
    if (peaks_.has_cmem) {
      most = std::max({most, SafeDivide(m.cmem_read_bw, peaks_.cmem_read),
                       SafeDivide(m.cmem_write_bw, peaks_.cmem_write)});
    }
    if (peaks_.has_merged_vmem) {
      most = std::max({most, SafeDivide(m.vmem_read_bw, peaks_.vmem_read),
                       SafeDivide(m.vmem_write_bw, peaks_.vmem_write)});
    }
    return most;
  }

  const OpStats& stats_;
  const Peaks& peaks_;
  const RooflineDevice device_;
  const bool with_feeds_;
  Table* const table_;
};

void SetProperties(const std::string& device_type, const Peaks& peaks, bool has_megacore,
                   double time_scale, bool is_gpu, Table* table) {
  const auto peak = [&](std::string_view memory, double value) {
    table->SetProperty("peak_" + std::string(memory) + "_bw", SixDigits(value));
    table->SetProperty(std::string(memory) + "_ridge_point",
                       SixDigits(RidgePoint(peaks.flop_rate, value)));
  };
  table->SetProperty("device_type", device_type);
  table->SetProperty("peak_flop_rate", SixDigits(peaks.flop_rate));
  peak("hbm", peaks.hbm);
  peak("vmem_write", peaks.vmem_write);
  if (is_gpu) return;
  table->SetProperty("megacore", has_megacore ? "1" : "0");
  table->SetProperty("has_cmem", peaks.has_cmem ? "1" : "0");
  table->SetProperty("has_merged_vmem", peaks.has_merged_vmem ? "1" : "0");
  peak("cmem_read", peaks.cmem_read);
  peak("cmem_write", peaks.cmem_write);
  peak("vmem_read", peaks.vmem_read);
  table->SetProperty("time_scale_multiplier", SixDigits(time_scale));
}

Table NotesTable(const std::vector<std::string>& warnings) {
  Table table("diagnostics", "Notes");
  table.AddColumn({.id = "severity",
                   .label = "Severity",
                   .type = ColumnType::kString,
                   .description = "How much it matters."});
  table.AddColumn({.id = "message",
                   .label = "Message",
                   .type = ColumnType::kString,
                   .description = "What limits the numbers, and what to do about it."});
  for (const std::string& warning : warnings) table.AddRow({"WARNING", warning});
  return table;
}

void AddParts(const OpStats& stats, const OpMetricsDb& device_ops,
              const std::vector<Program>& steps, bool normalized, RowMaker* rows) {
  const Part whole = {.step = "Total", .normalized = normalized};
  rows->AddProgram(Program::Of(device_ops), whole);
  rows->AddOps(device_ops, whole);
  if (stats.has_complete_steps) {
    rows->AddProgram(Program::Of(stats.complete_steps_ops),
                     {.step = "Average",
                      .divide_by = static_cast<double>(stats.steps.steps.size()),
                      .normalized = normalized});
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const int64_t number = stats.steps.steps[i].step_num;
    rows->AddProgram(steps[i], {.step = std::to_string(number), .number = number});
  }
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(OpToolInput ops,
                          ReadOpToolInput(question, input, OpToolNeeds::kStepsToo, cancel));
  const OpStats& stats = *ops.stats;
  const bool has_device =
      stats.run.hardware == HardwareType::kGpu || stats.run.hardware == HardwareType::kTpu;
  const bool is_gpu = has_device && stats.run.device_type.find("GPU") != std::string::npos;
  const Peaks peaks = has_device ? PeaksOf(stats) : Peaks();
  Table table("roofline", "Roofline");
  for (const Column& column :
       RooflineColumns(is_gpu ? RooflineDevice::kGpu : RooflineDevice::kTpu)) {
    table.AddColumn(column);
  }
  if (has_device) {
    const bool normalized = question.options.Flag("apply_time_scale_multiplier");
    std::vector<Program> steps;
    for (const Step& step : stats.steps.steps) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      steps.push_back(step.ops == nullptr ? Program() : Program::Of(*step.ops));
    }
    for (const bool with_feeds : {true, false}) {
      RowMaker rows(stats, peaks, with_feeds, &table);
      AddParts(stats, ops.device_ops(), steps, normalized, &rows);
    }
  }
  const OpMetricsDb& db = stats.device_ops;
  SetProperties(has_device ? stats.run.device_type : "", peaks,
                stats.run.hardware == HardwareType::kTpu && stats.perf.has_megacore,
                has_device ? SafeDivide(static_cast<double>(db.normalized_total_op_time_ps),
                                        static_cast<double>(db.total_op_time_ps))
                           : 0,
                is_gpu, &table);
  ToolResult result;
  result.shape = ToolResult::Shape::kTables;
  NoteNoDeviceOps(stats, &ops.notices);
  result.tables.push_back(std::move(table));
  std::vector<std::string> warnings;
  if (has_device && question.as_xprof) {
    warnings = StepWarnings(stats.steps, stats.steps.steps.size());
  } else if (has_device) {
    for (const Notice& notice : StepNotices(stats, question)) {
      warnings.push_back(notice.message + " " + notice.hint);
    }
  }
  result.tables.push_back(NotesTable(warnings));
  result.notices = std::move(ops.notices);
  result.partial = ops.partial;
  return result;
}

}  // namespace

ToolDescriptor MakeRooflineModelTool() {
  ToolDescriptor tool;
  tool.id = "roofline_model";
  tool.version = 2;
  tool.title = "Roofline model";
  tool.question = "How close do the program and its operations come to the device's limits?";
  tool.options = {{.name = "apply_time_scale_multiplier",
                   .type = OptionType::kBoolean,
                   .default_value = "false",
                   .description = "Rates as if the device had run at its default clock."}};
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
