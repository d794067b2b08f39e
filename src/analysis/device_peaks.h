// What a device can do at most: operations a second and bandwidths, and what it is called.
//
//   const PerfEnv perf = GpuPerfEnv(file, plane);
//   GpuModelName(ReadGpuCapabilities(file, plane))   // "Nvidia GPU (Hopper)"
//
// TPU: what the plane says, which the TPU runtime writes; nothing is assumed for one that says
// nothing. GPU: what the plane says, else cores times clock times the operations a cycle of its
// architecture. Cost: one decode of the plane's stats. Sources of the rates: the makers' papers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/analysis/op_stats.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

// As the GPU tracer describes the device.
struct GpuCapabilities {
  std::string_view vendor;  // "Nvidia", "AMD"
  std::string_view name;    // "gfx942"
  int64_t compute_major = 0;
  int64_t compute_minor = 0;
  int64_t cores = 0;
  double clock_ghz = 0;
  double memory_bandwidth_bytes = 0;  // a second
};

GpuCapabilities ReadGpuCapabilities(const xplane::ProfileFile& file, size_t plane);
// "Nvidia GPU (Volta)", "AMD GPU - gfx942"; empty for a vendor nobody knows.
std::string GpuModelName(const GpuCapabilities& gpu);
// 10^9 operations a second and core, of the fastest 16- or 32-bit unit; 0 when unknown.
double GpuGigaFlopsPerCore(const GpuCapabilities& gpu);
// Bytes a second and core of shared memory.
double GpuSharedMemoryBytesPerCore(const GpuCapabilities& gpu);

PerfEnv TpuPerfEnv(const xplane::ProfileFile& file, size_t plane);
PerfEnv GpuPerfEnv(const xplane::ProfileFile& file, size_t plane);

}  // namespace strobe::analysis
