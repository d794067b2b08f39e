#include "src/tools/number_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace strobe::tools {
namespace {

constexpr NumberFormat Integer(std::string_view name, NumberKind kind, uint32_t size_bytes) {
  return {name, kind, size_bytes, 0, 0, false, false, 0, 0};
}

constexpr std::array kFormats = {
    Integer("bool", NumberKind::kBool, 1),
    Integer("int8", NumberKind::kSigned, 1),
    Integer("int16", NumberKind::kSigned, 2),
    Integer("int32", NumberKind::kSigned, 4),
    Integer("int64", NumberKind::kSigned, 8),
    Integer("uint8", NumberKind::kUnsigned, 1),
    Integer("uint16", NumberKind::kUnsigned, 2),
    Integer("uint32", NumberKind::kUnsigned, 4),
    Integer("uint64", NumberKind::kUnsigned, 8),
    NumberFormat{"float16", NumberKind::kFloat, 2, 5, 10, true, true, 2, 8},
    NumberFormat{"bfloat16", NumberKind::kFloat, 2, 8, 7, true, true, 2, 8},
    NumberFormat{"float32", NumberKind::kFloat, 4, 8, 23, true, true, 2, 4},
    NumberFormat{"float64", NumberKind::kFloat, 8, 11, 52, true, true, 1, 4},
    NumberFormat{"float8_e4m3fn", NumberKind::kFloat, 1, 4, 3, false, true, 1, 2},
    NumberFormat{"float8_e5m2", NumberKind::kFloat, 1, 5, 2, true, true, 1, 2},
    NumberFormat{"float4_e2m1fn", NumberKind::kFloat, 1, 2, 1, false, false, 0, 0},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOtherNames = {{
    {"pred", "bool"},
    {"f16", "float16"},
    {"bf16", "bfloat16"},
    {"f32", "float32"},
    {"f64", "float64"},
    {"fp8_e4m3", "float8_e4m3fn"},
    {"fp8_e5m2", "float8_e5m2"},
    {"f8e4m3fn", "float8_e4m3fn"},
    {"f8e5m2", "float8_e5m2"},
    {"fp4", "float4_e2m1fn"},
    {"s32", "int32"},
    {"s8", "int8"},
}};

uint64_t Mask(uint32_t bits) { return bits >= 64 ? ~0ULL : (1ULL << bits) - 1; }
int BiasOf(const NumberFormat& format) { return (1 << (format.exponent_bits - 1)) - 1; }

// Largest finite magnitude as bits: all exponents below the last one, or, where the last one holds
// numbers, up to the pattern of NaN.
uint64_t LargestBits(const NumberFormat& format) {
  const uint64_t all = Mask(format.exponent_bits + format.mantissa_bits);
  if (format.has_infinity) return (Mask(format.exponent_bits) << format.mantissa_bits) - 1;
  return format.has_nan ? all - 1 : all;
}

int64_t SignExtended(uint64_t bits, uint32_t width) {
  const uint32_t shift = 64 - width;
  return static_cast<int64_t>(bits << shift) >> shift;
}

}  // namespace

std::span<const NumberFormat> AllNumberFormats() { return kFormats; }

const NumberFormat* FindNumberFormat(std::string_view name) {
  for (const auto& [other, real] : kOtherNames) {
    if (name == other) name = real;
  }
  for (const NumberFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

double DecodeNumber(const NumberFormat& format, uint64_t bits) {
  switch (format.kind) {
    case NumberKind::kBool:
      return (bits & 0xff) != 0 ? 1 : 0;
    case NumberKind::kUnsigned:
      return static_cast<double>(bits & Mask(format.bits()));
    case NumberKind::kSigned:
      return static_cast<double>(SignExtended(bits, format.bits()));
    case NumberKind::kFloat:
      break;
  }
  if (format.size_bytes == 8) return std::bit_cast<double>(bits);
  const uint64_t mantissa = bits & Mask(format.mantissa_bits);
  const uint64_t exponent = (bits >> format.mantissa_bits) & Mask(format.exponent_bits);
  const bool negative = ((bits >> (format.bits() - 1)) & 1) != 0;
  double magnitude = 0;
  if (IsNanOrInfinity(format, bits)) {
    magnitude = format.has_infinity && mantissa == 0 ? std::numeric_limits<double>::infinity()
                                                     : std::numeric_limits<double>::quiet_NaN();
  } else {
    const bool subnormal = exponent == 0;
    const auto whole =
        static_cast<double>(mantissa + (subnormal ? 0 : 1ULL << format.mantissa_bits));
    const int power = (subnormal ? 1 : static_cast<int>(exponent)) - BiasOf(format) -
                      static_cast<int>(format.mantissa_bits);
    magnitude = std::ldexp(whole, power);
  }
  return negative ? -magnitude : magnitude;
}

uint64_t EncodeNumber(const NumberFormat& format, double value) {
  if (format.kind == NumberKind::kBool) return value != 0 ? 1 : 0;
  if (format.kind == NumberKind::kSigned) {
    const double limit = std::ldexp(1.0, static_cast<int>(format.bits()) - 1);
    if (value >= limit) return Mask(format.bits() - 1);
    const double kept = std::isnan(value) ? 0 : std::max(value, -limit);
    return static_cast<uint64_t>(static_cast<int64_t>(std::nearbyint(kept))) & Mask(format.bits());
  }
  if (format.kind == NumberKind::kUnsigned) {
    if (value >= std::ldexp(1.0, static_cast<int>(format.bits()))) return Mask(format.bits());
    return value > 0 ? static_cast<uint64_t>(std::nearbyint(value)) & Mask(format.bits()) : 0;
  }
  if (format.size_bytes == 8) return std::bit_cast<uint64_t>(value);
  const uint64_t sign = std::signbit(value) ? 1ULL << (format.bits() - 1) : 0;
  const uint64_t largest = LargestBits(format);
  const uint64_t infinity = Mask(format.exponent_bits) << format.mantissa_bits;
  if (std::isnan(value)) {
    if (!format.has_nan) return largest | sign;
    return (format.has_infinity ? infinity + (1ULL << (format.mantissa_bits - 1)) : largest + 1) |
           sign;
  }
  const double magnitude = std::abs(value);
  if (std::isinf(value)) return (format.has_infinity ? infinity : largest) | sign;
  if (magnitude == 0) return sign;
  const int least = 1 - BiasOf(format);  // exponent of the smallest normal number
  const int exponent = std::max(std::ilogb(magnitude), least);
  // In units of this value's last place; nearbyint rounds ties to even. A carry into the next power
  // of two is right by itself, because the exponent stands above the mantissa.
  const double units =
      std::nearbyint(std::ldexp(magnitude, static_cast<int>(format.mantissa_bits) - exponent));
  const uint64_t one = 1ULL << format.mantissa_bits;
  const auto whole = static_cast<uint64_t>(units);
  const uint64_t bits =
      whole < one ? whole
                  : (static_cast<uint64_t>(exponent - least) << format.mantissa_bits) + whole;
  if (bits > largest) return (format.has_infinity ? infinity : largest) | sign;
  return bits | sign;
}

bool IsNanOrInfinity(const NumberFormat& format, uint64_t bits) {
  if (format.kind != NumberKind::kFloat) return false;
  return (bits & Mask(format.exponent_bits + format.mantissa_bits)) > LargestBits(format);
}

uint64_t UlpDistance(const NumberFormat& format, uint64_t a, uint64_t b) {
  if (format.kind == NumberKind::kBool) return ((a & 0xff) != 0) != ((b & 0xff) != 0) ? 1 : 0;
  const uint64_t mask = Mask(format.bits());
  a &= mask;
  b &= mask;
  if (format.kind == NumberKind::kUnsigned) return a > b ? a - b : b - a;
  if (format.kind == NumberKind::kSigned) {
    const int64_t left = SignExtended(a, format.bits());
    const int64_t right = SignExtended(b, format.bits());
    return left > right ? static_cast<uint64_t>(left) - static_cast<uint64_t>(right)
                        : static_cast<uint64_t>(right) - static_cast<uint64_t>(left);
  }
  const uint64_t sign = 1ULL << (format.bits() - 1);
  const uint64_t left = a & ~sign;
  const uint64_t right = b & ~sign;
  if (((a ^ b) & sign) != 0) return left + right;
  return left > right ? left - right : right - left;
}

double LargestNumber(const NumberFormat& format) {
  return DecodeNumber(format, LargestBits(format));
}

double EpsilonOf(const NumberFormat& format) {
  return format.kind == NumberKind::kFloat
             ? std::ldexp(1.0, -static_cast<int>(format.mantissa_bits))
             : 1.0;
}

}  // namespace strobe::tools
