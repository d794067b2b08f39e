#include "src/timeline/pyramid_codec.h"

#include <gtest/gtest.h>

#include "src/base/ids.h"
#include "src/timeline/line_for_test.h"

namespace strobe::timeline {
namespace {

std::vector<EventForTest> Row(uint64_t seed, int events) {
  SeededRandom random(seed);
  std::vector<EventForTest> row;
  int64_t at_ps = -5000;
  for (int e = 0; e < events; ++e) {
    at_ps += static_cast<int64_t>(random.Next() % 3000);
    const auto duration_ps = static_cast<int64_t>(random.Next() % (e % 50 == 0 ? 100'000 : 900));
    row.push_back({.start_ps = at_ps,
                   .duration_ps = duration_ps,
                   .name = static_cast<uint32_t>(random.Next() % 4)});
    at_ps += duration_ps;
  }
  return row;
}

class PyramidCodecTest : public ::testing::Test {
 protected:
  static constexpr int64_t kShiftPs = 777;

  void SetUp() override {
    for (const int events : {40'000, 31, 32, 0, 1100, 5}) line_.AddRow(Row(rows_++, events));
    // Views of the pyramids' bytes need them made for the right shift.
    built_ = line_.AsTileLine(metadata_, {}, 3, kShiftPs);
    bytes_ = EncodePyramids(built_.pyramids);
  }
  std::string Tile(std::span<const RowPyramid> pyramids, int level, int64_t index) {
    TileLine line = built_;
    line.pyramids = pyramids;
    const auto tile =
        EncodeTile({.level = level, .index = index, .shift_ps = kShiftPs}, {&line, 1});
    return tile.ok() ? *tile : std::string(tile.status().name());
  }

  LineForTest line_;
  const std::vector<xplane::EventMetadata> metadata_ = std::vector<xplane::EventMetadata>(4);
  uint64_t rows_ = 0;
  TileLine built_;
  std::string bytes_;
};

TEST_F(PyramidCodecTest, WhatIsReadDrawsTheSameTiles) {
  const auto read = DecodePyramids(bytes_, line_.columns(), metadata_.size(), kShiftPs);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), rows_);
  for (int level = kMinTileLevel; level <= 50; ++level) {
    for (const int64_t index : {-1, 0, 1, 5}) {
      ASSERT_EQ(Tile(*read, level, index), Tile(built_.pyramids, level, index)) << level;
    }
  }
  EXPECT_EQ(EncodePyramids(*read), bytes_);
}

TEST_F(PyramidCodecTest, RefusesWhatDoesNotFitTheLine) {
  const auto decode = [&](std::string_view bytes, uint64_t names, int64_t shift_ps) {
    const auto read = DecodePyramids(bytes, line_.columns(), names, shift_ps);
    return std::string(read.status().name());
  };
  EXPECT_EQ(decode(bytes_, metadata_.size(), kShiftPs + 1), "PYRAMID_CORRUPT");
  EXPECT_EQ(decode(bytes_, 1, kShiftPs), "PYRAMID_CORRUPT");
  EXPECT_EQ(decode(bytes_ + "x", metadata_.size(), kShiftPs), "PYRAMID_CORRUPT");
  for (size_t size = 0; size < bytes_.size(); size += size < 300 ? 1 : 997) {
    EXPECT_EQ(decode(std::string_view(bytes_).substr(0, size), metadata_.size(), kShiftPs),
              "PYRAMID_CORRUPT")
        << size;
  }
}

TEST_F(PyramidCodecTest, DamageThatFitsIsDrawnWithoutHarm) {
  SeededRandom random(11);
  size_t accepted = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bad = bytes_;
    bad[random.Next() % bad.size()] ^= static_cast<char>(1 << random.Next() % 8);
    const auto read = DecodePyramids(bad, line_.columns(), metadata_.size(), kShiftPs);
    if (!read.ok()) {
      EXPECT_EQ(read.status().name(), "PYRAMID_CORRUPT");
      continue;
    }
    ++accepted;
    for (const int level : {12, 18, 24, 30}) Tile(*read, level, 0);
  }
  EXPECT_GT(accepted, 0u);
}

}  // namespace
}  // namespace strobe::timeline
