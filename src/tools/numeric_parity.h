// Are two kernels' results the same numbers? Distances in units in the last place, element by
// element, judged against the contract of the type.
//
//   STROBE_ASSIGN_OR_RETURN(const ParityContract contract, ParityContract::Make(*format, 2, 1));
//   ParityBatch batch = CompareTensors(contract, "00_student_t", reference, candidate);
//   Value report = ParityReport(contract, {std::move(batch)});
//
// A batch passes when no element is further apart than max_ulp, 99.9 % are within p99_9_ulp, and
// neither side holds a NaN or infinity. Near zero a distance in ULP says little: two values of
// unlike sign below 0.05 that are more than 10 apart count by the epsilon of the type. Cost: one
// pass, 8 bytes an element for the percentile. Errors: PARITY_LIMIT_TOO_WIDE, PARITY_SHAPES_DIFFER,
// PARITY_TYPES_DIFFER.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/tools/npy.h"
#include "src/tools/number_format.h"
#include "src/tools/value.h"

namespace strobe::tools {

struct ParityContract {
  const NumberFormat* format;
  uint64_t max_ulp;
  uint64_t p99_9_ulp;

  // Integers and truths are equal or not: the usual 2 and 1 become 0 for them. Beyond the type's
  // ceiling there is no contract.
  static Result<ParityContract> Make(const NumberFormat& format, uint64_t max_ulp,
                                     uint64_t p99_9_ulp);
};

// How many elements are 0, 1, 2, 3-4, 5-8, 9-16, 17-64, 65-1024 and more apart.
inline constexpr std::array<uint64_t, 8> kUlpBounds = {0, 1, 2, 4, 8, 16, 64, 1024};

struct ParityBatch {
  std::string name;
  std::string regime;
  uint64_t elements = 0;
  uint64_t max_ulp = 0;
  uint64_t p99_9_ulp = 0;
  double mean_ulp = 0;
  std::array<uint64_t, kUlpBounds.size() + 1> histogram{};
  uint64_t worst_element = 0;  // row-major index of the largest distance
  bool has_nan_or_infinity = false;
  bool passed = false;
};

// Both of contract.format and of one shape, in whatever order they lie.
Result<ParityBatch> CompareTensors(const ParityContract& contract, std::string_view name,
                                   const NpyTensor& reference, const NpyTensor& candidate);

Value ParityReport(const ParityContract& contract, const std::vector<ParityBatch>& batches);

}  // namespace strobe::tools
