#include "src/tools/agent_event_walk.h"

#include <algorithm>
#include <numeric>

namespace strobe::tools {
namespace {

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string Track::EventName(uint32_t event) const {
  const std::string_view name = RawName(event);
  if (!IsDigits(name)) return std::string(name);
  for (const xplane::Stat& stat : file().EventStats(plane_, line_, event)) {
    if (stat.name != "msg" && stat.name != "message" && stat.name != "annotation" &&
        stat.name != "label") {
      continue;
    }
    if (!stat.text.empty()) return std::string(stat.text);
  }
  return std::string(name);
}

Status ForEachTrack(const AgentContext& context, const std::function<Status(const Track&)>& visit) {
  for (const size_t index : context.question.hosts) {
    const ToolHost& host = context.input.hosts()[index];
    if (host.file == nullptr) continue;
    for (size_t p = 0; p < host.file->planes().size(); ++p) {
      for (size_t l = 0; l < host.file->planes()[p].lines.size(); ++l) {
        STROBE_RETURN_IF_ERROR(context.cancel.Check());
        STROBE_RETURN_IF_ERROR(visit(Track(host, index, p, l)));
      }
    }
  }
  return OkStatus();
}

std::vector<uint32_t> InTimeOrder(const xplane::LineColumns& columns) {
  std::vector<uint32_t> order(columns.event_count());
  std::iota(order.begin(), order.end(), uint32_t{0});
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
    if (columns.start_ps[a] != columns.start_ps[b])
      return columns.start_ps[a] < columns.start_ps[b];
    return columns.duration_ps[a] > columns.duration_ps[b];
  });
  return order;
}

std::vector<Interval> MergedIntervals(std::vector<Interval> intervals) {
  std::ranges::sort(intervals);
  std::vector<Interval> merged;
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.start) continue;
    if (!merged.empty() && interval.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, interval.end);
    } else {
      merged.push_back(interval);
    }
  }
  return merged;
}

int64_t TotalOf(const std::vector<Interval>& merged) {
  int64_t total = 0;
  for (const Interval& interval : merged) total += interval.end - interval.start;
  return total;
}

}  // namespace strobe::tools
