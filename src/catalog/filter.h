// The filter language of Google's lists, in our own small reader.
//
//   STROBE_ASSIGN_OR_RETURN(Filter filter,
//       ParseFilter("state = \"STATE_FAILED\" AND create_time > \"2026-11-01T00:00:00Z\"",
//       fields));
//   filter.AppendSql(dialect, &sql, &values);
//
//   filter     = factor { "AND" factor } | (nothing)      blank between factors means AND
//   factor     = term { "OR" term }                       OR binds tighter, as in Google's language
//   term       = [ "NOT" | "-" ] ( "(" filter ")" | field operator value )
//   operator   = "=" "!=" "<" "<=" ">" ">=" ":"           ":" on text: contains
//   value      = "..." | '...' | word                     backslash quotes a character
//
// Errors: FILTER_MALFORMED with the place. Limits: kMaxFilterBytes, kMaxFilterTerms,
// kMaxFilterDepth. Cost: linear. Only columns named by the fields reach the SQL; values are bound.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/catalog/fields.h"
#include "src/catalog/sql.h"

namespace strobe::catalog {

// A person's filter is a line; a list of some hundred ids by a script still fits.
inline constexpr size_t kMaxFilterBytes = 4096;
inline constexpr size_t kMaxFilterTerms = 100;
inline constexpr int kMaxFilterDepth = 16;

enum class CompareOperator : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kHas
};

struct FilterNode {
  enum class Kind : uint8_t { kAnd, kOr, kNot, kCompare };
  Kind kind = Kind::kAnd;
  std::vector<FilterNode> children;
  const Field* field = nullptr;
  CompareOperator compare = CompareOperator::kEqual;
  SqlValue value;
};

class Filter {
 public:
  Filter() = default;  // everything
  explicit Filter(FilterNode root) : root_(std::move(root)), any_(true) {}
  bool empty() const { return !any_; }
  const FilterNode& root() const { return root_; }
  // Appends a condition in brackets; nothing when empty.
  void AppendSql(SqlDialect dialect, std::string* sql, std::vector<SqlValue>* values) const;

 private:
  FilterNode root_;
  bool any_ = false;
};

// `fields` must outlive the filter.
Result<Filter> ParseFilter(std::string_view text, std::span<const Field> fields);

struct OrderKey {
  const Field* field = nullptr;
  bool descending = false;
};
inline constexpr size_t kMaxOrderKeys = 8;
// "create_time desc, display_name". Errors: ORDER_MALFORMED.
Result<std::vector<OrderKey>> ParseOrder(std::string_view text, std::span<const Field> fields);

}  // namespace strobe::catalog
