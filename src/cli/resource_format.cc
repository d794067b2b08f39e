// How resources are printed: yaml, json, table, csv, value(...), with .basename() as gcloud has it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/cli/resource_command.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

using Json = nlohmann::json;

struct ColumnSpec {
  std::vector<std::string> path;
  bool basename = false;
  std::string heading;
};

struct Format {
  std::string kind;
  bool heading = true;
  std::vector<ColumnSpec> columns;
};

Status Malformed(const std::string& format) {
  return InvalidArgumentError("FORMAT_MALFORMED", "The format is not one of ours.")
      .Where(format.substr(0, 128))
      .Hint(
          "Write yaml, json, table, csv or value, the last three with fields as in "
          "\"csv[no-heading](name.basename(),state)\".");
}

ColumnSpec ParseColumn(std::string text) {
  ColumnSpec column;
  constexpr std::string_view kBasename = ".basename()";
  if (text.ends_with(kBasename)) {
    column.basename = true;
    text.resize(text.size() - kBasename.size());
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t dot = std::min(text.find('.', begin), text.size());
    column.path.push_back(text.substr(begin, dot - begin));
    begin = dot + 1;
  }
  for (const char c : column.path.back()) {
    if (c >= 'A' && c <= 'Z' && !column.heading.empty()) column.heading += '_';
    column.heading += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return column;
}

Result<Format> ParseFormat(const std::string& text) {
  Format format;
  const size_t end = std::min(text.find_first_of("[("), text.size());
  format.kind = text.substr(0, end);
  std::string rest = text.substr(end);
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string::npos) return Malformed(text);
    format.heading = rest.substr(1, close - 1) != "no-heading";
    rest = rest.substr(close + 1);
  }
  if (!rest.empty()) {
    if (!rest.starts_with('(') || !rest.ends_with(')')) return Malformed(text);
    rest = rest.substr(1, rest.size() - 2);
    for (size_t begin = 0; begin <= rest.size();) {
      const size_t comma = std::min(rest.find(',', begin), rest.size());
      std::string column = rest.substr(begin, comma - begin);
      column.erase(std::remove(column.begin(), column.end(), ' '), column.end());
      if (column.empty()) return Malformed(text);
      format.columns.push_back(ParseColumn(column));
      begin = comma + 1;
    }
  }
  for (const char* known : {"yaml", "json", "table", "csv", "value"}) {
    if (format.kind == known) return format;
  }
  return Malformed(text);
}

std::string Plain(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string CellOf(const Json& item, const ColumnSpec& column) {
  const Json* at = &item;
  for (const std::string& part : column.path) {
    if (!at->is_object() || !at->contains(part)) return "";
    at = &(*at)[part];
  }
  std::string text = Plain(*at);
  if (column.basename) text = text.substr(text.find_last_of("/\\") + 1);
  return text;
}

// A plain scalar only where nobody can read it as something else.
std::string YamlScalar(const Json& value) {
  if (!value.is_string()) return value.is_null() ? "null" : value.dump();
  const std::string& text = value.get_ref<const std::string&>();
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./ ").find(c) != std::string_view::npos;
  });
  const bool word = plain &&
                    ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') ||
                     text[0] == '/') &&
                    text.back() != ' ' && text != "true" && text != "false" && text != "null" &&
                    text != "yes" && text != "no" && text != "on" && text != "off";
  return word ? text : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void AppendYaml(const Json& value, size_t depth, std::string* out) {
  const std::string indent(depth * 2, ' ');
  if (value.is_object()) {
    for (const auto& [key, entry] : value.items()) {
      *out += indent + YamlScalar(Json(key)) + ":";
      if (entry.is_structured() && !entry.empty()) {
        *out += "\n";
        AppendYaml(entry, entry.is_array() ? depth : depth + 1, out);
      } else {
        *out += " " + (entry.is_structured() ? entry.dump() : YamlScalar(entry)) + "\n";
      }
    }
    return;
  }
  for (const Json& entry : value) {
    if (!entry.is_structured() || entry.empty()) {
      *out += indent + "- " + (entry.is_structured() ? entry.dump() : YamlScalar(entry)) + "\n";
      continue;
    }
    std::string inner;
    AppendYaml(entry, depth + 1, &inner);
    inner.replace(depth * 2, 2, "- ");
    *out += inner;
  }
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string AsLines(const Json& items, const Format& format) {
  const bool csv = format.kind == "csv";
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += csv ? "," : "\t";
      text += csv ? CsvCell(cells[i]) : cells[i];
    }
    text += "\n";
  };
  if (csv && format.heading) {
    std::vector<std::string> headings;
    for (const ColumnSpec& column : format.columns) headings.push_back(column.path.back());
    line(headings);
  }
  for (const Json& item : items) {
    std::vector<std::string> cells;
    for (const ColumnSpec& column : format.columns) cells.push_back(CellOf(item, column));
    line(cells);
  }
  return text;
}

std::string AsTable(const Json& items, const Format& format) {
  std::vector<std::string> headings;
  for (const ColumnSpec& column : format.columns) headings.push_back(column.heading);
  Table table(headings, std::vector<bool>(headings.size(), false));
  for (const Json& item : items) {
    std::vector<std::string> cells;
    for (const ColumnSpec& column : format.columns) {
      cells.push_back(Printable(CellOf(item, column), 120));
    }
    table.AddRow(cells);
  }
  return table.ToText();
}

}  // namespace

Result<std::string> FormatResources(const std::string& items_json, const std::string& format_text,
                                    bool one) {
  STROBE_ASSIGN_OR_RETURN(const Format format, ParseFormat(format_text));
  const Json items = Json::parse(items_json, nullptr, /*allow_exceptions=*/false);
  if (!items.is_array()) return InternalError("SERVER_ANSWER_BROKEN", "The answer is no list.");
  if (format.kind == "json") {
    const Json& shown = one && items.size() == 1 ? items.front() : items;
    return shown.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (format.kind == "yaml") {
    std::string text;
    for (size_t i = 0; i < items.size(); ++i) {
      if (!one) text += "---\n";
      AppendYaml(items[i], 0, &text);
    }
    return text;
  }
  if (format.columns.empty()) return Malformed(format_text);
  return format.kind == "table" ? AsTable(items, format) : AsLines(items, format);
}

}  // namespace strobe::cli
