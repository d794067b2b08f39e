// Tables of several sessions side by side: rows that are about the same thing, and by how much
// their numbers differ from those of the first.
//
//   const Comparison made = CompareTables({&before, &after}, KeyColumns("hlo_stats", before, {}));
//   made.rows[0].row_ids            // {17, nullopt}: only the first session has it
//   ComparisonJson(...)
//
// Rows are matched by the texts of their key columns; of rows with equal keys the first of one
// matches the first of the other, and so on. Order: that of the first session, then what only later
// ones have. Pure functions. Cost: one hash a row. Limits: kMaxSessions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/tools/table.h"

namespace strobe::api {

// A screen has room for few; the cost is that of as many answers.
inline constexpr size_t kMaxComparedSessions = 8;

struct ComparedRow {
  std::vector<std::optional<size_t>> row_ids;  // by session
};

struct Comparison {
  std::vector<size_t> keys;     // columns of the first table
  std::vector<size_t> columns;  // number columns of the first table
  std::vector<ComparedRow> rows;
};

// The columns that say what a row is about: those asked for, those known for the tool, else all
// text columns, else the first one. Errors: COLUMN_UNKNOWN.
Result<std::vector<size_t>> KeyColumns(std::string_view tool, const tools::Table& table,
                                       const std::vector<std::string>& asked);

// Columns are found in later tables by their ids; one that is missing there is empty.
Comparison CompareTables(std::span<const tools::Table* const> tables,
                         const std::vector<size_t>& keys);

// The cell of a row of one session; an empty one when the session lacks the row or the column.
const tools::Cell& ComparedCell(std::span<const tools::Table* const> tables, const ComparedRow& row,
                                size_t column, size_t session);

struct Difference {
  std::optional<double> absolute;  // other - first
  std::optional<double> relative;  // absolute / first; nullopt when the first is 0
};
Difference DifferenceOf(const tools::Cell& first, const tools::Cell& other);

// Orders rows by "<column>", "<column>.absolute" or "<column>.relative" (of the last session; by
// amount when descending), "-" in front for descending; empty ones last. COLUMN_UNKNOWN.
Status SortComparison(std::span<const tools::Table* const> tables,
                      const std::vector<std::pair<std::string, bool>>& by, Comparison* comparison);

}  // namespace strobe::api
