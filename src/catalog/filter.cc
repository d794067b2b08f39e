#include "src/catalog/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "src/catalog/time_text.h"

namespace strobe::catalog {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool IsWordChar(char c) {
  return !IsBlank(c) && std::string_view("()=!<>:\"'\\,").find(c) == std::string_view::npos &&
         static_cast<unsigned char>(c) >= 0x20;
}

std::string KnownFields(std::span<const Field> fields) {
  std::string known;
  for (const Field& field : fields) known += (known.empty() ? "" : ", ") + std::string(field.name);
  return known;
}

class Parser {
 public:
  Parser(std::string_view text, std::span<const Field> fields) : text_(text), fields_(fields) {}

  Result<Filter> Parse() {
    if (text_.size() > kMaxFilterBytes) {
      return Malformed(fmt::format("The filter is longer than {} bytes.", kMaxFilterBytes));
    }
    SkipBlanks();
    if (at_ == text_.size()) return Filter();
    STROBE_ASSIGN_OR_RETURN(FilterNode root, ParseAll(0));
    SkipBlanks();
    if (at_ != text_.size()) return Malformed("The filter does not end where it should.");
    return Filter(std::move(root));
  }

 private:
  Status Malformed(std::string message) const {
    return InvalidArgumentError("FILTER_MALFORMED", std::move(message))
        .Where(fmt::format("filter, byte {}", at_))
        .Hint("Write FIELD OPERATOR \"VALUE\", combined by AND, OR, NOT and brackets. Fields: " +
              KnownFields(fields_) + ".");
  }
  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  // A word of the language, followed by no other letter of a name.
  bool TakeWord(std::string_view word) {
    SkipBlanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    const size_t end = at_ + word.size();
    if (end < text_.size() && IsWordChar(text_[end])) return false;
    at_ = end;
    return true;
  }
  bool TakeChar(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool AtEndOfGroup() {
    SkipBlanks();
    return at_ >= text_.size() || text_[at_] == ')';
  }

  Result<FilterNode> ParseAll(int depth) {
    if (depth > kMaxFilterDepth) {
      return Malformed(fmt::format("Brackets go deeper than {}.", kMaxFilterDepth));
    }
    FilterNode all;
    all.kind = FilterNode::Kind::kAnd;
    do {
      STROBE_ASSIGN_OR_RETURN(FilterNode factor, ParseAny(depth));
      all.children.push_back(std::move(factor));
    } while (TakeWord("AND") || !AtEndOfGroup());
    if (all.children.size() == 1) return std::move(all.children.front());
    return all;
  }
  Result<FilterNode> ParseAny(int depth) {
    FilterNode any;
    any.kind = FilterNode::Kind::kOr;
    do {
      STROBE_ASSIGN_OR_RETURN(FilterNode term, ParseTerm(depth));
      any.children.push_back(std::move(term));
    } while (TakeWord("OR"));
    if (any.children.size() == 1) return std::move(any.children.front());
    return any;
  }
  Result<FilterNode> ParseTerm(int depth) {
    if (TakeWord("NOT") || TakeChar('-')) {
      if (depth >= kMaxFilterDepth) {
        return Malformed(fmt::format("Brackets go deeper than {}.", kMaxFilterDepth));
      }
      FilterNode inverted;
      inverted.kind = FilterNode::Kind::kNot;
      STROBE_ASSIGN_OR_RETURN(FilterNode term, ParseTerm(depth + 1));
      inverted.children.push_back(std::move(term));
      return inverted;
    }
    if (TakeChar('(')) {
      STROBE_ASSIGN_OR_RETURN(FilterNode inner, ParseAll(depth + 1));
      if (!TakeChar(')')) return Malformed("A bracket is not closed.");
      return inner;
    }
    return ParseCompare();
  }

  Result<FilterNode> ParseCompare() {
    if (++terms_ > kMaxFilterTerms) {
      return Malformed(fmt::format("The filter has more than {} comparisons.", kMaxFilterTerms));
    }
    STROBE_ASSIGN_OR_RETURN(const std::string name, ParseBareWord("a field"));
    FilterNode node;
    node.kind = FilterNode::Kind::kCompare;
    node.field = FindField(fields_, name);
    if (node.field == nullptr) {
      return Malformed(fmt::format("There is no field \"{}\" to filter by.", name.substr(0, 64)));
    }
    STROBE_ASSIGN_OR_RETURN(node.compare, ParseOperator());
    SkipBlanks();
    STROBE_ASSIGN_OR_RETURN(const std::string value, ParseValue());
    STROBE_ASSIGN_OR_RETURN(node.value, ConvertValue(*node.field, node.compare, value));
    return node;
  }
  Result<std::string> ParseBareWord(std::string_view what) {
    SkipBlanks();
    const size_t begin = at_;
    while (at_ < text_.size() && IsWordChar(text_[at_])) ++at_;
    if (at_ == begin) return Malformed(fmt::format("Expected {} here.", what));
    return std::string(text_.substr(begin, at_ - begin));
  }
  Result<CompareOperator> ParseOperator() {
    using enum CompareOperator;
    SkipBlanks();
    const std::string_view rest = text_.substr(at_);
    constexpr std::pair<std::string_view, CompareOperator> kOperators[] = {
        {"!=", kNotEqual}, {"<=", kLessOrEqual}, {">=", kGreaterOrEqual},
        {"=", kEqual},     {"<", kLess},         {">", kGreater},
        {":", kHas}};
    for (const auto& [sign, compare] : kOperators) {
      if (!rest.starts_with(sign)) continue;
      at_ += sign.size();
      return CompareOperator(compare);
    }
    return Malformed("Expected one of = != < <= > >= : here.");
  }
  Result<std::string> ParseValue() {
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) {
      // Times without quotes hold colons.
      const size_t begin = at_;
      while (at_ < text_.size() && (IsWordChar(text_[at_]) || text_[at_] == ':')) ++at_;
      if (at_ == begin) return Malformed("Expected a value here.");
      return std::string(text_.substr(begin, at_ - begin));
    }
    const char quote = text_[at_++];
    std::string value;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      if (text_[at_] == '\0') return Malformed("A value holds a zero byte.");
      value += text_[at_];
    }
    if (at_ >= text_.size()) return Malformed("A quoted value does not end.");
    ++at_;
    return value;
  }
  Result<SqlValue> ConvertValue(const Field& field, CompareOperator compare,
                                const std::string& value) const {
    switch (field.kind) {
      case FieldKind::kTime: {
        const Result<int64_t> time = ParseTimestamp(value);
        if (!time.ok()) {
          return Malformed(
              fmt::format("{} is compared with a time, such as "
                          "\"2026-11-29T10:15:00Z\".",
                          field.name));
        }
        return SqlValue{*time};
      }
      case FieldKind::kInteger: {
        int64_t number = 0;
        const auto [end, error] =
            std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc() || end != value.data() + value.size()) {
          return Malformed(fmt::format("{} is compared with an integer.", field.name));
        }
        return SqlValue{number};
      }
      case FieldKind::kBool:
        if (value != "true" && value != "false") {
          return Malformed(fmt::format("{} is compared with true or false.", field.name));
        }
        return SqlValue{int64_t{value == "true"}};
      case FieldKind::kEnum: {
        if (compare != CompareOperator::kEqual && compare != CompareOperator::kNotEqual &&
            compare != CompareOperator::kHas) {
          return Malformed(fmt::format("{} is compared with = or != only.", field.name));
        }
        std::string_view word = value;
        if (word.starts_with(field.enum_prefix)) word.remove_prefix(field.enum_prefix.size());
        return SqlValue{std::string(word == "UNSPECIFIED" ? "" : word)};
      }
      case FieldKind::kText:
        return SqlValue{value};
    }
    return SqlValue{value};
  }

  const std::string_view text_;
  const std::span<const Field> fields_;
  size_t at_ = 0;
  size_t terms_ = 0;
};

std::string_view OperatorSql(CompareOperator compare) {
  switch (compare) {
    case CompareOperator::kNotEqual:
      return " <> ?";
    case CompareOperator::kLess:
      return " < ?";
    case CompareOperator::kLessOrEqual:
      return " <= ?";
    case CompareOperator::kGreater:
      return " > ?";
    case CompareOperator::kGreaterOrEqual:
      return " >= ?";
    case CompareOperator::kEqual:
    case CompareOperator::kHas:
      return " = ?";
  }
  return " = ?";
}

void AppendNode(const FilterNode& node, SqlDialect dialect, std::string* sql,
                std::vector<SqlValue>* values) {
  if (node.kind == FilterNode::Kind::kCompare) {
    const std::string column(node.field->column);
    if (node.compare == CompareOperator::kHas && node.field->kind == FieldKind::kText) {
      *sql += ForDialect("{contains:" + column + "}", dialect);
    } else {
      *sql += column;
      *sql += OperatorSql(node.compare);
    }
    values->push_back(node.value);
    return;
  }
  if (node.kind == FilterNode::Kind::kNot) *sql += "NOT ";
  *sql += '(';
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (i > 0) *sql += node.kind == FilterNode::Kind::kOr ? " OR " : " AND ";
    AppendNode(node.children[i], dialect, sql, values);
  }
  *sql += ')';
}

}  // namespace

void Filter::AppendSql(SqlDialect dialect, std::string* sql, std::vector<SqlValue>* values) const {
  if (empty()) return;
  *sql += '(';
  AppendNode(root_, dialect, sql, values);
  *sql += ')';
}

Result<Filter> ParseFilter(std::string_view text, std::span<const Field> fields) {
  return Parser(text, fields).Parse();
}

Result<std::vector<OrderKey>> ParseOrder(std::string_view text, std::span<const Field> fields) {
  const Status malformed =
      InvalidArgumentError("ORDER_MALFORMED", "The order is not one we can sort by.")
          .Where(std::string(text.substr(0, 128)))
          .Hint("Write fields separated by commas, each with \" desc\" if wanted. Fields: " +
                KnownFields(fields) + ".");
  std::vector<OrderKey> keys;
  if (std::all_of(text.begin(), text.end(), IsBlank)) return keys;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view part = rest.substr(0, comma);
    more = comma < rest.size();
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    std::vector<std::string_view> words;
    while (!part.empty() && words.size() < 3) {
      while (!part.empty() && IsBlank(part.front())) part.remove_prefix(1);
      size_t end = 0;
      while (end < part.size() && !IsBlank(part[end])) ++end;
      if (end > 0) words.push_back(part.substr(0, end));
      part.remove_prefix(end);
    }
    if (words.empty() || words.size() > 2 || keys.size() >= kMaxOrderKeys) return malformed;
    const bool descending = words.size() == 2 && words[1] == "desc";
    if (words.size() == 2 && !descending && words[1] != "asc") return malformed;
    const Field* field = FindField(fields, words[0]);
    if (field == nullptr) return malformed;
    keys.push_back({field, descending});
  }
  return keys;
}

}  // namespace strobe::catalog
