// Metrics and configs of runs: points in, curves out, in bounded space.
//
//   MetricBatch batch{.name = "loss", .host = "host0", .unit = "1",
//                     .points = {{.unix_ns = now, .step = 7, .value = 0.41}}};
//   STROBE_ASSIGN_OR_RETURN(MetricsTaken taken, AppendMetrics(transaction, run, {&batch, 1}));
//   STROBE_ASSIGN_OR_RETURN(auto curves, MetricCurvesOf(transaction, run));
//   STROBE_ASSIGN_OR_RETURN(auto points, PointsOf(transaction, curves[0]));
//
// Points lie in blocks of kPointsPerBlock. When a level has kBlocksToCombine more than it keeps,
// its oldest ones become one block of the next level, eight points in one: their minimum, maximum,
// sum and count stay true, so nothing of a long run is forgotten, only drawn coarser. A point that
// is the same as one of the newest block (time, step and value) is taken for a request that was
// sent twice. Points of one curve are expected in about the order of their time. Cost: an append
// rewrites the curve's newest block (8 KiB at most); a read decodes the curve's blocks, 1 ms for
// 10,000 points. Limits: kMaxCurvesPerRun, kMaxMetricNameBytes, kMaxLabels.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "src/catalog/catalog.h"
#include "src/catalog/metric_records.h"

namespace strobe::catalog {

// One block is rewritten by each append: small enough to be cheap, large enough that a curve has
// some dozens.
inline constexpr size_t kPointsPerBlock = 256;
inline constexpr int64_t kBlocksToCombine = 8;
// 8,192 points as they came: more than a screen is wide, several times over.
inline constexpr int64_t kBlocksKept = 32;
// Of what was combined: 2,048 points a level, as many as a wide screen shows.
inline constexpr int64_t kCombinedBlocksKept = 8;
// 8^10 points in one; no job records that many.
inline constexpr size_t kMaxLevels = 11;
// Some 20 metrics of each of a hundred hosts.
inline constexpr int64_t kMaxCurvesPerRun = 2000;
inline constexpr size_t kMaxMetricNameBytes = 256;
inline constexpr size_t kMaxLabels = 32;
inline constexpr size_t kMaxLabelBytes = 256;
inline constexpr int64_t kMaxConfigsPerRun = 1000;
// A whole command line or a dumped config fits.
inline constexpr size_t kMaxConfigBytes = 16 * 1024;

inline constexpr int64_t kNoStep = std::numeric_limits<int64_t>::min();

struct MetricPoint {
  int64_t unix_ns = 0;
  int64_t step = kNoStep;
  double value = 0;
};

struct MetricBatch {
  std::string name = {};
  std::string host = {};
  std::map<std::string, std::string> labels = {};
  std::string unit = {};
  std::vector<MetricPoint> points = {};
};

struct MetricsTaken {
  int64_t points = 0;
  int64_t repeated = 0;  // were there already
  int64_t refused = 0;   // too many curves, names too long
};

// One point of a curve, or up to 8^n of them in one.
struct StoredPoint {
  int64_t unix_ns = 0;     // of the first
  int64_t step = kNoStep;  // of the first
  int64_t count = 0;       // of finite values
  double minimum = 0;
  double maximum = 0;
  double sum = 0;
};

// Errors: RUN_NOT_FOUND, those of the catalogue. Points that are refused are counted, no error.
Result<MetricsTaken> AppendMetrics(Transaction& transaction, const Key& run,
                                   std::span<const MetricBatch> batches);
// In order of name, labels, host.
Result<std::vector<MetricCurve>> MetricCurvesOf(Transaction& transaction, const Key& run);
// In the order in which they came. Errors: METRIC_DAMAGED.
Result<std::vector<StoredPoint>> PointsOf(Transaction& transaction, const MetricCurve& curve);

// Names that are there get the new value; how many were taken.
Result<int64_t> SetRunConfigs(Transaction& transaction, const Key& run,
                              const std::map<std::string, std::string>& configs);
Result<std::vector<RunConfig>> RunConfigsOf(Transaction& transaction, const Key& run);
// With their run.
Status DeleteMetrics(Transaction& transaction, const Key& run);

// The form in which points are kept.
std::string EncodePoints(const std::vector<StoredPoint>& points, bool combined);
Result<std::vector<StoredPoint>> DecodePoints(std::string_view text, bool combined);
// Eight in one; a step that goes back (a job that resumed from a checkpoint) begins a new one.
std::vector<StoredPoint> CombinePoints(const std::vector<StoredPoint>& points);

std::string NumberText(double value);
// NaN when it is no number.
double NumberOf(std::string_view text);

}  // namespace strobe::catalog
