#include "src/api/table_parquet.h"

#include <cmath>

#include "src/api/table_query.h"
#include "src/api/tool_json.h"
#include "src/base/log.h"
#include "src/base/utf8.h"

namespace strobe::api {
namespace {

using tools::Cell;
using tools::Column;
using tools::ColumnType;
using wire::ParquetType;
using wire::ParquetWriter;

constexpr size_t kRowsBetweenLooks = 1024;  // at whether anybody still waits

bool IsWholeByNature(const Column& column) {
  return column.unit == "count" || column.unit == "bytes" || column.unit == "ps";
}

bool IsWhole(double number) {
  return std::trunc(number) == number &&
         std::abs(number) <= static_cast<double>(JsonWriter::kMaxSafeInteger);
}

ParquetType TypeOf(const ParquetTable& from, size_t at) {
  const Column& column = from.table->columns()[at];
  bool whole = IsWholeByNature(column);
  for (const size_t r : from.rows) {
    const Cell& cell = from.table->rows()[r][at];
    if (IsNothing(cell)) continue;
    const auto* number = std::get_if<double>(&cell.value);
    const bool fits = column.type == ColumnType::kNumber ? number != nullptr
                      : column.type == ColumnType::kBoolean
                          ? std::holds_alternative<bool>(cell.value)
                          : true;
    if (!fits) return ParquetType::kText;
    if (number != nullptr && !IsWhole(*number)) whole = false;
  }
  switch (column.type) {
    case ColumnType::kNumber:
      return whole ? ParquetType::kInt64 : ParquetType::kDouble;
    case ColumnType::kBoolean:
      return ParquetType::kBool;
    case ColumnType::kString:
      break;
  }
  return ParquetType::kText;
}

void WriteCell(const Cell& cell, ParquetType type, ParquetWriter& writer) {
  if (IsNothing(cell)) return writer.Null();
  switch (type) {
    case ParquetType::kInt64:
      return writer.Int64(static_cast<int64_t>(std::get<double>(cell.value)));
    case ParquetType::kDouble:
      return writer.Double(std::get<double>(cell.value));
    case ParquetType::kBool:
      return writer.Bool(std::get<bool>(cell.value));
    case ParquetType::kText:
      return writer.Text(ToValidUtf8(CellText(cell)));
  }
}

std::string ColumnsJson(const ParquetTable& from) {
  JsonWriter json;
  json.BeginArray();
  for (const size_t c : from.columns) {
    const Column& column = from.table->columns()[c];
    json.BeginObject();
    json.Key("id").String(column.id);
    json.Key("label").String(column.label);
    json.Key("unit").String(column.unit);
    json.Key("description").String(column.description);
    json.EndObject();
  }
  json.EndArray();
  return json.TakeText();
}

}  // namespace

std::vector<wire::ParquetColumn> ParquetColumnsOf(const ParquetTable& from) {
  std::vector<wire::ParquetColumn> columns;
  for (const size_t c : from.columns) {
    columns.push_back({ToValidUtf8(from.table->columns()[c].id), TypeOf(from, c)});
  }
  return columns;
}

Status WriteParquet(const ParquetTable& from, const ParquetWriter::Sink& sink,
                    const CancelToken& cancel) {
  const std::vector<wire::ParquetColumn> columns = ParquetColumnsOf(from);
  ParquetWriter writer(columns, sink);
  for (size_t i = 0; i < from.rows.size() && !columns.empty(); ++i) {
    if (i % kRowsBetweenLooks == 0 && cancel.cancelled()) {
      return CancelledError("CANCELLED", "Nobody waits for the file any more.");
    }
    const std::vector<Cell>& row = from.table->rows()[from.rows[i]];
    for (size_t c = 0; c < columns.size(); ++c) {
      WriteCell(row[from.columns[c]], columns[c].type, writer);
    }
    STROBE_RETURN_IF_ERROR(writer.EndRow());
  }
  std::vector<std::pair<std::string, std::string>> metadata = from.metadata;
  for (auto& [key, value] : metadata) value = ToValidUtf8(value);
  metadata.emplace_back("strobe.columns", ColumnsJson(from));
  return writer.Finish(metadata);
}

Response ParquetResponse(ParquetTable from, std::string_view file_name) {
  Response response =
      StreamResponse("application/vnd.apache.parquet", [from = std::move(from)](StreamWriter& out) {
        const auto sink = [&out](std::string part) -> Status {
          if (out.Write(std::move(part))) return OkStatus();
          return CancelledError("CANCELLED", "Nobody waits for the file any more.");
        };
        const Status done = WriteParquet(from, sink, out.cancel());
        if (done.ok()) return;
        out.Fail();
        if (done.code() == StatusCode::kCancelled) return;
        LogWarning("parquet.failed", {{"table", from.table->id()}, {"error", done.ToString()}});
      });
  NameDownload(file_name, &response);
  return response;
}

}  // namespace strobe::api
