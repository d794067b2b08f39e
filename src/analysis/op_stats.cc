#include "src/analysis/op_stats.h"

namespace strobe::analysis {

std::string_view HardwareTypeName(HardwareType type) {
  switch (type) {
    case HardwareType::kCpuOnly:
      return "CPU_ONLY";
    case HardwareType::kGpu:
      return "GPU";
    case HardwareType::kTpu:
      return "TPU";
    case HardwareType::kUnknown:
      break;
  }
  return "UNKNOWN_HARDWARE";
}

Result<OpStats> MakeOpStats(const PreparedHost& host, const hlo::ModuleSet& modules,
                            const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(cancel.Check());
  return OpStats();
}

}  // namespace strobe::analysis
