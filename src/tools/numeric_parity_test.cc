// Numbers of each type against their definitions, and the judgement on tensors that differ as
// planned.
#include "src/tools/numeric_parity.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "src/tools/parity_inputs.h"

namespace strobe::tools {
namespace {

const NumberFormat& Format(std::string_view name) {
  const NumberFormat* format = FindNumberFormat(name);
  STROBE_CHECK(format != nullptr);
  return *format;
}

TEST(NumberFormatTest, EveryPatternOfSmallTypesSurvivesARoundTrip) {
  for (const NumberFormat& format : AllNumberFormats()) {
    if (format.size_bytes > 2) continue;
    for (uint64_t bits = 0; bits < 1ULL << format.bits(); ++bits) {
      if (IsNanOrInfinity(format, bits)) continue;
      if (format.kind == NumberKind::kBool && bits > 1) continue;
      ASSERT_EQ(EncodeNumber(format, DecodeNumber(format, bits)), bits) << format.name;
    }
  }
}

TEST(NumberFormatTest, LimitsAreThoseOfTheTypes) {
  EXPECT_EQ(DecodeNumber(Format("float8_e4m3fn"), 0x7e), 448);
  EXPECT_EQ(DecodeNumber(Format("float8_e5m2"), 0x7b), 57344);
  EXPECT_EQ(DecodeNumber(Format("float4_e2m1fn"), 7), 6);
  EXPECT_EQ(DecodeNumber(Format("float16"), 0x7bff), 65504);
  EXPECT_EQ(DecodeNumber(Format("bfloat16"), 0x3f80), 1);
  EXPECT_TRUE(std::isnan(DecodeNumber(Format("float8_e4m3fn"), 0x7f)));
  EXPECT_TRUE(std::isinf(DecodeNumber(Format("float8_e5m2"), 0x7c)));
  // No infinity: what is too large becomes the largest.
  EXPECT_EQ(EncodeNumber(Format("float8_e4m3fn"), 1e9), 0x7eU);
  EXPECT_EQ(EncodeNumber(Format("float16"), 1e9), 0x7c00U);
}

TEST(NumberFormatTest, RoundingAgreesWithTheProcessor) {
  const NumberFormat& f32 = Format("float32");
  for (const double value : {1.0 + 0x1p-24, 1.0 + 0x1.8p-23, 0x1.fffffffp-127, 1e-45, 3.4e38,
                             -2.5e-40, 0x1.ffffffp127}) {
    EXPECT_EQ(EncodeNumber(f32, value), std::bit_cast<uint32_t>(static_cast<float>(value)))
        << value;
  }
  // A tie goes to the even neighbour: 1 + 1/256 lies between 1 and 1 + 1/128.
  EXPECT_EQ(EncodeNumber(Format("bfloat16"), 1.00390625), 0x3f80U);
  EXPECT_EQ(EncodeNumber(Format("bfloat16"), 1.01171875), 0x3f82U);
}

TEST(UlpDistanceTest, NeighboursZerosAndSigns) {
  const NumberFormat& bf16 = Format("bfloat16");
  EXPECT_EQ(UlpDistance(bf16, 0x3f80, 0x3f81), 1U);
  EXPECT_EQ(UlpDistance(bf16, 0x0000, 0x8000), 0U);
  EXPECT_EQ(UlpDistance(bf16, 0x0001, 0x8001), 2U);
  EXPECT_EQ(UlpDistance(Format("int8"), 0x7f, 0x80), 255U);
  EXPECT_EQ(UlpDistance(Format("int64"), 0x7fffffffffffffff, 0x8000000000000000), ~0ULL);
  EXPECT_EQ(UlpDistance(Format("bool"), 1, 0), 1U);
}

std::string Npy(const NumberFormat& format, std::vector<uint64_t> shape,
                const std::vector<double>& values) {
  std::vector<uint64_t> bits;
  for (const double value : values) bits.push_back(EncodeNumber(format, value));
  return NpyFile(format, shape, bits);
}

ParityBatch Compare(std::string_view type, const std::vector<double>& reference,
                    const std::vector<double>& candidate, uint64_t max_ulp = 2,
                    uint64_t p99_9_ulp = 1) {
  const NumberFormat& format = Format(type);
  const Result<ParityContract> contract = ParityContract::Make(format, max_ulp, p99_9_ulp);
  STROBE_CHECK(contract.ok());
  const std::string left = Npy(format, {reference.size()}, reference);
  const std::string right = Npy(format, {candidate.size()}, candidate);
  Result<ParityBatch> batch =
      CompareTensors(*contract, "00_student_t", *ReadNpy(left, &format), *ReadNpy(right, &format));
  EXPECT_TRUE(batch.ok()) << batch.status().ToString();
  return *std::move(batch);
}

TEST(NumericParityTest, PlantedDistancesAreFound) {
  std::vector<double> reference(4000, 1.0);
  std::vector<double> candidate = reference;
  candidate[7] = 1.0 + 2.0 / 128;  // 2 ULP, fewer than 0.1 % of them
  const ParityBatch batch = Compare("bfloat16", reference, candidate);
  EXPECT_EQ(batch.max_ulp, 2U);
  EXPECT_EQ(batch.worst_element, 7U);
  EXPECT_EQ(batch.p99_9_ulp, 0U);
  EXPECT_EQ(batch.histogram[0], 3999U);
  EXPECT_EQ(batch.histogram[2], 1U);
  EXPECT_EQ(batch.regime, "student_t");
  EXPECT_TRUE(batch.passed);
  candidate[8] = 1.0 + 3.0 / 128;
  EXPECT_FALSE(Compare("bfloat16", reference, candidate).passed);
  // Too many of 2, though none beyond.
  for (size_t i = 0; i < 10; ++i) candidate[i] = 1.0 + 2.0 / 128;
  const ParityBatch many = Compare("bfloat16", reference, candidate);
  EXPECT_EQ(many.p99_9_ulp, 2U);
  EXPECT_FALSE(many.passed);
}

TEST(NumericParityTest, ZeroCrossingsCountByEpsilon) {
  // Thousands of patterns lie between them, and nothing that matters.
  const ParityBatch batch = Compare("bfloat16", {0.004}, {-0.004});
  EXPECT_EQ(batch.max_ulp, 2U);  // 0.008 / (1/128), rounded up
  EXPECT_GT(Compare("bfloat16", {0.06}, {-0.06}).max_ulp, 1000U);
}

TEST(NumericParityTest, NanAndInfinityFailWhateverTheOtherSideIs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ParityBatch batch = Compare("float32", {1, nan}, {1, nan});
  EXPECT_TRUE(batch.has_nan_or_infinity);
  EXPECT_FALSE(batch.passed);
  EXPECT_EQ(batch.max_ulp, 999'999U);
}

TEST(NumericParityTest, DiscreteTypesMustBeEqual) {
  EXPECT_FALSE(Compare("int32", {5}, {6}).passed);
  EXPECT_TRUE(Compare("int32", {5}, {5}).passed);
  EXPECT_FALSE(ParityContract::Make(Format("int32"), 3, 1).ok());
  const Result<ParityContract> wide = ParityContract::Make(Format("bfloat16"), 9, 1);
  ASSERT_FALSE(wide.ok());
  EXPECT_EQ(wide.status().name(), "PARITY_LIMIT_TOO_WIDE");
}

TEST(NumericParityTest, TheReportCountsBatchesAndWarnsOfWideLimits) {
  const Result<ParityContract> contract = ParityContract::Make(Format("bfloat16"), 4, 4);
  ASSERT_TRUE(contract.ok());
  ParityBatch good;
  good.passed = true;
  ParityBatch bad;
  bad.max_ulp = 700;
  const Value report = ParityReport(*contract, {good, bad});
  EXPECT_FALSE(report.Find("is_numerically_equivalent")->bool_value());
  EXPECT_EQ(report.Find("failed_batches_count")->int_value(), 1);
  EXPECT_EQ(report.Find("overall_max_ulp")->uint_value(), 700U);
  EXPECT_TRUE(report.Find("tolerance_audit")->Find("is_relaxed_override")->bool_value());
  EXPECT_FALSE(ParityReport(*contract, {}).Find("is_numerically_equivalent")->bool_value());
}

TEST(NpyTest, ColumnMajorAndBigEndianAreReadInTheirOrder) {
  // [[1, 2, 3], [4, 5, 6]] as big-endian int16 in column-major order.
  std::string header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
  header.append(118 - header.size() - 1, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00\x76\x00", 10);
  file += header;
  for (const char value : {1, 4, 2, 5, 3, 6}) file += std::string(1, '\0') + value;
  const Result<NpyTensor> tensor = ReadNpy(file, nullptr);
  ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
  EXPECT_EQ(tensor->format->name, "int16");
  const std::string plain = Npy(Format("int16"), {2, 3}, {1, 2, 3, 4, 5, 6});
  const Result<ParityContract> contract = ParityContract::Make(Format("int16"), 0, 0);
  ASSERT_TRUE(contract.ok());
  const Result<ParityBatch> batch =
      CompareTensors(*contract, "b", *tensor, *ReadNpy(plain, nullptr));
  ASSERT_TRUE(batch.ok());
  EXPECT_TRUE(batch->passed);
}

TEST(NpyTest, DamageIsNamed) {
  const NumberFormat& bf16 = Format("bfloat16");
  const std::string file = Npy(bf16, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(ReadNpy(file, nullptr).status().name(), "NPY_TYPE_UNKNOWN");  // bytes of 2, of what?
  EXPECT_EQ(ReadNpy(file, &Format("float32")).status().name(), "NPY_TYPE_UNKNOWN");
  EXPECT_EQ(ReadNpy("hello", &bf16).status().name(), "NPY_MALFORMED");
  const Result<NpyTensor> whole = ReadNpy(file, &bf16);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->count, 4U);
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(ReadNpy(file.substr(0, size), &bf16).ok()) << size;
  }
  std::string huge = file;
  huge.replace(huge.find("(2,2,)"), 6, "(9999999999999999999,)");
  EXPECT_FALSE(ReadNpy(huge, &bf16).ok());
}

TEST(ParityInputsTest, TiersHaveTheirBatchesAndSeedsTheirValues) {
  const NumberFormat& bf16 = Format("bfloat16");
  EXPECT_EQ(PlanParityInputs(bf16, ParityTier::kFastAgent).size(), 5U);
  EXPECT_EQ(PlanParityInputs(Format("int32"), ParityTier::kPresubmit).size(), 11U);
  const std::vector<ParityInput> inputs = PlanParityInputs(bf16, ParityTier::kDeepFuzzing);
  EXPECT_EQ(inputs.size(), 47U);
  std::set<std::vector<uint64_t>> seen;
  for (const ParityInput& input : inputs) {
    const std::vector<uint64_t> values = MakeParityValues(bf16, input, 512, 42);
    EXPECT_EQ(values, MakeParityValues(bf16, input, 512, 42));
    EXPECT_TRUE(seen.insert(values).second) << input.name << " repeats another batch";
    for (const uint64_t bits : values) ASSERT_FALSE(IsNanOrInfinity(bf16, bits)) << input.name;
  }
}

TEST(ParityInputsTest, RegimesAreWhatTheirNamesSay) {
  const NumberFormat& f32 = Format("float32");
  double largest = 0;
  for (const uint64_t bits : MakeParityValues(f32, {"", "outliers", 1}, 10'000, 1)) {
    largest = std::max(largest, std::abs(DecodeNumber(f32, bits)));
  }
  EXPECT_GT(largest, 500);
  const std::vector<uint64_t> pairs = MakeParityValues(f32, {"", "cancellation", 1}, 1'000, 1);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    EXPECT_LE(UlpDistance(f32, pairs[i], pairs[i + 1] ^ 0x80000000U), 3U);
  }
  // Half of Student's values with 4 degrees of freedom lie within 0.741.
  int within = 0;
  for (const uint64_t bits : MakeParityValues(f32, {"", "student_t", 1}, 20'000, 1)) {
    within += std::abs(DecodeNumber(f32, bits)) < 0.741 ? 1 : 0;
  }
  EXPECT_NEAR(within, 10'000, 300);
  const NumberFormat& i32 = Format("int32");
  uint64_t previous = 0;
  for (const uint64_t bits : MakeParityValues(i32, {"", "segment_ids", 1}, 1'000, 1)) {
    EXPECT_GE(bits, previous);
    EXPECT_LT(bits, 8U);
    previous = bits;
  }
  EXPECT_EQ(previous, 7U);
}

}  // namespace
}  // namespace strobe::tools
