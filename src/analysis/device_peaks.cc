#include "src/analysis/device_peaks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "src/analysis/op_totals.h"

namespace strobe::analysis {
namespace {

constexpr std::string_view kNvidia = "Nvidia";
constexpr std::string_view kAmd = "AMD";

// The fastest of the vector and matrix units in 32 and 16 bits, operations a cycle and core.
struct NvidiaRate {
  int64_t compute;  // major * 1000 + minor * 10
  double flops_per_cycle;
};
constexpr std::array<NvidiaRate, 12> kNvidiaRates = {{
    {10000, 8192},  // Blackwell
    {9000, 4096},   // Hopper
    {8090, 1024},   // Ada Lovelace
    {8060, 1024},   // Ampere, consumer
    {8000, 2048},   // Ampere
    {7050, 1024},   // Turing
    {7000, 1024},   // Volta
    {6010, 256},    // Pascal, consumer
    {6000, 256},    // Pascal
    {5000, 256},    // Maxwell
    {3000, 384},    // Kepler
    {2000, 64},     // Fermi
}};

struct AmdRate {
  std::string_view gfx;
  double flops_per_cycle;
  double shared_bytes_per_cycle;
};
constexpr std::array<AmdRate, 4> kAmdRates = {{
    {"gfx908", 1024, 128},
    {"gfx90a", 1024, 128},
    {"gfx942", 2048, 128},
    {"gfx950", 4096, 256},
}};

// "gfx" and at least three hexadecimal digits.
bool IsGfxName(std::string_view name) {
  if (!name.starts_with("gfx") || name.size() < 6) return false;
  return std::ranges::all_of(name.substr(3), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::string_view GfxName(const GpuCapabilities& gpu) {
  if (IsGfxName(gpu.name)) return gpu.name;
  if (gpu.compute_major == 9 && gpu.compute_minor == 4) return "gfx942";
  if (gpu.compute_major == 9 && gpu.compute_minor == 5) return "gfx950";
  return {};
}

const AmdRate* FindAmdRate(const GpuCapabilities& gpu) {
  const std::string_view gfx = GfxName(gpu);
  const auto found = std::ranges::find(kAmdRates, gfx, &AmdRate::gfx);
  return found == kAmdRates.end() ? nullptr : &*found;
}

std::string NvidiaName(const GpuCapabilities& gpu) {
  switch (gpu.compute_major) {
    case 2:
      return "Nvidia GPU (Fermi)";
    case 3:
      return "Nvidia GPU (Kepler)";
    case 5:
      return "Nvidia GPU (Maxwell)";
    case 6:
      return "Nvidia GPU (Pascal)";
    case 7:
      return gpu.compute_minor < 5 ? "Nvidia GPU (Volta)" : "Nvidia GPU (Turing)";
    case 8:
      return gpu.compute_minor < 9 ? "Nvidia GPU (Ampere)" : "Nvidia GPU (Ada Lovelace)";
    case 9:
      return "Nvidia GPU (Hopper)";
    case 10:
      return "Nvidia GPU (Blackwell)";
    default:
      return "Nvidia GPU";
  }
}

std::string AmdName(const GpuCapabilities& gpu) {
  const std::string_view gfx = GfxName(gpu);
  if (!gfx.empty()) return "AMD GPU - " + std::string(gfx);
  if (gpu.compute_major >= 9 && gpu.compute_major <= 11) {
    return "AMD GPU - gfx-" + std::to_string(gpu.compute_major) + "XX series";
  }
  return "AMD GPU";
}

double NumberStat(const std::vector<xplane::Stat>& stats, std::string_view name) {
  const xplane::Stat* stat = FindStat(stats, name);
  if (stat == nullptr) return 0;
  return stat->type == xplane::StatType::kDouble ? stat->number
                                                 : static_cast<double>(stat->IntOrUint());
}

void SetRidgePoint(PerfEnv* perf) {
  perf->peak_hbm_gbps = perf->peak_bandwidths_gbps[0];
  perf->ridge_point =
      SafeDivide(perf->peak_tera_flops_per_second * 1000.0, perf->peak_bandwidths_gbps[0]);
}

}  // namespace

GpuCapabilities ReadGpuCapabilities(const xplane::ProfileFile& file, size_t plane) {
  GpuCapabilities gpu;
  for (const xplane::Stat& stat : file.PlaneStats(plane)) {
    if (stat.name == "clock_rate") gpu.clock_ghz = static_cast<double>(stat.IntOrUint()) / 1e6;
    if (stat.name == "core_count") gpu.cores = stat.IntOrUint();
    if (stat.name == "memory_bandwidth") {
      gpu.memory_bandwidth_bytes = static_cast<double>(static_cast<uint64_t>(stat.IntOrUint()));
    }
    if (stat.name == "compute_cap_major") gpu.compute_major = stat.IntOrUint();
    if (stat.name == "compute_cap_minor") gpu.compute_minor = stat.IntOrUint();
    if (stat.name == "device_vendor") gpu.vendor = stat.text;
    if (stat.name == "gpu_device_name") gpu.name = stat.text;
  }
  return gpu;
}

std::string GpuModelName(const GpuCapabilities& gpu) {
  if (gpu.vendor == kNvidia) return NvidiaName(gpu);
  if (gpu.vendor == kAmd) return AmdName(gpu);
  return {};
}

double GpuGigaFlopsPerCore(const GpuCapabilities& gpu) {
  if (gpu.vendor == kAmd) {
    const AmdRate* rate = FindAmdRate(gpu);
    return rate == nullptr ? 0 : rate->flops_per_cycle * gpu.clock_ghz;
  }
  if (gpu.vendor != kNvidia) return 0;
  const int64_t compute = gpu.compute_major * 1000 + gpu.compute_minor * 10;
  for (const NvidiaRate& rate : kNvidiaRates) {
    if (rate.compute <= compute) return rate.flops_per_cycle * gpu.clock_ghz;
  }
  return 0;
}

double GpuSharedMemoryBytesPerCore(const GpuCapabilities& gpu) {
  double per_cycle = 0;
  if (gpu.vendor == kAmd) {
    const AmdRate* rate = FindAmdRate(gpu);
    per_cycle = rate == nullptr ? 0 : rate->shared_bytes_per_cycle;
  } else if (gpu.vendor == kNvidia) {
    per_cycle = gpu.compute_major <= 2 ? 64 : 256;
  }
  return per_cycle * gpu.clock_ghz * 1e9;
}

PerfEnv TpuPerfEnv(const xplane::ProfileFile& file, size_t plane) {
  const std::vector<xplane::Stat> stats = file.PlaneStats(plane);
  PerfEnv perf;
  perf.peak_tera_flops_per_second = NumberStat(stats, "peak_teraflops_per_second");
  for (const std::string_view memory :
       {"hbm", "sram_rd", "sram_wr", "cmem_rd", "cmem_wr", "vmem_rd", "vmem_wr"}) {
    const std::string name = "peak_" + std::string(memory) + "_bw_gigabytes_per_second";
    perf.peak_bandwidths_gbps.push_back(NumberStat(stats, name));
  }
  perf.has_cmem = perf.peak_bandwidths_gbps[3] > 0 || perf.peak_bandwidths_gbps[4] > 0;
  perf.has_merged_vmem = NumberStat(stats, "has_merged_vmem") != 0;
  perf.has_megacore = NumberStat(stats, "has_megacore") != 0;
  SetRidgePoint(&perf);
  return perf;
}

PerfEnv GpuPerfEnv(const xplane::ProfileFile& file, size_t plane) {
  const GpuCapabilities gpu = ReadGpuCapabilities(file, plane);
  const std::vector<xplane::Stat> stats = file.PlaneStats(plane);
  const auto cores = static_cast<double>(gpu.cores);
  const auto or_else = [&stats](std::string_view name, double otherwise) {
    const double given = NumberStat(stats, name);
    return given > 0 ? given : otherwise;
  };
  PerfEnv perf;
  perf.peak_tera_flops_per_second =
      or_else("peak_teraflops_per_second", cores * (GpuGigaFlopsPerCore(gpu) / 1000.0));
  const double shared = cores * (GpuSharedMemoryBytesPerCore(gpu) / 1e9);
  perf.peak_bandwidths_gbps = {
      gpu.memory_bandwidth_bytes / 1e9,
      or_else("peak_sram_rd_bw_gigabytes_per_second", shared),
      or_else("peak_sram_wr_bw_gigabytes_per_second", shared),
  };
  SetRidgePoint(&perf);
  return perf;
}

}  // namespace strobe::analysis
