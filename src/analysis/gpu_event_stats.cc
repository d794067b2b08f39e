#include "src/analysis/gpu_event_stats.h"

namespace strobe::analysis {
namespace {

enum Wanted : size_t {
  kFrameworkOp,
  kEquation,
  kShapes,
  kHloOp,
  kHloModule,
  kKernel,
  kMemcpy,
  kProgram,
  kGroup,
  kCorrelation,
  kEager,
  kEnergy,
  kFlops,
  kBytes,
};

std::string_view Innermost(std::string_view nested) {
  const size_t separator = nested.rfind("::");
  return separator == std::string_view::npos ? nested : nested.substr(separator + 2);
}

}  // namespace

GpuEventReader::GpuEventReader(const xplane::ProfileFile& file, size_t plane)
    : scanner_(file, plane,
               {"tf_op", "equation", "shape", "hlo_op", "hlo_module", "kernel_details",
                "memcpy_details", "program_id", "group_id", "correlation_id", "is_eager",
                "vdd_energy_j", "flops", "bytes_accessed"}) {}

GpuEvent GpuEventReader::Read(const EventRecord& record) const {
  GpuEvent gpu;
  if (!scanner_.KnowsAny()) return gpu;
  scanner_.Scan(record, [&](size_t wanted, const xplane::Stat& stat) {
    switch (wanted) {
      case kFrameworkOp:
        gpu.framework_op = stat.text;
        break;
      case kEquation:
        gpu.equation = stat.text;
        break;
      case kShapes:
        gpu.tensor_shapes = stat.text;
        break;
      case kHloOp:
        gpu.hlo_op = Innermost(stat.text);
        break;
      case kHloModule:
        gpu.hlo_module = stat.text;
        break;
      case kKernel:
        gpu.kernel_details = stat.text;
        break;
      case kMemcpy:
        gpu.memcpy_details = stat.text;
        break;
      case kProgram:
        gpu.program_id = static_cast<uint64_t>(stat.IntOrUint());
        break;
      case kGroup:
        gpu.group = stat.IntOrUint();
        break;
      case kCorrelation:
        gpu.correlation_id = stat.IntOrUint();
        break;
      case kEager:
        gpu.is_eager = stat.IntOrUint() != 0;
        break;
      case kEnergy:
        gpu.vdd_energy_j += stat.number;
        break;
      case kFlops:
        gpu.flops = static_cast<uint64_t>(stat.IntOrUint());
        break;
      case kBytes:
        gpu.bytes_accessed = static_cast<uint64_t>(stat.IntOrUint());
        break;
      default:
        break;
    }
  });
  return gpu;
}

}  // namespace strobe::analysis
