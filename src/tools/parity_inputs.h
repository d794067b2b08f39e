// Inputs on which two kernels should be compared: batches that break different things.
//
//   for (const ParityInput& input : PlanParityInputs(*format, ParityTier::kPresubmit)) {
//     std::vector<uint64_t> values = MakeParityValues(*format, input, element_count, seed);
//   }
//
// Regimes of floats: student_t (heavy tails), outliers (a few values a thousand times the others),
// cancellation (pairs that nearly annul each other), boundary (powers of two and their
// neighbours, subnormals too). Of integers: small_range, bounded_index, segment_ids, extremes; of
// truths: mask. Tiers: fast_agent 5 batches, presubmit 11, deep_fuzzing 47. The same seed gives the
// same values. Cost: about 50 ns a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/tools/number_format.h"

namespace strobe::tools {

enum class ParityTier : uint8_t { kFastAgent, kPresubmit, kDeepFuzzing };

struct ParityInput {
  std::string name;  // "00_student_t": file names sort as they were planned
  std::string_view regime;
  uint64_t stream;  // tells batches of one regime apart
};

std::vector<ParityInput> PlanParityInputs(const NumberFormat& format, ParityTier tier);
std::vector<uint64_t> MakeParityValues(const NumberFormat& format, const ParityInput& input,
                                       uint64_t count, uint64_t seed);

}  // namespace strobe::tools
