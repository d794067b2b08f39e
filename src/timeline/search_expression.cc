#include "src/timeline/search_expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace strobe::timeline {

using xplane::LineColumns;
using xplane::Plane;
using xplane::Stat;
using xplane::StatType;

namespace {

using Compare = SearchExpression::Compare;
using Field = SearchExpression::Field;
using Term = SearchExpression::Term;
using Truth = SearchExpression::Truth;

constexpr size_t kMaxShownBytes = 64;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
char LowerOf(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerOf(c);
  return lower;
}

bool EqualIgnoringCase(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) { return LowerOf(a) == b; });
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

template <typename Number>
bool Ordered(Compare compare, Number left, Number right) {
  switch (compare) {
    case Compare::kLess:
      return left < right;
    case Compare::kLessOrEqual:
      return left <= right;
    case Compare::kGreater:
      return left > right;
    case Compare::kGreaterOrEqual:
      return left >= right;
    default:
      return left == right;
  }
}

bool IsOrder(Compare compare) { return compare >= Compare::kLess; }

std::string NumberText(const Stat& stat) {
  if (stat.type == StatType::kInt64) return std::to_string(stat.int64_value);
  if (stat.type == StatType::kUint64) return std::to_string(stat.uint64_value);
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), stat.number).ptr;
  return std::string(buffer.data(), end);
}

// Exact between whole numbers, else as doubles.
bool NumberFits(const Term& term, const Stat& stat) {
  if (!term.number) return false;
  if (term.integer && stat.type == StatType::kInt64) {
    return Ordered(term.compare, stat.int64_value, *term.integer);
  }
  if (term.integer && stat.type == StatType::kUint64) {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    if (stat.uint64_value > kMax) {
      return term.compare == Compare::kGreater || term.compare == Compare::kGreaterOrEqual;
    }
    return Ordered(term.compare, static_cast<int64_t>(stat.uint64_value), *term.integer);
  }
  double value = stat.number;
  if (stat.type == StatType::kInt64) value = static_cast<double>(stat.int64_value);
  if (stat.type == StatType::kUint64) value = static_cast<double>(stat.uint64_value);
  return Ordered(term.compare, value, *term.number);
}

bool IsText(const Stat& stat) {
  return stat.type == StatType::kString || stat.type == StatType::kRef ||
         stat.type == StatType::kBytes;
}

// Picoseconds of "10us"; nullopt when it is no such text.
std::optional<int64_t> ParseDuration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double ps;
  };
  constexpr Unit kUnits[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto value = ParseNumber<double>(text.substr(0, text.size() - unit.name.size()));
    if (!value) continue;
    const double ps = std::round(*value * unit.ps);
    if (!(std::abs(ps) < 9e18)) return std::nullopt;
    return static_cast<int64_t>(ps);
  }
  return std::nullopt;
}

struct Operator {
  std::string_view text;
  Compare compare;
};
// Longer ones first where one begins like another.
constexpr Operator kOperators[] = {{"!=", Compare::kNotEqual},       {"<=", Compare::kLessOrEqual},
                                   {">=", Compare::kGreaterOrEqual}, {"=", Compare::kEqual},
                                   {":", Compare::kContains},        {"<", Compare::kLess},
                                   {">", Compare::kGreater}};

struct FieldName {
  std::string_view text;
  Field field;
};
constexpr FieldName kFields[] = {{"name", Field::kName}, {"stat", Field::kStat},
                                 {"line", Field::kLine}, {"plane", Field::kPlane},
                                 {"host", Field::kHost}, {"duration", Field::kDuration}};

}  // namespace

// Recursive descent; `or` binds least, `not` most.
class SearchExpressionParser {
 public:
  explicit SearchExpressionParser(std::string_view text) : text_(text) {}

  Result<SearchExpression> Parse() {
    STROBE_RETURN_IF_ERROR(ParseOr(0));
    SkipSpace();
    if (at_ < text_.size()) return Mistake("Expected the end, \"and\", \"or\" or a term.");
    return std::move(result_);
  }

 private:
  using Op = SearchExpression::Op;

  Status Mistake(std::string_view what) const {
    return InvalidArgumentError("SEARCH_EXPRESSION", std::string(what))
        .Where("character " + std::to_string(at_ + 1) + ", at \"" +
               std::string(text_.substr(at_, kMaxShownBytes)) + "\"")
        .Hint(
            "Terms such as fusion, name=\"copy start\", stat:flops>1e9, duration>10us, joined by "
            "and, or, not and parentheses.");
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  bool IsBorder(size_t at) const {
    return at >= text_.size() || IsSpace(text_[at]) || text_[at] == ')' || text_[at] == '(';
  }
  // Steps over the word when it comes next.
  bool TakeWord(std::string_view lower) {
    SkipSpace();
    if (!EqualIgnoringCase(text_.substr(at_, lower.size()), lower) ||
        at_ + lower.size() > text_.size() || !IsBorder(at_ + lower.size())) {
      return false;
    }
    at_ += lower.size();
    return true;
  }
  bool AtWord(std::string_view lower) {
    const size_t before = at_;
    const bool is_next = TakeWord(lower);
    at_ = before;
    return is_next;
  }
  bool AtEndOfAnd() {
    SkipSpace();
    return at_ >= text_.size() || text_[at_] == ')' || AtWord("or");
  }

  Status ParseOr(int depth) {
    STROBE_RETURN_IF_ERROR(ParseAnd(depth));
    while (TakeWord("or")) {
      STROBE_RETURN_IF_ERROR(ParseAnd(depth));
      result_.steps_.push_back({.op = Op::kOr});
    }
    return OkStatus();
  }

  Status ParseAnd(int depth) {
    STROBE_RETURN_IF_ERROR(ParseNot(depth));
    while (!AtEndOfAnd()) {
      (void)TakeWord("and");
      STROBE_RETURN_IF_ERROR(ParseNot(depth));
      result_.steps_.push_back({.op = Op::kAnd});
    }
    return OkStatus();
  }

  Status ParseNot(int depth) {
    if (depth > SearchExpression::kMaxDepth) return Mistake("The expression is nested too deeply.");
    if (TakeWord("not")) {
      STROBE_RETURN_IF_ERROR(ParseNot(depth + 1));
      result_.steps_.push_back({.op = Op::kNot});
      return OkStatus();
    }
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      STROBE_RETURN_IF_ERROR(ParseOr(depth + 1));
      SkipSpace();
      if (at_ >= text_.size() || text_[at_] != ')')
        return Mistake("Expected a closing parenthesis.");
      ++at_;
      return OkStatus();
    }
    return ParseTerm();
  }

  // A quoted text, an expression between slashes, or characters up to a border or one of `stops`.
  Status ParseText(std::string_view stops, std::string* text, bool* quoted) {
    *quoted = false;
    if (at_ < text_.size() && text_[at_] == '"') {
      *quoted = true;
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        *text += text_[at_];
      }
      if (at_ >= text_.size()) return Mistake("Expected a closing quote.");
      ++at_;
      return OkStatus();
    }
    if (at_ < text_.size() && text_[at_] == '/') {
      for (size_t end = at_ + 1; end < text_.size(); ++end) {
        if (text_[end] == '\\') {
          ++end;
        } else if (text_[end] == '/' && end > at_ + 1 && IsBorder(end + 1)) {
          *text = text_.substr(at_, end + 1 - at_);
          at_ = end + 1;
          return OkStatus();
        }
      }
    }
    while (!IsBorder(at_) && stops.find(text_[at_]) == std::string_view::npos)
      *text += text_[at_++];
    return OkStatus();
  }

  const Operator* TakeOperator() {
    for (const Operator& one : kOperators) {
      if (text_.substr(at_).starts_with(one.text)) {
        at_ += one.text.size();
        return &one;
      }
    }
    return nullptr;
  }

  Status ParseTerm() {
    SkipSpace();
    if (IsBorder(at_) || AtWord("and") || AtWord("or")) return Mistake("Expected a term.");
    if (result_.terms_.size() == SearchExpression::kMaxTerms) {
      return Mistake("There are more than 32 terms.");
    }
    Term term;
    const FieldName* field = nullptr;
    for (const FieldName& known : kFields) {
      const size_t end = at_ + known.text.size();
      if (EqualIgnoringCase(text_.substr(at_, known.text.size()), known.text) &&
          end < text_.size() &&
          std::string_view(":=<>!").find(text_[end]) != std::string_view::npos) {
        field = &known;
        at_ = end;
        break;
      }
    }
    if (field == nullptr) {
      bool quoted = false;
      std::string text;
      STROBE_RETURN_IF_ERROR(ParseText("", &text, &quoted));
      STROBE_RETURN_IF_ERROR(SetText(text, quoted, &term));
      return Add(std::move(term));
    }
    term.field = field->field;
    STROBE_RETURN_IF_ERROR(term.field == Field::kStat ? ParseStat(&term) : ParseField(&term));
    return Add(std::move(term));
  }

  Status ParseField(Term* term) {
    const Operator* const what = TakeOperator();
    if (what == nullptr) return Mistake("Expected one of : = != < <= > >=.");
    term->compare = what->compare;
    const bool by_order = IsOrder(term->compare);
    if (by_order != (term->field == Field::kDuration)) {
      return Mistake(term->field == Field::kDuration ? "Durations are compared with < <= > >=."
                                                     : "Names are compared with : = !=.");
    }
    return ParseValue(term);
  }

  // stat:key, stat:key:text, stat:key>5
  Status ParseStat(Term* term) {
    const Operator* const colon = TakeOperator();
    if (colon == nullptr || colon->compare != Compare::kContains) {
      return Mistake("Expected stat:key.");
    }
    bool quoted = false;
    STROBE_RETURN_IF_ERROR(ParseText(":=<>!", &term->key, &quoted));
    if (term->key.empty()) return Mistake("Expected the name of a stat.");
    result_.has_stat_terms_ = true;
    if (IsBorder(at_)) {
      term->compare = Compare::kPresent;
      return OkStatus();
    }
    const Operator* const what = TakeOperator();
    if (what == nullptr) return Mistake("Expected one of : = != < <= > >=.");
    term->compare = what->compare;
    return ParseValue(term);
  }

  Status ParseValue(Term* term) {
    bool quoted = false;
    std::string text;
    STROBE_RETURN_IF_ERROR(ParseText("", &text, &quoted));
    if (text.empty() && !quoted) return Mistake("Expected a value.");
    if (term->field == Field::kDuration) {
      const std::optional<int64_t> duration = ParseDuration(text);
      if (!duration) return Mistake("Expected a duration such as 10us; units ps, ns, us, ms, s.");
      term->duration_ps = *duration;
      return OkStatus();
    }
    if (term->compare == Compare::kContains) return SetText(text, quoted, term);
    term->text = Lower(text);
    term->number = ParseNumber<double>(text);
    term->integer = ParseNumber<int64_t>(text);
    if (IsOrder(term->compare) && !term->number) return Mistake("Expected a number.");
    return OkStatus();
  }

  // A quoted text is never an expression.
  Status SetText(const std::string& text, bool quoted, Term* term) {
    if (text.empty()) return Mistake("Expected a text.");
    term->text = Lower(text);
    Result<NamePattern> pattern = quoted ? NamePattern::Literal(text) : NamePattern::Parse(text);
    if (!pattern.ok()) return pattern.status();
    term->pattern = std::move(*pattern);
    return OkStatus();
  }

  Status Add(Term term) {
    result_.steps_.push_back(
        {.op = Op::kTerm, .term = static_cast<uint8_t>(result_.terms_.size())});
    result_.terms_.push_back(std::move(term));
    return OkStatus();
  }

  const std::string_view text_;
  size_t at_ = 0;
  SearchExpression result_;
};

Result<SearchExpression> SearchExpression::Parse(std::string_view text) {
  if (std::ranges::all_of(text, IsSpace)) {
    return InvalidArgumentError("SEARCH_EMPTY", "The search expression is empty.")
        .Hint("Give terms such as fusion or stat:flops>1e9.");
  }
  if (text.size() > NamePattern::kMaxPatternBytes) {
    return InvalidArgumentError("SEARCH_TOO_LONG", "The search expression has " +
                                                       std::to_string(text.size()) +
                                                       " bytes; at most 1024 are taken.");
  }
  return SearchExpressionParser(text).Parse();
}

Truth SearchExpression::Evaluate(const Facts& facts) const {
  // At most one operand a term, plus one.
  std::array<Truth, kMaxTerms + 1> stack{};
  size_t top = 0;
  for (const Step& step : steps_) {
    switch (step.op) {
      case Op::kTerm: {
        const bool known = (facts.known >> step.term & 1) != 0;
        const bool value = (facts.value >> step.term & 1) != 0;
        stack[top++] = known ? (value ? Truth::kYes : Truth::kNo) : Truth::kUnknown;
        break;
      }
      case Op::kNot:
        if (stack[top - 1] != Truth::kUnknown) {
          stack[top - 1] = stack[top - 1] == Truth::kYes ? Truth::kNo : Truth::kYes;
        }
        break;
      case Op::kAnd:
      case Op::kOr: {
        const Truth decisive = step.op == Op::kAnd ? Truth::kNo : Truth::kYes;
        const Truth right = stack[--top];
        Truth& left = stack[top - 1];
        if (left == decisive || right == decisive) {
          left = decisive;
        } else if (left == Truth::kUnknown || right == Truth::kUnknown) {
          left = Truth::kUnknown;
        }
        break;
      }
    }
  }
  return stack[0];
}

bool StatFits(const Term& term, const Stat& stat) {
  if (stat.type == StatType::kNone) return false;
  switch (term.compare) {
    case Compare::kPresent:
      return true;
    case Compare::kContains:
      return term.pattern->Matches(IsText(stat) ? stat.text : std::string_view(NumberText(stat)));
    case Compare::kEqual:
    case Compare::kNotEqual:
      return IsText(stat) ? EqualIgnoringCase(stat.text, term.text) : NumberFits(term, stat);
    default: {
      if (!IsText(stat)) return NumberFits(term, stat);
      // Numbers that were written as text.
      const std::optional<double> number = ParseNumber<double>(stat.text);
      return number && term.number && Ordered(term.compare, *number, *term.number);
    }
  }
}

namespace {

// The stats that the terms ask for, each once.
std::vector<std::string_view> StatKeys(const SearchExpression& expression) {
  std::vector<std::string_view> keys;
  for (const Term& term : expression.terms()) {
    if (term.field != Field::kStat) continue;
    if (std::ranges::find(keys, term.key) == keys.end()) keys.emplace_back(term.key);
  }
  return keys;
}

bool TextFits(const Term& term, std::string_view text, std::string_view other) {
  if (term.compare == Compare::kContains) {
    return term.pattern->Matches(text) || (!other.empty() && term.pattern->Matches(other));
  }
  const bool equal =
      EqualIgnoringCase(text, term.text) || (!other.empty() && EqualIgnoringCase(other, term.text));
  return equal == (term.compare == Compare::kEqual);
}

}  // namespace

PlaneSearch::PlaneSearch(const SearchExpression& expression, const xplane::ProfileFile& file,
                         uint32_t plane, std::string_view host)
    : expression_(expression),
      file_(file),
      plane_(plane),
      keys_(StatKeys(expression)),
      terms_of_key_(keys_.size()),
      scanner_(file, plane, keys_) {
  const Plane& described = file.planes()[plane];
  const std::vector<Term>& terms = expression.terms();
  for (size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].field != Field::kStat) continue;
    const auto key = std::ranges::find(keys_, terms[t].key) - keys_.begin();
    terms_of_key_[static_cast<size_t>(key)] |= uint32_t{1} << t;
    stat_terms_.push_back(static_cast<uint8_t>(t));
  }
  Facts base;
  for (size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].field == Field::kPlane) base.Set(t, TextFits(terms[t], described.name, ""));
    if (terms[t].field == Field::kHost) base.Set(t, TextFits(terms[t], host, ""));
  }
  by_name_.assign(described.event_metadata.size(), base);
  if (expression.has_stat_terms()) has_stat_.resize(by_name_.size());
  hopeless_ = true;
  for (uint32_t n = 0; n < by_name_.size(); ++n) {
    const xplane::EventMetadata& metadata = described.event_metadata[n];
    for (size_t t = 0; t < terms.size(); ++t) {
      if (terms[t].field == Field::kName) {
        by_name_[n].Set(t, TextFits(terms[t], metadata.name, metadata.display_name));
      }
    }
    // Stats only where names have not decided.
    if (expression.has_stat_terms() && expression.Evaluate(by_name_[n]) == Truth::kUnknown) {
      AddStats(n, &by_name_[n], &has_stat_[n]);
    }
    hopeless_ = hopeless_ && expression.Evaluate(by_name_[n]) == Truth::kNo;
  }
}

// What the stats of the metadata settle: a positive term that one of them fulfils, and `!=` when
// one is the value.
void PlaneSearch::AddStats(uint32_t name, Facts* facts, uint32_t* has) const {
  const std::vector<Stat> stats = file_.MetadataStats(plane_, name);
  for (const uint8_t t : stat_terms_) {
    const Term& term = expression_.terms()[t];
    for (const Stat& stat : stats) {
      if (stat.name != term.key) continue;
      *has |= uint32_t{1} << t;
      if (StatFits(term, stat)) facts->Set(t, term.compare != Compare::kNotEqual);
    }
  }
}

LineSearch::LineSearch(const PlaneSearch& plane, uint32_t line)
    : plane_(plane),
      columns_(plane.file_.Line(plane.plane_, line)),
      bytes_(plane.file_, plane.plane_, line) {
  const xplane::Line& described = plane.file_.planes()[plane.plane_].lines[line];
  const std::vector<Term>& terms = plane.expression_.terms();
  const std::string_view shown =
      columns_.display_name.empty() ? described.display_name : columns_.display_name;
  for (size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].field != Field::kLine) continue;
    line_known_ |= uint32_t{1} << t;
    if (TextFits(terms[t], described.name, shown)) line_value_ |= uint32_t{1} << t;
  }
  for (size_t key = 0; key < plane.keys_.size(); ++key) {
    if (!plane.scanner_.Knows(key) || !plane.scanner_.MayOccur(key, columns_)) continue;
    may_occur_ |= plane.terms_of_key_[key];
  }
  matches_.resize(plane.by_name_.size(), kNo);
  const auto decide = [&](uint32_t name) {
    const Truth truth = plane_.expression_.Evaluate(FactsOf(name));
    matches_[name] = truth == Truth::kNo ? kNo : truth == Truth::kYes ? kYes : kAsk;
    any_ = any_ || matches_[name] != kNo;
    asks_ = asks_ || matches_[name] == kAsk;
  };
  // Each name once, or those that occur, whichever are fewer.
  if (columns_.event_count() >= matches_.size()) {
    for (uint32_t n = 0; n < matches_.size(); ++n) decide(n);
  } else {
    for (const uint32_t name : columns_.name) {
      if (matches_[name] == kNo) decide(name);
    }
  }
}

// Of a name on this line, without its events: a stat that neither the metadata nor any event of the
// line has makes a positive term false and so does `!=`.
SearchExpression::Facts LineSearch::FactsOf(uint32_t name) const {
  SearchExpression::Facts facts = plane_.by_name_[name];
  facts.known |= line_known_;
  facts.value |= line_value_;
  for (const uint8_t t : plane_.stat_terms_) {
    const uint32_t bit = uint32_t{1} << t;
    if ((facts.known & bit) != 0 || (may_occur_ & bit) != 0) continue;
    const bool not_equal = plane_.expression_.terms()[t].compare == Compare::kNotEqual;
    facts.Set(t, not_equal && (plane_.has_stat_[name] & bit) != 0);
  }
  return facts;
}

bool LineSearch::Decides(uint32_t event) const {
  const uint32_t name = columns_.name[event];
  SearchExpression::Facts facts = FactsOf(name);
  const std::vector<Term>& terms = plane_.expression_.terms();
  for (size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].field != Field::kDuration) continue;
    facts.Set(t, Ordered(terms[t].compare, columns_.duration_ps[event], terms[t].duration_ps));
  }
  const Truth early = plane_.expression_.Evaluate(facts);
  if (early != Truth::kUnknown) return early == Truth::kYes;
  uint32_t has = plane_.has_stat_.empty() ? 0 : plane_.has_stat_[name];
  uint32_t fits = 0;
  plane_.scanner_.Scan(bytes_.Record(event), [&](size_t key, const Stat& stat) {
    has |= plane_.terms_of_key_[key];
    for (const uint8_t t : plane_.stat_terms_) {
      const uint32_t bit = uint32_t{1} << t;
      if ((plane_.terms_of_key_[key] & bit) != 0 && StatFits(terms[t], stat)) fits |= bit;
    }
  });
  for (const uint8_t t : plane_.stat_terms_) {
    const uint32_t bit = uint32_t{1} << t;
    if ((facts.known & bit) != 0) continue;
    const bool fit = (fits & bit) != 0;
    const bool not_equal = terms[t].compare == Compare::kNotEqual;
    facts.Set(t, not_equal ? (has & bit) != 0 && !fit : fit);
  }
  return plane_.expression_.Evaluate(facts) == Truth::kYes;
}

}  // namespace strobe::timeline
