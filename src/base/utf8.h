// Names and texts from outside are bytes; what leaves us is UTF-8.
//
//   ToValidUtf8("bad\xff")      // "bad\xEF\xBF\xBD"
//
// Pure. Cost: one pass and one copy.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strobe {

// Copies `text`, with U+FFFD in place of every byte that is not part of valid UTF-8.
std::string ToValidUtf8(std::string_view text);
// Length of the valid UTF-8 sequence at the start of `text` (1-4), or 0 when it is not one.
size_t ValidUtf8Length(std::string_view text);

}  // namespace strobe
