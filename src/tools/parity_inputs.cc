#include "src/tools/parity_inputs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace strobe::tools {
namespace {

// xoshiro256**, seeded by splitmix64: small, and the same on every machine.
class Random {
 public:
  Random(uint64_t seed, uint64_t stream) {
    uint64_t state = seed * 0x9e3779b97f4a7c15ULL + stream;
    for (uint64_t& word : words_) {
      state += 0x9e3779b97f4a7c15ULL;
      uint64_t mixed = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
      word = mixed ^ (mixed >> 31);
    }
  }

  uint64_t Next() {
    const uint64_t result = std::rotl(words_[1] * 5, 7) * 9;
    const uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return result;
  }
  // Above 0, up to 1.
  double Uniform() { return static_cast<double>((Next() >> 11) + 1) * 0x1p-53; }
  double Normal() {
    return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * std::numbers::pi * Uniform());
  }
  // Student's t: a normal value over the root of a chi-square one, this by Marsaglia and Tsang's
  // method for gamma values of a shape of at least 1.
  double StudentT(double degrees) {
    const double d = degrees / 2 - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = Normal();
      const double v = std::pow(1 + c * x, 3);
      if (v <= 0) continue;
      if (std::log(Uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
        return Normal() / std::sqrt(2 * d * v / degrees);
      }
    }
  }

 private:
  std::array<uint64_t, 4> words_{};
};

struct Share {
  std::string_view regime;
  // Batches in fast_agent, presubmit, deep_fuzzing.
  std::array<int, 3> batches;
};
constexpr std::array kFloatShares = {Share{"student_t", {2, 4, 20}}, Share{"outliers", {1, 2, 10}},
                                     Share{"cancellation", {1, 3, 10}},
                                     Share{"boundary", {1, 2, 7}}};
constexpr std::array kIntegerShares = {
    Share{"small_range", {2, 4, 20}}, Share{"bounded_index", {1, 3, 10}},
    Share{"segment_ids", {1, 2, 10}}, Share{"extremes", {1, 2, 7}}};
constexpr std::array kBoolShares = {Share{"mask", {5, 11, 47}}};

constexpr uint64_t kOutlierOneIn = 100;
constexpr double kMaxOutlierFactor = 1000;
constexpr double kOutlierRoom = 8;  // so that products of two outliers still fit
constexpr uint64_t kIndexBound = 64;
constexpr uint64_t kSegments = 8;
constexpr uint64_t kSmallRange = 17;  // -8 to 8

// Tails as heavy as the type can still add up.
double DegreesOf(const NumberFormat& format) {
  if (format.name == "float32") return 4;
  if (format.name == "bfloat16") return 3;
  if (format.name == "float16") return 3.5;
  if (format.name == "float8_e4m3fn") return 2.5;
  if (format.name == "float64") return 5;
  return 3;
}

// Powers of two, their neighbours and the middle between, from the smallest subnormal to a size
// whose fourth power still fits, so that a product or a long sum of them is a number.
uint64_t BoundaryBits(const NumberFormat& format, Random* random) {
  const uint64_t bias = (1ULL << (format.exponent_bits - 1)) - 1;
  const uint64_t exponent = random->Next() % (bias + bias / 4 + 1);
  const uint64_t ones = (1ULL << format.mantissa_bits) - 1;
  const std::array<uint64_t, 4> mantissas = {0, 1, (ones + 1) / 2, ones};
  const uint64_t mantissa = mantissas[random->Next() % mantissas.size()];
  const uint64_t sign = (random->Next() & 1) << (format.bits() - 1);
  return sign | exponent << format.mantissa_bits | mantissa;
}

uint64_t FloatBits(const NumberFormat& format, std::string_view regime, uint64_t index,
                   uint64_t previous, Random* random) {
  if (regime == "outliers") {
    const double value = random->Normal();
    if (random->Next() % kOutlierOneIn != 0) return EncodeNumber(format, value);
    const double fits = std::sqrt(LargestNumber(format)) / kOutlierRoom;
    return EncodeNumber(format, value * std::min(kMaxOutlierFactor, fits));
  }
  if (regime == "cancellation" && index % 2 == 1) {
    // The value before, negated, a few units in the last place away.
    const uint64_t sign = 1ULL << (format.bits() - 1);
    const uint64_t beside = previous ^ (random->Next() % 4);
    return (IsNanOrInfinity(format, beside) ? previous : beside) ^ sign;
  }
  if (regime == "boundary") return BoundaryBits(format, random);
  return EncodeNumber(format, random->StudentT(DegreesOf(format)));
}

double IntegerValue(const NumberFormat& format, std::string_view regime, uint64_t index,
                    uint64_t count, Random* random) {
  if (regime == "bounded_index") return static_cast<double>(random->Next() % kIndexBound);
  if (regime == "segment_ids") {  // in order, as segment operations want them
    return static_cast<double>(count == 0 ? 0 : index * kSegments / count);
  }
  const auto small = static_cast<double>(random->Next() % kSmallRange);
  return format.kind == NumberKind::kSigned ? small - static_cast<double>(kSmallRange / 2) : small;
}

uint64_t ExtremeBits(const NumberFormat& format, Random* random) {
  const uint64_t mask = format.bits() >= 64 ? ~0ULL : (1ULL << format.bits()) - 1;
  const std::array<uint64_t, 6> extremes = {0, 1, mask, mask >> 1, (mask >> 1) + 1, mask - 1};
  return extremes[random->Next() % extremes.size()];
}

}  // namespace

std::vector<ParityInput> PlanParityInputs(const NumberFormat& format, ParityTier tier) {
  std::vector<ParityInput> inputs;
  const auto plan = [&](const auto& shares) {
    for (const Share& share : shares) {
      for (int i = 0; i < share.batches[static_cast<size_t>(tier)]; ++i) {
        const uint64_t number = inputs.size();
        std::string name = std::to_string(number);
        if (name.size() < 2) name.insert(0, "0");
        inputs.push_back({name + "_" + std::string(share.regime), share.regime, number});
      }
    }
  };
  if (format.kind == NumberKind::kFloat) {
    plan(kFloatShares);
  } else if (format.kind == NumberKind::kBool) {
    plan(kBoolShares);
  } else {
    plan(kIntegerShares);
  }
  return inputs;
}

std::vector<uint64_t> MakeParityValues(const NumberFormat& format, const ParityInput& input,
                                       uint64_t count, uint64_t seed) {
  Random random(seed, input.stream);
  std::vector<uint64_t> values(count);
  uint64_t previous = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (format.kind == NumberKind::kFloat) {
      values[i] = FloatBits(format, input.regime, i, previous, &random);
    } else if (format.kind == NumberKind::kBool) {
      values[i] = random.Next() & 1;
    } else if (input.regime == "extremes") {
      values[i] = ExtremeBits(format, &random);
    } else {
      values[i] = EncodeNumber(format, IntegerValue(format, input.regime, i, count, &random));
    }
    previous = values[i];
  }
  return values;
}

}  // namespace strobe::tools
