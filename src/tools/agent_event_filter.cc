#include "src/tools/agent_event_filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "src/base/text.h"

namespace strobe::tools {
namespace {

struct Token {
  enum class Kind : uint8_t { kWord, kText, kOperator, kAnd, kOr, kNot, kOpen, kClose };
  Kind kind = Kind::kWord;
  std::string text;
};

Status Invalid(std::string message, std::string_view filter) {
  return InvalidArgumentError("FILTER_INVALID", std::move(message))
      .Where(std::string(filter.substr(0, 200)))
      .Hint("For example: plane =~ \"TPU\" AND duration > 5us AND NOT event CONTAINS copy");
}

Token WordToken(std::string_view word) {
  std::string upper(word);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  if (upper == "AND" || upper == "&&") return {Token::Kind::kAnd, std::string(word)};
  if (upper == "OR" || upper == "||") return {Token::Kind::kOr, std::string(word)};
  if (upper == "NOT") return {Token::Kind::kNot, std::string(word)};
  if (upper == "CONTAINS") return {Token::Kind::kOperator, "CONTAINS"};
  return {Token::Kind::kWord, std::string(word)};
}

// A quoted text with its backslashes resolved; `*at` stands on the opening quote.
std::optional<std::string> QuotedText(std::string_view text, size_t* at) {
  const char quote = text[*at];
  std::string value;
  for (size_t i = *at + 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      *at = i + 1;
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size()) {
      const char next = text[++i];
      // Only what stands for something else loses its backslash: "\d" stays what it is for "=~".
      if (next == 'n') {
        value += '\n';
      } else if (next == 't') {
        value += '\t';
      } else if (next == quote || next == '\\') {
        value += next;
      } else {
        value += '\\';
        value += next;
      }
      continue;
    }
    value += text[i];
  }
  return std::nullopt;
}

Result<std::vector<Token>> Tokens(std::string_view text) {
  constexpr std::array<std::string_view, 10> kOperators = {
      "==", "!=", "=~", "!~", "<=", ">=", "=", "<", ">", "~"};
  constexpr std::string_view kEndOfWord = " \t\r\n()=!<>~\"'";
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at;
      continue;
    }
    if (c == '(' || c == ')') {
      tokens.push_back({c == '(' ? Token::Kind::kOpen : Token::Kind::kClose, std::string(1, c)});
      ++at;
      continue;
    }
    if (c == '"' || c == '\'') {
      std::optional<std::string> value = QuotedText(text, &at);
      if (!value) return Invalid("A quoted text of the filter has no end.", text);
      tokens.push_back({Token::Kind::kText, std::move(*value)});
      continue;
    }
    bool is_operator = false;
    for (const std::string_view op : kOperators) {
      if (!text.substr(at).starts_with(op)) continue;
      tokens.push_back({Token::Kind::kOperator, std::string(op)});
      at += op.size();
      is_operator = true;
      break;
    }
    if (is_operator) continue;
    if (c == '!') {
      tokens.push_back({Token::Kind::kNot, "!"});
      ++at;
      continue;
    }
    const size_t end = std::min(text.find_first_of(kEndOfWord, at), text.size());
    tokens.push_back(WordToken(text.substr(at, end - at)));
    at = end;
  }
  return tokens;
}

// "5us" in picoseconds; a number alone is in `unit_ps`.
std::optional<double> PicosecondsOf(std::string_view text, double unit_ps) {
  text = Trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = Trimmed(text.substr(static_cast<size_t>(end - text.data())));
  if (unit.empty()) return number * unit_ps;
  if (unit == "ps") return number;
  if (unit == "ns") return number * 1e3;
  if (unit == "us") return number * 1e6;
  if (unit == "ms") return number * 1e9;
  if (unit == "s") return number * 1e12;
  return std::nullopt;
}

}  // namespace

class EventFilterParser {
 public:
  using Filter = EventFilter;
  using Node = EventFilter::Node;

  EventFilterParser(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  Result<EventFilter> Run() {
    STROBE_ASSIGN_OR_RETURN(const size_t root, Or(0));
    if (at_ < tokens_.size()) {
      return Invalid("The filter goes on where it should end: " + tokens_[at_].text + ".", text_);
    }
    STROBE_CHECK(root + 1 == filter_.nodes_.size());
    return std::move(filter_);
  }

 private:
  bool Next(Token::Kind kind) const { return at_ < tokens_.size() && tokens_[at_].kind == kind; }
  size_t Push(Node node) {
    filter_.nodes_.push_back(std::move(node));
    return filter_.nodes_.size() - 1;
  }

  Result<size_t> Or(int depth) {
    STROBE_ASSIGN_OR_RETURN(size_t left, And(depth));
    while (Next(Token::Kind::kOr)) {
      ++at_;
      STROBE_ASSIGN_OR_RETURN(const size_t right, And(depth));
      left = Push({.kind = Filter::Kind::kOr, .left = left, .right = right});
    }
    return left;
  }

  Result<size_t> And(int depth) {
    STROBE_ASSIGN_OR_RETURN(size_t left, Not(depth));
    while (Next(Token::Kind::kAnd)) {
      ++at_;
      STROBE_ASSIGN_OR_RETURN(const size_t right, Not(depth));
      left = Push({.kind = Filter::Kind::kAnd, .left = left, .right = right});
    }
    return left;
  }

  Result<size_t> Not(int depth) {
    if (depth > kMaxFilterDepth) return Invalid("The filter nests too deeply.", text_);
    if (!Next(Token::Kind::kNot)) return Atom(depth);
    ++at_;
    STROBE_ASSIGN_OR_RETURN(const size_t inner, Not(depth + 1));
    return Push({.kind = Filter::Kind::kNot, .left = inner});
  }

  Result<size_t> Atom(int depth) {
    if (Next(Token::Kind::kOpen)) {
      ++at_;
      STROBE_ASSIGN_OR_RETURN(const size_t inner, Or(depth + 1));
      if (!Next(Token::Kind::kClose)) return Invalid("A \"(\" of the filter has no end.", text_);
      ++at_;
      return inner;
    }
    if (!Next(Token::Kind::kWord)) return Invalid("The filter lacks the name of a field.", text_);
    const std::string field = AsciiLower(tokens_[at_++].text);
    if (!Next(Token::Kind::kOperator)) {
      return Invalid("The filter lacks a comparison behind " + field + ".", text_);
    }
    const std::string op = tokens_[at_++].text;
    if (!Next(Token::Kind::kWord) && !Next(Token::Kind::kText)) {
      return Invalid("The filter lacks a value behind " + field + " " + op + ".", text_);
    }
    const std::string value = tokens_[at_++].text;
    return Comparison(field, op, value);
  }

  static std::optional<Filter::Operator> OperatorOf(const std::string& op) {
    using Operator = Filter::Operator;
    if (op == "=" || op == "==") return Operator::kEqual;
    if (op == "!=") return Operator::kNotEqual;
    if (op == "CONTAINS") return Operator::kContains;
    if (op == "~" || op == "=~") return Operator::kMatches;
    if (op == "!~") return Operator::kMatchesNot;
    if (op == "<") return Operator::kLess;
    if (op == "<=") return Operator::kLessEqual;
    if (op == ">") return Operator::kGreater;
    if (op == ">=") return Operator::kGreaterEqual;
    return std::nullopt;
  }

  Result<size_t> Comparison(const std::string& field, const std::string& op,
                            const std::string& value) {
    struct Known {
      std::string_view name;
      Filter::Field field;
      double unit_ps;  // 0: a text
    };
    constexpr std::array<Known, 14> kFields = {{{"plane", Filter::Field::kPlane, 0},
                                                {"line", Filter::Field::kLine, 0},
                                                {"line_name", Filter::Field::kLine, 0},
                                                {"line_id", Filter::Field::kLine, 0},
                                                {"event", Filter::Field::kEvent, 0},
                                                {"name", Filter::Field::kEvent, 0},
                                                {"duration", Filter::Field::kDuration, 1},
                                                {"duration_ps", Filter::Field::kDuration, 1},
                                                {"duration_ns", Filter::Field::kDuration, 1e3},
                                                {"duration_us", Filter::Field::kDuration, 1e6},
                                                {"duration_ms", Filter::Field::kDuration, 1e9},
                                                {"offset_ps", Filter::Field::kStart, 1},
                                                {"start_ps", Filter::Field::kStart, 1},
                                                {"end_ps", Filter::Field::kEnd, 1}}};
    const auto known = std::ranges::find(kFields, field, &Known::name);
    if (known == kFields.end()) {
      return Invalid("No field \"" + field +
                         "\"; there are plane, line, event, duration (_ps, _ns, _us, _ms), "
                         "offset_ps, start_ps and end_ps.",
                     text_);
    }
    Node node;
    node.field = known->field;
    node.op = *OperatorOf(op);
    const bool order = node.op >= Filter::Operator::kLess;
    const bool textual =
        node.op >= Filter::Operator::kContains && node.op <= Filter::Operator::kMatchesNot;
    if (known->unit_ps == 0 ? order : textual) {
      return Invalid("The field " + field + " cannot be compared by " + op + ".", text_);
    }
    if (known->unit_ps == 0) {
      node.kind = Filter::Kind::kText;
      node.text = value;
      if (node.op == Filter::Operator::kMatches || node.op == Filter::Operator::kMatchesNot) {
        STROBE_ASSIGN_OR_RETURN(node.pattern, Pattern::Compile(value));
      }
      return Push(std::move(node));
    }
    const std::optional<double> number = PicosecondsOf(value, known->unit_ps);
    if (!number) return Invalid("Not a time: " + value + ".", text_);
    node.kind = Filter::Kind::kNumber;
    node.number = *number;
    return Push(std::move(node));
  }

  const std::string_view text_;
  const std::vector<Token> tokens_;
  size_t at_ = 0;
  EventFilter filter_;
};

Result<EventFilter> EventFilter::Parse(std::string_view text) {
  if (Trimmed(text).empty()) return EventFilter();
  if (text.size() > kMaxFilterBytes) {
    return Invalid("The filter is longer than " + std::to_string(kMaxFilterBytes) + " bytes.",
                   text);
  }
  STROBE_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokens(text));
  return EventFilterParser(text, std::move(tokens)).Run();
}

bool EventFilter::Matches(const EventView& event) const {
  return nodes_.empty() || Holds(nodes_.size() - 1, event);
}

bool EventFilter::Holds(size_t index, const EventView& event) const {
  const Node& node = nodes_[index];
  switch (node.kind) {
    case Kind::kAnd:
      return Holds(node.left, event) && Holds(node.right, event);
    case Kind::kOr:
      return Holds(node.left, event) || Holds(node.right, event);
    case Kind::kNot:
      return !Holds(node.left, event);
    case Kind::kText:
      return HoldsText(node, event);
    case Kind::kNumber:
      return HoldsNumber(node, event);
  }
  return false;
}

bool EventFilter::HoldsText(const Node& node, const EventView& event) const {
  const std::string_view text = node.field == Field::kPlane  ? event.plane
                                : node.field == Field::kLine ? event.line
                                                             : event.event;
  switch (node.op) {
    case Operator::kEqual:
      return text == node.text;
    case Operator::kNotEqual:
      return text != node.text;
    case Operator::kContains:
      return text.find(node.text) != std::string_view::npos;
    case Operator::kMatches:
      return node.pattern.Found(text);
    default:
      return !node.pattern.Found(text);
  }
}

bool EventFilter::HoldsNumber(const Node& node, const EventView& event) const {
  const double value = node.field == Field::kDuration ? static_cast<double>(event.duration_ps)
                       : node.field == Field::kStart
                           ? static_cast<double>(event.offset_ps)
                           : static_cast<double>(event.offset_ps + event.duration_ps);
  switch (node.op) {
    case Operator::kEqual:
      return value == node.number;
    case Operator::kNotEqual:
      return value != node.number;
    case Operator::kLess:
      return value < node.number;
    case Operator::kLessEqual:
      return value <= node.number;
    case Operator::kGreater:
      return value > node.number;
    default:
      return value >= node.number;
  }
}

}  // namespace strobe::tools
