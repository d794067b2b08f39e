// What belongs to each step of one host, before it becomes the step database: the markers that say
// how long the step was, the spans of work inside it, the op metrics of each core.
//
//   STROBE_ASSIGN_OR_RETURN(StepRecords steps, HostStepRecords(prepared, HostSpans::kAll, cancel));
//   const StepSpan time = steps.at(12).StepTime();
//
// Internal to the step database (step_database.cc). The rules are XProf's step events: which host
// events mark a step, how the others are classified, which lines of a device hold markers.
//
// Cost: 3-6 ns a host event; spans that lie inside one of their own kind are not kept. Memory: 24 B
// a kept span.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/device_op_metrics.h"
#include "src/analysis/event_span.h"
#include "src/analysis/prepared_host.h"
#include "src/analysis/step_database.h"
#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::analysis {

struct StepSpan {
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
  uint64_t duration_ps() const { return static_cast<uint64_t>(end_ps - begin_ps); }
  bool Includes(const StepSpan& other) const {
    return begin_ps <= other.begin_ps && other.end_ps <= end_ps;
  }
  // The longer one; of equal ones the first.
  void TakeLonger(const StepSpan& other) {
    if (other.duration_ps() > duration_ps()) *this = other;
  }
};

struct StepRecord {
  StepSpan host_marker;    // the longest
  StepSpan device_marker;  // the longest over all cores
  std::map<uint32_t, StepSpan> core_markers;
  std::string name;
  std::vector<EventSpan> spans;
  uint64_t input_ps = 0;  // host: waiting for input or sending it, overlaps counted twice
  std::map<uint32_t, std::shared_ptr<const GroupOps>> ops;  // by core
  std::map<uint32_t, std::vector<AllReduceTime>> all_reduces;

  // The device's marker, unless a host marker contains it; the host's when there is no device.
  StepSpan StepTime() const;
  StepSpan StepTimeOn(uint32_t core) const;
  void Combine(StepRecord other);
};

using StepRecords = std::map<int64_t, StepRecord>;

// kInputOnly: markers and input time, no spans (what a TPU needs of its host).
enum class HostSpans : uint8_t { kAll, kInputOnly };

// Of the plane `/host:CPU`; empty when there is none.
Result<StepRecords> HostStepRecords(const PreparedHost& host, HostSpans spans,
                                    const CancelToken& cancel);
// Of one device plane. TPU: steps that have both a marker and ops. GPU: the spans of all streams.
// `origin_unix_ns`: what was taken off the times of the file to get those of the markers.
StepRecords DeviceStepRecords(const PreparedHost& host, const DevicePlaneMetrics& device,
                              int64_t* origin_unix_ns);
// Adds `from`, step by step.
void UniteSteps(StepRecords from, StepRecords* into);
// Keeps the steps that both have; all of `from` when `into` is empty.
void IntersectSteps(StepRecords from, StepRecords* into);

// Wall clock that was taken off the times of a line, Unix ns; 0 for relative ones.
int64_t OriginOf(const xplane::Line& line);

// How host work is classified by its name alone (no device in the profile); for tests.
EventType ClassifyHostEvent(std::string_view name);
EventType ClassifyGpuEvent(std::string_view name, std::string_view tensor_shapes);
// "train", "test..." or "TraceContext..." without a slash.
bool IsExplicitStepMarker(std::string_view name);

}  // namespace strobe::analysis
