// When a device event ran by the device's own account: device_offset_ps and device_duration_ps
// where it carries both, else as written.
//
//   Span span = WrittenSpan(columns, event, shift);
//   if (parent.Includes(span)) ...
//
// Device times count from a zero of the device's own, all others from the Unix epoch, as the file
// writes them; so only spans of one kind can be compared, and what mixes them (as the reference
// does) is off.
#pragma once

#include <cstdint>

#include "src/analysis/prepared_host.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

struct Span {
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  int64_t end_ps() const { return start_ps + duration_ps; }
  bool Includes(const Span& other) const {
    return start_ps <= other.start_ps && other.end_ps() <= end_ps();
  }
};

// What is added to a time of the line's columns to have it as the file writes it.
inline int64_t WrittenShiftPs(int64_t timestamp_ns, int64_t base_ps) {
  int64_t written_ps = 0;
  if (__builtin_mul_overflow(timestamp_ns, int64_t{1000}, &written_ps)) return 0;
  return written_ps - base_ps;
}

// Of an event that preparation added: its own device times if it has them.
inline Span SpanOfAdded(const AddedEvent& event, int64_t shift_ps) {
  const AddedStat* offset = nullptr;
  const AddedStat* duration = nullptr;
  for (const AddedStat& stat : event.stats) {
    if (stat.name == "device_offset_ps") offset = &stat;
    if (stat.name == "device_duration_ps") duration = &stat;
  }
  if (offset != nullptr && duration != nullptr) return {offset->integer, duration->integer};
  return {event.start_ps + shift_ps, event.duration_ps};
}

}  // namespace strobe::analysis
