#include "src/analysis/kernel_reports.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "src/analysis/gpu_event_stats.h"
#include "src/analysis/line_order.h"
#include "src/analysis/tf_op_name.h"
#include "src/analysis/trace_lines.h"

namespace strobe::analysis {
namespace {

constexpr std::array<std::string_view, 24> kTensorCoreNames = {
    "16816",
    "c1688",
    "conv1x1",
    "conv2d_c1_k1",
    "dgrad_1x1_stride_2x2",
    "direct_group",
    "first_layer_wgrad_kernel",
    "h1688",
    "h884",
    "hmma",
    "i16832",
    "i8816",
    "s884",
    "s1688",
    "xmma_gemm",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_sparse_gemm",
    "xmma_warp_specialized_implicit_gemm",
    // Matrix units of AMD, and kernels that XLA generates for products.
    "Cijk_",
    "Custom_Cijk_",
    "gemm_fusion",
    "mfma",
    "wmma",
};

constexpr std::array<std::string_view, 13> kEligibleEndings = {
    "Conv2D",
    "Conv2DBackpropFilter",
    "Conv2DBackpropInput",
    "Conv3D",
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
    "/MatMul",
    "FusedMatMul",
    "/CudnnRNN",
    "XlaDot",
    "dot_general",
    "conv_general_dilated",
};

constexpr std::array<std::string_view, 4> kEligibleParts = {
    "BatchMatMul",
    "CudnnRNNV",
    "CudnnRNNForward",
    "CudnnRNNBackprop",
};

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

void ParseDimensions(std::string_view text, uint32_t (&dimensions)[3]) {
  uint32_t parsed[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    const size_t comma = text.find(',');
    if ((i < 2) != (comma != std::string_view::npos)) return;
    if (!ParseNumber(text.substr(0, comma), &parsed[i])) return;
    if (i < 2) text.remove_prefix(comma + 1);
  }
  std::ranges::copy(parsed, dimensions);
}

void ParsePair(std::string_view key, std::string_view value, KernelReport* report) {
  uint32_t number = 0;
  if (key == "block") return ParseDimensions(value, report->block_dim);
  if (key == "grid") return ParseDimensions(value, report->grid_dim);
  if (key == "occ_pct") {
    double percent = 0;
    if (ParseNumber(value, &percent)) report->occupancy_percent = percent;
    return;
  }
  if (!ParseNumber(value, &number)) return;
  if (key == "regs") report->registers_per_thread = number;
  if (key == "static_shared") report->static_shmem_bytes = number;
  if (key == "dynamic_shared") report->dynamic_shmem_bytes = number;
}

}  // namespace

void ParseKernelDetails(std::string_view details, KernelReport* report) {
  for (size_t i = 0; i < 3; ++i) report->block_dim[i] = report->grid_dim[i] = 1;
  while (!details.empty()) {
    const size_t end = details.find_first_of(" \n");
    const std::string_view token = details.substr(0, end);
    details.remove_prefix(end == std::string_view::npos ? details.size() : end + 1);
    const size_t colon = token.find(':');
    if (colon == std::string_view::npos || token.find(':', colon + 1) != std::string_view::npos) {
      continue;
    }
    ParsePair(token.substr(0, colon), token.substr(colon + 1), report);
  }
}

bool UsesTensorCore(std::string_view kernel_name) {
  return std::ranges::any_of(kTensorCoreNames, [&](std::string_view part) {
    return kernel_name.find(part) != std::string_view::npos;
  });
}

bool IsTensorCoreEligible(std::string_view op_name) {
  return op_name.ends_with("XlaDotV2") ||
         std::ranges::any_of(kEligibleEndings,
                             [&](std::string_view end) { return op_name.ends_with(end); }) ||
         std::ranges::any_of(kEligibleParts, [&](std::string_view part) {
           return op_name.find(part) != std::string_view::npos;
         });
}

bool IsEinsumEligible(std::string_view equation) {
  const size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos) return false;
  if (equation.find("->", arrow + 2) != std::string_view::npos) return false;
  return std::ranges::count(equation.substr(0, arrow), ',') == 1;
}

bool KernelTotals::Less::operator()(const KernelReport& a, const KernelReport& b) const {
  const auto key = [](const KernelReport& k) {
    return std::tie(k.name, k.grid_dim[0], k.grid_dim[1], k.grid_dim[2], k.block_dim[0],
                    k.block_dim[1], k.block_dim[2], k.registers_per_thread, k.static_shmem_bytes,
                    k.dynamic_shmem_bytes, k.uses_tensor_core, k.is_op_tensor_core_eligible,
                    k.op_name);
  };
  return key(a) < key(b);
}

Status KernelTotals::AddPlane(const PreparedHost& host, size_t plane, HloOps* ops,
                              const CancelToken& cancel) {
  const xplane::ProfileFile& file = host.file();
  const GpuEventReader reader(file, plane);
  for (size_t l = 0; l < file.planes()[plane].lines.size(); ++l) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    if (IsDerivedLineId(file.planes()[plane].lines[l].id)) continue;
    const xplane::LineColumns& line = file.Line(plane, l);
    ForEachInOrder(line, [&](uint32_t event) {
      const auto duration_ns = static_cast<uint64_t>(line.duration_ps[event]) / 1000;
      if (line.duration_ps[event] < 1000) return;
      const GpuEvent gpu = reader.Read(l, event);
      if (!gpu.is_kernel()) return;
      KernelReport kernel;
      kernel.name = file.planes()[plane].event_metadata[line.name[event]].name;
      kernel.uses_tensor_core = UsesTensorCore(kernel.name);
      ParseKernelDetails(gpu.kernel_details, &kernel);
      if (gpu.is_framework_op()) {
        kernel.op_name = ParseFrameworkOp(gpu.framework_op).name;
        kernel.is_op_tensor_core_eligible = IsEinsumEligible(gpu.equation) ||
                                            IsTensorCoreEligible(kernel.op_name) ||
                                            kernel.uses_tensor_core;
      }
      if (gpu.is_hlo_op() && gpu.program_id) {
        if (const OpMetrics* op = ops->Find(*gpu.program_id, gpu.hlo_op)) {
          kernel.op_name = op->provenance;
          if (kernel.op_name.ends_with(':')) kernel.op_name.pop_back();
          kernel.is_op_tensor_core_eligible |= IsTensorCoreEligible(kernel.op_name);
        }
      }
      Time& time = kernels_[std::move(kernel)];
      time.min_ns = time.occurrences == 0 ? duration_ns : std::min(time.min_ns, duration_ns);
      time.max_ns = std::max(time.max_ns, duration_ns);
      time.total_ns += duration_ns;
      ++time.occurrences;
    });
  }
  return OkStatus();
}

std::vector<KernelReport> KernelTotals::Heaviest(size_t limit) const {
  std::vector<KernelReport> reports;
  reports.reserve(kernels_.size());
  for (const auto& [kernel, time] : kernels_) {
    KernelReport& report = reports.emplace_back(kernel);
    report.occurrences = time.occurrences;
    report.total_duration_ns = time.total_ns;
    report.min_duration_ns = time.min_ns;
    report.max_duration_ns = time.max_ns;
  }
  std::ranges::stable_sort(reports, [](const KernelReport& a, const KernelReport& b) {
    return a.total_duration_ns > b.total_duration_ns;
  });
  if (reports.size() > limit) reports.resize(limit);
  return reports;
}

}  // namespace strobe::analysis
