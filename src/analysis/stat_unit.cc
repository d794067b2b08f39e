#include "src/analysis/stat_unit.h"

namespace strobe::analysis {
namespace {

struct Unit {
  std::string_view name;
  std::string_view unit;
};

constexpr Unit kByName[] = {
    {"bytes_accessed", "B"},
    {"raw_bytes_accessed", "B"},
    {"bytes_transferred", "B"},
    {"bytes_reserved", "B"},
    {"bytes_allocated", "B"},
    {"bytes_available", "B"},
    {"peak_bytes_in_use", "B"},
    {"requested_bytes", "B"},
    {"allocation_bytes", "B"},
    {"buffer_size", "B"},
    {"buffer_sizes", "B"},
    {"input_size", "B"},
    {"memory_size", "B"},
    {"payload_size_bytes", "B"},
    {"memory_bandwidth", "B/s"},
    {"flops", "FLOP"},
    {"model_flops", "FLOP"},
    {"peak_teraflops_per_second", "TFLOP/s"},
    {"peak_hbm_bw_gigabytes_per_second", "GB/s"},
    {"peak_cmem_rd_bw_gigabytes_per_second", "GB/s"},
    {"peak_cmem_wr_bw_gigabytes_per_second", "GB/s"},
    {"peak_vmem_rd_bw_gigabytes_per_second", "GB/s"},
    {"peak_vmem_wr_bw_gigabytes_per_second", "GB/s"},
    {"peak_sram_rd_bw_gigabytes_per_second", "GB/s"},
    {"peak_sram_wr_bw_gigabytes_per_second", "GB/s"},
    {"clock_rate", "kHz"},
    {"profile_start_time", "ns"},
    {"profile_stop_time", "ns"},
};

// The longer ending first.
constexpr Unit kByEnding[] = {
    {"_gigabytes_per_second", "GB/s"},
    {"_percent", "%"},
    {"_pct", "%"},
    {"_bytes", "B"},
    {"_ps", "ps"},
    {"_ns", "ns"},
    {"_us", "us"},
    {"_ms", "ms"},
    {"_nj", "nJ"},
    {"_khz", "kHz"},
    {"_hz", "Hz"},
};

}  // namespace

std::string_view StatUnit(std::string_view stat_name) {
  for (const Unit& unit : kByName) {
    if (unit.name == stat_name) return unit.unit;
  }
  for (const Unit& unit : kByEnding) {
    if (stat_name.ends_with(unit.name)) return unit.unit;
  }
  return "";
}

}  // namespace strobe::analysis
