// Search expressions over names, stats, durations and places of events.
//
//   STROBE_ASSIGN_OR_RETURN(const SearchExpression expression,
//                           SearchExpression::Parse("name:fusion and
//                           stat:bytes_accessed>1000000"));
//   PlaneSearch plane(expression, file, 0, "host0");   // once a plane: decides by name where it
//   can const LineSearch line(plane, 3);                   // once a line line.matches()[name] //
//   kNo, kYes or kAsk line.Decides(event)                                // of an event whose name
//   says kAsk
//
// Grammar (docs/api/v1.md, search): terms joined by `and` (or nothing), `or`, `not`, parentheses. A
// term over stats is decided by the metadata's stats where they settle it, else by the event's own,
// which are read only for events that nothing else has decided. Cost: 0.1 us a name and term, a
// record's bytes for each event that must be asked. Limits: NamePattern::kMaxPatternBytes,
// kMaxTerms, kMaxDepth. SearchExpression and PlaneSearch must outlive what is made of them; all are
// immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/stat_scan.h"
#include "src/base/status.h"
#include "src/timeline/search.h"
#include "src/xplane/profile_file.h"

namespace strobe::timeline {

class SearchExpression {
 public:
  // A set of terms is the bits of one word.
  static constexpr size_t kMaxTerms = 32;
  // Of parentheses and `not`; more are mistakes.
  static constexpr int kMaxDepth = 64;

  enum class Field : uint8_t { kName, kStat, kDuration, kLine, kPlane, kHost };
  enum class Compare : uint8_t {
    kContains,
    kEqual,
    kNotEqual,
    kPresent,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual
  };
  struct Term {
    Field field = Field::kName;
    Compare compare = Compare::kContains;
    std::string key;                     // of a stat
    std::string text;                    // as written; lower case where texts are compared
    std::optional<NamePattern> pattern;  // kContains
    std::optional<double> number;        // the text as one
    std::optional<int64_t> integer;      // likewise, when it is a whole one
    int64_t duration_ps = 0;             // kDuration
  };

  // What is known of the terms: bit i of `known` and, when it is set, of `value`.
  struct Facts {
    uint32_t known = 0;
    uint32_t value = 0;
    void Set(size_t term, bool is_true) {
      known |= uint32_t{1} << term;
      if (is_true) value |= uint32_t{1} << term;
    }
  };
  enum class Truth : uint8_t { kNo, kYes, kUnknown };

  // INVALID_ARGUMENT: SEARCH_EMPTY, SEARCH_TOO_LONG, SEARCH_EXPRESSION, SEARCH_PATTERN.
  static Result<SearchExpression> Parse(std::string_view text);

  const std::vector<Term>& terms() const { return terms_; }
  Truth Evaluate(const Facts& facts) const;
  bool has_stat_terms() const { return has_stat_terms_; }

 private:
  friend class SearchExpressionParser;
  enum class Op : uint8_t { kTerm, kAnd, kOr, kNot };
  struct Step {
    Op op = Op::kTerm;
    uint8_t term = 0;
  };
  std::vector<Term> terms_;
  std::vector<Step> steps_;  // operands before their operator
  bool has_stat_terms_ = false;
};

// Whether one stat fulfils a term over stats; for kNotEqual: whether it is the value.
bool StatFits(const SearchExpression::Term& term, const xplane::Stat& stat);

class PlaneSearch {
 public:
  PlaneSearch(const SearchExpression& expression, const xplane::ProfileFile& file, uint32_t plane,
              std::string_view host);

  // No event of the plane can fit.
  bool hopeless() const { return hopeless_; }

 private:
  friend class LineSearch;
  using Facts = SearchExpression::Facts;

  void AddStats(uint32_t name, Facts* facts, uint32_t* has) const;

  const SearchExpression& expression_;
  const xplane::ProfileFile& file_;
  const uint32_t plane_;
  std::vector<Facts> by_name_;       // by event metadata
  std::vector<uint32_t> has_stat_;   // by event metadata, terms whose stat the metadata has
  std::vector<uint8_t> stat_terms_;  // numbers of the terms over stats
  const std::vector<std::string_view> keys_;  // the stats that they ask for, each once
  std::vector<uint32_t> terms_of_key_;        // bits of terms, by key
  analysis::StatScanner scanner_;
  bool hopeless_ = false;
};

class LineSearch {
 public:
  static constexpr uint8_t kNo = 0;
  static constexpr uint8_t kYes = 1;
  static constexpr uint8_t kAsk = 2;  // the event itself decides

  LineSearch(const PlaneSearch& plane, uint32_t line);

  const std::vector<uint8_t>& matches() const { return matches_; }
  bool any() const { return any_; }
  bool asks() const { return asks_; }
  bool Decides(uint32_t event) const;

 private:
  SearchExpression::Facts FactsOf(uint32_t name) const;

  const PlaneSearch& plane_;
  const xplane::LineColumns& columns_;
  const analysis::LineBytes bytes_;
  uint32_t line_known_ = 0;  // terms over lines, and stats that no event of the line has
  uint32_t line_value_ = 0;
  uint32_t may_occur_ = 0;  // terms whose stat events of the line may have
  std::vector<uint8_t> matches_;
  bool any_ = false;
  bool asks_ = false;
};

}  // namespace strobe::timeline
