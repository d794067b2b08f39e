// A typed table: what most tools answer. Every column has a type and a unit, every row may say what
// it is about, so that a reader can go from a total to its rows and from a row to its events.
//
//   Table table("ops", "Operations");
//   table.AddColumn(NumberColumn("self_time_us", "Self time", "us", "Without what it calls."));
//   table.AddRow({Cell(12.5)}, {.hlo_module_id = 7, .op_name = "fusion.3"});
//   table.SetProperty("device_type", "TPU v6 Lite");
//
// Ids and labels of columns are XProf's where XProf has the column; the unit is ours and shown by
// our own API only. Rows have exactly as many cells as there are columns (AddRow checks). Pure
// data: no JSON, no formatting but what a cell carries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace strobe::tools {

enum class ColumnType : uint8_t { kString, kNumber, kBoolean };

struct Column {
  std::string id = {};
  std::string label = {};
  ColumnType type = ColumnType::kNumber;
  // "us", "ms", "ps", "bytes", "GiB/s", "GFLOP/s", "flop/byte", "percent" (0 to 100), "fraction" (0
  // to 1), "count", "joules"; empty: none.
  std::string unit = {};
  // XProf's custom properties of the column: {"role", "tooltip"}.
  std::vector<std::pair<std::string, std::string>> properties = {};
  // What the number means and how it is made, for people. May be empty.
  std::string description = {};
};

Column TextColumn(std::string_view id, std::string_view label, std::string_view description = "");
Column NumberColumn(std::string_view id, std::string_view label, std::string_view unit,
                    std::string_view description);

// Empty (null), text, number or truth; `formatted` is XProf's "f", empty when it has none.
struct Cell {
  Cell() = default;
  Cell(std::string text) : value(std::move(text)) {}         // NOLINT: cells are written in lists
  Cell(std::string_view text) : value(std::string(text)) {}  // NOLINT
  Cell(const char* text) : value(std::string(text)) {}       // NOLINT
  Cell(double number) : value(number) {}                     // NOLINT
  Cell(bool truth) : value(truth) {}                         // NOLINT
  Cell(int64_t number) : value(static_cast<double>(number)) {}   // NOLINT
  Cell(uint64_t number) : value(static_cast<double>(number)) {}  // NOLINT
  Cell(int number) : value(static_cast<double>(number)) {}       // NOLINT
  Cell(uint32_t number) : value(static_cast<double>(number)) {}  // NOLINT
  Cell& Format(std::string text) {
    formatted = std::move(text);
    return *this;
  }

  std::variant<std::monostate, std::string, double, bool> value;
  std::string formatted;
  friend bool operator==(const Cell&, const Cell&) = default;
};

// What a row is about: enough to find its events again. Empty fields do not restrict.
struct RowSubject {
  // Whose events the row counts: ops of devices, or ops of host threads.
  enum class Side : uint8_t { kAny, kDevice, kHost };
  uint64_t hlo_module_id = 0;
  std::string op_name;       // HLO op, kernel or host op
  std::string framework_op;  // provenance
  int64_t step = -1;         // step number (group id)
  std::string host;
  Side side = Side::kAny;
  // Of a kernel how it was launched (analysis::LaunchOf); then `framework_op` is exact, even empty.
  std::string launch;
  bool empty() const {
    return hlo_module_id == 0 && op_name.empty() && framework_op.empty() && step < 0 &&
           host.empty();
  }
  friend bool operator==(const RowSubject&, const RowSubject&) = default;
};

class Table {
 public:
  Table() = default;
  Table(std::string_view id, std::string_view title) : id_(id), title_(title) {}

  void AddColumn(Column column) { columns_.push_back(std::move(column)); }
  // The number of cells must be that of the columns.
  void AddRow(std::vector<Cell> cells, RowSubject subject = {});
  // XProf's custom property of the table; replaces one of the same name.
  void SetProperty(std::string_view name, std::string value);
  const std::string* FindProperty(std::string_view name) const;

  const std::string& id() const { return id_; }
  const std::string& title() const { return title_; }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  std::vector<std::vector<Cell>>& mutable_rows() { return rows_; }
  const std::vector<RowSubject>& subjects() const { return subjects_; }  // one a row
  const std::vector<std::pair<std::string, std::string>>& properties() const { return properties_; }
  // Neither columns nor properties. XProf's route prints one without an id as {}, one with an id
  // as {"cols":[],"rows":[]}.
  bool empty() const { return columns_.empty() && properties_.empty(); }
  size_t ColumnIndex(std::string_view id) const;  // columns().size() when there is none

 private:
  std::string id_;
  std::string title_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<RowSubject> subjects_;
  std::vector<std::pair<std::string, std::string>> properties_;
};

}  // namespace strobe::tools
