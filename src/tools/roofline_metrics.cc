#include "src/tools/roofline_metrics.h"

#include <cstdio>

#include "src/base/text.h"

namespace strobe::tools {

using analysis::HardwareType;
using analysis::MemoryAccessed;
using analysis::MemorySpace;
using analysis::OpMetrics;
using analysis::PerfEnv;
using analysis::SafeDivide;

namespace {

struct MemoryBytes {
  uint64_t hbm = 0;
  uint64_t cmem_read = 0;
  uint64_t cmem_write = 0;
  uint64_t vmem_read = 0;
  uint64_t vmem_write = 0;
};

MemoryBytes BytesOf(const OpMetrics& op) {
  MemoryBytes bytes;
  for (const MemoryAccessed& access : op.memory_accessed) {
    switch (static_cast<MemorySpace>(access.space)) {
      case MemorySpace::kHbm:
        bytes.hbm += access.bytes;
        break;
      case MemorySpace::kCmem:
        (access.is_write ? bytes.cmem_write : bytes.cmem_read) += access.bytes;
        break;
      case MemorySpace::kVmem:
        (access.is_write ? bytes.vmem_write : bytes.vmem_read) += access.bytes;
        break;
      default:
        break;
    }
  }
  if (op.memory_accessed.empty()) bytes.hbm = op.bytes_accessed;
  return bytes;
}

double GibibytesPerSecond(double bytes, double ns) { return GigaToGibi(SafeDivide(bytes, ns)); }

// The resource that is used most, relative to its peak.
class Bottleneck {
 public:
  explicit Bottleneck(RooflineMetrics* metrics) : metrics_(metrics) {
    metrics_->bound_by = "Unknown";
  }
  void Offer(std::string_view resource, double utilization, double intensity) {
    if (utilization <= utilization_) return;
    utilization_ = utilization;
    metrics_->bound_by = resource;
    metrics_->bottleneck_intensity = intensity;
  }
  // Only memories that were used and whose peak is known.
  void OfferMemory(std::string_view resource, uint64_t bytes, double bandwidth, double peak_gbps,
                   double intensity) {
    if (bytes == 0 || peak_gbps == 0) return;
    Offer(resource, SafeDivide(bandwidth, GigaToGibi(peak_gbps)), intensity);
  }

 private:
  RooflineMetrics* const metrics_;
  double utilization_ = 0;
};

}  // namespace

double PeakBandwidth(const PerfEnv& perf, size_t index) {
  return index < perf.peak_bandwidths_gbps.size() ? perf.peak_bandwidths_gbps[index]
                                                  : perf.peak_hbm_gbps;
}

RooflineMetrics RooflineOf(const OpMetrics& op, const PerfEnv& perf, HardwareType hardware,
                           bool normalized_time) {
  RooflineMetrics m;
  const double ns = PicoToNano(static_cast<double>(op.time_ps));
  const double chip_ns =
      PicoToNano(static_cast<double>(normalized_time ? op.normalized_time_ps : op.time_ps));
  const auto all_bytes = static_cast<double>(op.bytes_accessed);
  m.flop_rate = SafeDivide(op.flops, ns);
  m.model_flop_rate = SafeDivide(op.model_flops, ns);
  m.memory_bw = GibibytesPerSecond(all_bytes, ns);
  m.intensity = SafeDivide(op.flops, all_bytes);
  const MemoryBytes bytes = BytesOf(op);
  const auto memory = [&](uint64_t count, double time_ns, double* bandwidth, double* intensity) {
    *bandwidth = GibibytesPerSecond(static_cast<double>(count), time_ns);
    *intensity = SafeDivide(op.flops, static_cast<double>(count));
  };
  memory(bytes.hbm, ns, &m.hbm_bw, &m.hbm_intensity);
  memory(bytes.cmem_read, chip_ns, &m.cmem_read_bw, &m.cmem_read_intensity);
  memory(bytes.cmem_write, chip_ns, &m.cmem_write_bw, &m.cmem_write_intensity);
  memory(bytes.vmem_read, chip_ns, &m.vmem_read_bw, &m.vmem_read_intensity);
  memory(bytes.vmem_write, chip_ns, &m.vmem_write_bw, &m.vmem_write_intensity);

  Bottleneck bottleneck(&m);
  bottleneck.Offer("Compute", SafeDivide(m.flop_rate, perf.peak_tera_flops_per_second * 1000.0),
                   m.intensity);
  bottleneck.Offer("HBM", SafeDivide(m.hbm_bw, GigaToGibi(PeakBandwidth(perf, 0))),
                   m.hbm_intensity);
  if (hardware == HardwareType::kTpu) {
    bottleneck.OfferMemory("CMEM Read", bytes.cmem_read, m.cmem_read_bw, PeakBandwidth(perf, 3),
                           m.cmem_read_intensity);
    bottleneck.OfferMemory("CMEM Write", bytes.cmem_write, m.cmem_write_bw, PeakBandwidth(perf, 4),
                           m.cmem_write_intensity);
    bottleneck.OfferMemory("VMEM Read", bytes.vmem_read, m.vmem_read_bw, PeakBandwidth(perf, 5),
                           m.vmem_read_intensity);
    bottleneck.OfferMemory("VMEM Write", bytes.vmem_write, m.vmem_write_bw, PeakBandwidth(perf, 6),
                           m.vmem_write_intensity);
  } else if (hardware == HardwareType::kGpu) {
    bottleneck.OfferMemory("Shm/L1", 1, m.hbm_bw, PeakBandwidth(perf, 2), m.hbm_intensity);
  }
  return m;
}

OpTimes TimesOf(const OpMetrics& op) {
  OpTimes times;
  const auto count = static_cast<double>(op.occurrences);
  times.total_us = PicoToMicro(static_cast<double>(op.time_ps));
  times.average_us = SafeDivide(times.total_us, count);
  times.total_self_us = PicoToMicro(static_cast<double>(op.self_time_ps));
  times.average_self_us = SafeDivide(times.total_self_us, count);
  return times;
}

double RidgePoint(double peak_gigaflops, double peak_gibibytes_per_second) {
  return SafeDivide(peak_gigaflops, GibiToGiga(peak_gibibytes_per_second));
}

double NormalizedFlopRate(const OpMetrics& op) {
  const double rate = SafeDivide(op.flops, PicoToNano(static_cast<double>(op.time_ps)));
  if (op.normalized_time_ps == 0) return rate;
  return rate *
         SafeDivide(static_cast<double>(op.time_ps), static_cast<double>(op.normalized_time_ps));
}

bool MayHaveInnerOps(std::string_view category) {
  return category == "call" || category == "conditional" || category == "while" ||
         category == "megacore fusion";
}

bool IsInfeedOrOutfeed(std::string_view category) {
  return category.find("infeed") != std::string_view::npos ||
         category.find("outfeed") != std::string_view::npos;
}

std::string SourceCell(const OpMetrics& op) {
  if (op.source_file.empty()) return {};
  return "<div class='source-info-cell' title='" + EscapeHtml(op.source_stack) + "'>" +
         EscapeHtml(op.source_file) + "</div>";
}

std::string SixDigits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

}  // namespace strobe::tools
