#include "src/hlo/text_cursor.h"

#include <algorithm>
#include <charconv>

namespace strobe::hlo {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsOctal(char c) { return c >= '0' && c <= '7'; }

}  // namespace

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

std::string Unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    const char c = text[++i];
    if (IsOctal(c)) {
      int value = 0;
      size_t digits = 0;
      for (; digits < 3 && i + digits < text.size() && IsOctal(text[i + digits]); ++digits) {
        value = value * 8 + (text[i + digits] - '0');
      }
      i += digits - 1;
      out.push_back(static_cast<char>(value));
    } else {
      out.push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c);
    }
  }
  return out;
}

void TextCursor::SkipBlank() {
  while (!rest_.empty()) {
    if (IsBlank(rest_.front())) {
      rest_.remove_prefix(1);
    } else if (rest_.starts_with("/*")) {
      const size_t end = rest_.find("*/", 2);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
    } else if (rest_.starts_with("//")) {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else {
      return;
    }
  }
}

bool TextCursor::Sees(std::string_view token) {
  SkipBlank();
  return rest_.starts_with(token);
}

bool TextCursor::Take(std::string_view token) {
  if (!Sees(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

Status TextCursor::Expect(std::string_view token) {
  if (Take(token)) return OkStatus();
  return Expected("\"" + std::string(token) + "\"");
}

Result<std::string_view> TextCursor::Name() {
  SkipBlank();
  if (Peek() == '%') rest_.remove_prefix(1);
  size_t size = 0;
  while (size < rest_.size() && IsNameChar(rest_[size])) ++size;
  if (size == 0) return Expected("a name");
  const std::string_view name = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return name;
}

Result<int64_t> TextCursor::Integer() {
  SkipBlank();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc()) return Expected("a whole number");
  rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
  return value;
}

size_t TextCursor::EndOfQuoted() const {
  for (size_t i = 1; i < rest_.size(); ++i) {
    if (rest_[i] == '\\') {
      ++i;
    } else if (rest_[i] == '"') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

Result<std::string> TextCursor::QuotedText() {
  SkipBlank();
  if (Peek() != '"') return Expected("a text in quotes");
  const size_t end = EndOfQuoted();
  if (end == std::string_view::npos) return Expected("a text that ends in a quote");
  std::string text = Unescaped(rest_.substr(1, end - 2));
  rest_.remove_prefix(end);
  return text;
}

Result<std::vector<int64_t>> TextCursor::Integers() {
  std::vector<int64_t> values;
  SkipBlank();
  while (Peek() == '-' || (Peek() >= '0' && Peek() <= '9')) {
    STROBE_ASSIGN_OR_RETURN(const int64_t value, Integer());
    values.push_back(value);
    if (!Take(",")) break;
    SkipBlank();
  }
  return values;
}

Result<std::vector<int64_t>> TextCursor::IntegerList(char open, char close) {
  STROBE_RETURN_IF_ERROR(Expect(std::string_view(&open, 1)));
  STROBE_ASSIGN_OR_RETURN(std::vector<int64_t> values, Integers());
  STROBE_RETURN_IF_ERROR(Expect(std::string_view(&close, 1)));
  return values;
}

Result<std::string_view> TextCursor::Bracketed() {
  SkipBlank();
  TextCursor scan = *this;
  int64_t depth = 0;
  while (!scan.AtEnd()) {
    const char c = scan.Peek();
    size_t step = 1;
    if (c == '"') {
      step = scan.EndOfQuoted();
      if (step == std::string_view::npos) return scan.Expected("a text that ends in a quote");
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      --depth;
    }
    scan.Skip(step);
    if (depth <= 0) break;
  }
  if (depth != 0) return Expected("a bracket that is closed");
  const std::string_view part = rest_.substr(0, rest_.size() - scan.rest_.size());
  if (part.size() < 2) return Expected("a bracket");
  rest_ = scan.rest_;
  return part;
}

Result<std::string_view> TextCursor::Value() {
  SkipBlank();
  TextCursor scan = *this;
  while (!scan.AtEnd() && scan.Peek() != ',' && scan.Peek() != '\n') {
    const char c = scan.Peek();
    if (c == '{' || c == '(' || c == '[') {
      STROBE_ASSIGN_OR_RETURN(const std::string_view part, scan.Bracketed());
      if (part.empty()) return scan.Expected("a value");
    } else if (c == '"') {
      const size_t end = scan.EndOfQuoted();
      if (end == std::string_view::npos) return scan.Expected("a text that ends in a quote");
      scan.Skip(end);
    } else {
      scan.Skip(1);
    }
  }
  const std::string_view part = rest_.substr(0, rest_.size() - scan.rest_.size());
  if (part.empty()) return Expected("a value");
  rest_ = scan.rest_;
  return part;
}

std::string TextCursor::Place() const {
  // Where the rest begins; a cursor at the end of a part stands behind it.
  const auto offset =
      std::min<size_t>(whole_.size(), static_cast<size_t>(rest_.data() - whole_.data()));
  const std::string_view before = whole_.substr(0, offset);
  const size_t line_start = before.rfind('\n');
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t column = offset - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

Status TextCursor::Error(std::string_view name, std::string message) const {
  return InvalidArgumentError(name, std::move(message))
      .Where(Place())
      .Hint(
          "Give HLO text as compilers dump it (*.txt of --xla_dump_to) or as the graph viewer "
          "shows it.");
}

Status TextCursor::Expected(std::string_view what) const {
  constexpr size_t kShown = 40;
  std::string found = AtEnd() ? "the end" : "\"" + std::string(rest_.substr(0, kShown)) + "\"";
  std::ranges::replace(found, '\n', ' ');
  return Error("HLO_TEXT_SYNTAX", "Expected " + std::string(what) + ", found " + found + ".");
}

}  // namespace strobe::hlo
