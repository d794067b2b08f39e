#include "src/analysis/event_span.h"

#include <algorithm>
#include <numeric>

namespace strobe::analysis {
namespace {

struct Boundary {
  int64_t time_ps;
  // Ends before starts at one instant, then higher types first: as XProf orders them.
  uint8_t is_start;
  uint8_t type;
};

bool Before(const Boundary& left, const Boundary& right) {
  if (left.time_ps != right.time_ps) return left.time_ps < right.time_ps;
  if (left.is_start != right.is_start) return left.is_start < right.is_start;
  return left.type > right.type;
}

std::vector<Boundary> BoundariesOf(const std::vector<EventSpan>& spans) {
  std::vector<Boundary> boundaries;
  boundaries.reserve(2 * spans.size());
  for (const EventSpan& span : spans) {
    const auto type = static_cast<uint8_t>(span.type);
    boundaries.push_back({span.begin_ps, 1, type});
    boundaries.push_back({span.end_ps, 0, type});
  }
  std::sort(boundaries.begin(), boundaries.end(), Before);
  return boundaries;
}

class TopType {
 public:
  uint8_t Update(const Boundary& boundary) {
    int64_t& count = counts_[boundary.type];
    if (boundary.is_start != 0) {
      ++count;
      top_ = std::max(top_, boundary.type);
      return top_;
    }
    --count;
    if (boundary.type != top_ || count != 0) return top_;
    for (top_ = boundary.type; top_ > 0; --top_) {
      if (top_ != boundary.type && counts_[top_] > 0) break;
    }
    return top_;
  }

 private:
  uint8_t top_ = 0;
  std::array<int64_t, kEventTypes> counts_ = {};
};

template <typename Visit>
void Sweep(const std::vector<EventSpan>& spans, Visit visit) {
  const std::vector<Boundary> boundaries = BoundariesOf(spans);
  TopType top;
  for (size_t i = 0; i + 1 < boundaries.size(); ++i) {
    const uint8_t type = top.Update(boundaries[i]);
    visit(type, boundaries[i].time_ps, boundaries[i + 1].time_ps);
  }
}

}  // namespace

std::string_view EventTypeName(EventType type) {
  static constexpr std::string_view kNames[kEventTypes] = {
      "UNKNOWN_TIME",         "HOST_COMPUTE",    "HOST_PREPROCESS",    "HOST_POSTPROCESS",
      "HOST_BATCH_FORMATION", "HOST_RUNTIME",    "HOST_COMPILE",       "HOST_TO_HOST",
      "HOST_TO_DEVICE",       "HOST_PREPARE",    "DEVICE_COLLECTIVES", "HOST_WAIT_INPUT",
      "DEVICE_TO_DEVICE",     "DEVICE_TO_HOST",  "DEVICE_COMPUTE_32",  "DEVICE_COMPUTE_16",
      "DEVICE_WAIT_DEVICE",   "DEVICE_WAIT_HOST"};
  return kNames[static_cast<size_t>(type)];
}

uint64_t ExclusiveTimes::InsideTotal() const {
  return std::accumulate(inside_ps.begin(), inside_ps.end(), uint64_t{0});
}

std::vector<EventSpan> ToExclusive(const std::vector<EventSpan>& spans) {
  std::vector<EventSpan> pieces;
  pieces.reserve(2 * spans.size());
  Sweep(spans, [&](uint8_t type, int64_t begin_ps, int64_t end_ps) {
    pieces.push_back({static_cast<EventType>(type), begin_ps, end_ps});
  });
  return pieces;
}

ExclusiveTimes SumExclusive(const std::vector<EventSpan>& spans, int64_t begin_ps, int64_t end_ps) {
  ExclusiveTimes times;
  Sweep(spans, [&](uint8_t type, int64_t from_ps, int64_t to_ps) {
    times.present[type] = true;
    times.whole_ps[type] += static_cast<uint64_t>(to_ps - from_ps);
    const int64_t inside_from = std::max(from_ps, begin_ps);
    const int64_t inside_to = std::min(to_ps, end_ps);
    if (inside_from < inside_to) {
      times.inside_ps[type] += static_cast<uint64_t>(inside_to - inside_from);
    }
  });
  return times;
}

}  // namespace strobe::analysis
