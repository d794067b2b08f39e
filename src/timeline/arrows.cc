#include "src/timeline/arrows.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace strobe::timeline {
namespace {

auto PlaceOf(const ArrowEnd& end) { return std::tie(end.plane, end.line, end.event); }

}  // namespace

ArrowSet::ArrowSet(std::vector<FlowPoint> points) {
  std::sort(points.begin(), points.end(), [](const FlowPoint& a, const FlowPoint& b) {
    return std::tie(a.id, a.end.start_ps, a.end.plane, a.end.line, a.end.event) <
           std::tie(b.id, b.end.start_ps, b.end.plane, b.end.line, b.end.event);
  });
  for (size_t first = 0; first < points.size();) {
    size_t last = first + 1;
    while (last < points.size() && points[last].id == points[first].id) ++last;
    AddFlow(std::span(points).subspan(first, last - first));
    first = last;
  }
  std::sort(arrows_.begin(), arrows_.end(), [](const Arrow& a, const Arrow& b) {
    return std::tie(a.from.start_ps, a.to.start_ps) < std::tie(b.from.start_ps, b.to.start_ps);
  });
  by_source_.resize(arrows_.size());
  std::iota(by_source_.begin(), by_source_.end(), 0u);
  by_target_ = by_source_;
  std::stable_sort(by_source_.begin(), by_source_.end(), [&](uint32_t a, uint32_t b) {
    return PlaceOf(arrows_[a].from) < PlaceOf(arrows_[b].from);
  });
  std::stable_sort(by_target_.begin(), by_target_.end(), [&](uint32_t a, uint32_t b) {
    return PlaceOf(arrows_[a].to) < PlaceOf(arrows_[b].to);
  });
}

void ArrowSet::AddFlow(std::span<const FlowPoint> points) {
  const size_t before = arrows_.size();
  const auto only = [](const FlowPoint& point) { return point.sends && !point.receives; };
  const auto senders = std::count_if(points.begin(), points.end(),
                                     [](const FlowPoint& point) { return point.sends; });
  if (senders == 1 && std::any_of(points.begin(), points.end(), only)) {
    const FlowPoint& source = *std::find_if(points.begin(), points.end(), only);
    for (const FlowPoint& point : points) {
      if (point.receives && arrows_.size() - before < kMaxArrowsPerFlow) {
        arrows_.push_back({source.end, point.end});
      }
    }
    return;
  }
  const FlowPoint* source = nullptr;
  for (const FlowPoint& point : points) {
    if (point.receives && source != nullptr && arrows_.size() - before < kMaxArrowsPerFlow) {
      arrows_.push_back({source->end, point.end});
    }
    if (point.sends) source = &point;
  }
}

std::vector<Arrow> ArrowSet::Of(uint32_t plane, uint32_t line, uint32_t event) const {
  const auto wanted = std::tie(plane, line, event);
  std::vector<Arrow> found;
  const auto take = [&](const std::vector<uint32_t>& order, ArrowEnd Arrow::* end) {
    auto at = std::lower_bound(
        order.begin(), order.end(), wanted,
        [&](uint32_t i, const auto& place) { return PlaceOf(arrows_[i].*end) < place; });
    for (; at != order.end() && PlaceOf(arrows_[*at].*end) == wanted; ++at) {
      found.push_back(arrows_[*at]);
    }
  };
  take(by_target_, &Arrow::to);
  take(by_source_, &Arrow::from);
  return found;
}

std::vector<uint32_t> ArrowSet::Touching(int64_t from_ps, int64_t to_ps) const {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < arrows_.size(); ++i) {
    const Arrow& arrow = arrows_[i];
    const auto [first, last] = std::minmax(arrow.from.start_ps, arrow.to.start_ps);
    if (first < to_ps && last >= from_ps) found.push_back(i);
  }
  return found;
}

}  // namespace strobe::timeline
