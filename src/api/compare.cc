#include "src/api/compare.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "src/api/table_query.h"

namespace strobe::api {
namespace {

using tools::Cell;
using tools::Table;

// Where text columns are more than what names the row (expressions, source lines, program ids that
// change with every compilation).
struct KnownKeys {
  std::string_view tool;
  std::vector<std::string_view> columns;
};

const std::vector<KnownKeys>& AllKnownKeys() {
  static const std::vector<KnownKeys> keys = {
      {"hlo_stats", {"category", "hlo_op_name"}},
      {"framework_op_stats", {"host_or_device", "type", "operation"}},
      {"roofline_model", {"step", "category", "operation"}},
      {"kernel_stats", {"kernel_name", "grid_dim", "block_dim", "op_name"}},
      {"megascale_stats", {"rendezvous_name"}},
      {"perf_counters", {"Host", "Chip", "Kernel", "Sample", "Counter"}},
      {"utilization_viewer", {"host", "device", "sample", "node", "name"}},
      {"input_pipeline_analyzer", {"stepnum", "index", "opName", "category", "link", "severity"}},
      {"overview_page", {"category", "operation", "stepnum", "host_id", "percentile", "severity"}},
      {"inference_profile", {"model_name", "percentile", "request_id"}},
  };
  return keys;
}

std::string KeyOf(const Table& table, const std::vector<size_t>& keys, size_t row) {
  std::string key;
  for (const size_t column : keys) {
    if (column >= table.columns().size()) {
      key += "-;";
      continue;
    }
    const Cell& cell = table.rows()[row][column];
    std::string part;
    if (const auto* text = std::get_if<std::string>(&cell.value)) part = *text;
    if (const auto* number = std::get_if<double>(&cell.value)) part = std::to_string(*number);
    if (const auto* truth = std::get_if<bool>(&cell.value)) part = *truth ? "1" : "0";
    key += std::to_string(part.size()) + ":" + part + ";";
  }
  return key;
}

// The same columns in another table; columns().size() where it has none.
std::vector<size_t> SameColumns(const Table& first, const Table& other,
                                const std::vector<size_t>& columns) {
  std::vector<size_t> same;
  for (const size_t column : columns) same.push_back(other.ColumnIndex(first.columns()[column].id));
  return same;
}

Status UnknownColumn(const Table& table, std::string_view name) {
  std::string known;
  for (const tools::Column& column : table.columns()) {
    known += (known.empty() ? "" : ", ") + column.id;
  }
  return InvalidArgumentError("COLUMN_UNKNOWN", "The table has no column of that name.")
      .Where(std::string(name.substr(0, 100)))
      .Hint("It has: " + known + ".");
}

const double* NumberOf(const Cell& cell) {
  const auto* number = std::get_if<double>(&cell.value);
  return number == nullptr || std::isnan(*number) ? nullptr : number;
}

enum class Of : uint8_t { kValue, kAbsolute, kRelative };

// What a row is ordered by; an empty cell when there is nothing.
Cell SortCell(std::span<const Table* const> tables, const ComparedRow& row, size_t column, Of of,
              bool by_amount) {
  const Cell& first = ComparedCell(tables, row, column, 0);
  if (of == Of::kValue) {
    if (!IsNothing(first)) return first;
    for (size_t s = 1; s < tables.size(); ++s) {
      if (std::holds_alternative<std::string>(ComparedCell(tables, row, column, s).value)) {
        return ComparedCell(tables, row, column, s);
      }
    }
    return Cell();
  }
  const Difference difference =
      DifferenceOf(first, ComparedCell(tables, row, column, tables.size() - 1));
  const std::optional<double> value =
      of == Of::kAbsolute ? difference.absolute : difference.relative;
  if (!value) return Cell();
  return Cell(by_amount ? std::fabs(*value) : *value);
}

}  // namespace

Result<std::vector<size_t>> KeyColumns(std::string_view tool, const Table& table,
                                       const std::vector<std::string>& asked) {
  std::vector<size_t> keys;
  for (const std::string& name : asked) {
    const size_t column = table.ColumnIndex(name);
    if (column == table.columns().size()) return UnknownColumn(table, name);
    keys.push_back(column);
  }
  if (!keys.empty()) return keys;
  for (const KnownKeys& known : AllKnownKeys()) {
    if (known.tool != tool) continue;
    for (const std::string_view name : known.columns) {
      const size_t column = table.ColumnIndex(name);
      if (column < table.columns().size()) keys.push_back(column);
    }
  }
  if (!keys.empty()) return keys;
  for (size_t c = 0; c < table.columns().size(); ++c) {
    if (table.columns()[c].type == tools::ColumnType::kString) keys.push_back(c);
  }
  if (keys.empty() && !table.columns().empty()) keys.push_back(0);
  return keys;
}

Comparison CompareTables(std::span<const Table* const> tables, const std::vector<size_t>& keys) {
  Comparison made;
  made.keys = keys;
  const Table& first = *tables.front();
  for (size_t c = 0; c < first.columns().size(); ++c) {
    const bool is_key = std::ranges::find(keys, c) != keys.end();
    if (!is_key && first.columns()[c].type == tools::ColumnType::kNumber) made.columns.push_back(c);
  }
  // Key and how often it was met in this session -> row of the comparison.
  std::unordered_map<std::string, size_t> known;
  for (size_t s = 0; s < tables.size(); ++s) {
    const std::vector<size_t> columns = SameColumns(first, *tables[s], keys);
    std::unordered_map<std::string, size_t> met;
    for (size_t r = 0; r < tables[s]->rows().size(); ++r) {
      std::string key = KeyOf(*tables[s], columns, r);
      key += "#" + std::to_string(met[key]++);
      const auto [at, is_new] = known.try_emplace(std::move(key), made.rows.size());
      if (is_new) {
        made.rows.emplace_back();
        made.rows.back().row_ids.resize(tables.size());
      }
      made.rows[at->second].row_ids[s] = r;
    }
  }
  return made;
}

const Cell& ComparedCell(std::span<const Table* const> tables, const ComparedRow& row,
                         size_t column, size_t session) {
  static const Cell nothing;
  const std::optional<size_t> id = row.row_ids[session];
  if (!id) return nothing;
  const Table& table = *tables[session];
  if (session > 0) column = table.ColumnIndex(tables.front()->columns()[column].id);
  return column < table.columns().size() ? table.rows()[*id][column] : nothing;
}

Difference DifferenceOf(const Cell& first, const Cell& other) {
  const double* a = NumberOf(first);
  const double* b = NumberOf(other);
  Difference difference;
  if (a == nullptr || b == nullptr) return difference;
  difference.absolute = *b - *a;
  if (*a != 0) difference.relative = (*b - *a) / *a;
  return difference;
}

Status SortComparison(std::span<const Table* const> tables,
                      const std::vector<std::pair<std::string, bool>>& by, Comparison* comparison) {
  struct Order {
    std::vector<Cell> cells;  // by row
    bool descending = false;
  };
  const Table& first = *tables.front();
  std::vector<Order> orders;
  for (const auto& [name, descending] : by) {
    std::string_view id = name;
    Of of = Of::kValue;
    for (const auto& [ending, what] :
         {std::pair<std::string_view, Of>{".absolute", Of::kAbsolute},
          std::pair<std::string_view, Of>{".relative", Of::kRelative}}) {
      if (!id.ends_with(ending)) continue;
      id.remove_suffix(ending.size());
      of = what;
      break;
    }
    const size_t column = first.ColumnIndex(id);
    if (column == first.columns().size()) return UnknownColumn(first, id);
    Order order{.cells = {}, .descending = descending};
    for (const ComparedRow& row : comparison->rows) {
      order.cells.push_back(SortCell(tables, row, column, of, descending));
    }
    orders.push_back(std::move(order));
  }
  std::vector<size_t> places(comparison->rows.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::ranges::stable_sort(places, [&orders](size_t a, size_t b) {
    for (const Order& order : orders) {
      const Cell& left = order.cells[a];
      const Cell& right = order.cells[b];
      if (IsNothing(left) != IsNothing(right)) return IsNothing(right);
      if (IsNothing(left)) continue;
      const int compared = CompareCells(left, right);
      if (compared != 0) return order.descending ? compared > 0 : compared < 0;
    }
    return false;
  });
  std::vector<ComparedRow> sorted;
  sorted.reserve(places.size());
  for (const size_t place : places) sorted.push_back(std::move(comparison->rows[place]));
  comparison->rows = std::move(sorted);
  return OkStatus();
}

}  // namespace strobe::api
