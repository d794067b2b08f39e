// One tool's table of several sessions side by side.
#include <algorithm>

#include "src/api/app.h"
#include "src/api/compare.h"
#include "src/api/table_parquet.h"
#include "src/api/tool_json.h"
#include "src/api/tool_question.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using tools::Table;
using tools::ToolResult;

struct Side {
  std::shared_ptr<engine::OpenedSession> session;
  std::string id;
  std::vector<std::string> hosts;
  std::shared_ptr<const ToolResult> result;
};

Result<Side> AskSide(const Context& context, const tools::ToolDescriptor& tool,
                     const std::string& id, const Request& request) {
  Side side;
  side.id = id;
  STROBE_ASSIGN_OR_RETURN(side.session, context->engine->OpenForTools(id));
  std::vector<std::string> hosts;
  for (const xplane::SessionFile& file : side.session->entry().files) hosts.push_back(file.host);
  STROBE_ASSIGN_OR_RETURN(const tools::ToolQuestion question,
                          ParseToolQuestion(tool, hosts, request.query));
  for (const size_t host : question.hosts) side.hosts.push_back(hosts[host]);
  STROBE_ASSIGN_OR_RETURN(side.result, side.session->RunTool(tool, question, request.cancel));
  return side;
}

// The table asked for of each answer; without a name the first that has rows.
Result<std::vector<const Table*>> TablesOf(const std::vector<Side>& sides, std::string_view name) {
  std::vector<const Table*> tables;
  const std::vector<Table>& first = sides.front().result->tables;
  if (first.empty()) {
    return FailedPreconditionError("TOOL_HAS_NO_TABLE", "This tool's answer has no table.")
        .Hint("Only tables are compared.");
  }
  size_t index = 0;
  if (name.empty()) {
    while (index + 1 < first.size() && first[index].rows().empty()) ++index;
    if (first[index].rows().empty()) index = 0;
  } else {
    STROBE_ASSIGN_OR_RETURN(const Table* const table, FindTable(*sides.front().result, name));
    index = static_cast<size_t>(table - first.data());
  }
  static const Table nothing;
  for (const Side& side : sides) {
    const Table* found = &nothing;
    for (const Table& table : side.result->tables) {
      if (table.id() == first[index].id()) found = &table;
    }
    // Tables without an id are told apart by their place.
    if (first[index].id().empty() && index < side.result->tables.size()) {
      found = &side.result->tables[index];
    }
    tables.push_back(found);
  }
  return tables;
}

void WriteSides(JsonWriter& json, const std::vector<Side>& sides) {
  json.Key("sessions").BeginArray();
  for (const Side& side : sides) {
    json.BeginObject();
    json.Key("session").String(side.id);
    json.Key("run").String(side.session->entry().run);
    json.Key("name").String(side.session->entry().name);
    json.Key("version").String(side.session->version());
    json.Key("hosts").BeginArray();
    for (const std::string& host : side.hosts) json.String(host);
    json.EndArray();
    json.Key("partial").Bool(side.result->partial);
    WriteNotices(json, side.result->notices);
    json.EndObject();
  }
  json.EndArray();
}

void WriteNumber(JsonWriter& json, const std::optional<double>& number) {
  if (number) {
    json.Double(*number);
  } else {
    json.Null();
  }
}

void WriteRow(JsonWriter& json, std::span<const Table* const> tables, const Comparison& comparison,
              const ComparedRow& row) {
  json.BeginObject();
  json.Key("key").BeginArray();
  size_t owner = 0;
  while (!row.row_ids[owner]) ++owner;
  for (const size_t key : comparison.keys) WriteCell(json, ComparedCell(tables, row, key, owner));
  json.EndArray();
  json.Key("row_ids").BeginArray();
  for (const std::optional<size_t>& id : row.row_ids) {
    if (id) {
      json.Uint(*id);
    } else {
      json.Null();
    }
  }
  json.EndArray();
  json.Key("values").BeginArray();
  for (const size_t column : comparison.columns) {
    json.BeginArray();
    for (size_t s = 0; s < tables.size(); ++s)
      WriteCell(json, ComparedCell(tables, row, column, s));
    json.EndArray();
  }
  json.EndArray();
  for (const bool absolute : {true, false}) {
    json.Key(absolute ? "absolute" : "relative").BeginArray();
    for (const size_t column : comparison.columns) {
      json.BeginArray();
      json.Null();  // of the first from itself
      for (size_t s = 1; s < tables.size(); ++s) {
        const Difference difference = DifferenceOf(ComparedCell(tables, row, column, 0),
                                                   ComparedCell(tables, row, column, s));
        WriteNumber(json, absolute ? difference.absolute : difference.relative);
      }
      json.EndArray();
    }
    json.EndArray();
  }
  json.EndObject();
}

// One row of the comparison as a table of its own, for filters, columns and files: keys, then per
// number column its value in each session and the differences from the first.
Table Flat(std::span<const Table* const> tables, const std::vector<Side>& sides,
           const Comparison& comparison) {
  const Table& first = *tables.front();
  Table flat(first.id(), first.title());
  for (const size_t key : comparison.keys) flat.AddColumn(first.columns()[key]);
  for (const size_t column : comparison.columns) {
    for (size_t s = 0; s < tables.size(); ++s) {
      tools::Column of_session = first.columns()[column];
      if (s > 0) of_session.id += "." + sides[s].id;
      flat.AddColumn(std::move(of_session));
    }
    for (size_t s = 1; s < tables.size(); ++s) {
      const std::string which = tables.size() > 2 ? "." + sides[s].id : "";
      flat.AddColumn({.id = first.columns()[column].id + ".absolute" + which});
      flat.AddColumn({.id = first.columns()[column].id + ".relative" + which});
    }
  }
  for (const ComparedRow& row : comparison.rows) {
    size_t owner = 0;
    while (!row.row_ids[owner]) ++owner;
    std::vector<tools::Cell> cells;
    for (const size_t key : comparison.keys) cells.push_back(ComparedCell(tables, row, key, owner));
    for (const size_t column : comparison.columns) {
      for (size_t s = 0; s < tables.size(); ++s) {
        cells.push_back(ComparedCell(tables, row, column, s));
      }
      for (size_t s = 1; s < tables.size(); ++s) {
        const Difference difference = DifferenceOf(ComparedCell(tables, row, column, 0),
                                                   ComparedCell(tables, row, column, s));
        cells.push_back(difference.absolute ? tools::Cell(*difference.absolute) : tools::Cell());
        cells.push_back(difference.relative ? tools::Cell(*difference.relative) : tools::Cell());
      }
    }
    flat.AddRow(std::move(cells));
  }
  return flat;
}

std::string ComparisonJson(const tools::ToolDescriptor& tool, std::span<const Table* const> tables,
                           const std::vector<Side>& sides, const Comparison& comparison,
                           const std::vector<size_t>& rows, const TableQuery& query) {
  const Table& first = *tables.front();
  const std::span<const size_t> page = PageOf(rows, query, kDefaultPageRows);
  JsonWriter json;
  json.BeginObject();
  json.Key("tool").String(tool.id);
  json.Key("table").BeginObject();
  json.Key("id").String(first.id());
  json.Key("title").String(first.title());
  json.EndObject();
  json.Key("keys").BeginArray();
  for (const size_t key : comparison.keys) json.String(first.columns()[key].id);
  json.EndArray();
  WriteSides(json, sides);
  json.Key("key_columns").BeginArray();
  for (const size_t key : comparison.keys) WriteColumn(json, first.columns()[key]);
  json.EndArray();
  json.Key("columns").BeginArray();
  for (const size_t column : comparison.columns) WriteColumn(json, first.columns()[column]);
  json.EndArray();
  json.Key("total_row_count").Uint(comparison.rows.size());
  json.Key("row_count").Uint(rows.size());
  json.Key("offset").Uint(query.offset);
  json.Key("limit").Uint(query.limit.value_or(kDefaultPageRows));
  json.Key("rows").BeginArray();
  for (const size_t row : page) WriteRow(json, tables, comparison, comparison.rows[row]);
  json.EndArray();
  json.EndObject();
  return json.TakeText();
}

Result<std::vector<std::string>> SessionIds(const Request& request) {
  std::vector<std::string> ids = SplitList(request.Query("sessions").value_or(""));
  if (ids.size() >= 2 && ids.size() <= kMaxComparedSessions) return ids;
  return InvalidArgumentError("SESSIONS_COUNT", "Two to eight sessions are compared.")
      .Where("sessions=" + std::string(request.Query("sessions").value_or("").substr(0, 200)))
      .Hint("Give their ids, comma separated.");
}

// Number columns that are wanted; all when none is named.
Status ChooseColumns(const Table& first, const std::vector<std::string>& wanted,
                     Comparison* comparison) {
  if (wanted.empty()) return OkStatus();
  std::vector<size_t> chosen;
  for (const std::string& name : wanted) {
    const size_t column = first.ColumnIndex(name);
    if (std::ranges::find(comparison->columns, column) == comparison->columns.end()) {
      return InvalidArgumentError("COLUMN_UNKNOWN", "The table has no number column of that name.")
          .Where(name.substr(0, 100));
    }
    chosen.push_back(column);
  }
  comparison->columns = std::move(chosen);
  return OkStatus();
}

Result<Response> CompareTool(const Context& context, const Request& request) {
  const std::string_view name = *request.Query("tool");
  const tools::ToolDescriptor* const tool = FindToolIn(*context, name);
  if (tool == nullptr) {
    return NotFoundError("TOOL_UNKNOWN", "There is no tool of that name.")
        .Where(std::string(name.substr(0, 100)))
        .Hint("Open /api/v1/tools for those that exist.");
  }
  STROBE_ASSIGN_OR_RETURN(TableQuery query, ParseTableQuery(request.query));
  STROBE_ASSIGN_OR_RETURN(const std::vector<std::string> ids, SessionIds(request));
  std::vector<Side> sides;
  for (const std::string& id : ids) {
    STROBE_ASSIGN_OR_RETURN(Side side, AskSide(context, *tool, id, request));
    sides.push_back(std::move(side));
  }
  STROBE_ASSIGN_OR_RETURN(const std::vector<const Table*> tables,
                          TablesOf(sides, request.Query("table").value_or("")));
  STROBE_ASSIGN_OR_RETURN(
      const std::vector<size_t> keys,
      KeyColumns(tool->id, *tables.front(), SplitList(request.Query("keys").value_or(""))));
  Comparison comparison = CompareTables(tables, keys);
  STROBE_RETURN_IF_ERROR(ChooseColumns(*tables.front(), query.columns, &comparison));
  std::vector<std::pair<std::string, bool>> sort;
  for (const TableQuery::Sort& by : query.sort) sort.emplace_back(by.column, by.descending);
  STROBE_RETURN_IF_ERROR(SortComparison(tables, sort, &comparison));
  // Filters see the differences too.
  const auto whole = std::make_shared<const Table>(Flat(tables, sides, comparison));
  const Table& flat = *whole;
  query.columns.clear();
  query.sort.clear();
  const Table* const flat_tables[] = {&flat};
  STROBE_RETURN_IF_ERROR(CheckTableQuery(query, flat_tables));
  TableView view = SelectRows(flat, query);
  const std::string_view format = request.Query("format").value_or("");
  const std::span<const size_t> all = PageOf(view.rows, query, UINT64_MAX);
  if (format == "csv") {
    Response response = TextResponse(TableCsv(flat, view.columns, all));
    response.content_type = "text/csv";
    response.revalidate = true;
    return response;
  }
  if (format == "parquet") {
    return ParquetResponse(
        {.owner = whole,
         .table = whole.get(),
         .columns = std::move(view.columns),
         .rows = {all.begin(), all.end()},
         .metadata = {{"strobe.tool", tool->id},
                      {"strobe.sessions", std::string(*request.Query("sessions"))}}},
        "compare_" + tool->id + "_" + flat.id() + ".parquet");
  }
  return JsonResponse(ComparisonJson(*tool, tables, sides, comparison, view.rows, query));
}

}  // namespace

void AddCompareRoutes(const Context& context, std::vector<Route>* routes) {
  std::vector<QueryParam> query = ToolQueries();
  query.insert(
      query.begin(),
      {{.name = "sessions",
        .description = "Ids of two to eight sessions, comma separated.",
        .required = true},
       {.name = "tool", .description = "A tool that answers with tables.", .required = true},
       {.name = "keys", .description = "Columns that say what a row is about."}});
  routes->push_back({.pattern = "/api/v1/compare",
                     .access = {Need::kView, Object::kSessions},
                     .operation_id = "compareTool",
                     .tag = "tools",
                     .summary = "A tool's table of several sessions side by side.",
                     .query = query,
                     .response_schema = "Comparison",
                     .run_on = RunOn::kWorkPool,
                     .handler = [context](const Request& r) { return CompareTool(context, r); }});
}

}  // namespace strobe::api
