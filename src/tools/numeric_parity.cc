#include "src/tools/numeric_parity.h"

#include <algorithm>
#include <cmath>

namespace strobe::tools {
namespace {

// What stands for a distance that does not exist.
constexpr uint64_t kNoDistance = 999'999;
// Zero crossing: below this size and beyond this distance epsilon is the measure.
constexpr double kNearZero = 0.05;
constexpr uint64_t kNearZeroUlp = 10;
constexpr uint64_t kUsualMaxUlp = 2;

uint64_t DistanceOf(const NumberFormat& format, uint64_t a, uint64_t b) {
  const uint64_t ulp = UlpDistance(format, a, b);
  if (format.discrete() || ulp <= kNearZeroUlp) return ulp;
  const double left = DecodeNumber(format, a);
  const double right = DecodeNumber(format, b);
  if (left * right >= 0 && std::signbit(left) == std::signbit(right)) return ulp;
  if (std::abs(left) >= kNearZero || std::abs(right) >= kNearZero) return ulp;
  return static_cast<uint64_t>(std::ceil(std::abs(left - right) / EpsilonOf(format)));
}

// Where the element at this row-major place lies in a column-major tensor.
uint64_t ColumnMajorIndex(const std::vector<uint64_t>& shape, uint64_t row_major) {
  uint64_t index = 0;
  uint64_t rest = row_major;
  uint64_t stride = 1;
  std::vector<uint64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    at[i] = rest % shape[i];
    rest /= shape[i];
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    index += at[i] * stride;
    stride *= shape[i];
  }
  return index;
}

uint64_t BitsAt(const NpyTensor& tensor, uint64_t row_major) {
  return tensor.BitsAt(tensor.column_major ? ColumnMajorIndex(tensor.shape, row_major) : row_major);
}

std::string ShapeText(const std::vector<uint64_t>& shape) {
  std::string text = "(";
  for (const uint64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ")";
}

std::string BoundName(size_t bucket) {
  if (bucket == kUlpBounds.size()) return ">" + std::to_string(kUlpBounds.back());
  const uint64_t upper = kUlpBounds[bucket];
  const uint64_t lower = bucket == 0 ? 0 : kUlpBounds[bucket - 1] + 1;
  return lower == upper ? std::to_string(upper)
                        : std::to_string(lower) + "-" + std::to_string(upper);
}

std::string ReadingOf(uint64_t max_ulp, bool not_finite) {
  if (not_finite) return "One side holds NaN or infinity.";
  if (max_ulp == 0) return "Every element is the same number.";
  if (max_ulp <= 1) return "Parity: the last bit differs at most.";
  if (max_ulp <= 8) return "As far apart as another order of the same operations leaves them.";
  if (max_ulp <= 1000) return "As far apart as an accumulator of a smaller type leaves them.";
  return "Too far apart for rounding: look for instability or a wrong result.";
}

Value BatchValue(const ParityBatch& batch) {
  Value value = Value::Object();
  value.Set("batch_name", Value::String(batch.name));
  value.Set("regime", Value::String(batch.regime));
  value.Set("elements", Value::Uint64(batch.elements));
  value.Set("max_ulp_distance", Value::Uint64(batch.max_ulp));
  value.Set("p99_9_ulp_distance", Value::Uint64(batch.p99_9_ulp));
  value.Set("mean_ulp_distance", Value::Double(batch.mean_ulp));
  Value histogram = Value::Object();
  for (size_t i = 0; i < batch.histogram.size(); ++i) {
    if (batch.histogram[i] != 0) histogram.Set(BoundName(i), Value::Uint64(batch.histogram[i]));
  }
  value.Set("ulp_histogram", std::move(histogram));
  value.Set("worst_element", Value::Uint64(batch.worst_element));
  value.Set("has_nan_or_inf", Value::Bool(batch.has_nan_or_infinity));
  value.Set("passed", Value::Bool(batch.passed));
  return value;
}

}  // namespace

Result<ParityContract> ParityContract::Make(const NumberFormat& format, uint64_t max_ulp,
                                            uint64_t p99_9_ulp) {
  if (format.ceiling_ulp == 0 && max_ulp <= kUsualMaxUlp) max_ulp = p99_9_ulp = 0;
  if (max_ulp > format.ceiling_ulp) {
    return InvalidArgumentError("PARITY_LIMIT_TOO_WIDE",
                                "A distance of " + std::to_string(max_ulp) +
                                    " ULP is beyond what any correct kernel needs in " +
                                    std::string(format.name) + ".")
        .Hint("At most " + std::to_string(format.ceiling_ulp) + "; recommended " +
              std::to_string(format.recommended_ulp) + ".");
  }
  return ParityContract{&format, max_ulp, std::min(max_ulp, p99_9_ulp)};
}

Result<ParityBatch> CompareTensors(const ParityContract& contract, std::string_view name,
                                   const NpyTensor& reference, const NpyTensor& candidate) {
  const NumberFormat& format = *contract.format;
  if (reference.format != &format || candidate.format != &format) {
    return InvalidArgumentError("PARITY_TYPES_DIFFER",
                                "The elements are " + std::string(reference.format->name) +
                                    " and " + std::string(candidate.format->name) + ", not " +
                                    std::string(format.name) + ".")
        .Where(std::string(name))
        .Hint("Both sides must be of the type that --dtype_str names.");
  }
  if (reference.shape != candidate.shape) {
    return InvalidArgumentError("PARITY_SHAPES_DIFFER", "The shapes are " +
                                                            ShapeText(reference.shape) + " and " +
                                                            ShapeText(candidate.shape) + ".")
        .Where(std::string(name))
        .Hint("Compare the results of the same inputs.");
  }
  ParityBatch batch;
  batch.name = std::string(name);
  const size_t digits = batch.name.find_first_not_of("0123456789");
  batch.regime = digits != 0 && digits != std::string::npos && batch.name[digits] == '_'
                     ? batch.name.substr(digits + 1)
                     : batch.name;
  batch.elements = reference.count;
  std::vector<uint64_t> distances(reference.count);
  double sum = 0;
  for (uint64_t i = 0; i < reference.count; ++i) {
    const uint64_t a = BitsAt(reference, i);
    const uint64_t b = BitsAt(candidate, i);
    const bool broken = IsNanOrInfinity(format, a) || IsNanOrInfinity(format, b);
    batch.has_nan_or_infinity |= broken;
    const uint64_t distance = broken ? kNoDistance : DistanceOf(format, a, b);
    distances[i] = distance;
    sum += static_cast<double>(distance);
    if (distance > batch.max_ulp) {
      batch.max_ulp = distance;
      batch.worst_element = i;
    }
    ++batch.histogram[static_cast<size_t>(std::ranges::lower_bound(kUlpBounds, distance) -
                                          kUlpBounds.begin())];
  }
  if (!distances.empty()) {
    batch.mean_ulp = sum / static_cast<double>(distances.size());
    // The smallest distance that at least 99.9 % of the elements do not exceed.
    const size_t rank = (distances.size() * 999 + 999) / 1000 - 1;
    std::nth_element(distances.begin(), distances.begin() + static_cast<ptrdiff_t>(rank),
                     distances.end());
    batch.p99_9_ulp = distances[rank];
  }
  batch.passed = !batch.has_nan_or_infinity && batch.max_ulp <= contract.max_ulp &&
                 batch.p99_9_ulp <= contract.p99_9_ulp;
  return batch;
}

Value ParityReport(const ParityContract& contract, const std::vector<ParityBatch>& batches) {
  uint64_t max_ulp = 0;
  int64_t failed = 0;
  bool not_finite = false;
  Value results = Value::List();
  for (const ParityBatch& batch : batches) {
    max_ulp = std::max(max_ulp, batch.max_ulp);
    failed += batch.passed ? 0 : 1;
    not_finite |= batch.has_nan_or_infinity;
    results.Add(BatchValue(batch));
  }
  const bool relaxed = contract.max_ulp > contract.format->recommended_ulp;
  Value audit = Value::Object();
  audit.Set("recommended_contract_ulp", Value::Uint64(contract.format->recommended_ulp));
  audit.Set("configured_max_ulp", Value::Uint64(contract.max_ulp));
  audit.Set("configured_p99_9_ulp", Value::Uint64(contract.p99_9_ulp));
  audit.Set("hard_safety_ceiling", Value::Uint64(contract.format->ceiling_ulp));
  audit.Set("is_relaxed_override", Value::Bool(relaxed));
  audit.Set("caution_banner", relaxed ? Value::String("The limit is wider than recommended for " +
                                                      std::string(contract.format->name) +
                                                      ": a pass means less than usual.")
                                      : Value::Null());
  Value report = Value::Object();
  const bool equivalent = failed == 0 && !batches.empty();
  report.Set("is_numerically_equivalent", Value::Bool(equivalent));
  report.Set("dtype", Value::String(contract.format->name));
  report.Set("overall_max_ulp", Value::Uint64(max_ulp));
  report.Set("failed_batches_count", Value::Int64(failed));
  report.Set("total_batches_count", Value::Int64(static_cast<int64_t>(batches.size())));
  report.Set("summary_message",
             Value::String(std::to_string(batches.size() - static_cast<size_t>(failed)) + " of " +
                           std::to_string(batches.size()) + " batches pass. " +
                           ReadingOf(max_ulp, not_finite)));
  report.Set("tolerance_audit", std::move(audit));
  report.Set("batch_results", std::move(results));
  return report;
}

}  // namespace strobe::tools
