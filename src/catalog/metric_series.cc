#include "src/catalog/metric_series.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace strobe::catalog {
namespace {

constexpr int64_t kMsNs = 1'000'000;

struct Placed {
  int64_t x = 0;
  const StoredPoint* point = nullptr;
};

std::vector<Placed> Place(std::span<const std::vector<StoredPoint>> curves,
                          const SeriesQuery& query) {
  std::vector<Placed> placed;
  for (const std::vector<StoredPoint>& curve : curves) {
    for (const StoredPoint& point : curve) {
      if (query.by == SeriesBy::kStep && point.step == kNoStep) continue;
      const int64_t x = query.by == SeriesBy::kStep ? point.step : point.unix_ns / kMsNs;
      if ((query.from && x < *query.from) || (query.to && x > *query.to)) continue;
      placed.push_back({x, &point});
    }
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.x < b.x; });
  return placed;
}

size_t DistinctX(const std::vector<Placed>& placed) {
  size_t distinct = placed.empty() ? 0 : 1;
  for (size_t i = 1; i < placed.size(); ++i) distinct += placed[i].x != placed[i - 1].x ? 1 : 0;
  return distinct;
}

// Folds what lies in one bucket.
void AddBucket(std::span<const Placed> inside, int64_t x, Series* series) {
  StoredPoint all;
  for (const Placed& placed : inside) {
    const StoredPoint& point = *placed.point;
    if (point.count == 0) continue;
    all.minimum = all.count == 0 ? point.minimum : std::min(all.minimum, point.minimum);
    all.maximum = all.count == 0 ? point.maximum : std::max(all.maximum, point.maximum);
    all.sum += point.sum;
    all.count += point.count;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  series->x.push_back(x);
  series->minimum.push_back(all.count == 0 ? kNone : all.minimum);
  series->mean.push_back(all.count == 0 ? kNone : all.sum / static_cast<double>(all.count));
  series->maximum.push_back(all.count == 0 ? kNone : all.maximum);
  series->count.push_back(all.count);
}

}  // namespace

Series FoldPoints(std::span<const std::vector<StoredPoint>> curves, const SeriesQuery& query) {
  Series series;
  const std::vector<Placed> placed = Place(curves, query);
  if (placed.empty() || query.max_points == 0) return series;
  for (const Placed& each : placed) series.point_count += std::max<int64_t>(each.point->count, 1);
  // Unsigned, since steps may be any numbers.
  const auto low = static_cast<uint64_t>(placed.front().x);
  uint64_t width = 1;
  if (DistinctX(placed) > query.max_points) {
    const uint64_t span = static_cast<uint64_t>(placed.back().x) - low;
    width = span / query.max_points + 1;
    series.bucket_width = static_cast<int64_t>(width);
  }
  const auto bucket = [&](const Placed& each) {
    return (static_cast<uint64_t>(each.x) - low) / width;
  };
  for (size_t begin = 0; begin < placed.size();) {
    const uint64_t here = bucket(placed[begin]);
    size_t end = begin + 1;
    while (end < placed.size() && bucket(placed[end]) == here) ++end;
    AddBucket(std::span(placed).subspan(begin, end - begin),
              static_cast<int64_t>(low + here * width), &series);
    begin = end;
  }
  return series;
}

}  // namespace strobe::catalog
