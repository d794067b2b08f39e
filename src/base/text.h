// Text as programs write it, whatever the locale.
//
//   AsciiLower("Content-Type")   // "content-type"
//   EscapeHtml("<b>")            // "&lt;b&gt;"
//
// Bytes beyond ASCII stay as they are. Cost: linear.
#pragma once

#include <string>
#include <string_view>

namespace strobe {

inline std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// For text and for attributes in either kind of quotes.
inline std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace strobe
