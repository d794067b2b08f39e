#include "src/catalog/page_token.h"

#include <fmt/format.h>

#include <charconv>

#include "src/base/hash.h"
#include "src/base/utf8.h"

namespace strobe::catalog {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string ToBase64Url(std::string_view bytes) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (count += 8; count >= 6; count -= 6) out += kAlphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) out += kAlphabet[bits << (6 - count) & 63];
  return out;
}

bool FromBase64Url(std::string_view text, std::string* bytes) {
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if ((count += 6) >= 8) {
      count -= 8;
      *bytes += static_cast<char>(bits >> count & 255);
    }
  }
  return true;
}

bool TakeNumber(std::string_view* text, int64_t* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

// "i42;" or "s5:hello;"
bool TakeValue(std::string_view* text, SqlValue* value) {
  if (text->empty()) return false;
  const char kind = text->front();
  text->remove_prefix(1);
  int64_t number = 0;
  if (!TakeNumber(text, &number)) return false;
  if (kind == 'i') {
    *value = number;
  } else {
    if (kind != 's' || !text->starts_with(':') || number < 0) return false;
    text->remove_prefix(1);
    if (static_cast<uint64_t>(number) > text->size()) return false;
    std::string part(text->substr(0, static_cast<size_t>(number)));
    if (part.find('\0') != std::string::npos || ToValidUtf8(part) != part) return false;
    text->remove_prefix(part.size());
    *value = std::move(part);
  }
  if (!text->starts_with(';')) return false;
  text->remove_prefix(1);
  return true;
}

}  // namespace

Status PageTokenMalformed() {
  return InvalidArgumentError("PAGE_TOKEN_MALFORMED", "The page token is not one of ours.")
      .Hint("Use nextPageToken of the page before, or leave it out for the first page.");
}

std::string PageBinding(std::string_view table, std::initializer_list<std::string_view> parts) {
  Hasher hasher;
  hasher.Add(table);
  for (const std::string_view part : parts) {
    hasher.Add(std::to_string(part.size()) + ":");
    hasher.Add(part);
  }
  return hasher.Digest128().ToHex();
}

std::string WritePageToken(std::string_view binding, const std::vector<SqlValue>& values) {
  std::string plain(binding);
  for (const SqlValue& value : values) {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      plain += "i" + std::to_string(*number) + ";";
    } else {
      const std::string& text = std::get<std::string>(value);
      plain += "s" + std::to_string(text.size()) + ":" + text + ";";
    }
  }
  return ToBase64Url(plain);
}

Result<std::vector<SqlValue>> ReadPageToken(std::string_view token, std::string_view binding,
                                            size_t values) {
  std::string plain;
  if (token.size() > kMaxPageTokenBytes || !FromBase64Url(token, &plain) ||
      plain.size() < binding.size()) {
    return PageTokenMalformed();
  }
  std::string_view rest = plain;
  if (rest.substr(0, binding.size()) != binding) {
    return InvalidArgumentError("PAGE_TOKEN_MISMATCH",
                                "The page token belongs to a list that was asked differently.")
        .Hint("Keep filter, order and parent while you page, or begin without a token.");
  }
  rest.remove_prefix(binding.size());
  std::vector<SqlValue> read;
  while (!rest.empty()) {
    SqlValue value;
    if (read.size() == values || !TakeValue(&rest, &value)) return PageTokenMalformed();
    read.push_back(std::move(value));
  }
  if (read.size() != values) return PageTokenMalformed();
  return read;
}

void AppendAfter(const std::vector<SortColumn>& sort, const std::vector<SqlValue>& after,
                 std::string* sql, std::vector<SqlValue>* values) {
  // Follows from the rest, but only this lets an index begin where the page does: without it the
  // last page reads everything before it.
  *sql += fmt::format(" AND {} {} ?", sort[0].name, sort[0].descending ? "<=" : ">=");
  values->push_back(after[0]);
  *sql += " AND (";
  for (size_t i = 0; i < sort.size(); ++i) {
    if (i > 0) *sql += " OR ";
    *sql += '(';
    for (size_t before = 0; before < i; ++before) {
      *sql += std::string(sort[before].name) + " = ? AND ";
      values->push_back(after[before]);
    }
    *sql += std::string(sort[i].name) + (sort[i].descending ? " < ?)" : " > ?)");
    values->push_back(after[i]);
  }
  *sql += ')';
}

}  // namespace strobe::catalog
