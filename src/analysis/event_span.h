// Which kind of work owns each instant when kinds overlap: the kind of highest priority does.
//
//   std::vector<EventSpan> spans = {{EventType::kHostCompute, 0, 10}, {EventType::kHostToDevice, 2,
//   4}}; const ExclusiveTimes times = SumExclusive(&spans, /*begin_ps=*/0, /*end_ps=*/8);
//   // inside [0, 8): kHostCompute 6, kHostToDevice 2
//
// The rules are XProf's (its event types and their order, its sweep over boundaries), including
// what it makes of spans without length: at one instant ends come before starts, so a span that
// ends where it starts leaves its type on top until a span of that type really ends.
//
// Cost: one sort of the boundaries. Memory: 24 B a boundary.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/analysis/step_database.h"

namespace strobe::analysis {

// "DEVICE_COMPUTE_32": XProf's name of the type.
std::string_view EventTypeName(EventType type);

struct EventSpan {
  EventType type = EventType::kUnknown;
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
  friend bool operator==(const EventSpan&, const EventSpan&) = default;
};

// Time by type after the sweep.
struct ExclusiveTimes {
  std::array<uint64_t, kEventTypes> inside_ps = {};  // the part within the window
  std::array<uint64_t, kEventTypes> whole_ps = {};
  std::array<bool, kEventTypes> present = {};  // the type owns a piece, even one without length
  uint64_t InsideTotal() const;
};

// Spans that do not overlap: between each two boundaries that follow each other the highest type
// that is active, kUnknown where none is. Includes pieces without length. Sorted by time.
std::vector<EventSpan> ToExclusive(const std::vector<EventSpan>& spans);

// The same, only summed; `spans` keeps its order.
ExclusiveTimes SumExclusive(const std::vector<EventSpan>& spans, int64_t begin_ps, int64_t end_ps);

}  // namespace strobe::analysis
