#include "src/base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace strobe {
namespace {

// Values of the published XXH3 algorithm for the empty input.
TEST(HashTest, KnownValues) {
  EXPECT_EQ(Hash64(""), 0x2D06800538D394C2ULL);
  EXPECT_EQ(Hash128Of("").ToHex(), "99aa06d3014798d86001c324468d497f");
}

TEST(HashTest, SeedAndContentMatter) {
  EXPECT_NE(Hash64("a"), Hash64("b"));
  EXPECT_NE(Hash64("a"), Hash64("a", 1));
  EXPECT_EQ(Hash64("a", 0), Hash64("a"));
}

TEST(HashTest, PartsGiveTheHashOfTheWhole) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 31);
  for (const size_t cut : {size_t{0}, size_t{1}, size_t{255}, size_t{1024}, text.size()}) {
    Hasher hasher;
    hasher.Add(std::string_view(text).substr(0, cut));
    hasher.Add(std::string_view(text).substr(cut));
    EXPECT_EQ(hasher.Digest128(), Hash128Of(text)) << cut;
  }
  EXPECT_EQ(Hasher().Digest128(), Hash128Of(""));
}

TEST(HashTest, TextForms) {
  EXPECT_EQ(ToHex64(0), "0000000000000000");
  EXPECT_EQ(ToHex64(0x0123456789abcdefULL), "0123456789abcdef");
  EXPECT_EQ(ToBase32(0), "0000000000000");
  EXPECT_EQ(ToBase32(31), "000000000000v");
  EXPECT_EQ(ToBase32(32), "0000000000010");
  EXPECT_EQ(ToBase32(~0ULL), "fvvvvvvvvvvvv");
  EXPECT_EQ((Hash128{1, 2}).ToHex(), "00000000000000010000000000000002");
}

TEST(HashTest, Base32TellsNeighboursApart) {
  std::set<std::string> seen;
  for (uint64_t i = 0; i < 2000; ++i) seen.insert(ToBase32(i * 0x9E3779B97F4A7C15ULL));
  EXPECT_EQ(seen.size(), 2000u);
}

}  // namespace
}  // namespace strobe
