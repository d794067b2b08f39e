// The number types of accelerators, bit by bit: decoding, rounding into them, and the distance of
// two of their values in units in the last place (ULP).
//
//   const NumberFormat* bf16 = FindNumberFormat("bfloat16");
//   const uint64_t bits = EncodeNumber(*bf16, 1.003);        // to nearest, ties to even
//   UlpDistance(*bf16, bits, bits + 1);                      // 1
//
// Types: bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, float8_e4m3fn,
// float8_e5m2, float4_e2m1fn (one in a byte). Cost: no table, tens of ns a value. Limits: values
// are given as the bits of the type in the low end of a uint64.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace strobe::tools {

enum class NumberKind : uint8_t { kBool, kSigned, kUnsigned, kFloat };

struct NumberFormat {
  std::string_view name;
  NumberKind kind;
  uint32_t size_bytes;
  // Floats only.
  uint32_t exponent_bits;
  uint32_t mantissa_bits;
  bool has_infinity;  // e4m3fn: none, its last pattern is NaN; e2m1fn: neither
  bool has_nan;
  // What a changed order of additions may cost, and beyond what nobody should go.
  uint64_t recommended_ulp;
  uint64_t ceiling_ulp;

  uint32_t bits() const {
    return kind == NumberKind::kFloat ? 1 + exponent_bits + mantissa_bits : size_bytes * 8;
  }
  bool discrete() const { return kind != NumberKind::kFloat; }
};

std::span<const NumberFormat> AllNumberFormats();
// By name ("bfloat16", also "bf16", "f32", "fp8_e4m3"); nullptr: not known.
const NumberFormat* FindNumberFormat(std::string_view name);

double DecodeNumber(const NumberFormat& format, uint64_t bits);
// Round to nearest, ties to even; beyond the largest: infinity where there is one, else the
// largest.
uint64_t EncodeNumber(const NumberFormat& format, double value);
bool IsNanOrInfinity(const NumberFormat& format, uint64_t bits);

// How many values of the type lie between the two, plus one; 0 when they are equal, +0 and -0 too.
// NaN and infinity are the caller's business.
uint64_t UlpDistance(const NumberFormat& format, uint64_t a, uint64_t b);
// The largest finite value of a float type.
double LargestNumber(const NumberFormat& format);
// The gap between 1 and the next value.
double EpsilonOf(const NumberFormat& format);

}  // namespace strobe::tools
