// Which rows and columns of a table are wanted, in which order: what the query parameters columns,
// sort, filter, q, offset and limit say.
//
//   STROBE_ASSIGN_OR_RETURN(TableQuery query, ParseTableQuery(request.query));
//   STROBE_RETURN_IF_ERROR(CheckTableQuery(query, result.tables));
//   const TableView view = SelectRows(table, query);   // rows in order, before paging
//   for (size_t row : PageOf(view.rows, query)) ...
//
// Pure functions over a table that is never changed: a view is indices. Cost: filtering is linear,
// sorting n log n with stable order, so ties keep the tool's own. Limits: kMaxPageRows rows a page,
// kMaxFilters filters, kMaxSortColumns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/tools/table.h"

namespace strobe::api {

// What a page of the console asks at most; exports take all.
inline constexpr uint64_t kMaxPageRows = 10'000;
inline constexpr uint64_t kDefaultPageRows = 1000;
inline constexpr size_t kMaxFilters = 32;
inline constexpr size_t kMaxSortColumns = 8;

struct TableQuery {
  enum class How : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kMore, kMoreEqual, kContains };
  struct Sort {
    std::string column;
    bool descending = false;
  };
  struct Filter {
    std::string column;
    How how = How::kEqual;
    std::string text;              // lower case for kContains
    std::optional<double> number;  // of the text, when it is one
  };
  std::vector<std::string> columns;  // empty: all
  std::vector<Sort> sort;
  std::vector<Filter> filters;
  std::string text;  // lower case; empty: any row
  uint64_t offset = 0;
  std::optional<uint64_t> limit;  // absent: the default of the form that is asked for
};

// From decoded parameters; others are left alone. Errors: FILTER_MALFORMED, PARAMETER_MALFORMED,
// PARAMETER_TOO_MANY.
Result<TableQuery> ParseTableQuery(const std::vector<std::pair<std::string, std::string>>& query);
// COLUMN_UNKNOWN when a column stands in none of the tables.
Status CheckTableQuery(const TableQuery& query, std::span<const tools::Table* const> tables);

struct TableView {
  std::vector<size_t> columns;
  std::vector<size_t> rows;  // all that pass, in the order asked for
};

TableView SelectRows(const tools::Table& table, const TableQuery& query);
std::span<const size_t> PageOf(const std::vector<size_t>& rows, const TableQuery& query,
                               uint64_t default_limit);

// -1, 0, 1: numbers before texts, false before true. Empty cells and NaN count as nothing.
int CompareCells(const tools::Cell& a, const tools::Cell& b);
bool IsNothing(const tools::Cell& cell);

std::vector<std::string> SplitList(std::string_view text);  // by commas, empty parts dropped

}  // namespace strobe::api
