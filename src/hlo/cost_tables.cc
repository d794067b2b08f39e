// Costs that depend on shapes and operation alone: cycles an element, products, convolutions.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "src/hlo/cost.h"
#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

constexpr int64_t kFlopsPerMultiplyAdd = 2;
// Of operations that are not in the table.
constexpr int64_t kDefaultCycles = 3;

struct Cycles {
  Opcode opcode;
  ElementType type;
  int64_t cycles;
};

using T = ElementType;
using O = Opcode;

// Measured by XLA's authors on compute capability 8.6; XProf takes these for every GPU.
constexpr std::array<Cycles, 80> kCycles = {{
    {O::kDivide, T::kS8, 370},     {O::kPower, T::kS8, 392},     {O::kDivide, T::kS16, 367},
    {O::kPower, T::kS16, 396},     {O::kDivide, T::kS32, 306},   {O::kDivide, T::kS64, 918},
    {O::kPower, T::kS64, 601},     {O::kDivide, T::kU8, 306},    {O::kPower, T::kU8, 388},
    {O::kDivide, T::kU16, 302},    {O::kPower, T::kU16, 399},    {O::kDivide, T::kU32, 115},
    {O::kDivide, T::kU64, 838},    {O::kPower, T::kU64, 604},    {O::kCbrt, T::kF16, 925},
    {O::kCos, T::kF16, 691},       {O::kExp, T::kF16, 108},      {O::kExpm1, T::kF16, 396},
    {O::kLog, T::kF16, 266},       {O::kLog1p, T::kF16, 284},    {O::kLogistic, T::kF16, 226},
    {O::kRsqrt, T::kF16, 97},      {O::kSqrt, T::kF16, 97},      {O::kTanh, T::kF16, 212},
    {O::kAtan2, T::kF16, 482},     {O::kPower, T::kF16, 975},    {O::kCbrt, T::kF32, 867},
    {O::kCos, T::kF32, 662},       {O::kExp, T::kF32, 86},       {O::kExpm1, T::kF32, 381},
    {O::kLog, T::kF32, 244},       {O::kLog1p, T::kF32, 262},    {O::kLogistic, T::kF32, 176},
    {O::kRsqrt, T::kF32, 75},      {O::kSin, T::kF32, 662},      {O::kSqrt, T::kF32, 75},
    {O::kTanh, T::kF32, 190},      {O::kAtan2, T::kF32, 486},    {O::kPower, T::kF32, 925},
    {O::kCbrt, T::kF64, 6339},     {O::kCos, T::kF64, 1717},     {O::kExp, T::kF64, 1652},
    {O::kExpm1, T::kF64, 1900},    {O::kLog, T::kF64, 608},      {O::kLog1p, T::kF64, 2073},
    {O::kLogistic, T::kF64, 2412}, {O::kRsqrt, T::kF64, 698},    {O::kSin, T::kF64, 1789},
    {O::kSqrt, T::kF64, 986},      {O::kTanh, T::kF64, 1609},    {O::kAdd, T::kF64, 97},
    {O::kAtan2, T::kF64, 3747},    {O::kDivide, T::kF64, 2016},  {O::kMultiply, T::kF64, 97},
    {O::kPower, T::kF64, 5511},    {O::kSubtract, T::kF64, 97},  {O::kExp, T::kC64, 1360},
    {O::kExpm1, T::kC64, 1400},    {O::kLog, T::kC64, 950},      {O::kLog1p, T::kC64, 842},
    {O::kRsqrt, T::kC64, 2383},    {O::kSqrt, T::kC64, 3193},    {O::kAtan2, T::kC64, 5353},
    {O::kDivide, T::kC64, 687},    {O::kPower, T::kC64, 3351},   {O::kCos, T::kC128, 6613},
    {O::kExp, T::kC128, 4028},     {O::kExpm1, T::kC128, 4161},  {O::kLog, T::kC128, 7599},
    {O::kLog1p, T::kC128, 6962},   {O::kRsqrt, T::kC128, 11318}, {O::kSin, T::kC128, 5878},
    {O::kSqrt, T::kC128, 15606},   {O::kTanh, T::kC128, 9939},   {O::kAdd, T::kC128, 97},
    {O::kAtan2, T::kC128, 39027},  {O::kDivide, T::kC128, 7941}, {O::kMultiply, T::kC128, 270},
    {O::kPower, T::kC128, 18205},  {O::kSubtract, T::kC128, 97},
}};

// The x with value * x = 1 modulo `modulus`; they have no common divisor.
int64_t InverseModulo(int64_t value, int64_t modulus) {
  int64_t old_rest = value % modulus;
  int64_t rest = modulus;
  int64_t old_factor = 1;
  int64_t factor = 0;
  while (rest != 0) {
    const int64_t quotient = old_rest / rest;
    old_rest = std::exchange(rest, old_rest - quotient * rest);
    old_factor = std::exchange(factor, old_factor - quotient * factor);
  }
  return (old_factor % modulus + modulus) % modulus;
}

// How many x in [0, count) make (x * stride + shift) a multiple of `dilation` that is not negative
// and below limit * dilation.
int64_t CountHits(int64_t count, int64_t stride, int64_t shift, int64_t dilation, int64_t limit) {
  if (count <= 0 || limit <= 0 || dilation <= 0 || stride < 0) return 0;
  const __int128 end = static_cast<__int128>(limit) * dilation;
  if (stride == 0) return shift >= 0 && shift < end && shift % dilation == 0 ? count : 0;
  const int64_t divisor = std::gcd(stride, dilation);
  if (shift % divisor != 0) return 0;
  const int64_t period = dilation / divisor;
  int64_t first = 0;
  if (period > 1) {
    const int64_t wanted = ((-(shift / divisor)) % period + period) % period;
    first = static_cast<int64_t>(static_cast<__int128>(wanted) *
                                 InverseModulo(stride / divisor, period) % period);
  }
  if (first >= count) return 0;
  // x = first + t * period; the value grows by `step` with each t.
  const __int128 step = static_cast<__int128>(period) * stride;
  const __int128 start = static_cast<__int128>(first) * stride + shift;
  const __int128 from = start >= 0 ? 0 : (-start + step - 1) / step;
  const __int128 until = end <= start ? 0 : (end - start + step - 1) / step;
  const __int128 last = (count - first + period - 1) / period;
  const __int128 hits = std::min(until, last) - from;
  return hits > 0 ? static_cast<int64_t>(hits) : 0;
}

struct Dimensions {
  explicit Dimensions(const Message& numbers)
      : kernel_spatial(numbers.Ints(6)),
        input_spatial(numbers.Ints(11)),
        output_spatial(numbers.Ints(12)),
        input_batch(numbers.Int(7)),
        input_feature(numbers.Int(8)),
        output_feature(numbers.Int(10)) {}
  std::vector<int64_t> kernel_spatial;
  std::vector<int64_t> input_spatial;
  std::vector<int64_t> output_spatial;
  int64_t input_batch;
  int64_t input_feature;
  int64_t output_feature;
};

int64_t SizeOf(const Shape& shape, int64_t dimension) {
  return dimension >= 0 && static_cast<size_t>(dimension) < shape.dimensions.size()
             ? shape.dimensions[static_cast<size_t>(dimension)]
             : 0;
}

// A kernel of more positions in one dimension is counted as having this many: nobody has one.
constexpr int64_t kMaxKernel = 1 << 20;

}  // namespace

int64_t CyclesPerElement(Opcode opcode, ElementType type) {
  for (const Cycles& entry : kCycles) {
    if (entry.opcode == opcode && entry.type == type) return entry.cycles;
  }
  return kDefaultCycles;
}

int64_t DotFlops(const Shape& left, const Shape& result,
                 const std::vector<int64_t>& contracting_dimensions) {
  int64_t width = 1;
  for (const int64_t dimension : contracting_dimensions) width *= SizeOf(left, dimension);
  return kFlopsPerMultiplyAdd * ElementCount(result) * width;
}

int64_t ConvolutionFlops(const HloModule& module, uint32_t instruction, const Shape& result) {
  const auto operands = module.operands(instruction);
  if (operands.size() < 2) return 0;
  const Shape& input = module.shape_of(operands[0]);
  const Shape& kernel = module.shape_of(operands[1]);
  const Message record(module.instruction(instruction).record);
  const Dimensions numbers{Message(record.Bytes(16))};
  int64_t positions = 1;
  const auto windows = Message(record.Bytes(15)).All(1);
  for (size_t d = 0; d < windows.size(); ++d) {
    if (d >= numbers.kernel_spatial.size() || d >= numbers.input_spatial.size() ||
        d >= numbers.output_spatial.size()) {
      return 0;
    }
    const Message window(windows[d]);
    const int64_t kernel_size = std::min(kMaxKernel, SizeOf(kernel, numbers.kernel_spatial[d]));
    const int64_t output_size = SizeOf(result, numbers.output_spatial[d]);
    const int64_t input_size = SizeOf(input, numbers.input_spatial[d]);
    int64_t valid = 0;
    for (int64_t k = 0; k < kernel_size; ++k) {
      const int64_t shift = k * window.Int(5) - window.Int(3);
      valid += CountHits(output_size, window.Int(2), shift, std::max<int64_t>(1, window.Int(6)),
                         input_size);
    }
    positions *= valid;
  }
  const int64_t feature_groups = std::max<int64_t>(1, record.Int(50));
  const int64_t batch_groups = std::max<int64_t>(1, record.Int(58));
  return kFlopsPerMultiplyAdd * (SizeOf(input, numbers.input_feature) / feature_groups) *
         SizeOf(result, numbers.output_feature) *
         (SizeOf(input, numbers.input_batch) / batch_groups) * positions;
}

}  // namespace strobe::hlo
