// Shapes and literals of HLO text.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "src/hlo/literal.h"
#include "src/hlo/shape.h"
#include "src/hlo/text_values.h"
#include "src/wire/wire_writer.h"

namespace strobe::hlo {
namespace {

using wire::AppendBytesField;
using wire::AppendSignedField;
using wire::AppendVarintField;

std::string_view TypeWord(std::string_view text) {
  size_t size = 0;
  while (size < text.size() &&
         ((text[size] >= 'a' && text[size] <= 'z') || (text[size] >= '0' && text[size] <= '9'))) {
    ++size;
  }
  return text.substr(0, size);
}

Result<int64_t> ParenthesizedNumber(TextCursor* cursor) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("("));
  STROBE_ASSIGN_OR_RETURN(const int64_t value, cursor->Integer());
  STROBE_RETURN_IF_ERROR(cursor->Expect(")"));
  return value;
}

Result<int64_t> ParenthesizedType(TextCursor* cursor) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("("));
  const std::string_view word = TypeWord(cursor->rest());
  const ElementType type = ElementTypeOf(word);
  if (type == ElementType::kInvalid) return cursor->Expected("an element type");
  cursor->Skip(word.size());
  STROBE_RETURN_IF_ERROR(cursor->Expect(")"));
  return static_cast<int64_t>(type);
}

Status ReadTiles(TextCursor* cursor, std::string* layout) {
  while (cursor->Peek() == '(') {
    cursor->Skip(1);
    std::vector<int64_t> dimensions;
    while (!cursor->Take(")")) {
      if (!dimensions.empty()) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
      if (cursor->Take("*")) {
        dimensions.push_back(Tile::kCombine);
      } else {
        STROBE_ASSIGN_OR_RETURN(const int64_t dimension, cursor->Integer());
        dimensions.push_back(dimension);
      }
    }
    std::string tile;
    AppendPackedField(1, dimensions, &tile);
    AppendBytesField(6, tile, layout);
  }
  return OkStatus();
}

Status ReadLevels(TextCursor* cursor, std::string* layout) {
  constexpr std::string_view kLetters = "DCSH";
  std::vector<int64_t> levels;
  STROBE_RETURN_IF_ERROR(cursor->Expect("("));
  while (!cursor->Take(")")) {
    cursor->Take(",");
    const size_t level = kLetters.find(cursor->Peek());
    if (level == std::string_view::npos) return cursor->Expected("D, C, S or H");
    levels.push_back(static_cast<int64_t>(level));
    cursor->Skip(1);
  }
  AppendPackedField(9, levels, layout);
  return OkStatus();
}

Status ReadSplit(TextCursor* cursor, std::string* layout) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("("));
  STROBE_ASSIGN_OR_RETURN(const int64_t dimension, cursor->Integer());
  STROBE_RETURN_IF_ERROR(cursor->Expect(":"));
  STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, cursor->Integers());
  STROBE_RETURN_IF_ERROR(cursor->Expect(")"));
  std::string split;
  AppendSignedField(1, dimension, &split);
  AppendPackedField(2, indices, &split);
  AppendBytesField(17, split, layout);
  return OkStatus();
}

// What follows the colon of a layout.
Status ReadLayoutMore(TextCursor* cursor, std::string* layout) {
  while (!cursor->AtEnd() && cursor->Peek() != '}') {
    uint32_t field = 0;
    if (cursor->Take("T")) {
      STROBE_RETURN_IF_ERROR(ReadTiles(cursor, layout));
    } else if (cursor->Take("D")) {
      STROBE_RETURN_IF_ERROR(ReadLevels(cursor, layout));
    } else if (cursor->Take("SC")) {
      STROBE_RETURN_IF_ERROR(ReadSplit(cursor, layout));
    } else if (cursor->Peek() == '#' || cursor->Peek() == '*') {
      field = cursor->Peek() == '#' ? 11 : 12;
      cursor->Skip(1);
      STROBE_ASSIGN_OR_RETURN(const int64_t type, ParenthesizedType(cursor));
      AppendSignedField(field, type, layout);
    } else {
      constexpr std::pair<char, uint32_t> kNumbers[] = {{'L', 16}, {'E', 7}, {'S', 8}, {'M', 15}};
      for (const auto& [letter, number] : kNumbers) {
        if (cursor->Peek() == letter) field = number;
      }
      if (field == 0) return cursor->Expected("a part of a layout: T, L, E, S, SC, D, M, # or *");
      cursor->Skip(1);
      STROBE_ASSIGN_OR_RETURN(const int64_t value, ParenthesizedNumber(cursor));
      AppendSignedField(field, value, layout);
    }
  }
  return OkStatus();
}

Status ReadLayoutText(TextCursor* cursor, std::string* shape) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("{"));
  std::string layout;
  STROBE_ASSIGN_OR_RETURN(const std::vector<int64_t> order, cursor->Integers());
  AppendPackedField(1, order, &layout);
  if (cursor->Take(":")) STROBE_RETURN_IF_ERROR(ReadLayoutMore(cursor, &layout));
  STROBE_RETURN_IF_ERROR(cursor->Expect("}"));
  AppendBytesField(5, layout, shape);
  return OkStatus();
}

Status ReadDimensions(TextCursor* cursor, std::string* shape) {
  STROBE_RETURN_IF_ERROR(cursor->Expect("["));
  std::vector<int64_t> sizes;
  std::vector<int64_t> dynamic;
  while (!cursor->Take("]")) {
    if (!sizes.empty()) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
    if (cursor->Take("?")) {
      sizes.push_back(std::numeric_limits<int64_t>::min());
      dynamic.push_back(1);
      continue;
    }
    dynamic.push_back(cursor->Take("<=") ? 1 : 0);
    STROBE_ASSIGN_OR_RETURN(const int64_t size, cursor->Integer());
    sizes.push_back(size);
  }
  AppendPackedField(3, sizes, shape);
  AppendPackedField(6, dynamic, shape);
  return OkStatus();
}

// Splits "{ { 1, 2 }, { 3, 4 } }" into its elements; anything odd ends it.
bool SplitElements(std::string_view text, std::vector<std::string_view>* elements) {
  size_t at = 0;
  const auto is_mark = [](char c) {
    return c == '{' || c == '}' || c == ',' || c == ' ' || c == '\n';
  };
  while (at < text.size()) {
    if (is_mark(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !is_mark(text[end])) ++end;
    elements->push_back(text.substr(at, end - at));
    at = end;
  }
  return true;
}

bool ParseWhole(std::string_view text, uint64_t* bits) {
  const char* const end = text.data() + text.size();
  int64_t value = 0;
  const auto whole = std::from_chars(text.data(), end, value);
  *bits = static_cast<uint64_t>(value);
  if (whole.ec == std::errc()) return whole.ptr == end;
  // Only an unsigned number may be larger.
  const auto larger = std::from_chars(text.data(), end, *bits);
  return larger.ec == std::errc() && larger.ptr == end;
}

bool ParseReal(std::string_view text, double* value) {
  const std::string owned(text);
  char* end = nullptr;
  *value = std::strtod(owned.c_str(), &end);
  return end == owned.c_str() + owned.size() && !owned.empty();
}

// The nearest bits of a 16-bit float; exact for what a printer wrote.
uint16_t HalfBits(double value, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint16_t sign = std::signbit(value) ? uint16_t{1} << 15 : uint16_t{0};
  const int top = (1 << exponent_bits) - 1;
  const auto pack = [&](int exponent, int mantissa) {
    return static_cast<uint16_t>(sign + (exponent << mantissa_bits) + mantissa);
  };
  if (std::isnan(value)) return pack(top, 1 << (mantissa_bits - 1));
  const double size = std::fabs(value);
  if (std::isinf(value)) return pack(top, 0);
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);
  exponent += bias - 1;
  if (exponent <= 0) {
    return pack(0, static_cast<int>(std::lround(std::ldexp(size, bias - 1 + mantissa_bits))));
  }
  const auto mantissa =
      static_cast<int>(std::lround(std::ldexp(size, mantissa_bits - exponent + bias)));
  const int carried = mantissa - (1 << mantissa_bits);
  if (exponent >= top) return pack(top, 0);
  return pack(exponent, carried);
}

void AppendLittle(uint64_t bits, size_t size, std::string* out) {
  for (size_t i = 0; i < size; ++i) out->push_back(static_cast<char>(bits >> (8 * i)));
}

// One element as it stands in its packed field; false for what is not simple.
bool AppendElementBits(std::string_view text, ElementType type, std::string* out) {
  uint64_t bits = 0;
  double real = 0;
  switch (type) {
    case ElementType::kPred:
      if (text != "true" && text != "false") return false;
      out->push_back(text == "true" ? 1 : 0);
      return true;
    case ElementType::kS32:
    case ElementType::kS64:
    case ElementType::kU32:
    case ElementType::kU64:
      if (!ParseWhole(text, &bits)) return false;
      wire::AppendVarint(bits, out);
      return true;
    case ElementType::kS8:
    case ElementType::kU8:
      if (!ParseWhole(text, &bits)) return false;
      AppendLittle(bits, 1, out);
      return true;
    case ElementType::kS16:
    case ElementType::kU16:
      if (!ParseWhole(text, &bits)) return false;
      AppendLittle(bits, 2, out);
      return true;
    case ElementType::kF32:
      if (!ParseReal(text, &real)) return false;
      AppendLittle(std::bit_cast<uint32_t>(static_cast<float>(real)), 4, out);
      return true;
    case ElementType::kF64:
      if (!ParseReal(text, &real)) return false;
      AppendLittle(std::bit_cast<uint64_t>(real), 8, out);
      return true;
    case ElementType::kF16:
    case ElementType::kBf16: {
      if (!ParseReal(text, &real)) return false;
      const bool half = type == ElementType::kF16;
      AppendLittle(HalfBits(real, half ? 5 : 8, half ? 10 : 7), 2, out);
      return true;
    }
    default:
      return false;
  }
}

uint32_t LiteralField(ElementType type) {
  switch (type) {
    case ElementType::kPred:
      return 2;
    case ElementType::kU8:
      return 3;
    case ElementType::kS32:
      return 4;
    case ElementType::kS64:
      return 5;
    case ElementType::kU32:
      return 6;
    case ElementType::kU64:
      return 7;
    case ElementType::kF32:
      return 8;
    case ElementType::kF64:
      return 9;
    case ElementType::kF16:
      return 11;
    case ElementType::kBf16:
      return 13;
    case ElementType::kS8:
      return 15;
    case ElementType::kU16:
      return 16;
    case ElementType::kS16:
      return 17;
    default:
      return 0;
  }
}

}  // namespace

void AppendPackedField(uint32_t number, const std::vector<int64_t>& values, std::string* out) {
  if (values.empty()) return;
  std::string packed;
  for (const int64_t value : values) wire::AppendVarint(static_cast<uint64_t>(value), &packed);
  AppendBytesField(number, packed, out);
}

bool SeesShape(TextCursor cursor) {
  cursor.SkipBlank();
  if (cursor.Peek() == '(') return true;
  if (cursor.rest().starts_with("b(")) return true;
  const std::string_view word = TypeWord(cursor.rest());
  return !word.empty() && cursor.rest().substr(word.size()).starts_with("[");
}

Status ReadShapeText(TextCursor* cursor, int depth, std::string* shape) {
  if (depth <= 0) return cursor->Error("HLO_TEXT_LIMIT", "The shape nests too deep.");
  cursor->SkipBlank();
  if (cursor->Take("(")) {
    AppendVarintField(2, static_cast<uint64_t>(ElementType::kTuple), shape);
    for (bool first = true; !cursor->Take(")"); first = false) {
      if (!first) STROBE_RETURN_IF_ERROR(cursor->Expect(","));
      std::string element;
      STROBE_RETURN_IF_ERROR(ReadShapeText(cursor, depth - 1, &element));
      AppendBytesField(4, element, shape);
    }
    return OkStatus();
  }
  if (cursor->Take("b(")) {
    AppendVarintField(2, static_cast<uint64_t>(ElementType::kBuffer), shape);
    std::string element;
    STROBE_RETURN_IF_ERROR(ReadShapeText(cursor, depth - 1, &element));
    AppendBytesField(4, element, shape);
    return cursor->Expect(")");
  }
  const std::string_view word = TypeWord(cursor->rest());
  const ElementType type = ElementTypeOf(word);
  if (type == ElementType::kInvalid) return cursor->Expected("a shape");
  cursor->Skip(word.size());
  AppendVarintField(2, static_cast<uint64_t>(type), shape);
  STROBE_RETURN_IF_ERROR(ReadDimensions(cursor, shape));
  return cursor->Peek() == '{' ? ReadLayoutText(cursor, shape) : OkStatus();
}

bool ReadLiteralText(std::string_view text, std::string_view shape_proto, std::string* literal) {
  int64_t budget = 1000;  // a constant that is an array has one shape
  const Result<Shape> shape = ParseShapeMessage(shape_proto, &budget);
  if (!shape.ok() || !shape->is_array()) return false;
  const uint32_t field = LiteralField(shape->type);
  std::vector<std::string_view> elements;
  if (field == 0 || !SplitElements(text, &elements)) return false;
  if (static_cast<int64_t>(elements.size()) != ElementCount(*shape)) return false;
  std::string packed;
  for (const std::string_view element : elements) {
    if (!AppendElementBits(element, shape->type, &packed)) return false;
  }
  std::string made;
  AppendBytesField(1, shape_proto, &made);
  AppendBytesField(field, packed, &made);
  // Only a value that is written the same again may stand for its text.
  std::string again;
  AppendLiteral(made, /*with_large=*/true, &again);
  if (again != text) return false;
  literal->append(made);
  return true;
}

}  // namespace strobe::hlo
