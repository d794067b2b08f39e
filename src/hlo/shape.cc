#include "src/hlo/shape.h"

#include <algorithm>
#include <array>

#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

using wire::WireField;
using wire::WireReader;
using wire::WireType;

struct TypeInfo {
  std::string_view name;
  int bits;
};
constexpr std::array<TypeInfo, 35> kTypes = {{
    {"invalid", 0},    {"pred", 8},  {"s8", 8},       {"s16", 16},          {"s32", 32},
    {"s64", 64},       {"u8", 8},    {"u16", 16},     {"u32", 32},          {"u64", 64},
    {"f16", 16},       {"f32", 32},  {"f64", 64},     {"tuple", 0},         {"opaque", 0},
    {"c64", 64},       {"bf16", 16}, {"token", 0},    {"c128", 128},        {"f8e5m2", 8},
    {"f8e4m3fn", 8},   {"s4", 4},    {"u4", 4},       {"f8e4m3b11fnuz", 8}, {"f8e5m2fnuz", 8},
    {"f8e4m3fnuz", 8}, {"s2", 2},    {"u2", 2},       {"f8e4m3", 8},        {"f8e3m4", 8},
    {"s1", 1},         {"u1", 1},    {"f4e2m1fn", 4}, {"f8e8m0fnu", 8},     {"buffer", 0},
}};

Status Damaged(std::string_view what) {
  return DataLossError("HLO_SHAPE_DAMAGED",
                       std::string("Expected a shape in the module, found damaged bytes in its ") +
                           std::string(what) + ".")
      .Hint("Capture the profile or dump the module again; the file was cut or changed.");
}

ElementType TypeOf(int64_t number) {
  return number > 0 && number < static_cast<int64_t>(kTypes.size())
             ? static_cast<ElementType>(number)
             : ElementType::kInvalid;
}

Status ParseLayout(std::string_view bytes, Layout* layout) {
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    switch (field.number) {
      case 1:
        AppendInts(field, &layout->minor_to_major);
        break;
      case 6:
        layout->tiles.push_back({Message(field.bytes).Ints(1)});
        break;
      case 7:
        layout->element_size_bits = field.signed_value();
        break;
      case 8:
        layout->memory_space = field.signed_value();
        break;
      case 9:
        AppendInts(field, &layout->level_types);
        break;
      case 11:
        layout->index_type = TypeOf(field.signed_value());
        break;
      case 12:
        layout->pointer_type = TypeOf(field.signed_value());
        break;
      case 15:
        layout->dynamic_prefix_bytes = field.signed_value();
        break;
      case 16:
        layout->tail_padding_elements = std::max<int64_t>(1, field.signed_value());
        break;
      case 17: {
        const Message split(field.bytes);
        layout->splits.push_back({split.Int(1), split.Ints(2)});
        break;
      }
      default:
        break;
    }
  }
  return reader.error() == wire::WireError::kNone ? OkStatus() : Damaged("layout");
}

Status ParseShape(std::string_view bytes, int depth, int64_t* budget, Shape* shape) {
  if (depth > kMaxShapeDepth) {
    return InvalidArgumentError("HLO_SHAPE_TOO_DEEP", "Expected tuples nested at most " +
                                                          std::to_string(kMaxShapeDepth) +
                                                          " deep in a shape.")
        .Hint("No compiler writes such a module; the file is damaged or made to do harm.");
  }
  if (--*budget < 0) {
    return ResourceExhaustedError("HLO_LIMIT_SHAPES",
                                  "The module has more shapes than the reader's limit.")
        .Hint("Raise ReadLimits::max_shapes if the module is a real one.");
  }
  WireReader reader(bytes);
  WireField field;
  while (reader.Next(&field)) {
    switch (field.number) {
      case 2:
        shape->type = TypeOf(field.signed_value());
        break;
      case 3:
        AppendInts(field, &shape->dimensions);
        break;
      case 4:
        shape->elements.emplace_back();
        STROBE_RETURN_IF_ERROR(ParseShape(field.bytes, depth + 1, budget, &shape->elements.back()));
        break;
      case 5:
        shape->has_layout = true;
        STROBE_RETURN_IF_ERROR(ParseLayout(field.bytes, &shape->layout));
        break;
      case 6: {
        std::vector<int64_t> flags;
        AppendInts(field, &flags);
        for (const int64_t flag : flags) shape->dynamic.push_back(flag != 0);
        break;
      }
      default:
        break;
    }
  }
  if (reader.error() != wire::WireError::kNone) return Damaged("fields");
  if (std::find(shape->dynamic.begin(), shape->dynamic.end(), true) == shape->dynamic.end()) {
    shape->dynamic.clear();
  }
  return OkStatus();
}

void AppendList(const std::vector<int64_t>& values, std::string* out) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out->push_back(',');
    out->append(std::to_string(values[i]));
  }
}

void AppendTile(const Tile& tile, std::string* out) {
  out->push_back('(');
  for (size_t i = 0; i < tile.dimensions.size(); ++i) {
    if (i > 0) out->push_back(',');
    if (tile.dimensions[i] == Tile::kCombine) {
      out->push_back('*');
    } else {
      out->append(std::to_string(tile.dimensions[i]));
    }
  }
  out->push_back(')');
}

int64_t Multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t Add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t RoundUp(int64_t value, int64_t multiple) {
  if (multiple <= 1 || value % multiple == 0) return value;
  return Add(value, multiple - value % multiple);
}

// Elements after the first tile; further tiles only reorder and pad within the tile.
int64_t TiledElements(const Shape& shape) {
  // Dimensions from most major to most minor, as they lie in memory.
  std::vector<int64_t> physical;
  for (size_t i = shape.layout.minor_to_major.size(); i-- > 0;) {
    const int64_t dimension = shape.layout.minor_to_major[i];
    if (dimension < 0 || dimension >= static_cast<int64_t>(shape.dimensions.size())) {
      return ElementCount(shape);
    }
    physical.push_back(std::max<int64_t>(0, shape.dimensions[dimension]));
  }
  for (const Tile& tile : shape.layout.tiles) {
    if (tile.dimensions.empty()) continue;
    std::vector<int64_t> tiles = tile.dimensions;
    // Dimensions marked "*" are folded into the next one on both sides.
    while (tiles.size() > physical.size()) physical.insert(physical.begin(), 1);
    const size_t shift = physical.size() - tiles.size();
    std::vector<int64_t> next(physical.begin(), physical.begin() + static_cast<ptrdiff_t>(shift));
    std::vector<int64_t> inner;
    int64_t folded = 1;
    for (size_t i = 0; i < tiles.size(); ++i) {
      folded = Multiply(folded, physical[shift + i]);
      if (tiles[i] == Tile::kCombine) continue;
      const int64_t size = std::max<int64_t>(1, tiles[i]);
      next.push_back(RoundUp(folded, size) / size);
      inner.push_back(size);
      folded = 1;
    }
    next.insert(next.end(), inner.begin(), inner.end());
    physical = std::move(next);
    // A tile adds dimensions; the number of tiles is small, but hostile input is not.
    if (physical.size() > 256) break;
  }
  int64_t elements = 1;
  for (const int64_t size : physical) elements = Multiply(elements, size);
  return RoundUp(elements, shape.layout.tail_padding_elements);
}

int64_t BitsToBytes(int64_t elements, int64_t bits) {
  return bits % 8 == 0 ? Multiply(elements, bits / 8) : Add(Multiply(elements, bits), 7) / 8;
}

}  // namespace

std::string_view ElementTypeName(ElementType type) {
  const auto number = static_cast<size_t>(type);
  return number < kTypes.size() ? kTypes[number].name : kTypes[0].name;
}

ElementType ElementTypeOf(std::string_view name) {
  for (size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<ElementType>(i);
  }
  return ElementType::kInvalid;
}

int ElementBits(ElementType type) {
  const auto number = static_cast<size_t>(type);
  return number < kTypes.size() ? kTypes[number].bits : 0;
}

int ElementBytes(ElementType type) { return (ElementBits(type) + 7) / 8; }

bool IsFloat(ElementType type) {
  switch (type) {
    case ElementType::kF16:
    case ElementType::kF32:
    case ElementType::kF64:
    case ElementType::kBf16:
    case ElementType::kF8e5m2:
    case ElementType::kF8e4m3fn:
    case ElementType::kF8e4m3b11fnuz:
    case ElementType::kF8e5m2fnuz:
    case ElementType::kF8e4m3fnuz:
    case ElementType::kF8e4m3:
    case ElementType::kF8e3m4:
    case ElementType::kF4e2m1fn:
    case ElementType::kF8e8m0fnu:
      return true;
    default:
      return false;
  }
}

bool IsSignedInteger(ElementType type) {
  switch (type) {
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS32:
    case ElementType::kS64:
      return true;
    default:
      return false;
  }
}

bool IsUnsignedInteger(ElementType type) {
  switch (type) {
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kU32:
    case ElementType::kU64:
      return true;
    default:
      return false;
  }
}

bool IsComplex(ElementType type) { return type == ElementType::kC64 || type == ElementType::kC128; }

bool Shape::is_array() const { return ElementBits(type) > 0; }

Result<Shape> ParseShapeMessage(std::string_view bytes, int64_t* budget) {
  Shape shape;
  STROBE_RETURN_IF_ERROR(ParseShape(bytes, 0, budget, &shape));
  return shape;
}

void AppendLayout(const Layout& layout, std::string* out) {
  out->push_back('{');
  AppendList(layout.minor_to_major, out);
  std::string more;
  if (std::any_of(layout.level_types.begin(), layout.level_types.end(),
                  [](int64_t type) { return type != 0; })) {
    more.append("D(");
    constexpr std::string_view kLetters = "DCSH";
    for (size_t i = 0; i < layout.level_types.size(); ++i) {
      if (i > 0) more.push_back(',');
      const int64_t type = layout.level_types[i];
      more.push_back(type >= 0 && type < 4 ? kLetters[static_cast<size_t>(type)] : '?');
    }
    more.push_back(')');
  }
  if (!layout.tiles.empty()) {
    more.push_back('T');
    for (const Tile& tile : layout.tiles) AppendTile(tile, &more);
  }
  const auto number = [&more](std::string_view letter, int64_t value) {
    more.append(letter).append("(").append(std::to_string(value)).append(")");
  };
  if (layout.tail_padding_elements != 1) number("L", layout.tail_padding_elements);
  if (layout.index_type != ElementType::kInvalid) {
    more.append("#(").append(ElementTypeName(layout.index_type)).append(")");
  }
  if (layout.pointer_type != ElementType::kInvalid) {
    more.append("*(").append(ElementTypeName(layout.pointer_type)).append(")");
  }
  if (layout.element_size_bits != 0) number("E", layout.element_size_bits);
  if (layout.memory_space != 0) number("S", layout.memory_space);
  for (const SplitConfig& split : layout.splits) {
    more.append("SC(").append(std::to_string(split.dimension)).append(":");
    AppendList(split.indices, &more);
    more.push_back(')');
  }
  if (layout.dynamic_prefix_bytes > 0) number("M", layout.dynamic_prefix_bytes);
  if (!more.empty()) out->append(":").append(more);
  out->push_back('}');
}

void AppendShape(const Shape& shape, bool with_layout, std::string* out) {
  if (shape.is_tuple()) {
    // Every fifth element carries its number, for the reader of a long tuple.
    constexpr size_t kNumberEvery = 5;
    out->push_back('(');
    for (size_t i = 0; i < shape.elements.size(); ++i) {
      if (i > 0) out->append(", ");
      if (i > 0 && i % kNumberEvery == 0) {
        out->append("/*index=").append(std::to_string(i)).append("*/");
      }
      AppendShape(shape.elements[i], with_layout, out);
    }
    out->push_back(')');
    return;
  }
  if (shape.type == ElementType::kBuffer && !shape.elements.empty()) {
    out->append("b(");
    AppendShape(shape.elements[0], with_layout, out);
    out->push_back(')');
    return;
  }
  out->append(ElementTypeName(shape.type));
  out->push_back('[');
  for (size_t i = 0; i < shape.dimensions.size(); ++i) {
    if (i > 0) out->push_back(',');
    const bool dynamic = i < shape.dynamic.size() && shape.dynamic[i];
    if (dynamic && shape.dimensions[i] == std::numeric_limits<int64_t>::min()) {
      out->push_back('?');
      continue;
    }
    if (dynamic) out->append("<=");
    out->append(std::to_string(shape.dimensions[i]));
  }
  out->push_back(']');
  if (!with_layout || !shape.is_array() || !shape.has_layout) return;
  const size_t before = out->size();
  AppendLayout(shape.layout, out);
  if (shape.dimensions.empty() && out->size() == before + 2) out->resize(before);
}

std::string ShapeText(const Shape& shape) {
  std::string text;
  AppendShape(shape, true, &text);
  return text;
}

std::string ShapeTextWithoutLayout(const Shape& shape) {
  std::string text;
  AppendShape(shape, false, &text);
  return text;
}

int64_t ElementCount(const Shape& shape) {
  if (!shape.is_array()) return 0;
  int64_t count = 1;
  for (const int64_t size : shape.dimensions) count = Multiply(count, std::max<int64_t>(0, size));
  return count;
}

int64_t ElementCountRecursive(const Shape& shape) {
  int64_t count = ElementCount(shape);
  for (const Shape& element : shape.elements) count = Add(count, ElementCountRecursive(element));
  return count;
}

int64_t UnpaddedSizeBytes(const Shape& shape) {
  int64_t size = 0;
  if (shape.is_array()) {
    const int64_t bits = ElementBits(shape.type);
    size = BitsToBytes(ElementCount(shape),
                       bits < 8 && shape.layout.element_size_bits == 0 ? 8 : bits);
  }
  for (const Shape& element : shape.elements) size = Add(size, UnpaddedSizeBytes(element));
  return size;
}

int64_t PaddedSizeBytes(const Shape& shape) {
  int64_t size = 0;
  if (shape.is_array()) {
    int64_t bits = shape.layout.element_size_bits;
    if (bits <= 0) bits = int64_t{8} * ElementBytes(shape.type);
    size = BitsToBytes(TiledElements(shape), bits);
  }
  for (const Shape& element : shape.elements) size = Add(size, PaddedSizeBytes(element));
  return size;
}

const Shape* SubshapeAt(const Shape& shape, const std::vector<int64_t>& index) {
  const Shape* at = &shape;
  for (const int64_t i : index) {
    if (i < 0 || i >= static_cast<int64_t>(at->elements.size())) return nullptr;
    at = &at->elements[static_cast<size_t>(i)];
  }
  return at;
}

}  // namespace strobe::hlo
