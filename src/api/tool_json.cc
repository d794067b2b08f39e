#include "src/api/tool_json.h"

#include <cmath>

#include "src/api/request.h"

namespace strobe::api {
namespace {

using tools::Cell;
using tools::Column;
using tools::Notice;
using tools::Table;
using tools::ToolDescriptor;
using tools::ToolResult;
using tools::Value;

void TextOrNull(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key);
  if (text.empty()) {
    json.Null();
  } else {
    json.String(text);
  }
}

std::string_view SideName(tools::RowSubject::Side side) {
  switch (side) {
    case tools::RowSubject::Side::kAny:
      return "";
    case tools::RowSubject::Side::kDevice:
      return "device";
    case tools::RowSubject::Side::kHost:
      return "host";
  }
  return "";
}

void WriteProperties(JsonWriter& json,
                     const std::vector<std::pair<std::string, std::string>>& properties) {
  json.Key("properties").BeginObject();
  for (const auto& [name, text] : properties) json.Key(name).String(text);
  json.EndObject();
}

void WriteOption(JsonWriter& json, const tools::OptionSpec& option) {
  json.BeginObject();
  json.Key("name").String(option.name);
  json.Key("type").String(OptionTypeName(option.type));
  json.Key("default").String(option.default_value);
  json.Key("choices").BeginArray();
  for (const std::string& choice : option.choices) json.String(choice);
  json.EndArray();
  TextOrNull(json, "description", option.description);
  json.EndObject();
}

void WriteToolHead(JsonWriter& json, const ToolDescriptor& tool) {
  json.Key("id").String(tool.id);
  json.Key("title").String(tool.title);
  json.Key("question").String(tool.question);
  json.Key("scope").String(HostScopeName(tool.scope));
  json.Key("cost").String(CostClassName(tool.cost));
  json.Key("listed").Bool(tool.listed);
}

void WriteFacts(JsonWriter& json, const tools::SessionFacts& facts) {
  json.Key("facts").BeginObject();
  json.Key("host_plane").Bool(facts.has_host_plane);
  json.Key("gpu_plane").Bool(facts.has_gpu_plane);
  json.Key("tpu_plane").Bool(facts.has_tpu_plane);
  json.Key("hlo_modules").Bool(facts.has_hlo_modules);
  json.Key("sidecar_modules").Bool(facts.has_sidecar_modules);
  json.Key("dcn_events").Bool(facts.has_dcn_events);
  json.Key("counters").Bool(facts.has_counters);
  json.Key("allocations").Bool(facts.has_allocations);
  json.Key("serving_requests").Bool(facts.has_serving_requests);
  json.EndObject();
}

void WriteTable(JsonWriter& json, const Table& table, const TableQuery& query) {
  const TableView view = SelectRows(table, query);
  const std::span<const size_t> page = PageOf(view.rows, query, kDefaultPageRows);
  json.BeginObject();
  json.Key("id").String(table.id());
  json.Key("title").String(table.title());
  WriteProperties(json, table.properties());
  json.Key("columns").BeginArray();
  for (const size_t c : view.columns) WriteColumn(json, table.columns()[c]);
  json.EndArray();
  json.Key("total_row_count").Uint(table.rows().size());
  json.Key("row_count").Uint(view.rows.size());
  json.Key("offset").Uint(query.offset);
  json.Key("limit").Uint(query.limit.value_or(kDefaultPageRows));
  json.Key("rows").BeginArray();
  for (const size_t r : page) {
    json.BeginArray();
    for (const size_t c : view.columns) WriteCell(json, table.rows()[r][c]);
    json.EndArray();
  }
  json.EndArray();
  json.Key("row_ids").BeginArray();
  for (const size_t r : page) json.Uint(r);
  json.EndArray();
  json.Key("subjects").BeginArray();
  for (const size_t r : page) WriteSubject(json, table.subjects()[r]);
  json.EndArray();
  json.EndObject();
}

bool IsText(const ToolResult& result) {
  if (result.content_type.starts_with("application/octet-stream")) return false;
  for (std::string_view rest = result.text; !rest.empty();) {
    const size_t length = ValidUtf8Length(rest);
    if (length == 0) return false;
    rest.remove_prefix(length);
  }
  return true;
}

void WriteText(JsonWriter& json, const ToolResult& result) {
  const bool has_text = result.shape == ToolResult::Shape::kText;
  json.Key("text");
  if (has_text && result.text.size() <= kMaxTextBytes && IsText(result)) {
    json.String(result.text);
  } else {
    json.Null();
  }
  json.Key("text_type");
  if (has_text) {
    json.String(result.content_type);
  } else {
    json.Null();
  }
  json.Key("text_bytes").Uint(has_text ? result.text.size() : 0);
}

void AppendDocument(const Value& value, std::string* out) {
  JsonWriter leaf;
  switch (value.kind()) {
    case Value::Kind::kNull:
      leaf.Null();
      break;
    case Value::Kind::kBool:
      leaf.Bool(value.bool_value());
      break;
    case Value::Kind::kInt32:
    case Value::Kind::kInt64:
      leaf.SafeInt(value.int_value());
      break;
    case Value::Kind::kUint64:
      leaf.SafeUint(value.uint_value());
      break;
    case Value::Kind::kDouble:
      leaf.Double(value.double_value());
      break;
    case Value::Kind::kString:
      leaf.String(value.string_value());
      break;
    case Value::Kind::kList:
    case Value::Kind::kObject: {
      const bool object = value.kind() == Value::Kind::kObject;
      out->push_back(object ? '{' : '[');
      for (size_t i = 0; i < value.items().size(); ++i) {
        if (i > 0) out->push_back(',');
        if (object) {
          JsonWriter name;
          name.String(value.names()[i]);
          *out += name.text() + ":";
        }
        AppendDocument(value.items()[i], out);
      }
      out->push_back(object ? '}' : ']');
      return;
    }
  }
  *out += leaf.text();
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string_view OptionTypeName(tools::OptionType type) {
  switch (type) {
    case tools::OptionType::kString:
      return "string";
    case tools::OptionType::kBoolean:
      return "boolean";
    case tools::OptionType::kInteger:
      return "integer";
    case tools::OptionType::kNumber:
      return "number";
  }
  return "string";
}

std::string_view HostScopeName(tools::HostScope scope) {
  switch (scope) {
    case tools::HostScope::kSelection:
      return "selection";
    case tools::HostScope::kAllHosts:
      return "all_hosts";
    case tools::HostScope::kOneHost:
      return "one_host";
  }
  return "selection";
}

std::string_view CostClassName(tools::CostClass cost) {
  switch (cost) {
    case tools::CostClass::kMetadata:
      return "metadata";
    case tools::CostClass::kModules:
      return "modules";
    case tools::CostClass::kEvents:
      return "events";
  }
  return "events";
}

std::string_view SeverityName(Notice::Severity severity) {
  switch (severity) {
    case Notice::Severity::kInfo:
      return "info";
    case Notice::Severity::kWarning:
      return "warning";
    case Notice::Severity::kError:
      return "error";
  }
  return "info";
}

std::string_view ColumnTypeName(tools::ColumnType type) {
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

std::string ToolListJson(const std::vector<ToolDescriptor>& tools) {
  JsonWriter json;
  json.BeginObject();
  json.Key("tools").BeginArray();
  for (const ToolDescriptor& tool : tools) {
    json.BeginObject();
    WriteToolHead(json, tool);
    json.Key("version").Uint(tool.version);
    json.Key("aliases").BeginArray();
    for (const std::string& alias : tool.aliases) json.String(alias);
    json.EndArray();
    json.Key("options").BeginArray();
    for (const tools::OptionSpec& option : tool.options) WriteOption(json, option);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.TakeText();
}

std::string SessionToolsJson(const std::vector<ToolDescriptor>& tools, std::string_view version,
                             const tools::ToolInput& input) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("hosts").BeginArray();
  for (const tools::ToolHost& host : input.hosts()) json.String(host.name);
  json.EndArray();
  WriteFacts(json, input.facts());
  json.Key("tools").BeginArray();
  for (const ToolDescriptor& tool : tools) {
    const tools::Applicability fits =
        tool.applies ? tool.applies(input.facts()) : tools::Applicability{};
    json.BeginObject();
    WriteToolHead(json, tool);
    json.Key("applies").Bool(fits.applies);
    TextOrNull(json, "reason", fits.reason);
    TextOrNull(json, "hint", fits.hint);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.TakeText();
}

void WriteColumn(JsonWriter& json, const Column& column) {
  json.BeginObject();
  json.Key("id").String(column.id);
  json.Key("label").String(column.label.empty() ? column.id : column.label);
  json.Key("type").String(ColumnTypeName(column.type));
  TextOrNull(json, "unit", column.unit);
  TextOrNull(json, "description", column.description);
  WriteProperties(json, column.properties);
  json.EndObject();
}

void WriteCell(JsonWriter& json, const Cell& cell) {
  if (!cell.formatted.empty()) json.BeginObject().Key("value");
  if (const auto* text = std::get_if<std::string>(&cell.value)) {
    json.String(*text);
  } else if (const auto* number = std::get_if<double>(&cell.value)) {
    json.Double(*number);
  } else if (const auto* truth = std::get_if<bool>(&cell.value)) {
    json.Bool(*truth);
  } else {
    json.Null();
  }
  if (!cell.formatted.empty()) json.Key("text").String(cell.formatted).EndObject();
}

void WriteSubject(JsonWriter& json, const tools::RowSubject& subject) {
  if (subject.empty()) {
    json.Null();
    return;
  }
  json.BeginObject();
  json.Key("hlo_module_id");
  if (subject.hlo_module_id == 0) {
    json.Null();
  } else {
    json.String(std::to_string(subject.hlo_module_id));
  }
  TextOrNull(json, "op_name", subject.op_name);
  TextOrNull(json, "framework_op", subject.framework_op);
  json.Key("step");
  if (subject.step < 0) {
    json.Null();
  } else {
    json.SafeInt(subject.step);
  }
  TextOrNull(json, "host", subject.host);
  TextOrNull(json, "side", SideName(subject.side));
  TextOrNull(json, "launch", subject.launch);
  json.EndObject();
}

void WriteNotices(JsonWriter& json, const std::vector<Notice>& notices) {
  json.Key("notices").BeginArray();
  for (const Notice& notice : notices) {
    json.BeginObject();
    json.Key("severity").String(SeverityName(notice.severity));
    json.Key("name").String(notice.name);
    json.Key("message").String(notice.message);
    TextOrNull(json, "hint", notice.hint);
    json.EndObject();
  }
  json.EndArray();
}

std::string ToolAnswerJson(const ToolAnswer& answer, const TableQuery& query) {
  JsonWriter json;
  json.BeginObject();
  json.Key("tool").String(answer.tool.id);
  json.Key("title").String(answer.tool.title);
  json.Key("tool_version").Uint(answer.tool.version);
  json.Key("session").String(answer.session);
  json.Key("version").String(answer.version);
  json.Key("hosts").BeginArray();
  for (const std::string& host : answer.hosts) json.String(host);
  json.EndArray();
  json.Key("options").BeginObject();
  for (const tools::OptionSpec& option : answer.tool.options) {
    json.Key(option.name).String(answer.options.Text(option.name));
  }
  json.EndObject();
  json.Key("partial").Bool(answer.result.partial);
  WriteNotices(json, answer.result.notices);
  json.Key("tables").BeginArray();
  for (const Table* table : answer.tables) WriteTable(json, *table, query);
  json.EndArray();
  json.Key("document");
  if (answer.result.shape == ToolResult::Shape::kDocument) {
    json.Raw(DocumentJson(answer.result.document));
  } else {
    json.Null();
  }
  WriteText(json, answer.result);
  json.Key("trace").Bool(answer.result.trace != nullptr);
  json.EndObject();
  return json.TakeText();
}

std::string CellText(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (IsNothing(cell)) return "";
  JsonWriter json;
  if (const auto* number = std::get_if<double>(&cell.value)) {
    if (!std::isfinite(*number)) return *number < 0 ? "-inf" : "inf";
    json.Double(*number);
  } else {
    json.Bool(std::get<bool>(cell.value));
  }
  return json.TakeText();
}

std::string TableCsv(const Table& table, const std::vector<size_t>& columns,
                     std::span<const size_t> rows) {
  std::string csv;
  for (size_t i = 0; i < columns.size(); ++i) {
    csv += (i == 0 ? "" : ",") + CsvField(table.columns()[columns[i]].id);
  }
  csv += '\n';
  for (const size_t r : rows) {
    bool first = true;
    for (const size_t c : columns) {
      if (!first) csv += ',';
      first = false;
      csv += CsvField(CellText(table.rows()[r][c]));
    }
    csv += '\n';
  }
  return csv;
}

std::string TableJsonLines(const Table& table, const std::vector<size_t>& columns,
                           std::span<const size_t> rows) {
  std::string lines;
  for (const size_t r : rows) {
    JsonWriter json;
    json.BeginObject();
    for (const size_t c : columns) {
      json.Key(table.columns()[c].id);
      WriteCell(json, table.rows()[r][c]);
    }
    json.EndObject();
    lines += json.text();
    lines += '\n';
  }
  return lines;
}

std::string DocumentJson(const Value& value) {
  std::string json;
  AppendDocument(value, &json);
  return json;
}

Result<const Table*> FindTable(const ToolResult& result, std::string_view name) {
  for (const Table& table : result.tables) {
    if (table.id() == name) return &table;
  }
  if (const std::optional<uint32_t> index = ParseUint32(name)) {
    if (*index < result.tables.size()) return &result.tables[*index];
  }
  std::string known;
  for (const Table& table : result.tables) known += (known.empty() ? "" : ", ") + table.id();
  return NotFoundError("TABLE_UNKNOWN", "The answer has no table of that name.")
      .Where(std::string(name.substr(0, 100)))
      .Hint(known.empty() ? "This answer has no tables." : "It has: " + known + ".");
}

}  // namespace strobe::api
