#include "src/tools/roofline_columns.h"

#include <algorithm>
#include <array>
#include <string>

namespace strobe::tools {
namespace {

struct Spec {
  std::string_view id;
  std::string_view label;
  ColumnType type;
  std::string_view unit;
  std::string_view description;
};

constexpr ColumnType kText = ColumnType::kString;
constexpr ColumnType kNumber = ColumnType::kNumber;

constexpr std::array<Spec, 37> kColumns = {{
    {"step", "Step", kText, "", "Total, Average (of a step), or the step's number."},
    {"rank", "Rank", kNumber, "count", "Place by self time; 0 is the whole program."},
    {"category", "Category", kText, "", "What kind of operation it is."},
    {"operation", "Operation", kText, "", "Name within the program."},
    {"occurrences", "# Occurrences", kNumber, "count", "Executions on all cores."},
    {"total_time", "Total Time (us)", kNumber, "us", "With operations inside it."},
    {"avg_time", "Avg. time (us)", kNumber, "us", "Total time over executions."},
    {"total_self_time", "Total self time (us)", kNumber, "us", "Without operations inside it."},
    {"avg_self_time", "Avg. self time (us)", kNumber, "us", "Self time over executions."},
    {"total_self_time_percent", "Total self time (%)", kNumber, "fraction",
     "Of the time of all cores, idle time included."},
    {"cumulative_total_self_time_percent", "Cumulative total self time (%)", kNumber, "fraction",
     "Together with all rows above."},
    {"dma_stall_percent", "%time stalled by DMA", kNumber, "fraction",
     "Time it waited for copies."},
    {"measured_flop_rate", "Normalized FLOP Rate (GFLOP/s)", kNumber, "GFLOP/s",
     "Operations in units of the device's fastest type, over total time."},
    {"model_flop_rate", "Model FLOP Rate (GFLOP/s)", kNumber, "GFLOP/s",
     "Operations that the model asks for, over total time."},
    {"measured_memory_bw", "Memory BW (GiB/s)", kNumber, "GiB/s", "All bytes read and written."},
    {"hbm_bw", "HBM BW (GiB/s)", kNumber, "GiB/s", "Bytes of main memory."},
    {"cmem_read_bw", "CMEM Read BW (GiB/s)", kNumber, "GiB/s", "Bytes read of CMEM."},
    {"cmem_write_bw", "CMEM Write BW (GiB/s)", kNumber, "GiB/s", "Bytes written to CMEM."},
    {"vmem_read_bw", "VMEM Read BW (GiB/s)", kNumber, "GiB/s", "Bytes read of VMEM."},
    {"vmem_write_bw", "VMEM Write BW (GiB/s)", kNumber, "GiB/s", "Bytes written to VMEM."},
    {"operational_intensity", "Operational Intensity (FLOP/Byte)", kNumber, "flop/byte",
     "Operations for each byte moved."},
    {"hbm_operational_intensity", "HBM Operational Intensity (FLOP/Byte)", kNumber, "flop/byte",
     "Operations for each byte of main memory."},
    {"cmem_read_operational_intensity", "CMEM Read Operational Intensity (FLOP/Byte)", kNumber,
     "flop/byte", "Operations for each byte read of CMEM."},
    {"cmem_write_operational_intensity", "CMEM Write Operational Intensity (FLOP/Byte)", kNumber,
     "flop/byte", "Operations for each byte written to CMEM."},
    {"vmem_read_operational_intensity", "VMEM Read Operational Intensity (FLOP/Byte)", kNumber,
     "flop/byte", "Operations for each byte read of VMEM."},
    {"vmem_write_operational_intensity", "VMEM Write Operational Intensity (FLOP/Byte)", kNumber,
     "flop/byte", "Operations for each byte written to VMEM."},
    {"bottleneck_operational_intensity", "Bottleneck Operational Intensity (FLOP/Byte)", kNumber,
     "flop/byte", "Of the memory that bounds it."},
    {"bound_by", "Bound by", kText, "", "Resource that it uses most of what there is."},
    {"total_time_per_core", "Total Time per core (us)", kNumber, "us", "Total time over cores."},
    {"total_time_in_percentage", "Total Time (%)", kNumber, "fraction",
     "Of the time of all cores."},
    {"optimal_flop_rate", "Optimal FLOP Rate (GFLOP/s)", kNumber, "GFLOP/s",
     "What its intensity allows on this device."},
    {"roofline_efficiency", "Roofline efficiency (%)", kNumber, "fraction",
     "Its flop rate over the optimal one."},
    {"compute_efficiency", "FLOP Rate / Peak (%)", kNumber, "fraction",
     "Its flop rate over the device's peak."},
    {"max_mem_bw_utilization", "Max memory BW utilization (among supported memories) (%)", kNumber,
     "fraction", "Bandwidth of the memory it uses most, over that memory's peak."},
    {"include_infeed_outfeed", "Include Infeed/Outfeed", ColumnType::kBoolean, "",
     "Whether operations that feed data in and out count."},
    {"hlo_module_id", "Program ID", kText, "", "Program that the operation is part of."},
    {"source_info", "Source Info", kText, "", "Line of the model; its stack as a hint."},
}};

// GPUs have one memory on the chip, which stands where TPUs have the writes of VMEM.
constexpr std::array<std::string_view, 7> kTpuOnly = {"dma_stall_percent",
                                                      "cmem_read_bw",
                                                      "cmem_write_bw",
                                                      "vmem_read_bw",
                                                      "cmem_read_operational_intensity",
                                                      "cmem_write_operational_intensity",
                                                      "vmem_read_operational_intensity"};

std::vector<Column> Make(RooflineDevice device) {
  std::vector<Column> columns;
  for (const Spec& spec : kColumns) {
    if (!HasRooflineColumn(spec.id, device)) continue;
    Column& column = columns.emplace_back();
    column.id = spec.id;
    column.label = spec.label;
    column.type = spec.type;
    column.unit = spec.unit;
    column.description = spec.description;
    if (device == RooflineDevice::kTpu) continue;
    if (spec.id == "vmem_write_bw") {
      column.label = "SHM/L1 BW (GiB/s)";
      column.description = "Bytes of shared memory and its cache.";
    } else if (spec.id == "vmem_write_operational_intensity") {
      column.label = "SHM/L1 Operational Intensity (FLOP/Byte)";
      column.description = "Operations for each byte of shared memory.";
    }
  }
  return columns;
}

}  // namespace

bool HasRooflineColumn(std::string_view id, RooflineDevice device) {
  return device == RooflineDevice::kTpu || std::ranges::find(kTpuOnly, id) == kTpuOnly.end();
}

const std::vector<Column>& RooflineColumns(RooflineDevice device) {
  static const std::vector<Column> tpu = Make(RooflineDevice::kTpu);
  static const std::vector<Column> gpu = Make(RooflineDevice::kGpu);
  return device == RooflineDevice::kTpu ? tpu : gpu;
}

}  // namespace strobe::tools
