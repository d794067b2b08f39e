// A place in an HLO text: reads its words, numbers and bracketed values, and says where it is when
// something else was expected. Part of the text parser.
//
//   TextCursor at(text);
//   if (at.Take("ROOT ")) ...
//   STROBE_ASSIGN_OR_RETURN(const std::string_view name, at.Name());
//   return at.Expected("a shape");     // HLO_TEXT_SYNTAX, "line 3, column 17"
//
// A cursor over a part of the text (`Within`) reports places of the whole. Cost: each step looks at
// what it reads; a line is counted only for an error. Nesting of brackets is counted, not recursed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe::hlo {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : whole_(text), rest_(text) {}
  // Reads `part`, which must be a view into this cursor's text.
  TextCursor Within(std::string_view part) const { return TextCursor(whole_, part); }

  std::string_view rest() const { return rest_; }
  bool AtEnd() const { return rest_.empty(); }
  char Peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  void Skip(size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }
  // Blanks, line ends and comments.
  void SkipBlank();
  // Skips blanks, then `token` when it is there.
  bool Take(std::string_view token);
  // Whether `token` comes next, after blanks.
  bool Sees(std::string_view token);
  Status Expect(std::string_view token);

  // A name with or without %: letters, digits, "_", "-", ".".
  Result<std::string_view> Name();
  Result<int64_t> Integer();
  // "..." with escapes; the text that it stands for.
  Result<std::string> QuotedText();
  // {1,2,3}; blanks between.
  Result<std::vector<int64_t>> IntegerList(char open, char close);
  // 1,2,3 up to something else; may be empty.
  Result<std::vector<int64_t>> Integers();
  // From the bracket here to the one that closes it, both included.
  Result<std::string_view> Bracketed();
  // Everything up to a comma, a line end or the end that is outside of all brackets and quotes.
  Result<std::string_view> Value();

  Status Expected(std::string_view what) const;
  Status Error(std::string_view name, std::string message) const;
  std::string Place() const;

 private:
  TextCursor(std::string_view whole, std::string_view rest) : whole_(whole), rest_(rest) {}
  // Behind the quoted text that begins here; npos: it does not end.
  size_t EndOfQuoted() const;

  std::string_view whole_;
  std::string_view rest_;
};

bool IsNameChar(char c);
// The text between quotes with its escapes resolved; what AppendEscaped undoes.
std::string Unescaped(std::string_view text);

}  // namespace strobe::hlo
