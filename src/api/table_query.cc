#include "src/api/table_query.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/api/request.h"

namespace strobe::api {
namespace {

using tools::Cell;
using tools::Table;
using How = TableQuery::How;

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<How> HowOf(std::string_view name) {
  constexpr std::pair<std::string_view, How> kNames[] = {
      {"eq", How::kEqual},         {"ne", How::kNotEqual}, {"lt", How::kLess},
      {"le", How::kLessEqual},     {"gt", How::kMore},     {"ge", How::kMoreEqual},
      {"contains", How::kContains}};
  for (const auto& [known, how] : kNames) {
    if (known == name) return how;
  }
  return std::nullopt;
}

Result<TableQuery::Filter> ParseFilter(std::string_view text) {
  const size_t first = text.find(':');
  const size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  const std::optional<How> how = second == std::string_view::npos
                                     ? std::nullopt
                                     : HowOf(text.substr(first + 1, second - first - 1));
  if (!how) {
    return InvalidArgumentError("FILTER_MALFORMED", "A filter is <column>:<how>:<value>.")
        .Where(std::string(text.substr(0, 100)))
        .Hint("<how> is one of eq, ne, lt, le, gt, ge, contains.");
  }
  TableQuery::Filter filter;
  filter.column = text.substr(0, first);
  filter.how = *how;
  filter.text = text.substr(second + 1);
  filter.number = NumberOf(filter.text);
  if (*how == How::kContains) filter.text = ToLowerAscii(filter.text);
  return filter;
}

Result<uint64_t> ParseCount(std::string_view name, std::string_view text, uint64_t maximum) {
  const std::optional<int64_t> value = ParseInt64(text);
  if (value && *value >= 0 && static_cast<uint64_t>(*value) <= maximum) {
    return static_cast<uint64_t>(*value);
  }
  return InvalidArgumentError("PARAMETER_MALFORMED", "The query parameter \"" + std::string(name) +
                                                         "\" is not what it must be.")
      .Where(std::string(name) + "=" + std::string(text.substr(0, 64)))
      .Hint("Expected an integer from 0 to " + std::to_string(maximum) + ".");
}

Status TooMany(std::string_view name, size_t limit) {
  return InvalidArgumentError("PARAMETER_TOO_MANY", "There are too many " + std::string(name) + ".")
      .Hint("At most " + std::to_string(limit) + ".");
}

bool Contains(const Cell& cell, std::string_view lower) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) {
    if (ToLowerAscii(*text).find(lower) != std::string::npos) return true;
  }
  return !cell.formatted.empty() && ToLowerAscii(cell.formatted).find(lower) != std::string::npos;
}

// What the filter says, of the same kind as the cell.
Cell Wanted(const TableQuery::Filter& filter, const Cell& cell) {
  if (std::holds_alternative<std::string>(cell.value)) return Cell(filter.text);
  if (std::holds_alternative<bool>(cell.value)) {
    if (filter.text == "true" || filter.text == "false") return Cell(filter.text == "true");
    return Cell();
  }
  return filter.number ? Cell(*filter.number) : Cell();
}

bool Passes(const Cell& cell, const TableQuery::Filter& filter) {
  if (filter.how == How::kContains) return Contains(cell, filter.text);
  // "" asks for empty cells.
  if (filter.text.empty() && filter.how == How::kEqual) {
    const auto* text = std::get_if<std::string>(&cell.value);
    return IsNothing(cell) || (text != nullptr && text->empty());
  }
  const Cell wanted = Wanted(filter, cell);
  if (IsNothing(cell) || IsNothing(wanted)) return filter.how == How::kNotEqual;
  const int order = CompareCells(cell, wanted);
  switch (filter.how) {
    case How::kEqual:
      return order == 0;
    case How::kNotEqual:
      return order != 0;
    case How::kLess:
      return order < 0;
    case How::kLessEqual:
      return order <= 0;
    case How::kMore:
      return order > 0;
    case How::kMoreEqual:
      return order >= 0;
    case How::kContains:
      break;
  }
  return false;
}

}  // namespace

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

bool IsNothing(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell.value);
  return std::holds_alternative<std::monostate>(cell.value) ||
         (number != nullptr && std::isnan(*number));
}

int CompareCells(const Cell& a, const Cell& b) {
  const auto* a_text = std::get_if<std::string>(&a.value);
  const auto* b_text = std::get_if<std::string>(&b.value);
  if (a_text != nullptr && b_text != nullptr) {
    const int order = a_text->compare(*b_text);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (a_text != nullptr || b_text != nullptr) return a_text != nullptr ? 1 : -1;
  const auto number = [](const Cell& cell) {
    if (const auto* value = std::get_if<double>(&cell.value)) return *value;
    const auto* truth = std::get_if<bool>(&cell.value);
    return truth != nullptr && *truth ? 1.0 : 0.0;
  };
  const double x = number(a);
  const double y = number(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

Result<TableQuery> ParseTableQuery(const std::vector<std::pair<std::string, std::string>>& query) {
  TableQuery parsed;
  for (const auto& [name, value] : query) {
    if (name == "columns") parsed.columns = SplitList(value);
    if (name == "q") parsed.text = ToLowerAscii(value);
    if (name == "sort") {
      parsed.sort.clear();
      for (const std::string& column : SplitList(value)) {
        const bool descending = column.front() == '-';
        parsed.sort.push_back({descending ? column.substr(1) : column, descending});
      }
      if (parsed.sort.size() > kMaxSortColumns)
        return TooMany("columns to sort by", kMaxSortColumns);
    }
    if (name == "filter" && !value.empty()) {
      STROBE_ASSIGN_OR_RETURN(TableQuery::Filter filter, ParseFilter(value));
      parsed.filters.push_back(std::move(filter));
      if (parsed.filters.size() > kMaxFilters) return TooMany("filters", kMaxFilters);
    }
    if (name == "offset") {
      STROBE_ASSIGN_OR_RETURN(parsed.offset, ParseCount(name, value, INT64_MAX));
    }
    if (name == "limit") {
      STROBE_ASSIGN_OR_RETURN(const uint64_t limit, ParseCount(name, value, kMaxPageRows));
      parsed.limit = limit;
    }
  }
  return parsed;
}

// More and less than what is no number no number can be.
Status CheckComparable(const TableQuery::Filter& filter, std::span<const Table* const> tables) {
  const bool orders = filter.how == How::kLess || filter.how == How::kLessEqual ||
                      filter.how == How::kMore || filter.how == How::kMoreEqual;
  if (!orders || (filter.number && !std::isnan(*filter.number))) return OkStatus();
  for (const Table* table : tables) {
    const size_t c = table->ColumnIndex(filter.column);
    if (c < table->columns().size() && table->columns()[c].type == tools::ColumnType::kNumber) {
      return InvalidArgumentError("FILTER_MALFORMED", "The column holds numbers.")
          .Where(filter.column + ": " + filter.text.substr(0, 100))
          .Hint("Compare it with a number.");
    }
  }
  return OkStatus();
}

Status CheckTableQuery(const TableQuery& query, std::span<const Table* const> tables) {
  std::vector<std::string> named = query.columns;
  for (const TableQuery::Sort& sort : query.sort) named.push_back(sort.column);
  for (const TableQuery::Filter& filter : query.filters) named.push_back(filter.column);
  for (const std::string& name : named) {
    const bool known = std::ranges::any_of(tables, [&](const Table* table) {
      return table->ColumnIndex(name) < table->columns().size();
    });
    if (known) continue;
    std::string columns;
    for (const Table* table : tables) {
      for (const tools::Column& column : table->columns()) {
        columns += (columns.empty() ? "" : ", ") + column.id;
      }
    }
    return InvalidArgumentError("COLUMN_UNKNOWN", "The answer has no column of that name.")
        .Where(name.substr(0, 100))
        .Hint("It has: " + columns + ".");
  }
  for (const TableQuery::Filter& filter : query.filters) {
    STROBE_RETURN_IF_ERROR(CheckComparable(filter, tables));
  }
  return OkStatus();
}

TableView SelectRows(const Table& table, const TableQuery& query) {
  TableView view;
  const size_t count = table.columns().size();
  for (const std::string& name : query.columns) {
    if (const size_t c = table.ColumnIndex(name); c < count) view.columns.push_back(c);
  }
  if (query.columns.empty()) {
    for (size_t c = 0; c < count; ++c) view.columns.push_back(c);
  }
  std::vector<std::pair<size_t, const TableQuery::Filter*>> filters;
  for (const TableQuery::Filter& filter : query.filters) {
    if (const size_t c = table.ColumnIndex(filter.column); c < count) {
      filters.emplace_back(c, &filter);
    }
  }
  for (size_t r = 0; r < table.rows().size(); ++r) {
    const std::vector<Cell>& cells = table.rows()[r];
    const bool passes =
        std::ranges::all_of(
            filters,
            [&](const auto& filter) { return Passes(cells[filter.first], *filter.second); }) &&
        (query.text.empty() ||
         std::ranges::any_of(cells, [&](const Cell& cell) { return Contains(cell, query.text); }));
    if (passes) view.rows.push_back(r);
  }
  std::vector<std::pair<size_t, bool>> sort;
  for (const TableQuery::Sort& by : query.sort) {
    if (const size_t c = table.ColumnIndex(by.column); c < count) {
      sort.emplace_back(c, by.descending);
    }
  }
  if (sort.empty()) return view;
  std::ranges::stable_sort(view.rows, [&](size_t a, size_t b) {
    for (const auto& [c, descending] : sort) {
      const Cell& left = table.rows()[a][c];
      const Cell& right = table.rows()[b][c];
      const bool left_nothing = IsNothing(left);
      const bool right_nothing = IsNothing(right);
      if (left_nothing != right_nothing) return right_nothing;  // empty ones last either way
      if (left_nothing) continue;
      const int order = CompareCells(left, right);
      if (order != 0) return descending ? order > 0 : order < 0;
    }
    return false;
  });
  return view;
}

std::span<const size_t> PageOf(const std::vector<size_t>& rows, const TableQuery& query,
                               uint64_t default_limit) {
  const size_t begin = std::min<uint64_t>(query.offset, rows.size());
  const uint64_t limit = query.limit.value_or(default_limit);
  return std::span(rows).subspan(begin, std::min<uint64_t>(limit, rows.size() - begin));
}

}  // namespace strobe::api
