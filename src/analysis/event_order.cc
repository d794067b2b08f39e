#include "src/analysis/event_order.h"

namespace strobe::analysis {

EventOrder FileOrder(const LineBytes& bytes, const xplane::LineColumns& columns) {
  const auto count = static_cast<uint32_t>(columns.event_count());
  bool in_order = true;
  for (uint32_t event = 1; event < count && in_order; ++event) {
    in_order = bytes.OffsetOf(event - 1) < bytes.OffsetOf(event);
  }
  if (in_order) return EventOrder(count);
  std::vector<uint32_t> events(count);
  for (uint32_t event = 0; event < count; ++event) events[event] = event;
  SortRuns(&events, [&](uint32_t a, uint32_t b) { return bytes.OffsetOf(a) < bytes.OffsetOf(b); });
  return EventOrder(std::move(events));
}

}  // namespace strobe::analysis
