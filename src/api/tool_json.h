// Tools and their answers as the JSON, CSV and JSON lines of docs/api/v1.md. The command line
// prints the same.
//
//   JsonWriter json;
//   WriteToolAnswer(json, {.tool = tool, .session = id, ..., .result = *result}, query);
//   TableCsv(table, SelectRows(table, query), page)
//
// Pure functions. Cost: about 100 MB/s.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/table_query.h"
#include "src/base/json_writer.h"
#include "src/tools/tool.h"

namespace strobe::api {

// A longer text is left to format=raw.
inline constexpr size_t kMaxTextBytes = 4 * 1024 * 1024;

std::string_view OptionTypeName(tools::OptionType type);
std::string_view HostScopeName(tools::HostScope scope);
std::string_view CostClassName(tools::CostClass cost);
std::string_view SeverityName(tools::Notice::Severity severity);
std::string_view ColumnTypeName(tools::ColumnType type);

// {"tools": [...]}
std::string ToolListJson(const std::vector<tools::ToolDescriptor>& tools);
// {"version", "hosts", "facts", "tools": [...]} of one session.
std::string SessionToolsJson(const std::vector<tools::ToolDescriptor>& tools,
                             std::string_view version, const tools::ToolInput& input);

struct ToolAnswer {
  const tools::ToolDescriptor& tool;
  std::string_view session;  // id
  std::string_view version;
  std::vector<std::string> hosts;
  const tools::ToolOptions& options;
  const tools::ToolResult& result;
  std::vector<const tools::Table*> tables;  // those asked for
};
std::string ToolAnswerJson(const ToolAnswer& answer, const TableQuery& query);

void WriteColumn(JsonWriter& json, const tools::Column& column);
void WriteCell(JsonWriter& json, const tools::Cell& cell);
void WriteSubject(JsonWriter& json, const tools::RowSubject& subject);  // null when empty
void WriteNotices(JsonWriter& json, const std::vector<tools::Notice>& notices);

// A cell as the CSV has it, before quotes; empty when there is nothing.
std::string CellText(const tools::Cell& cell);
// Ids of columns first; texts quoted where they must be.
std::string TableCsv(const tools::Table& table, const std::vector<size_t>& columns,
                     std::span<const size_t> rows);
// One object a row, keys are the ids of columns.
std::string TableJsonLines(const tools::Table& table, const std::vector<size_t>& columns,
                           std::span<const size_t> rows);
// A tree with plain numbers; integers beyond 2^53 quoted.
std::string DocumentJson(const tools::Value& value);

// By id or number of the table; TABLE_UNKNOWN.
Result<const tools::Table*> FindTable(const tools::ToolResult& result, std::string_view name);

}  // namespace strobe::api
