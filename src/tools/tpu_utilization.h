// How busy the units of a TPU were, from samples of its hardware counters.
//
//   STROBE_ASSIGN_OR_RETURN(const std::vector<TpuSample> samples, ReadTpuSamples(*file, cancel));
//   for (const UtilizationRow& row : UtilizationOf(samples[0])) Print(row.name, row.achieved /
//   row.peak);
//
// A sample is one line of a TPU plane whose events carry counter values; only "TPU v6 Lite" and
// "TPU v7x" are understood, planes of other devices give none. A counter that is not there is 0.
// Cost: one walk over the lines of the TPU planes. Limit: kMaxCountersPerSample values are kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/profile_file.h"

namespace strobe::tools {

// A chip has some 3,000 counters.
inline constexpr size_t kMaxCountersPerSample = 100'000;

struct TpuSample {
  size_t plane = 0;  // of the file
  int64_t device_id = 0;
  std::string_view device_type;
  int64_t sample = 0;  // id of the line
  std::string_view line_name;
  std::unordered_map<uint64_t, double> counters;  // by id

  double Of(uint64_t id) const {
    const auto found = counters.find(id);
    return found == counters.end() ? 0 : found->second;
  }
};

// A TPU plane with counters or without.
struct TpuDevice {
  size_t plane = 0;
  int64_t device_id = 0;
  bool has_id = false;  // the plane says it; else it is that of its name
  std::string_view device_type;
};

bool HasUtilization(std::string_view device_type);
// TPU planes, in the order of the file.
std::vector<TpuDevice> TpuDevicesOf(const xplane::ProfileFile& file);
Result<std::vector<TpuSample>> ReadTpuSamples(const xplane::ProfileFile& file,
                                              const CancelToken& cancel);

struct UtilizationRow {
  int64_t node = 0;  // core, or SparseCore
  std::string name;
  double achieved = 0;
  double peak = 0;
  std::string_view unit;
};
std::vector<UtilizationRow> UtilizationOf(const TpuSample& sample);

// The sample with its cycle counters filled in from its duration where they are 0.
TpuSample WithCycles(TpuSample sample, double duration_us);

}  // namespace strobe::tools
