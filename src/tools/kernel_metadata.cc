// What the author of a custom kernel wrote about it, from the text of an instruction.
#include <string>
#include <string_view>

#include "src/tools/op_profile_tree.h"

namespace strobe::tools {
namespace {

// The text of a quoted string that begins behind its quote; `end` is set behind the closing quote.
std::string Unquote(std::string_view text, size_t begin, size_t* end) {
  std::string plain;
  size_t at = begin;
  for (; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    plain.push_back(text[at]);
  }
  *end = at < text.size() ? at + 1 : at;
  return plain;
}

// The JSON value that begins at `begin`, by its brackets and quotes.
std::string_view JsonValueAt(std::string_view json, size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (size_t at = begin; at < json.size(); ++at) {
    const char c = json[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
      if (c == '"' && depth == 0) return json.substr(begin, at + 1 - begin);
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 0 && (c == '}' || c == ']')) return json.substr(begin, at + 1 - begin);
    if (depth <= 0 && (c == ',' || c == '}')) return json.substr(begin, at - begin);
  }
  return json.substr(begin);
}

// Without blanks outside of strings.
std::string Compact(std::string_view json) {
  std::string compact;
  bool quoted = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (!quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) continue;
    compact.push_back(c);
    if (quoted && c == '\\' && at + 1 < json.size()) {
      compact.push_back(json[++at]);
    } else if (c == '"') {
      quoted = !quoted;
    }
  }
  return compact;
}

}  // namespace

std::string KernelMetadata(std::string_view expression) {
  constexpr std::string_view kAttribute = "kernel_metadata=\"";
  constexpr std::string_view kKey = "\"xprof_metadata\"";
  if (expression.find("xprof_metadata") == std::string_view::npos) return {};
  const size_t attribute = expression.find(kAttribute);
  if (attribute == std::string_view::npos) return {};
  size_t end = 0;
  const std::string json = Unquote(expression, attribute + kAttribute.size(), &end);
  const size_t key = json.find(kKey);
  if (key == std::string::npos) return {};
  size_t at = json.find(':', key + kKey.size());
  if (at == std::string::npos) return {};
  ++at;
  while (at < json.size() && json[at] == ' ') ++at;
  if (at < json.size() && json[at] == '"') return Compact(Unquote(json, at + 1, &end));
  return Compact(JsonValueAt(json, at));
}

}  // namespace strobe::tools
