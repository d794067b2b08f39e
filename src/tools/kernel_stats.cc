#include "src/tools/kernel_stats.h"

#include <string>

#include "src/analysis/kernel_reports.h"
#include "src/tools/op_tool_input.h"

namespace strobe::tools {
namespace {

using analysis::KernelReport;

std::string Joined(const uint32_t (&dimensions)[3]) {
  return std::to_string(dimensions[0]) + "," + std::to_string(dimensions[1]) + "," +
         std::to_string(dimensions[2]);
}

Column Duration(std::string_view id, std::string_view which, std::string_view description) {
  return {.id = std::string(id),
          .label = std::string(which) + " Duration (\u03bcs)",
          .unit = "us",
          .description = std::string(description)};
}

void AddColumns(Table* table) {
  table->AddColumn(
      {.id = "rank", .label = "Rank", .unit = "count", .description = "Place by total duration."});
  table->AddColumn({.id = "kernel_name",
                    .label = "Kernel Name",
                    .type = ColumnType::kString,
                    .description = "Name of the kernel as the driver reports it."});
  table->AddColumn({.id = "registers_per_thread",
                    .label = "Registers per thread",
                    .unit = "count",
                    .description = "Registers that each thread takes; many lower the occupancy."});
  table->AddColumn({.id = "shmem_bytes",
                    .label = "Shared Mem bytes",
                    .unit = "bytes",
                    .description = "Shared memory of a block, static and dynamic."});
  table->AddColumn({.id = "block_dim",
                    .label = "Block dim",
                    .type = ColumnType::kString,
                    .description = "Threads of a block: x,y,z."});
  table->AddColumn({.id = "grid_dim",
                    .label = "Grid dim",
                    .type = ColumnType::kString,
                    .description = "Blocks of the launch: x,y,z."});
  table->AddColumn({.id = "occupancy_pct",
                    .label = "Theoretical Occupancy %",
                    .unit = "percent",
                    .description = "Warps that can be resident, of those that fit at most."});
  table->AddColumn({.id = "is_op_tensor_core_eligible",
                    .label = "Op is TensorCore eligible",
                    .type = ColumnType::kBoolean,
                    .description = "The op is a product or convolution that matrix units can do."});
  table->AddColumn({.id = "is_kernel_using_tensor_core",
                    .label = "Kernel uses TensorCore",
                    .type = ColumnType::kBoolean,
                    .description = "The kernel's name tells that it uses matrix units."});
  table->AddColumn({.id = "op_name",
                    .label = "Op Name",
                    .type = ColumnType::kString,
                    .description = "Framework operation that launched it."});
  table->AddColumn(
      {.id = "occurrences", .label = "Occurrences", .unit = "count", .description = "Launches."});
  table->AddColumn(Duration("total_duration_us", "Total", "Sum over all launches."));
  table->AddColumn(Duration("avg_duration_us", "Avg", "Mean of a launch, cut to whole ns."));
  table->AddColumn(Duration("min_duration_us", "Min", "Shortest launch."));
  table->AddColumn(Duration("max_duration_us", "Max", "Longest launch."));
}

double NanoToMicro(uint64_t ns) { return static_cast<double>(ns) / 1e3; }

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(OpToolInput ops,
                          ReadOpToolInput(question, input, OpToolNeeds::kOps, cancel));
  Table table("kernels", "Kernels");
  AddColumns(&table);
  uint32_t rank = 0;
  for (const KernelReport& kernel : ops.stats->kernels) {
    table.AddRow(
        {++rank, kernel.name, kernel.registers_per_thread,
         kernel.static_shmem_bytes + kernel.dynamic_shmem_bytes, Joined(kernel.block_dim),
         Joined(kernel.grid_dim), kernel.occupancy_percent, kernel.is_op_tensor_core_eligible,
         kernel.uses_tensor_core, kernel.op_name, kernel.occurrences,
         NanoToMicro(kernel.total_duration_ns),
         NanoToMicro(kernel.occurrences == 0 ? 0 : kernel.total_duration_ns / kernel.occurrences),
         NanoToMicro(kernel.min_duration_ns), NanoToMicro(kernel.max_duration_ns)},
        {.op_name = kernel.name,
         .framework_op = kernel.op_name,
         .side = RowSubject::Side::kDevice,
         .launch = analysis::LaunchOf(kernel)});
  }
  ToolResult result;
  result.shape = ToolResult::Shape::kTable;
  if (table.rows().empty()) {
    ops.notices.push_back({Notice::Severity::kInfo, "NO_KERNELS",
                           "The profile holds no GPU kernels.",
                           "Capture on a GPU with device_tracer_level=1 or higher."});
  }
  result.tables.push_back(std::move(table));
  result.notices = std::move(ops.notices);
  result.partial = ops.partial;
  return result;
}

}  // namespace

ToolDescriptor MakeKernelStatsTool() {
  ToolDescriptor tool;
  tool.id = "kernel_stats";
  tool.title = "Kernel stats";
  tool.question = "Which GPU kernels take the time, and do they use the matrix units?";
  tool.offers_all_hosts = true;
  tool.applies = [](const SessionFacts& facts) -> Applicability {
    if (facts.has_gpu_plane) return {};
    return {false, "The profile has no GPU.", "Capture on a machine with GPUs."};
  };
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
