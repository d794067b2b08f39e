// Curves made fit for a screen: points of one or many hosts, by step or by time, at most so many.
//
//   Series series = FoldPoints({points_of_host0, points_of_host1}, {.by = SeriesBy::kStep});
//   series.x[i], series.mean[i] ...
//
// While every x can have a point of its own, it has one; else the span is cut into buckets of equal
// width. Values of one x or bucket are folded: minimum, mean, maximum, count. A bucket with nothing
// finite in it is NaN. Pure. Cost: sorts the points once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/catalog/metrics.h"

namespace strobe::catalog {

enum class SeriesBy : uint8_t {
  kStep,  // points without a step are left out
  kTime,  // milliseconds since 1970
};

struct SeriesQuery {
  SeriesBy by = SeriesBy::kStep;
  std::optional<int64_t> from = {};  // of x, both included
  std::optional<int64_t> to = {};
  size_t max_points = 500;
};

struct Series {
  int64_t point_count = 0;              // within the span, as they came
  std::optional<int64_t> bucket_width;  // none: every x for itself
  std::vector<int64_t> x;
  std::vector<double> minimum;
  std::vector<double> mean;
  std::vector<double> maximum;
  std::vector<int64_t> count;  // finite values
};

Series FoldPoints(std::span<const std::vector<StoredPoint>> curves, const SeriesQuery& query);

}  // namespace strobe::catalog
