// Flows as arrows: from the event that caused something to the events that it caused.
//
//   ArrowSet arrows(points);             // of one host, in any order
//   arrows.Of(/*plane=*/0, /*line=*/3, /*event=*/8)   // arrows that begin or end there
//   arrows.Touching(from_ps, to_ps)                  // numbers of those in a span, by time
//
// Ends with the same id belong together. One that sends leads to all that receive, whichever clock
// says what came first; several that send make a chain in order of time. An id with one end makes
// no arrow. Cost: sorting the ends; 56 B an arrow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strobe::timeline {

struct ArrowEnd {
  uint32_t plane = 0;
  uint32_t line = 0;
  uint32_t event = 0;
  int64_t start_ps = 0;
  friend bool operator==(const ArrowEnd&, const ArrowEnd&) = default;
};

struct FlowPoint {
  uint64_t id = 0;
  bool sends = false;
  bool receives = false;
  ArrowEnd end;
};

struct Arrow {
  ArrowEnd from;
  ArrowEnd to;
  friend bool operator==(const Arrow&, const Arrow&) = default;
};

class ArrowSet {
 public:
  // An id that more events share would be drawn as a black surface; further ones are not paired.
  static constexpr size_t kMaxArrowsPerFlow = 10'000;

  explicit ArrowSet(std::vector<FlowPoint> points);

  const std::vector<Arrow>& arrows() const { return arrows_; }  // by start of `from`
  std::vector<Arrow> Of(uint32_t plane, uint32_t line, uint32_t event) const;
  // Those of which the way from start to start touches the span.
  std::vector<uint32_t> Touching(int64_t from_ps, int64_t to_ps) const;
  uint64_t resident_bytes() const {
    return arrows_.size() * sizeof(Arrow) + by_target_.size() * sizeof(uint32_t);
  }

 private:
  void AddFlow(std::span<const FlowPoint> points);

  std::vector<Arrow> arrows_;
  std::vector<uint32_t> by_source_;  // numbers of arrows by (plane, line, event) of `from`
  std::vector<uint32_t> by_target_;  // likewise of `to`
};

}  // namespace strobe::timeline
