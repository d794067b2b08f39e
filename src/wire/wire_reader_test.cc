#include "src/wire/wire_reader.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/wire/wire_writer.h"

namespace strobe::wire {
namespace {

std::vector<uint64_t> EdgeValues() {
  std::vector<uint64_t> values = {0, 1, 0x7f, std::numeric_limits<uint64_t>::max()};
  for (int bit = 1; bit < 64; ++bit) {
    values.push_back(uint64_t{1} << bit);
    values.push_back((uint64_t{1} << bit) - 1);
    values.push_back((uint64_t{1} << bit) + 1);
  }
  return values;
}

TEST(VarintTest, EveryLengthReadsBackBothWays) {
  SeededRandom random(7);
  std::vector<uint64_t> values = EdgeValues();
  for (int i = 0; i < 2000; ++i) values.push_back(random.Next() >> (random.Next() % 64));
  for (const uint64_t value : values) {
    std::string bytes;
    AppendVarint(value, &bytes);
    EXPECT_EQ(bytes.size(), VarintSize(value));
    const size_t size = bytes.size();
    // What follows must not leak into the value.
    bytes.append(kFastReadBytes, static_cast<char>(random.Next()));
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    uint64_t fast = ~value;
    EXPECT_EQ(DecodeVarintFast(begin, &fast), begin + size);
    EXPECT_EQ(fast, value);
    uint64_t bounded = ~value;
    WireError error = WireError::kNone;
    EXPECT_EQ(DecodeVarintBounded(begin, begin + size, &bounded, &error), begin + size);
    EXPECT_EQ(bounded, value);
    EXPECT_EQ(DecodeVarintBounded(begin, begin + size - 1, &bounded, &error), nullptr);
    EXPECT_EQ(error, WireError::kOverrun);
  }
}

TEST(VarintTest, OverlongIsRefusedAndPaddedIsRead) {
  std::string eleven(10, '\x80');
  eleven += '\x01';
  eleven.append(16, '\0');
  const auto* begin = reinterpret_cast<const uint8_t*>(eleven.data());
  uint64_t value = 0;
  WireError error = WireError::kNone;
  EXPECT_EQ(DecodeVarintFast(begin, &value), nullptr);
  EXPECT_EQ(DecodeVarintBounded(begin, begin + eleven.size(), &value, &error), nullptr);
  EXPECT_EQ(error, WireError::kBadVarint);
  // 65 bits: the tenth byte may only be 0 or 1.
  std::string wide(9, '\xff');
  wide += '\x02';
  wide.append(16, '\0');
  EXPECT_EQ(DecodeVarintFast(reinterpret_cast<const uint8_t*>(wide.data()), &value), nullptr);
  // Zero written in three bytes is still zero.
  std::string padded = {'\x80', '\x80', '\x00'};
  padded.append(16, '\x7f');
  begin = reinterpret_cast<const uint8_t*>(padded.data());
  EXPECT_EQ(DecodeVarintFast(begin, &value), begin + 3);
  EXPECT_EQ(value, 0u);
}

std::string AllKinds() {
  std::string bytes;
  AppendVarintField(1, 300, &bytes);
  AppendSignedField(2, -5, &bytes);
  AppendBytesField(3, "name", &bytes);
  AppendDoubleField(4, 2.5, &bytes);
  AppendTag(5, WireType::kFixed32, &bytes);
  bytes.append({'\x01', '\x02', '\x00', '\x00'});
  AppendBytesField(536870911, "", &bytes);
  return bytes;
}

TEST(WireReaderTest, ReadsEveryKindOfField) {
  for (const size_t padding : {0, 64}) {  // the careful path and the fast one
    std::string bytes = AllKinds();
    if (padding > 0) AppendBytesField(9, std::string(padding, 'x'), &bytes);
    WireReader reader(bytes);
    WireField field;
    ASSERT_TRUE(reader.Next(&field));
    EXPECT_EQ(field.number, 1u);
    EXPECT_EQ(field.value, 300u);
    EXPECT_EQ(field.offset, 0u);
    ASSERT_TRUE(reader.Next(&field));
    EXPECT_EQ(field.signed_value(), -5);
    EXPECT_EQ(field.offset, 3u);
    ASSERT_TRUE(reader.Next(&field));
    EXPECT_EQ(field.type, WireType::kBytes);
    EXPECT_EQ(field.bytes, "name");
    ASSERT_TRUE(reader.Next(&field));
    EXPECT_EQ(field.type, WireType::kFixed64);
    EXPECT_EQ(field.double_value(), 2.5);
    ASSERT_TRUE(reader.Next(&field));
    EXPECT_EQ(field.type, WireType::kFixed32);
    EXPECT_EQ(field.value, 0x201u);
    ASSERT_TRUE(reader.Next(&field));
    EXPECT_EQ(field.number, 536870911u);
    EXPECT_EQ(field.bytes, "");
    EXPECT_EQ(reader.Next(&field), padding > 0);
    EXPECT_EQ(reader.error(), WireError::kNone);
    EXPECT_FALSE(padding > 0 && reader.Next(&field));
  }
}

// Reads everything there is; returns the number of fields.
size_t Drain(std::string_view bytes, WireError* error) {
  WireReader reader(bytes);
  WireField field;
  size_t count = 0;
  while (reader.Next(&field)) ++count;
  *error = reader.error();
  EXPECT_FALSE(reader.Next(&field)) << "an ended reader must stay ended";
  return count;
}

TEST(WireReaderTest, CutAtEveryByteEndsWithOverrunOrBetweenFields) {
  const std::string bytes = AllKinds();
  WireError error = WireError::kNone;
  size_t clean_ends = 0;
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    // A copy of its own, so that a sanitizer sees a read behind the cut.
    const std::vector<char> copy(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(cut));
    Drain(std::string_view(copy.data(), copy.size()), &error);
    EXPECT_TRUE(error == WireError::kNone || error == WireError::kOverrun);
    if (error == WireError::kNone) ++clean_ends;
  }
  EXPECT_EQ(clean_ends, 7u) << "the ends of six fields, and nothing at all";
}

TEST(WireReaderTest, BytesBehindTheEndChangeNothing) {
  const std::string bytes = AllKinds();
  for (const char behind : {'\x00', '\x08', '\xff'}) {
    const std::string longer = bytes + std::string(64, behind);
    for (size_t cut = 0; cut <= bytes.size(); ++cut) {
      const std::string_view part = std::string_view(longer).substr(0, cut);
      WireReader alone(part);
      WireReader inside(part, longer.size() - cut);
      WireField expected;
      WireField field;
      while (alone.Next(&expected)) {
        ASSERT_TRUE(inside.Next(&field));
        EXPECT_EQ(field.number, expected.number);
        EXPECT_EQ(field.type, expected.type);
        EXPECT_EQ(field.value, expected.value);
        EXPECT_EQ(field.bytes, expected.bytes);
        EXPECT_EQ(field.offset, expected.offset);
        EXPECT_EQ(inside.offset(), alone.offset());
      }
      EXPECT_FALSE(inside.Next(&field));
      EXPECT_EQ(inside.error(), alone.error());
      if (alone.error() != WireError::kNone) {
        EXPECT_EQ(inside.error_offset(), alone.error_offset());
      }
    }
  }
}

TEST(WireReaderTest, NamesWhatIsWrong) {
  WireError error = WireError::kNone;
  const std::string pad(32, '\0');
  Drain(std::string("\x00\x01", 2) + pad, &error);
  EXPECT_EQ(error, WireError::kBadTag);
  Drain("\x0b" + pad, &error);
  EXPECT_EQ(error, WireError::kGroup);
  Drain("\x0c" + pad, &error);
  EXPECT_EQ(error, WireError::kGroup);
  Drain("\x0e" + pad, &error);
  EXPECT_EQ(error, WireError::kBadType);
  Drain("\x0f", &error);
  EXPECT_EQ(error, WireError::kBadType);
  Drain("\x08" + std::string(12, '\xff') + pad, &error);
  EXPECT_EQ(error, WireError::kBadVarint);
  std::string large;
  AppendVarint(uint64_t{1} << 33, &large);  // field number 2^30
  Drain(large + pad, &error);
  EXPECT_EQ(error, WireError::kBadTag);
}

TEST(WireReaderTest, AClippedFieldGivesWhatIsThere) {
  for (const uint64_t claimed : {uint64_t{50}, uint64_t{1} << 40, ~uint64_t{0}}) {
    std::string bytes;
    AppendVarintField(1, 7, &bytes);
    AppendTag(2, WireType::kBytes, &bytes);
    AppendVarint(claimed, &bytes);
    bytes += "the part that is there";
    WireReader reader(bytes);
    WireField field;
    uint64_t said = 0;
    ASSERT_TRUE(reader.Next(&field));
    EXPECT_FALSE(reader.Clipped(&field, &said));
    ASSERT_FALSE(reader.Next(&field));
    EXPECT_EQ(reader.error(), WireError::kOverrun);
    EXPECT_EQ(reader.error_offset(), 2u);
    ASSERT_TRUE(reader.Clipped(&field, &said));
    EXPECT_EQ(field.number, 2u);
    EXPECT_EQ(field.bytes, "the part that is there");
    EXPECT_EQ(said, claimed);
  }
}

TEST(WireReaderTest, RandomBytesAlwaysEnd) {
  SeededRandom random(42);
  for (int round = 0; round < 20000; ++round) {
    std::vector<char> bytes(random.Next() % 48);
    for (char& byte : bytes) byte = static_cast<char>(random.Next());
    WireError error = WireError::kNone;
    EXPECT_LE(Drain(std::string_view(bytes.data(), bytes.size()), &error), bytes.size());
  }
}

}  // namespace
}  // namespace strobe::wire
