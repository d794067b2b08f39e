// Rates of one op and what bounds it: the numbers that all op tables share.
//
//   const RooflineMetrics m = RooflineOf(op, stats.perf, stats.run.hardware);
//   // m.hbm_bw GiB/s, m.bound_by "HBM"
//
// Rates divide what all executions did by the time they took, children included, because flops and
// bytes include those of children. Bandwidths are GiB/s, flop rates GFLOP/s, intensities flop/byte.
// An op without a breakdown of its bytes is taken to move them all to and from main memory. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/analysis/op_metrics.h"
#include "src/analysis/op_stats.h"

namespace strobe::tools {

inline double PicoToNano(double ps) { return ps / 1e3; }
inline double PicoToMicro(double ps) { return ps / 1e6; }
inline double GigaToGibi(double giga) { return giga / 1.073741824; }
inline double GibiToGiga(double gibi) { return gibi * 1.073741824; }

struct RooflineMetrics {
  double flop_rate = 0;        // normalized to the device's units
  double model_flop_rate = 0;  // of the model
  double memory_bw = 0;        // all bytes
  double hbm_bw = 0;
  double cmem_read_bw = 0;
  double cmem_write_bw = 0;
  double vmem_read_bw = 0;
  double vmem_write_bw = 0;
  double intensity = 0;
  double hbm_intensity = 0;
  double cmem_read_intensity = 0;
  double cmem_write_intensity = 0;
  double vmem_read_intensity = 0;
  double vmem_write_intensity = 0;
  double bottleneck_intensity = 0;
  std::string_view bound_by;
};

// `normalized_time`: on-chip bandwidths over the time as if at the default clock.
RooflineMetrics RooflineOf(const analysis::OpMetrics& op, const analysis::PerfEnv& perf,
                           analysis::HardwareType hardware, bool normalized_time = false);

// Times of an op in microseconds.
struct OpTimes {
  double total_us = 0;
  double average_us = 0;
  double total_self_us = 0;
  double average_self_us = 0;
};
OpTimes TimesOf(const analysis::OpMetrics& op);

// GB/s; the HBM's when there is no such memory.
double PeakBandwidth(const analysis::PerfEnv& perf, size_t index);
// Flop/byte above which a device is bound by compute.
double RidgePoint(double peak_gigaflops, double peak_gibibytes_per_second);
// Flop rate as if at the default clock, GFLOP/s.
double NormalizedFlopRate(const analysis::OpMetrics& op);

// Categories whose time is that of ops inside.
bool MayHaveInnerOps(std::string_view category);
bool IsInfeedOrOutfeed(std::string_view category);

// XProf's cell for a source line: its file and line, with the stack as a hint. Empty: none known.
std::string SourceCell(const analysis::OpMetrics& op);

// A number as XProf's properties write it: six digits, "1525.51", "1e+06".
std::string SixDigits(double value);

}  // namespace strobe::tools
