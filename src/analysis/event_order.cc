#include "src/analysis/event_order.h"

namespace strobe::analysis {
namespace {

// First positions of the runs that already are in the order of the file.
std::vector<uint32_t> RunsOf(const LineBytes& bytes, size_t count) {
  std::vector<uint32_t> starts;
  uint64_t last = 0;
  for (uint32_t event = 0; event < count; ++event) {
    const uint64_t offset = bytes.OffsetOf(event);
    if (event == 0 || offset < last) starts.push_back(event);
    last = offset;
  }
  return starts;
}

}  // namespace

EventOrder FileOrder(const LineBytes& bytes, const xplane::LineColumns& columns) {
  const size_t count = columns.event_count();
  std::vector<uint32_t> starts = RunsOf(bytes, count);
  if (starts.size() <= 1) return EventOrder(count);
  std::vector<uint32_t> events(count);
  for (uint32_t event = 0; event < count; ++event) events[event] = event;
  MergeRuns(&events, std::move(starts),
            [&](uint32_t a, uint32_t b) { return bytes.OffsetOf(a) < bytes.OffsetOf(b); });
  return EventOrder(std::move(events));
}

}  // namespace strobe::analysis
