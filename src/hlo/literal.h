// Values of constants: read from the module's bytes and written as HLO text writes them.
//
//   AppendLiteral(Message(instruction.record).Bytes(8), /*with_large=*/false, &text);
//   // "42", "{ { 1, 2 }, { 3, 4 } }", "{...}" for more than kFewElements
//
// Numbers are written so that they read back to the same value, with as few digits as the format's
// writers use. Cost: one walk over the literal; text only for what is shown. Damaged or missing
// values are written as 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/hlo/shape.h"

namespace strobe::hlo {

// Constants of more elements are "{...}" unless large ones are asked for.
inline constexpr int64_t kFewElements = 10;

void AppendLiteral(std::string_view literal, bool with_large, std::string* out);

// A decoded array: integers as such, floats as doubles, complex numbers as two.
class LiteralValues {
 public:
  LiteralValues(std::string_view literal, const Shape& shape);
  // Appends element i as text.
  void AppendElement(int64_t i, std::string* out) const;
  // For arithmetic on small constants (trip counts, padding): 0 when it is no number.
  double Number(int64_t i) const;

 private:
  void AppendFloat(double value, uint64_t bits, std::string* out) const;

  ElementType type_;
  std::vector<int64_t> integers_;
  std::vector<double> floats_;
  std::string_view bytes_;
};

// The shortest usual text of a float of 9 (of a double of 17) digits that reads back the same.
std::string FloatText(float value);
std::string DoubleText(double value);

}  // namespace strobe::hlo
