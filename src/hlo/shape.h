// Shapes of HLO values: element type, dimensions, layout with tiles, tuples; how they are written
// and how many bytes they take.
//
//   STROBE_ASSIGN_OR_RETURN(const Shape shape, ParseShapeMessage(bytes, &budget));
//   ShapeText(shape)              // "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}"
//   ShapeTextWithoutLayout(shape) // "bf16[8,128]"
//   UnpaddedSizeBytes(shape)      // 2,048: elements times element size
//   PaddedSizeBytes(shape)        // with every dimension rounded up to its tiles
//
// Cost: a Shape is about 130 bytes and its dimensions; modules keep one of each kind. Limits:
// nesting of tuples up to kMaxShapeDepth, shapes of a module up to the budget; sizes saturate at
// 2^63 - 1.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe::hlo {

// Numbers as in the module's bytes.
enum class ElementType : uint8_t {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kTuple = 13,
  kOpaque = 14,
  kC64 = 15,
  kBf16 = 16,
  kToken = 17,
  kC128 = 18,
  kF8e5m2 = 19,
  kF8e4m3fn = 20,
  kS4 = 21,
  kU4 = 22,
  kF8e4m3b11fnuz = 23,
  kF8e5m2fnuz = 24,
  kF8e4m3fnuz = 25,
  kS2 = 26,
  kU2 = 27,
  kF8e4m3 = 28,
  kF8e3m4 = 29,
  kS1 = 30,
  kU1 = 31,
  kF4e2m1fn = 32,
  kF8e8m0fnu = 33,
  kBuffer = 34,
};
// "f32"; "invalid" for a number that is not in the list.
std::string_view ElementTypeName(ElementType type);
// kInvalid when there is no such name.
ElementType ElementTypeOf(std::string_view name);
// Bits of one element of an array; 0 for tuples, tokens and opaque values.
int ElementBits(ElementType type);
// Bytes of one element where each stands alone (4-bit types: 1).
int ElementBytes(ElementType type);
bool IsFloat(ElementType type);
bool IsSignedInteger(ElementType type);
bool IsUnsignedInteger(ElementType type);
bool IsComplex(ElementType type);

struct Tile {
  // A dimension that is folded into the next one, written "*".
  static constexpr int64_t kCombine = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> dimensions;
  bool operator==(const Tile&) const = default;
};

struct SplitConfig {
  int64_t dimension = 0;
  std::vector<int64_t> indices;
  bool operator==(const SplitConfig&) const = default;
};

struct Shape;

struct Layout {
  std::vector<int64_t> minor_to_major;
  std::vector<Tile> tiles;
  std::vector<int64_t> level_types;  // 0 dense, 1 compressed, 2 singleton, 3 loose compressed
  std::vector<SplitConfig> splits;
  int64_t tail_padding_elements = 1;  // the whole is rounded up to a multiple of this
  int64_t element_size_bits = 0;      // 0: the type's own size
  int64_t memory_space = 0;           // 0 main memory; on TPU 1 VMEM, 2 sync flags, 5 host
  int64_t dynamic_prefix_bytes = 0;
  ElementType index_type = ElementType::kInvalid;
  ElementType pointer_type = ElementType::kInvalid;
  bool operator==(const Layout&) const = default;
};

struct Shape {
  ElementType type = ElementType::kInvalid;
  bool has_layout = false;
  std::vector<int64_t> dimensions;
  std::vector<bool> dynamic;  // empty: none is
  Layout layout;
  std::vector<Shape> elements;  // of a tuple; one of a buffer

  bool is_tuple() const { return type == ElementType::kTuple; }
  bool is_array() const;
  bool operator==(const Shape&) const = default;
};

// Real modules nest tuples 3 deep; the limit bounds recursion.
inline constexpr int kMaxShapeDepth = 32;

// `budget` counts shapes down, so that many small messages cannot take unbounded memory. Errors:
// HLO_SHAPE_DAMAGED, HLO_SHAPE_TOO_DEEP, HLO_LIMIT_SHAPES.
Result<Shape> ParseShapeMessage(std::string_view bytes, int64_t* budget);

void AppendShape(const Shape& shape, bool with_layout, std::string* out);
std::string ShapeText(const Shape& shape);
std::string ShapeTextWithoutLayout(const Shape& shape);
void AppendLayout(const Layout& layout, std::string* out);

// Elements of an array, the product of its dimensions (for tuples 0).
int64_t ElementCount(const Shape& shape);
// Elements of all arrays in it.
int64_t ElementCountRecursive(const Shape& shape);
// Bytes without tiles and padding; tuples: the sum of their elements and no table of pointers.
int64_t UnpaddedSizeBytes(const Shape& shape);
// Bytes with the layout's tiles: what the array takes in memory. Tuples: the sum.
int64_t PaddedSizeBytes(const Shape& shape);

// The part of a tuple that an index like {2, 0} names; nullptr when there is none.
const Shape* SubshapeAt(const Shape& shape, const std::vector<int64_t>& index);

}  // namespace strobe::hlo
