// The first overview of a session: duration, devices, steps and the heaviest operations, from
// columns alone.
//
//   const Overview overview = MakeOverview(inputs, {});
//
// Steps come from a `Steps` line where there is one, else from events with a `step_num` stat on the
// host (JAX's StepTraceAnnotation); when neither exists `steps` is empty and `steps_reason` says
// so. Operations are taken from device op lines; a CPU-only profile falls back to host events that
// carry `hlo_op`, then to all host events. Self time is an event's duration less that of the events
// directly inside it. Cost: one pass over the op lines; about 30 ns an event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/analysis/line_kind.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

struct EventRef {
  uint32_t host = 0;
  uint32_t plane = 0;
  uint32_t line = 0;
  uint32_t event = 0;
};

struct HostInput {
  std::string host;
  const xplane::ProfileFile* file = nullptr;
  int64_t shift_ps = 0;  // session time = file time + shift
};

struct DeviceSummary {
  uint32_t host = 0;
  uint32_t plane = 0;
  std::string plane_name;
  std::string kind;  // "TPU", "GPU", "CPU", "custom"
  std::string name;  // model, empty when the profile does not say
  int64_t busy_ps =
      0;  // union of its op (or kernel) events, nested and overlapping ones counted once
  std::optional<double> busy_share;  // of the session's window
  // From the first to the last measured event of the device, in session time; XProf's duty cycle is
  // busy_ps over its length. Both 0 when it ran nothing.
  int64_t active_start_ps = 0;
  int64_t active_end_ps = 0;
};

struct StepItem {
  std::string name;
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  EventRef event;
};

struct StepSummary {
  std::string source;  // "Steps line of /device:TPU:0", "step_num annotations of /host:CPU"
  uint64_t count = 0;
  int64_t mean_ps = 0;
  int64_t min_ps = 0;
  int64_t max_ps = 0;
  std::vector<StepItem> items;  // at most OverviewOptions::max_steps, in time order
};

struct OpSummary {
  std::string name;
  OpCategory category = OpCategory::kOther;
  std::string hlo_category;
  uint64_t count = 0;
  int64_t total_ps = 0;
  int64_t self_ps = 0;
  double share = 0;    // of the self time of all ops
  std::string source;  // "file.py:118" when the trace carries it
  EventRef longest;
};

struct Overview {
  int64_t window_start_ps = 0;
  int64_t window_end_ps = 0;
  uint64_t event_count = 0;
  std::vector<DeviceSummary> devices;
  std::optional<StepSummary> steps;
  std::string steps_reason;
  std::vector<OpSummary> top_ops;  // heaviest self time first
  std::string top_ops_by;          // "device" or "host"
  int64_t top_ops_total_ps = 0;    // self time of all ops, not only the listed
  std::string top_ops_reason;      // why there are none
};

struct OverviewOptions {
  size_t max_steps = 500;
  size_t max_ops = 100;
};

Overview MakeOverview(const std::vector<HostInput>& hosts, const OverviewOptions& options);

// Self time of every event of a line (same index as the columns): duration less the events directly
// inside it.
std::vector<int64_t> SelfTimes(const xplane::LineColumns& line);

}  // namespace strobe::analysis
