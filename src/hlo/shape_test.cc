#include "src/hlo/shape.h"

#include <gtest/gtest.h>

#include "src/wire/wire_writer.h"

namespace strobe::hlo {
namespace {

Shape Array(ElementType type, std::vector<int64_t> dimensions, std::vector<Tile> tiles) {
  Shape shape;
  shape.type = type;
  shape.dimensions = std::move(dimensions);
  shape.has_layout = true;
  for (size_t i = shape.dimensions.size(); i-- > 0;) {
    shape.layout.minor_to_major.push_back(static_cast<int64_t>(i));
  }
  shape.layout.tiles = std::move(tiles);
  return shape;
}

TEST(ShapeTest, WritesLayoutsAsTheCompilerDoes) {
  Shape shape = Array(ElementType::kBf16, {8, 128}, {{{8, 128}}, {{2, 1}}});
  shape.layout.memory_space = 1;
  EXPECT_EQ(ShapeText(shape), "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}");
  EXPECT_EQ(ShapeTextWithoutLayout(shape), "bf16[8,128]");
  EXPECT_EQ(ShapeText(Array(ElementType::kF32, {}, {})), "f32[]");
  EXPECT_EQ(ShapeText(Array(ElementType::kF32, {}, {{{128}}})), "f32[]{:T(128)}");
  shape.layout.tiles = {{{Tile::kCombine, 4}}};
  shape.layout.tail_padding_elements = 128;
  shape.layout.element_size_bits = 4;
  EXPECT_EQ(ShapeText(shape), "bf16[8,128]{1,0:T(*,4)L(128)E(4)S(1)}");
}

TEST(ShapeTest, NumbersEveryFifthElementOfATuple) {
  Shape tuple;
  tuple.type = ElementType::kTuple;
  for (int i = 0; i < 6; ++i) tuple.elements.push_back(Array(ElementType::kS32, {}, {}));
  EXPECT_EQ(ShapeText(tuple), "(s32[], s32[], s32[], s32[], s32[], /*index=5*/s32[])");
  EXPECT_EQ(UnpaddedSizeBytes(tuple), 24);
  ASSERT_NE(SubshapeAt(tuple, {5}), nullptr);
  EXPECT_EQ(SubshapeAt(tuple, {6}), nullptr);
  EXPECT_EQ(SubshapeAt(tuple, {5, 0}), nullptr);
}

TEST(ShapeTest, SizesWithAndWithoutTiles) {
  // 10 x 100 in tiles of 8 x 128 takes 16 x 128 elements.
  const Shape shape = Array(ElementType::kF32, {10, 100}, {{{8, 128}}});
  EXPECT_EQ(UnpaddedSizeBytes(shape), 4000);
  EXPECT_EQ(PaddedSizeBytes(shape), 16 * 128 * 4);
  // The second tile of bf16 packs pairs of rows and pads nothing more.
  const Shape packed = Array(ElementType::kBf16, {9, 100}, {{{8, 128}}, {{2, 1}}});
  EXPECT_EQ(PaddedSizeBytes(packed), 16 * 128 * 2);
  // A scalar fills one tile.
  EXPECT_EQ(PaddedSizeBytes(Array(ElementType::kF32, {}, {{{128}}})), 512);
}

TEST(ShapeTest, SizesSaturate) {
  const Shape huge = Array(ElementType::kF32, {int64_t{1} << 40, int64_t{1} << 40}, {});
  EXPECT_EQ(UnpaddedSizeBytes(huge), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(PaddedSizeBytes(huge), std::numeric_limits<int64_t>::max());
}

TEST(ShapeTest, RefusesNestingAndNumberBeyondTheLimits) {
  std::string bytes;
  for (int i = 0; i < kMaxShapeDepth + 2; ++i) {
    std::string outer;
    wire::AppendBytesField(4, bytes, &outer);
    bytes = outer;
  }
  int64_t budget = 1000;
  EXPECT_EQ(ParseShapeMessage(bytes, &budget).status().name(), "HLO_SHAPE_TOO_DEEP");
  std::string wide;
  for (int i = 0; i < 20; ++i) wire::AppendBytesField(4, "", &wide);
  budget = 10;
  EXPECT_EQ(ParseShapeMessage(wide, &budget).status().name(), "HLO_LIMIT_SHAPES");
  budget = 10;
  EXPECT_EQ(ParseShapeMessage("\x1a\x05\x01", &budget).status().name(), "HLO_SHAPE_DAMAGED");
}

}  // namespace
}  // namespace strobe::hlo
