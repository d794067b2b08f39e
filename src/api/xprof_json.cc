#include "src/api/xprof_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/api/xprof_trace.h"
#include "src/base/utf8.h"
#include "src/tools/trace_view.h"

namespace strobe::api {
namespace {

using tools::Cell;
using tools::Column;
using tools::Table;
using tools::ToolResult;
using tools::Value;

// Shortest decimal digits of a finite positive number, and where the point stands: 0.digits *
// 10^point.
struct Digits {
  std::string digits;
  int point = 0;
};

Digits DigitsOf(double positive) {
  char buffer[40];
  const auto done =
      std::to_chars(buffer, buffer + sizeof(buffer), positive, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(done.ptr - buffer));
  const size_t e = text.find('e');
  Digits made;
  for (const char c : text.substr(0, e)) {
    if (c != '.') made.digits.push_back(c);
  }
  std::string_view exponent = text.substr(e + 1);
  if (exponent.front() == '+') exponent.remove_prefix(1);
  int value = 0;
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
  made.point = value + 1;
  return made;
}

std::string Exponent(int exponent) {
  const int size = std::abs(exponent);
  return std::string(exponent < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + std::to_string(size);
}

// Plain notation while the number is below 10^max_point and not below 10^-4.
std::string Decimal(double number, int max_point) {
  if (number == 0) return std::signbit(number) ? "-0.0" : "0.0";
  const std::string sign = number < 0 ? "-" : "";
  const Digits parts = DigitsOf(std::fabs(number));
  const auto count = static_cast<int>(parts.digits.size());
  if (parts.point > 0 && parts.point <= max_point) {
    if (count <= parts.point) {
      return sign + parts.digits + std::string(static_cast<size_t>(parts.point - count), '0') +
             ".0";
    }
    return sign + parts.digits.substr(0, static_cast<size_t>(parts.point)) + "." +
           parts.digits.substr(static_cast<size_t>(parts.point));
  }
  if (parts.point <= 0 && parts.point > -4) {
    return sign + "0." + std::string(static_cast<size_t>(-parts.point), '0') + parts.digits;
  }
  std::string text = sign + parts.digits.substr(0, 1);
  if (count > 1) text += "." + parts.digits.substr(1);
  return text + Exponent(parts.point - 1);
}

void AppendControl(char c, std::string* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '\n':
      *out += "\\n";
      return;
    case '\r':
      *out += "\\r";
      return;
    case '\t':
      *out += "\\t";
      return;
    case '\b':
      *out += "\\b";
      return;
    case '\f':
      *out += "\\f";
      return;
    default:
      *out += "\\u00";
      out->push_back(kHex[static_cast<uint8_t>(c) >> 4]);
      out->push_back(kHex[static_cast<uint8_t>(c) & 15]);
  }
}

enum class Escaping : uint8_t { kPlain, kHtmlSafe };

// Beyond ASCII as it is; protobuf's printer also hides what could end a script element.
void AppendJsonText(std::string_view text, Escaping escaping, std::string* out) {
  out->push_back('"');
  const auto append = [&](std::string_view valid) {
    for (const char c : valid) {
      if (c == '"' || c == '\\') {
        out->push_back('\\');
        out->push_back(c);
      } else if (static_cast<uint8_t>(c) < 0x20) {
        AppendControl(c, out);
      } else if (escaping == Escaping::kHtmlSafe && (c == '<' || c == '>' || c == '\x7f')) {
        AppendControl(c, out);
      } else {
        out->push_back(c);
      }
    }
  };
  append(ToValidUtf8(text));
  out->push_back('"');
}

void AppendTableText(std::string_view text, std::string* out) {
  AppendJsonText(text, Escaping::kPlain, out);
}

// {"name":"text",...} sorted by name.
void AppendProperties(std::vector<std::pair<std::string, std::string>> properties,
                      std::string* out) {
  std::ranges::sort(properties);
  out->push_back('{');
  for (const auto& [name, text] : properties) {
    if (out->back() != '{') out->push_back(',');
    AppendTableText(name, out);
    out->push_back(':');
    AppendTableText(text, out);
  }
  out->push_back('}');
}

std::string_view TypeName(tools::ColumnType type) {
  switch (type) {
    case tools::ColumnType::kString:
      return "string";
    case tools::ColumnType::kNumber:
      return "number";
    case tools::ColumnType::kBoolean:
      return "boolean";
  }
  return "string";
}

void AppendColumn(const Column& column, std::string* out) {
  *out += "{\"id\":";
  AppendTableText(column.id, out);
  *out += ",\"label\":";
  AppendTableText(column.label, out);
  if (!column.properties.empty()) {
    *out += ",\"p\":";
    AppendProperties(column.properties, out);
  }
  *out += ",\"type\":\"";
  *out += TypeName(column.type);
  *out += "\"}";
}

void AppendCell(const Cell& cell, std::string* out) {
  out->push_back('{');
  if (!cell.formatted.empty()) {
    *out += "\"f\":";
    AppendTableText(cell.formatted, out);
    out->push_back(',');
  }
  *out += "\"v\":";
  if (const auto* text = std::get_if<std::string>(&cell.value)) {
    AppendTableText(*text, out);
  } else if (const auto* number = std::get_if<double>(&cell.value)) {
    *out += XprofNumber(*number);
  } else if (const auto* truth = std::get_if<bool>(&cell.value)) {
    *out += *truth ? "true" : "false";
  } else {
    *out += "null";
  }
  out->push_back('}');
}

void AppendTable(const Table& table, std::string* out) {
  if (table.empty() && table.rows().empty() && table.id().empty()) {
    *out += "{}";
    return;
  }
  *out += "{\"cols\":[";
  for (size_t c = 0; c < table.columns().size(); ++c) {
    if (c > 0) out->push_back(',');
    AppendColumn(table.columns()[c], out);
  }
  out->push_back(']');
  if (!table.properties().empty()) {
    *out += ",\"p\":";
    AppendProperties(table.properties(), out);
  }
  *out += ",\"rows\":[";
  for (size_t r = 0; r < table.rows().size(); ++r) {
    *out += r > 0 ? ",{\"c\":[" : "{\"c\":[";
    const std::vector<Cell>& cells = table.rows()[r];
    for (size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) out->push_back(',');
      AppendCell(cells[c], out);
    }
    *out += "]}";
  }
  *out += "]}";
}

void AppendValue(const Value& value, std::string* out) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      *out += "null";
      return;
    case Value::Kind::kBool:
      *out += value.bool_value() ? "true" : "false";
      return;
    case Value::Kind::kInt32:
      *out += std::to_string(value.int_value());
      return;
    case Value::Kind::kInt64:
      *out += '"' + std::to_string(value.int_value()) + '"';
      return;
    case Value::Kind::kUint64:
      *out += '"' + std::to_string(value.uint_value()) + '"';
      return;
    case Value::Kind::kDouble:
      *out += ProtobufNumber(value.double_value());
      return;
    case Value::Kind::kString:
      AppendJsonText(value.string_value(), Escaping::kHtmlSafe, out);
      return;
    case Value::Kind::kList:
    case Value::Kind::kObject:
      break;
  }
  const bool object = value.kind() == Value::Kind::kObject;
  out->push_back(object ? '{' : '[');
  for (size_t i = 0; i < value.items().size(); ++i) {
    if (i > 0) out->push_back(',');
    if (object) {
      AppendJsonText(value.names()[i], Escaping::kHtmlSafe, out);
      out->push_back(':');
    }
    AppendValue(value.items()[i], out);
  }
  out->push_back(object ? '}' : ']');
}

void AppendCsvField(std::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"') out->push_back('"');
    out->push_back(c);
  }
  out->push_back('"');
}

std::string CsvText(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const auto* truth = std::get_if<bool>(&cell.value)) return *truth ? "True" : "False";
  const auto* number = std::get_if<double>(&cell.value);
  return number == nullptr || !std::isfinite(*number) ? "" : PythonNumber(*number);
}

std::string CsvOf(const Table& table) {
  std::string csv;
  for (size_t c = 0; c < table.columns().size(); ++c) {
    if (c > 0) csv.push_back(',');
    const Column& column = table.columns()[c];
    AppendCsvField(column.label.empty() ? column.id : column.label, &csv);
  }
  csv.push_back('\n');
  for (const std::vector<Cell>& cells : table.rows()) {
    for (size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) csv.push_back(',');
      AppendCsvField(CsvText(cells[c]), &csv);
    }
    csv.push_back('\n');
  }
  return csv;
}

}  // namespace

std::string XprofNumber(double number) {
  if (!std::isfinite(number)) return "null";
  return Decimal(number, 15);
}

std::string PythonNumber(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  return Decimal(number, 16);
}

std::string ProtobufNumber(double number) {
  if (std::isnan(number)) return "\"NaN\"";
  if (std::isinf(number)) return number < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  std::string text = Decimal(number, 15);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string XprofTableJson(const Table& table) {
  std::string json;
  AppendTable(table, &json);
  return json;
}

std::string XprofDocumentJson(const Value& value) {
  std::string json;
  AppendValue(value, &json);
  return json;
}

Result<XprofBody> MakeXprofBody(const ToolResult& result) {
  XprofBody body{.bytes = "", .content_type = result.content_type};
  if (result.trace != nullptr) {
    if (result.trace->encoding == tools::TraceView::Encoding::kJson) {
      body.bytes = XprofTraceJson(*result.trace);
      return body;
    }
    STROBE_ASSIGN_OR_RETURN(body.bytes, XprofTracePacked(*result.trace));
    body.content_type = "application/octet-stream";
    return body;
  }
  switch (result.shape) {
    case ToolResult::Shape::kTable:
      body.bytes = result.tables.empty() ? "{}" : XprofTableJson(result.tables.front());
      return body;
    case ToolResult::Shape::kTables:
      body.bytes = "[";
      for (size_t i = 0; i < result.tables.size(); ++i) {
        if (i > 0) body.bytes.push_back(',');
        AppendTable(result.tables[i], &body.bytes);
      }
      body.bytes += "]";
      return body;
    case ToolResult::Shape::kDocument:
      body.bytes = XprofDocumentJson(result.document);
      return body;
    case ToolResult::Shape::kText:
    case ToolResult::Shape::kTrace:
      body.bytes = result.text;
      return body;
  }
  return body;
}

Result<std::string> XprofCsv(const ToolResult& result) {
  const bool tables =
      result.shape == ToolResult::Shape::kTable || result.shape == ToolResult::Shape::kTables;
  if (!tables && result.content_type != "application/json") {
    return InvalidArgumentError("XPROF_CSV_NOT_JSON",
                                "CSV format not supported for this tool type");
  }
  const bool first_is_empty = tables && !result.tables.empty() && result.tables[0].empty() &&
                              result.tables[0].rows().empty() && result.tables[0].id().empty();
  if (!tables || result.tables.empty() || first_is_empty) {
    return FailedPreconditionError("XPROF_CSV_NO_TABLE",
                                   "Data format not suitable for CSV (missing 'cols')");
  }
  return CsvOf(result.tables.front());
}

std::string XprofCsvName(std::string_view tool, std::string_view run, std::string_view host) {
  const size_t dash = host.rfind('-');
  if (dash != std::string_view::npos) host.remove_prefix(dash + 1);
  std::string name = std::string(tool) + "_" + std::string(run) + "_" + std::string(host);
  for (char& c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    if (!kept) c = '_';
  }
  return name + ".csv";
}

}  // namespace strobe::api
