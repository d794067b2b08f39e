#include "src/analysis/natural_order.h"

namespace strobe::analysis {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes the run of digits at `*position`, without its leading zeros.
std::string_view TakeNumber(std::string_view text, size_t* position) {
  while (*position < text.size() && text[*position] == '0') ++*position;
  const size_t begin = *position;
  while (*position < text.size() && IsDigit(text[*position])) ++*position;
  return text.substr(begin, *position - begin);
}

}  // namespace

bool NaturalLess(std::string_view left, std::string_view right) {
  size_t i = 0;
  size_t j = 0;
  while (i < left.size() && j < right.size()) {
    if (IsDigit(left[i]) && IsDigit(right[j])) {
      const std::string_view a = TakeNumber(left, &i);
      const std::string_view b = TakeNumber(right, &j);
      if (a.size() != b.size()) return a.size() < b.size();
      if (a != b) return a < b;
      continue;
    }
    if (left[i] != right[j]) {
      return static_cast<unsigned char>(left[i]) < static_cast<unsigned char>(right[j]);
    }
    ++i;
    ++j;
  }
  const size_t left_rest = left.size() - i;
  const size_t right_rest = right.size() - j;
  if (left_rest != right_rest) return left_rest < right_rest;
  return left < right;  // only leading zeros differ
}

}  // namespace strobe::analysis
