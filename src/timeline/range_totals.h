// How a span of time divides over the names of a line's events.
//
//   std::vector<NameTotal> names(plane.event_metadata.size());
//   for (const TotalSlice& slice : SlicesOf(columns, from_ps, to_ps)) {
//     line_total += AddTotals(columns, slice, line_index, names);
//   }
//
// Events that reach over a border count with the part inside. Self time is what is inside the span
// less what events of the next row cover of it, so the self times of a line add up to the time in
// which something ran. Slices of one line may be added on different threads, into different
// `names`, and summed up. Cost: 3-6 ns an event that touches the span; no memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/xplane/profile_file.h"

namespace strobe::timeline {

struct NameTotal {
  uint64_t count = 0;
  int64_t total_ps = 0;     // inside the span, with what is nested
  int64_t self_ps = 0;      // inside the span, without
  int64_t longest_ps = -1;  // whole length of the longest event; -1: none
  uint32_t longest_line = 0;
  uint32_t longest_event = 0;

  void Add(const NameTotal& other);
};

struct LineTotal {
  uint64_t count = 0;
  int64_t busy_ps = 0;  // sum of self times

  void Add(const LineTotal& other);
};

// A part of the asked span, in the file's time. Events that began before it are counted only by the
// first one.
struct TotalSlice {
  int64_t from_ps = 0;
  int64_t to_ps = 0;
  bool is_first = true;
};

// Pieces of about kEventsPerSlice events of the longest row; none when no event touches the span.
inline constexpr uint32_t kEventsPerSlice = 1 << 19;
std::vector<TotalSlice> SlicesOf(const xplane::LineColumns& line, int64_t from_ps, int64_t to_ps);

// visit(event, self_ps) for each event that touches the slice: for spans with few events, where an
// array of all names would cost more than the events.
void ForEachSelf(const xplane::LineColumns& line, const TotalSlice& slice,
                 const std::function<void(uint32_t, int64_t)>& visit);

// `names`: one for each entry of the plane's event metadata.
LineTotal AddTotals(const xplane::LineColumns& line, const TotalSlice& slice, uint32_t line_index,
                    std::span<NameTotal> names);

}  // namespace strobe::timeline
