#include "src/xplane/json_cursor.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace strobe::xplane {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool EndsScalar(char c) { return c == ',' || c == ']' || c == '}' || c == ':' || IsSpace(c); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void JsonCursor::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
}

bool JsonCursor::Take(char expected) {
  if (peek() != expected || at_end()) return false;
  ++at_;
  return true;
}

bool JsonCursor::NextElement(char close) {
  SkipSpace();
  if (Take(',')) SkipSpace();
  closed_ = Take(close);
  return !closed_ && !at_end();
}

bool JsonCursor::SkipString() {
  ++at_;  // the quote
  while (at_ < text_.size()) {
    const void* const found = std::memchr(text_.data() + at_, '"', text_.size() - at_);
    if (found == nullptr) break;
    const auto quote = static_cast<size_t>(static_cast<const char*>(found) - text_.data());
    size_t slashes = 0;
    while (quote - slashes > at_ && text_[quote - slashes - 1] == '\\') ++slashes;
    at_ = quote + 1;
    if (slashes % 2 == 0) return true;
  }
  at_ = text_.size();
  return false;
}

bool JsonCursor::String(std::string_view* content) {
  if (peek() != '"') return false;
  const size_t begin = at_ + 1;
  if (!SkipString()) return false;
  *content = text_.substr(begin, at_ - 1 - begin);
  return true;
}

bool JsonCursor::Value(std::string_view* value) {
  SkipSpace();
  if (at_end()) return false;
  const size_t begin = at_;
  uint64_t depth = 0;
  do {
    if (at_end()) return false;
    const char c = text_[at_];
    if (c == '"') {
      if (!SkipString()) return false;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
      ++at_;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return false;
      --depth;
      ++at_;
    } else if (depth == 0) {
      // A scalar outside of any bracket; at least one step, so that nobody waits for ever.
      do {
        ++at_;
      } while (!at_end() && !EndsScalar(text_[at_]));
    } else {
      ++at_;
    }
  } while (depth > 0);
  *value = text_.substr(begin, at_ - begin);
  return true;
}

std::optional<__int128> MicrosToPicos(std::string_view decimal) {
  constexpr int kMaxDigits = 30;  // beyond them a digit is less than a picosecond of 10^18 years
  size_t at = 0;
  const bool negative = !decimal.empty() && decimal[0] == '-';
  if (negative) ++at;
  unsigned __int128 mantissa = 0;
  int digits = 0;
  int64_t exponent = 6;  // microseconds to picoseconds
  bool any = false;
  const auto take_digits = [&](bool fraction) {
    for (; at < decimal.size() && IsDigit(decimal[at]); ++at) {
      any = true;
      if (digits < kMaxDigits) {
        mantissa = mantissa * 10 + static_cast<unsigned>(decimal[at] - '0');
        if (mantissa > 0) ++digits;
        if (fraction) --exponent;
      } else if (!fraction) {
        ++exponent;
      }
    }
  };
  take_digits(false);
  if (at < decimal.size() && decimal[at] == '.') {
    ++at;
    take_digits(true);
  }
  if (!any) return std::nullopt;
  if (at < decimal.size() && (decimal[at] == 'e' || decimal[at] == 'E')) {
    ++at;
    const bool minus = at < decimal.size() && decimal[at] == '-';
    if (at < decimal.size() && (decimal[at] == '-' || decimal[at] == '+')) ++at;
    int64_t power = 0;
    const size_t first = at;
    for (; at < decimal.size() && IsDigit(decimal[at]); ++at) {
      power = std::min<int64_t>(power * 10 + (decimal[at] - '0'), 1'000'000);
    }
    if (at == first) return std::nullopt;
    exponent += minus ? -power : power;
  }
  if (at != decimal.size()) return std::nullopt;
  constexpr unsigned __int128 kLimit = static_cast<unsigned __int128>(1) << 120;
  for (; exponent > 0 && mantissa != 0; --exponent) {
    if (mantissa > kLimit / 10) return std::nullopt;
    mantissa *= 10;
  }
  if (exponent < 0) {
    // Rounds at the last digit dropped only; half and more go up, whatever follows.
    for (; exponent < -1 && mantissa != 0; ++exponent) mantissa /= 10;
    mantissa = (mantissa + 5) / 10;
  }
  if (mantissa > kLimit) return std::nullopt;
  const auto value = static_cast<__int128>(mantissa);
  return negative ? -value : value;
}

}  // namespace strobe::xplane
