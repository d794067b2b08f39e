#include "src/cli/tool_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/cli/text.h"

namespace strobe::cli {
namespace {

using nlohmann::json;

// Expressions of HLO ops have kilobytes; --format json and csv have all of it.
constexpr size_t kMaxCellCharacters = 60;

Status Broken() {
  return InternalError("SERVER_ANSWER_BROKEN", "The answer is not what the API says.")
      .Hint("Is the server of this release?");
}

std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Six significant digits, as people read tables; whole numbers whole.
std::string NumberText(const json& value) {
  if (value.is_number_integer()) return std::to_string(value.get<int64_t>());
  const double number = value.get<double>();
  if (std::fabs(number) < 1e15 && number == std::floor(number))
    return fmt::format("{:.0f}", number);
  return fmt::format("{:.6g}", number);
}

std::string CellText(const json& cell) {
  if (cell.is_object()) return Text(cell, "text");
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number()) return NumberText(cell);
  if (cell.is_boolean()) return cell.get<bool>() ? "true" : "false";
  return "";
}

std::string MarkdownCell(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text, kMaxCellCharacters)) {
    if (c == '|' || c == '\\' || c == '<' || c == '`' || c == '*' || c == '_') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

struct Grid {
  std::vector<std::string> header;
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows;
};

std::string GridText(const Grid& grid, TextStyle style) {
  if (style == TextStyle::kTable) {
    Table table(grid.header, grid.right);
    for (const std::vector<std::string>& row : grid.rows) {
      std::vector<std::string> cells;
      for (const std::string& cell : row) cells.push_back(Printable(cell, kMaxCellCharacters));
      table.AddRow(std::move(cells));
    }
    return table.ToText();
  }
  std::string text = "|";
  for (const std::string& name : grid.header) text += " " + MarkdownCell(name) + " |";
  text += "\n|";
  for (const bool right : grid.right) text += right ? "---:|" : "---|";
  text += "\n";
  for (const std::vector<std::string>& row : grid.rows) {
    text += "|";
    for (const std::string& cell : row) text += " " + MarkdownCell(cell) + " |";
    text += "\n";
  }
  return text;
}

std::string Heading(const std::string& title, TextStyle style) {
  if (title.empty()) return "";
  return (style == TextStyle::kMarkdown ? "### " + MarkdownCell(title) + "\n\n"
                                        : Printable(title) + "\n");
}

bool IsTable(const json& table) {
  return table.is_object() && table.contains("columns") && table["columns"].is_array() &&
         table.contains("rows") && table["rows"].is_array();
}

std::string OneTable(const json& table, TextStyle style, std::string* remarks) {
  std::string text = Heading(Text(table, "title"), style);
  if (table.contains("properties") && table["properties"].is_object()) {
    for (const auto& [name, value] : table["properties"].items()) {
      const std::string shown = value.is_string() ? value.get<std::string>() : "";
      if (shown.empty()) continue;
      text += (style == TextStyle::kMarkdown
                   ? "- " + MarkdownCell(name) + ": " + MarkdownCell(shown)
                   : "  " + Printable(name, 60) + ": " + Printable(shown, 200)) +
              "\n";
    }
    if (style == TextStyle::kMarkdown && !table["properties"].empty()) text += "\n";
  }
  Grid grid;
  for (const json& column : table["columns"]) {
    grid.header.push_back(Text(column, "label"));
    grid.right.push_back(Text(column, "type") == "number");
  }
  if (grid.header.empty()) return text;
  for (const json& row : table["rows"]) {
    std::vector<std::string> cells;
    for (const json& cell : row) cells.push_back(CellText(cell));
    cells.resize(grid.header.size());
    grid.rows.push_back(std::move(cells));
  }
  const uint64_t all = table.value("row_count", uint64_t{0});
  if (all > grid.rows.size()) {
    *remarks += fmt::format("{} of {} rows of \"{}\" (--limit N, --offset N for others)\n",
                            grid.rows.size(), all, Printable(Text(table, "id")));
  }
  return text + GridText(grid, style);
}

}  // namespace

Result<ToolText> ToolAnswerText(std::string_view answer_json, TextStyle style) {
  const json answer = json::parse(answer_json, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object() || !answer.contains("tables") || !answer["tables"].is_array()) {
    return Broken();
  }
  ToolText made;
  made.partial = answer.value("partial", false);
  for (const json& table : answer["tables"]) {
    if (!IsTable(table)) return Broken();
    const std::string text = OneTable(table, style, &made.remarks);
    if (text.empty()) continue;
    if (!made.out.empty()) made.out += "\n";
    made.out += text;
  }
  if (answer.contains("document") && !answer["document"].is_null()) {
    // Control characters are escaped by JSON itself.
    made.out += answer["document"].dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  }
  if (answer.contains("text") && answer["text"].is_string()) {
    made.out += answer["text"].get<std::string>();
    if (!made.out.ends_with('\n')) made.out += "\n";
  }
  for (const json& notice : answer.value("notices", json::array())) {
    if (!notice.is_object()) return Broken();
    made.remarks += Text(notice, "severity") + ": " + Printable(Text(notice, "name"), 60) + ": " +
                    Printable(Text(notice, "message"), 500) + "\n";
    if (const std::string hint = Text(notice, "hint"); !hint.empty()) {
      made.remarks += "  " + Printable(hint, 500) + "\n";
    }
  }
  return made;
}

Result<std::string> ToolListText(std::string_view tools_json, TextStyle style) {
  const json list = json::parse(tools_json, nullptr, /*allow_exceptions=*/false);
  if (!list.is_object() || !list.contains("tools") || !list["tools"].is_array()) return Broken();
  const bool of_session = list.contains("facts");
  Grid grid{.header = {"TOOL", "ANSWERS"}, .right = {false, false}, .rows = {}};
  if (of_session) {
    grid.header = {"TOOL", "APPLIES", "ANSWERS, OR WHY NOT"};
    grid.right = {false, false, false};
  }
  for (const json& tool : list["tools"]) {
    if (!tool.is_object()) return Broken();
    if (!of_session) {
      grid.rows.push_back({Text(tool, "id"), Text(tool, "question")});
      continue;
    }
    const bool applies = tool.value("applies", false);
    const std::string why = Text(tool, "reason") + " " + Text(tool, "hint");
    grid.rows.push_back(
        {Text(tool, "id"), applies ? "yes" : "no", applies ? Text(tool, "question") : why});
  }
  if (style == TextStyle::kMarkdown) return GridText(grid, style);
  // Whole sentences: nothing is cut here.
  Table table(grid.header, grid.right);
  for (std::vector<std::string>& row : grid.rows) {
    for (std::string& cell : row) cell = Printable(cell);
    table.AddRow(std::move(row));
  }
  return table.ToText();
}

}  // namespace strobe::cli
