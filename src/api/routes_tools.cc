// Tools over our own API: which there are, which apply, what they answer, as JSON, CSV, JSON
// lines or Parquet.
#include <algorithm>

#include "src/api/app.h"
#include "src/api/json_answers.h"
#include "src/api/table_parquet.h"
#include "src/api/tool_json.h"
#include "src/api/tool_question.h"
#include "src/api/xprof_json.h"
#include "src/engine/engine.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using tools::Table;
using tools::ToolResult;

// Exports hold all rows of a table.
constexpr uint64_t kAllRows = UINT64_MAX;

Result<const tools::ToolDescriptor*> LookUp(const AppContext& context, std::string_view name) {
  if (const tools::ToolDescriptor* tool = FindToolIn(context, name)) return tool;
  std::string known;
  for (const tools::ToolDescriptor& tool : *context.tools) {
    known += (known.empty() ? "" : ", ") + tool.id;
  }
  return NotFoundError("TOOL_UNKNOWN", "There is no tool of that name.")
      .Where(std::string(name.substr(0, 100)))
      .Hint("There are: " + known + ".");
}

std::vector<std::string> HostNames(engine::OpenedSession& session) {
  std::vector<std::string> names;
  for (const xplane::SessionFile& file : session.entry().files) names.push_back(file.host);
  return names;
}

Response Download(std::string bytes, std::string_view content_type, std::string_view name) {
  Response response = TextResponse(std::move(bytes));
  response.content_type = std::string(content_type);
  response.revalidate = true;
  NameDownload(name, &response);
  return response;
}

// `result` holds the answer's tables and outlives the answer of a stream. `run` names the session
// as people know it.
Result<Response> Export(const ToolAnswer& answer, std::shared_ptr<const ToolResult> result,
                        std::string_view run, const TableQuery& query, std::string_view format) {
  if (answer.tables.empty()) {
    return FailedPreconditionError("TOOL_HAS_NO_TABLE", "This answer has no table to export.")
        .Where(answer.tool.id)
        .Hint("Ask with format=json or format=raw.");
  }
  const Table& table = *answer.tables.front();
  TableView view = SelectRows(table, query);
  const std::span<const size_t> page = PageOf(view.rows, query, kAllRows);
  std::string name = std::string(run) + "_" + answer.tool.id;
  if (table.id() != answer.tool.id) name += "_" + table.id();
  name += "." + std::string(format);
  if (format == "csv") return Download(TableCsv(table, view.columns, page), "text/csv", name);
  if (format == "jsonl") {
    return Download(TableJsonLines(table, view.columns, page), "application/jsonl", name);
  }
  return ParquetResponse({.owner = std::move(result),
                          .table = &table,
                          .columns = std::move(view.columns),
                          .rows = {page.begin(), page.end()},
                          .metadata = {{"strobe.tool", answer.tool.id},
                                       {"strobe.table", table.id()},
                                       {"strobe.session", std::string(answer.session)},
                                       {"strobe.session_version", std::string(answer.version)}}},
                         name);
}

bool IsExport(std::string_view format) {
  return format == "csv" || format == "jsonl" || format == "parquet";
}

// The text, tree or trace by itself.
Result<Response> Raw(const ToolAnswer& answer) {
  Response response;
  switch (answer.result.shape) {
    case ToolResult::Shape::kText:
      response = TextResponse(answer.result.text);
      response.content_type = answer.result.content_type;
      break;
    case ToolResult::Shape::kDocument:
      response = JsonResponse(DocumentJson(answer.result.document));
      break;
    case ToolResult::Shape::kTrace: {
      STROBE_ASSIGN_OR_RETURN(XprofBody body, MakeXprofBody(answer.result));
      response = TextResponse(std::move(body.bytes));
      response.content_type = std::move(body.content_type);
      break;
    }
    case ToolResult::Shape::kTable:
    case ToolResult::Shape::kTables:
      return FailedPreconditionError("TOOL_HAS_NO_TEXT",
                                     "This answer is neither a text nor a tree.")
          .Where(answer.tool.id)
          .Hint("Ask with format=json.");
  }
  response.revalidate = true;
  return response;
}

Result<Response> Answer(const ToolAnswer& answer, const TableQuery& query,
                        std::string_view format) {
  if (format == "raw") return Raw(answer);
  if (!format.empty() && format != "json") {
    return InvalidArgumentError("FORMAT_UNKNOWN", "The answer cannot be written in that form.")
        .Where("format=" + std::string(format.substr(0, 64)))
        .Hint(
            "There are json, csv, jsonl, parquet and raw. An option of the tool that is called "
            "format is given as option.format.");
  }
  return JsonResponse(ToolAnswerJson(answer, query));
}

Result<Response> AskTool(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const tools::ToolDescriptor* const tool,
                          LookUp(*context, request.Param("tool")));
  STROBE_ASSIGN_OR_RETURN(const TableQuery query, ParseTableQuery(request.query));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<engine::OpenedSession> session,
                          context->engine->OpenForTools(std::string(request.Param("id"))));
  const std::vector<std::string> hosts = HostNames(*session);
  STROBE_ASSIGN_OR_RETURN(const tools::ToolQuestion question,
                          ParseToolQuestion(*tool, hosts, request.query));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const ToolResult> result,
                          session->RunTool(*tool, question, request.cancel));
  ToolAnswer answer{.tool = *tool,
                    .session = request.Param("id"),
                    .version = session->version(),
                    .hosts = {},
                    .options = question.options,
                    .result = *result,
                    .tables = {}};
  for (const size_t host : question.hosts) answer.hosts.push_back(hosts[host]);
  if (const std::string_view name = request.Query("table").value_or(""); !name.empty()) {
    STROBE_ASSIGN_OR_RETURN(const Table* const table, FindTable(*result, name));
    answer.tables.push_back(table);
  } else {
    for (const Table& table : result->tables) answer.tables.push_back(&table);
  }
  STROBE_RETURN_IF_ERROR(CheckTableQuery(query, answer.tables));
  const std::string_view format = request.Query("format").value_or("");
  if (IsExport(format)) {
    return Export(answer, result, session->entry().xprof_run(), query, format);
  }
  return Answer(answer, query, format);
}

Result<Response> SessionTools(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<engine::OpenedSession> session,
                          context->engine->OpenForTools(std::string(request.Param("id"))));
  return JsonResponse(SessionToolsJson(*context->tools, session->version(), *session->Input()));
}

Result<size_t> ParseRow(const Request& request, const Table& table) {
  const std::optional<int64_t> row = ParseInt64(request.Param("row"));
  if (row && *row >= 0 && static_cast<uint64_t>(*row) < table.rows().size()) {
    return static_cast<size_t>(*row);
  }
  return NotFoundError("ROW_UNKNOWN", "The table has no such row.")
      .Where(std::string(request.Param("row").substr(0, 64)))
      .Hint("It has " + std::to_string(table.rows().size()) + "; use the answer's row_ids.");
}

std::string RowEventsJson(const tools::ToolDescriptor& tool, const Table& table, size_t row,
                          const engine::SubjectEvents& found) {
  JsonWriter json;
  json.BeginObject();
  json.Key("tool").String(tool.id);
  json.Key("table").String(table.id());
  json.Key("row").Uint(row);
  json.Key("subject");
  WriteSubject(json, table.subjects()[row]);
  json.Key("total").SafeUint(found.total);
  json.Key("total_duration_ps").SafeInt(found.total_duration_ps);
  json.Key("total_device_duration_ps");
  if (found.has_device_times) {
    json.SafeInt(found.total_device_duration_ps);
  } else {
    json.Null();
  }
  const bool by_device =
      found.has_device_times && table.subjects()[row].side == tools::RowSubject::Side::kDevice;
  json.Key("row_time").String(by_device ? "device_duration_ps" : "duration_ps");
  json.Key("truncated").Bool(found.truncated);
  WriteTextOrNull(json, "reason", found.reason);
  json.Key("events").BeginArray();
  for (const engine::SearchHit& hit : found.events) {
    const std::string id = EventId(hit.event);
    json.BeginObject();
    json.Key("event").String(id);
    json.Key("name").String(hit.name);
    json.Key("start_ps").Int(hit.start_ps);
    json.Key("duration_ps").Int(hit.duration_ps);
    json.Key("device_duration_ps");
    if (hit.device_duration_ps) {
      json.Int(*hit.device_duration_ps);
    } else {
      json.Null();
    }
    json.Key("line").String(id.substr(0, id.rfind('.')));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.TakeText();
}

// From a row to the events that it counts, for the timeline.
Result<Response> RowEvents(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const tools::ToolDescriptor* const tool,
                          LookUp(*context, request.Param("tool")));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<engine::OpenedSession> session,
                          context->engine->OpenForTools(std::string(request.Param("id"))));
  STROBE_ASSIGN_OR_RETURN(const tools::ToolQuestion question,
                          ParseToolQuestion(*tool, HostNames(*session), request.query));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const ToolResult> result,
                          session->RunTool(*tool, question, request.cancel));
  STROBE_ASSIGN_OR_RETURN(const Table* const table,
                          FindTable(*result, request.Query("table").value_or("0")));
  STROBE_ASSIGN_OR_RETURN(const size_t row, ParseRow(request, *table));
  const std::string_view order = request.Query("order").value_or("time");
  if (order != "time" && order != "duration") {
    return InvalidArgumentError("PARAMETER_MALFORMED", "Events come in order of time or duration.")
        .Where("order=" + std::string(order.substr(0, 64)));
  }
  STROBE_ASSIGN_OR_RETURN(
      const engine::SubjectEvents found,
      session->EventsOfSubject(table->subjects()[row],
                               {.hosts = question.hosts,
                                .limit = static_cast<size_t>(request.QueryInt("limit").value_or(
                                    static_cast<int64_t>(kDefaultPageRows))),
                                .longest_first = order == "duration"},
                               request.cancel));
  return JsonResponse(RowEventsJson(*tool, *table, row, found));
}

// How far it has come, for whoever waits for an answer about hundreds of hosts.
Result<Response> ToolProgress(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const tools::ToolDescriptor* const tool,
                          LookUp(*context, request.Param("tool")));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<engine::OpenedSession> session,
                          context->engine->OpenForTools(std::string(request.Param("id"))));
  const std::optional<engine::ToolProgress> progress = session->ProgressOfTool(tool->id);
  JsonWriter json;
  json.BeginObject();
  json.Key("tool").String(tool->id);
  json.Key("running").Bool(progress.has_value());
  WriteTextOrNull(json, "stage", progress ? engine::ToolStageName(progress->stage) : "");
  json.Key("hosts_done").Uint(progress ? progress->hosts_done : 0);
  json.Key("hosts_total").Uint(progress ? progress->hosts_total : 0);
  json.Key("failed").BeginArray();
  for (size_t i = 0; progress && i < progress->failed.size(); ++i) {
    json.BeginObject();
    json.Key("host").String(progress->failed[i].first);
    json.Key("error").Raw(ErrorJson(progress->failed[i].second, request.request_id));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(json.TakeText());
}

}  // namespace

std::vector<QueryParam> ToolQueries() {
  return {
      {.name = "hosts",
       .description = "Hosts, comma separated; absent: all, of a one_host tool one."},
      {.name = "table", .description = "Only this table, by id or number."},
      {.name = "columns", .description = "Ids of columns, comma separated, in the order wanted."},
      {.name = "sort", .description = "Ids of columns, comma separated, - in front: descending."},
      {.name = "filter",
       .description = "<column>:<how>:<value>, how: eq ne lt le gt ge contains; may be repeated."},
      {.name = "q", .description = "Text that a cell of the row contains, in any case."},
      {.name = "offset",
       .type = ParamType::kInteger,
       .description = "Rows to leave out.",
       .minimum = 0},
      {.name = "limit",
       .type = ParamType::kInteger,
       .description = "Rows of a page.",
       .minimum = 0,
       .maximum = static_cast<int64_t>(kMaxPageRows)},
      {.name = "format", .description = "json, csv, jsonl, parquet or raw."},
      {.name = "as_xprof", .description = "true: XProf's numbers where ours differ on purpose."}};
}

void AddToolRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back({.pattern = "/api/v1/tools",
                     .access = {Need::kAnyone, Object::kNone},
                     .operation_id = "listTools",
                     .tag = "tools",
                     .summary = "All tools, with their options.",
                     .response_schema = "ToolList",
                     .handler = [context](const Request&) -> Result<Response> {
                       return JsonResponse(ToolListJson(*context->tools));
                     }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}/tools",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "listSessionTools",
                     .tag = "tools",
                     .summary = "Which tools have something to say about a session, and why not.",
                     .response_schema = "SessionTools",
                     .handler = [context](const Request& r) { return SessionTools(context, r); }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}/tools/{tool}",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "askTool",
                     .tag = "tools",
                     .summary = "What a tool answers; its options are parameters too.",
                     .query = ToolQueries(),
                     .response_schema = "ToolAnswer",
                     .run_on = RunOn::kWorkPool,
                     .handler = [context](const Request& r) { return AskTool(context, r); }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}/tools/{tool}/progress",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "getToolProgress",
                     .tag = "tools",
                     .summary = "How far the computation of a tool's answer has come, by hosts.",
                     .response_schema = "ToolProgress",
                     .handler = [context](const Request& r) { return ToolProgress(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/tools/{tool}/rows/{row}/events",
       .access = {Need::kView, Object::kSession},
       .operation_id = "listRowEvents",
       .tag = "tools",
       .summary = "The events that a row of a tool's table is about.",
       .query = {{.name = "hosts", .description = "As for the answer."},
                 {.name = "table", .description = "Id or number; absent: the first."},
                 {.name = "order", .description = "time (default) or duration, longest first."},
                 {.name = "limit",
                  .type = ParamType::kInteger,
                  .description = "Events at most.",
                  .minimum = 1,
                  .maximum = static_cast<int64_t>(kMaxPageRows)}},
       .response_schema = "RowEvents",
       .run_on = RunOn::kWorkPool,
       .handler = [context](const Request& r) { return RowEvents(context, r); }});
}

}  // namespace strobe::api
