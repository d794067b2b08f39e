#include "src/hlo/literal.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

using wire::WireField;
using wire::WireType;

// How a small float type lies in its bits.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;
  bool only_negative_zero_is_nan;  // the "fnuz" types
};

FloatFormat FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return {5, 10, 15, true, false};
    case ElementType::kBf16:
      return {8, 7, 127, true, false};
    case ElementType::kF8e5m2:
      return {5, 2, 15, true, false};
    case ElementType::kF8e4m3:
      return {4, 3, 7, true, false};
    case ElementType::kF8e3m4:
      return {3, 4, 3, true, false};
    case ElementType::kF8e4m3fn:
      return {4, 3, 7, false, false};
    case ElementType::kF8e4m3b11fnuz:
      return {4, 3, 11, false, true};
    case ElementType::kF8e5m2fnuz:
      return {5, 2, 16, false, true};
    case ElementType::kF8e4m3fnuz:
      return {4, 3, 8, false, true};
    case ElementType::kF4e2m1fn:
      return {2, 1, 1, false, false};
    default:
      return {8, 23, 127, true, false};
  }
}

double FromBits(ElementType type, uint32_t bits) {
  if (type == ElementType::kF8e8m0fnu) {
    return bits == 0xff ? std::nan("") : std::ldexp(1.0, static_cast<int>(bits) - 127);
  }
  const FloatFormat format = FormatOf(type);
  const uint32_t mantissa_mask = (1u << format.mantissa_bits) - 1;
  const uint32_t exponent_mask = (1u << format.exponent_bits) - 1;
  const uint32_t mantissa = bits & mantissa_mask;
  const uint32_t exponent = (bits >> format.mantissa_bits) & exponent_mask;
  const bool negative = ((bits >> (format.mantissa_bits + format.exponent_bits)) & 1) != 0;
  double value = 0;
  if (format.only_negative_zero_is_nan && negative && exponent == 0 && mantissa == 0) {
    return std::nan("");
  }
  if (format.has_infinity && exponent == exponent_mask) {
    value = mantissa == 0 ? HUGE_VAL : std::nan("");
  } else if (!format.has_infinity && !format.only_negative_zero_is_nan &&
             type != ElementType::kF4e2m1fn && exponent == exponent_mask &&
             mantissa == mantissa_mask) {
    value = std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  } else {
    value = std::ldexp(mantissa + mantissa_mask + 1.0,
                       static_cast<int>(exponent) - format.bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

// Field of the literal that holds the values of a type, when they are plain bytes.
uint32_t BytesField(ElementType type) {
  switch (type) {
    case ElementType::kS8:
      return 15;
    case ElementType::kU8:
      return 3;
    case ElementType::kS16:
      return 17;
    case ElementType::kU16:
      return 16;
    case ElementType::kF16:
      return 11;
    case ElementType::kBf16:
      return 13;
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
    case ElementType::kF8e5m2:
    case ElementType::kF8e4m3:
    case ElementType::kF8e4m3fn:
    case ElementType::kF8e4m3b11fnuz:
    case ElementType::kF8e3m4:
    case ElementType::kF8e5m2fnuz:
    case ElementType::kF8e4m3fnuz:
    case ElementType::kF4e2m1fn:
    case ElementType::kF8e8m0fnu:
      return static_cast<uint32_t>(type);  // the numbers are the same
    default:
      return 0;
  }
}

void AppendFixed(const WireField& field, bool is_double, std::vector<double>* out) {
  if (field.type == WireType::kFixed64) out->push_back(field.double_value());
  if (field.type == WireType::kFixed32) {
    out->push_back(std::bit_cast<float>(static_cast<uint32_t>(field.value)));
  }
  if (field.type != WireType::kBytes) return;
  const size_t size = is_double ? 8 : 4;
  for (size_t at = 0; at + size <= field.bytes.size(); at += size) {
    if (is_double) {
      double value;
      std::memcpy(&value, field.bytes.data() + at, sizeof(value));
      out->push_back(value);
    } else {
      float value;
      std::memcpy(&value, field.bytes.data() + at, sizeof(value));
      out->push_back(value);
    }
  }
}

std::string Format(const char* format, int digits, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, digits, value);
  return buffer;
}

// Digits that tell apart all values with so many significant bits.
int RoundTripDigits(int significant_bits) {
  return 1 + static_cast<int>(std::ceil(significant_bits * 0.30102999566398120));
}

void AppendArray(const LiteralValues& values, const std::vector<int64_t>& dimensions,
                 std::string* out) {
  const size_t rank = dimensions.size();
  std::vector<int64_t> index(rank, 0);
  // Iterative: the rank comes from the file.
  size_t depth = 0;
  int64_t element = 0;
  const auto open = [&] {
    out->push_back('{');
    if (rank == 1) return;
    if (depth + 1 == rank) {
      if (dimensions[depth] > 1) out->push_back(' ');
      return;
    }
    out->push_back(' ');
    if (rank > 3 && depth > 0) {
      out->append("/*i").append(std::to_string(depth - 1)).append("=");
      out->append(std::to_string(index[depth - 1])).append("*/");
      if (dimensions[depth] > 0) out->push_back(' ');
    }
  };
  const auto close = [&] {
    if (rank > 1 && (depth + 1 < rank || dimensions[depth] > 1)) out->push_back(' ');
    out->push_back('}');
  };
  open();
  while (true) {
    if (index[depth] < dimensions[depth]) {
      if (index[depth] > 0) out->append(", ");
      if (depth + 1 == rank) {
        values.AppendElement(element++, out);
        ++index[depth];
      } else {
        ++depth;
        index[depth] = 0;
        open();
      }
      continue;
    }
    close();
    if (depth == 0) return;
    --depth;
    ++index[depth];
  }
}

}  // namespace

std::string FloatText(float value) {
  std::string text = Format("%.*g", 6, value);
  if (std::strtof(text.c_str(), nullptr) != value) text = Format("%.*g", 9, value);
  return text;
}

std::string DoubleText(double value) {
  std::string text = Format("%.*g", 15, value);
  if (std::strtod(text.c_str(), nullptr) != value) text = Format("%.*g", 17, value);
  return text;
}

LiteralValues::LiteralValues(std::string_view literal, const Shape& shape) : type_(shape.type) {
  wire::WireReader reader(literal);
  WireField field;
  const uint32_t bytes_field = BytesField(type_);
  while (reader.Next(&field)) {
    if (bytes_field != 0) {
      if (field.number == bytes_field) bytes_ = field.bytes;
      continue;
    }
    switch (type_) {
      case ElementType::kPred:
        if (field.number == 2) AppendInts(field, &integers_);
        break;
      case ElementType::kS32:
        if (field.number == 4) AppendInts(field, &integers_);
        break;
      case ElementType::kS64:
        if (field.number == 5) AppendInts(field, &integers_);
        break;
      case ElementType::kU32:
        if (field.number == 6) AppendInts(field, &integers_);
        break;
      case ElementType::kU64:
        if (field.number == 7) AppendInts(field, &integers_);
        break;
      case ElementType::kF32:
        if (field.number == 8) AppendFixed(field, false, &floats_);
        break;
      case ElementType::kF64:
        if (field.number == 9) AppendFixed(field, true, &floats_);
        break;
      case ElementType::kC64:
        if (field.number == 12) AppendFixed(field, false, &floats_);
        break;
      case ElementType::kC128:
        if (field.number == 18) AppendFixed(field, true, &floats_);
        break;
      default:
        break;
    }
  }
}

void LiteralValues::AppendFloat(double value, uint64_t bits, std::string* out) const {
  if (std::isinf(value)) {
    out->append(value < 0 ? "-inf" : "inf");
    return;
  }
  const bool wide = type_ == ElementType::kF64 || type_ == ElementType::kC128;
  const bool single = type_ == ElementType::kF32 || type_ == ElementType::kC64;
  if (std::isnan(value)) {
    const int mantissa_bits = wide ? 52 : FormatOf(type_).mantissa_bits;
    const uint64_t payload = bits & ((uint64_t{1} << mantissa_bits) - 1);
    out->append(std::signbit(value) ? "-nan" : "nan");
    const bool has_payload = FormatOf(type_).has_infinity && type_ != ElementType::kF8e8m0fnu;
    if (has_payload && payload != uint64_t{1} << (mantissa_bits - 1)) {
      char buffer[40];
      std::snprintf(buffer, sizeof(buffer), "(0x%0*llx)", (mantissa_bits + 3) / 4,
                    static_cast<unsigned long long>(payload));
      out->append(buffer);
    }
    return;
  }
  if (wide) {
    out->append(DoubleText(value));
  } else if (single) {
    out->append(FloatText(static_cast<float>(value)));
  } else {
    out->append(Format("%.*g", RoundTripDigits(FormatOf(type_).mantissa_bits + 1), value));
  }
}

void LiteralValues::AppendElement(int64_t i, std::string* out) const {
  const auto at = static_cast<size_t>(i);
  if (type_ == ElementType::kPred) {
    out->append(at < integers_.size() && integers_[at] != 0 ? "1" : "0");
    return;
  }
  if (IsComplex(type_)) {
    out->push_back('(');
    AppendFloat(2 * at < floats_.size() ? floats_[2 * at] : 0, 0, out);
    out->append(", ");
    AppendFloat(2 * at + 1 < floats_.size() ? floats_[2 * at + 1] : 0, 0, out);
    out->push_back(')');
    return;
  }
  if (type_ == ElementType::kF32 || type_ == ElementType::kF64) {
    const double value = at < floats_.size() ? floats_[at] : 0;
    const uint64_t bits = type_ == ElementType::kF64
                              ? std::bit_cast<uint64_t>(value)
                              : std::bit_cast<uint32_t>(static_cast<float>(value));
    AppendFloat(value, bits, out);
    return;
  }
  if (IsFloat(type_)) {
    uint32_t bits = 0;
    if (ElementBits(type_) == 16 && 2 * at + 1 < bytes_.size()) {
      bits = static_cast<uint8_t>(bytes_[2 * at]) |
             (static_cast<uint32_t>(static_cast<uint8_t>(bytes_[2 * at + 1])) << 8);
    } else if (ElementBits(type_) <= 8 && at < bytes_.size()) {
      bits = static_cast<uint8_t>(bytes_[at]);
    }
    AppendFloat(FromBits(type_, bits), bits, out);
    return;
  }
  if (type_ == ElementType::kU64) {
    out->append(
        std::to_string(at < integers_.size() ? static_cast<uint64_t>(integers_[at]) : uint64_t{0}));
    return;
  }
  out->append(std::to_string(static_cast<int64_t>(Number(i))));
}

double LiteralValues::Number(int64_t i) const {
  const auto at = static_cast<size_t>(i);
  if (!integers_.empty()) {
    if (at >= integers_.size()) return 0;
    return type_ == ElementType::kU32 ? static_cast<double>(static_cast<uint32_t>(integers_[at]))
                                      : static_cast<double>(integers_[at]);
  }
  if (!floats_.empty()) return at < floats_.size() ? floats_[at] : 0;
  if (bytes_.empty()) return 0;
  const int bits = ElementBits(type_);
  if (bits == 16) {
    if (2 * at + 1 >= bytes_.size()) return 0;
    const auto raw = static_cast<uint16_t>(static_cast<uint8_t>(bytes_[2 * at]) |
                                           (static_cast<uint8_t>(bytes_[2 * at + 1]) << 8));
    if (IsFloat(type_)) return FromBits(type_, raw);
    return type_ == ElementType::kS16 ? static_cast<int16_t>(raw) : raw;
  }
  // Types below a byte are packed, the first element in the low bits.
  const size_t per_byte = bits > 0 && bits < 8 ? static_cast<size_t>(8 / bits) : 1;
  if (at / per_byte >= bytes_.size()) return 0;
  uint32_t raw = static_cast<uint8_t>(bytes_[at / per_byte]);
  if (per_byte > 1) {
    raw = (raw >> (static_cast<size_t>(bits) * (at % per_byte))) & ((1u << bits) - 1);
  }
  if (IsFloat(type_)) return FromBits(type_, raw);
  if (IsSignedInteger(type_) && bits > 0) {
    const uint32_t sign = 1u << (bits - 1);
    return static_cast<int32_t>((raw ^ sign)) - static_cast<int32_t>(sign);
  }
  return raw;
}

void AppendLiteral(std::string_view literal, bool with_large, std::string* out) {
  int64_t budget = 1000;  // shapes of one literal
  const Message message(literal);
  Result<Shape> shape = ParseShapeMessage(message.Bytes(1), &budget);
  if (!shape.ok() || !shape->is_array()) {
    out->append("{...}");
    return;
  }
  // A literal says its own size; text is never longer than its bytes allow.
  const int64_t elements = ElementCount(*shape);
  const auto most = static_cast<int64_t>(8 * literal.size());
  if (elements > kFewElements && (!with_large || elements > most)) {
    out->append("{...}");
    return;
  }
  const LiteralValues values(literal, *shape);
  if (shape->dimensions.empty()) {
    if (shape->type == ElementType::kPred) {
      out->append(values.Number(0) != 0 ? "true" : "false");
    } else {
      values.AppendElement(0, out);
    }
    return;
  }
  AppendArray(values, shape->dimensions, out);
}

}  // namespace strobe::hlo
