// Walks over JSON text to find where values begin and end, without reading what is in them.
//
//   JsonCursor cursor(text);
//   cursor.SkipSpace();
//   if (cursor.Take('[')) {
//     while (cursor.NextElement(']')) { std::string_view event; if (!cursor.Value(&event)) break; }
//   }
//
// Used to hand a large trace to a JSON parser piece by piece, so that memory stays small and what
// comes before a cut can be used. Strings and brackets are followed exactly; whether what lies
// between them is JSON is for the parser to say. Cost: 1-2 GB/s within strings, about 0.5 GB/s
// else. Limits: none on depth; every call moves on or returns false.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace strobe::xplane {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  size_t offset() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  void SkipSpace();
  // Steps over `expected` when it comes next.
  bool Take(char expected);
  // At the next element of an array or object: skips a comma. False at `close` (stepped over) or at
  // the end of the text.
  bool NextElement(char close);
  // Whether the last NextElement ended at `close`.
  bool closed() const { return closed_; }
  // One value of any kind; false when the text ends inside it.
  bool Value(std::string_view* value);
  // A string, without its quotes, escapes as they are; false when it is none or ends early.
  bool String(std::string_view* content);

 private:
  bool SkipString();

  const std::string_view text_;
  size_t at_ = 0;
  bool closed_ = false;
};

// A decimal number of microseconds as picoseconds, exact; digits beyond picoseconds are rounded
// half away from zero. nullopt when it is no JSON number or too large for 2^120.
std::optional<__int128> MicrosToPicos(std::string_view decimal);

}  // namespace strobe::xplane
