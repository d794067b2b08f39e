// Texts by number, each kept once: what importers hold of names that come again with every event.
//
//   TextTable texts;
//   const uint32_t name = texts.Intern("matmul");
//   texts[name];                                   // "matmul"; stays where it is
//
// Cost: a hash lookup; a new text is copied. Limits: 2^32 texts.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace strobe::xplane {

class TextTable {
 public:
  uint32_t Intern(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<uint32_t>(texts_.size());
    texts_.emplace_back(text);
    numbers_.emplace(texts_.back(), number);
    return number;
  }
  const std::string& operator[](uint32_t number) const { return texts_[number]; }

 private:
  std::deque<std::string> texts_;  // never moves a text
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

}  // namespace strobe::xplane
