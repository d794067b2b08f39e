#include "src/tools/agent_sql.h"

#include <fmt/format.h>

#include <set>

#include "src/tools/events_table.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kTable = "Events";
constexpr std::string_view kHexDigits = "0123456789abcdef";

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Value ColumnsOfEvents() {
  Value columns = Value::List();
  for (const EventColumnSpec& spec : EventColumns()) {
    Value& column = columns.Add(Value::Object());
    column.Set("name", Value::String(spec.name));
    column.Set("type", Value::String(spec.is_text ? "TEXT" : "INTEGER"));
    column.Set("description", Value::String(spec.description));
  }
  return columns;
}

std::string_view TextOf(sqlite3_stmt* statement, int column) {
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const int size = sqlite3_column_bytes(statement, column);
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, static_cast<size_t>(size));
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += kHexDigits[static_cast<uint8_t>(byte) >> 4];
    text += kHexDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

Value CellOf(sqlite3_stmt* statement, int column, uint64_t* bytes) {
  constexpr uint64_t kNumberBytes = 8;
  *bytes += kNumberBytes;
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return Value::Int64(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return Value::Double(sqlite3_column_double(statement, column));
    case SQLITE_TEXT:
      *bytes += TextOf(statement, column).size();
      return Value::String(TextOf(statement, column));
    case SQLITE_BLOB:
      *bytes += 2 * TextOf(statement, column).size();
      return Value::String(Hex(TextOf(statement, column)));
    default:
      return Value::Null();
  }
}

// Two columns of one name would be one member of a row.
std::vector<std::string> NamesOf(sqlite3_stmt* statement) {
  std::vector<std::string> names;
  std::set<std::string, std::less<>> seen;
  for (int c = 0; c < sqlite3_column_count(statement); ++c) {
    const char* const name = sqlite3_column_name(statement, c);
    std::string unique = name == nullptr ? "" : name;
    for (int again = 2; seen.contains(unique); ++again) {
      unique = fmt::format("{}_{}", name == nullptr ? "" : name, again);
    }
    seen.insert(unique);
    names.push_back(std::move(unique));
  }
  return names;
}

Result<Statement> Prepare(const EventsConnection& connection, std::string_view sql) {
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(connection.database(), sql.data(),
                                      static_cast<int>(sql.size()), &prepared, &rest);
  Statement statement(prepared);
  if (code != SQLITE_OK) return connection.ErrorOf(code, sql);
  std::string_view left(rest, static_cast<size_t>(sql.data() + sql.size() - rest));
  sqlite3_stmt* second = nullptr;
  const int more = sqlite3_prepare_v2(connection.database(), left.data(),
                                      static_cast<int>(left.size()), &second, nullptr);
  const Statement dropped(second);
  if (statement == nullptr || second != nullptr || more != SQLITE_OK ||
      sqlite3_stmt_readonly(statement.get()) == 0) {
    return connection.ErrorOf(SQLITE_AUTH, sql);
  }
  return statement;
}

Result<Value> RowsOf(const EventsConnection& connection, sqlite3_stmt* statement,
                     std::string_view sql, size_t limit) {
  const std::vector<std::string> names = NamesOf(statement);
  Value columns = Value::List();
  for (const std::string& name : names) columns.Add(Value::String(name));
  Value rows = Value::List();
  uint64_t bytes = 0;
  std::string cut;
  int code = sqlite3_step(statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
    if (rows.items().size() >= limit) cut = "limit";
    if (bytes >= kMaxSqlAnswerBytes) cut = "bytes";
    if (!cut.empty()) break;
    Value& row = rows.Add(Value::Object());
    for (int c = 0; c < static_cast<int>(names.size()); ++c) {
      row.AddMember(names[static_cast<size_t>(c)], CellOf(statement, c, &bytes));
    }
  }
  if (code != SQLITE_ROW && code != SQLITE_DONE) return connection.ErrorOf(code, sql);
  Value document = Value::Object();
  document.Set("columns", std::move(columns));
  document.Set("returned", Value::Int64(static_cast<int64_t>(rows.items().size())));
  document.Set("truncated", Value::Bool(!cut.empty()));
  if (!cut.empty()) {
    document.Set("truncated_by", Value::String(cut));
    document.Set("message",
                 Value::String(cut == "limit"
                                   ? fmt::format("There are more than {} rows; --limit raises that "
                                                 "to {}.",
                                                 limit, kMaxListedRecords)
                                   : fmt::format("The rows take over {} bytes; select fewer "
                                                 "columns or rows.",
                                                 kMaxSqlAnswerBytes)));
  }
  document.Set("rows", std::move(rows));
  return document;
}

Result<ToolResult> RunQuery(const ToolQuestion& question, ToolInput& input,
                            const CancelToken& cancel) {
  const std::string& sql = question.options.Text("query");
  if (Trimmed(sql).empty()) {
    Value document = Value::Object();
    document.Set("table", Value::String(kTable));
    document.Set("columns", ColumnsOfEvents());
    document.Set("example", Value::String("SELECT name, count(*) AS calls, sum(self_time_ps) AS "
                                          "self_ps FROM Events GROUP BY name ORDER BY self_ps "
                                          "DESC LIMIT 20"));
    return DocumentResult(std::move(document));
  }
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const SqlLimits limits, SqlLimitsOf(question.options));
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<EventsConnection> connection,
                          EventsConnection::Open(context, kTable.data(), limits));
  STROBE_RETURN_IF_ERROR(connection->AllowOnlyReading(kTable.data()));
  STROBE_ASSIGN_OR_RETURN(Value document,
                          AnswerSql(*connection, sql, question.options.Integer("limit")));
  return DocumentResult(std::move(document));
}

Result<ToolResult> RunCreate(const ToolQuestion& question, ToolInput& input,
                             const CancelToken& cancel) {
  // One walk over the events, and the file itself is bounded.
  constexpr SqlLimits kNoLimits = {
      .steps = INT64_MAX, .seconds = INT32_MAX, .memory_bytes = INT64_MAX};
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<EventsConnection> connection,
                          EventsConnection::Open(context, "recorded", kNoLimits));
  constexpr uint64_t kPageBytes = 4096;
  const std::string script = fmt::format(
      "PRAGMA page_size={}; PRAGMA max_page_count={}; PRAGMA journal_mode=OFF; "
      "CREATE TABLE {} AS SELECT * FROM recorded;",
      kPageBytes, kMaxEventsFileBytes / kPageBytes, kTable);
  const int code = sqlite3_exec(connection->database(), script.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return connection->ErrorOf(code, script);
  return DatabaseFile(*connection);
}

}  // namespace

Result<SqlLimits> SqlLimitsOf(const ToolOptions& options) {
  // An hour and what a machine may have: whoever raises a limit means it.
  constexpr int64_t kMaxSeconds = 3600;
  constexpr int64_t kMaxSteps = 1'000'000'000'000;
  constexpr int64_t kMaxMemoryMib = 1 << 20;
  constexpr int64_t kMibBytes = 1 << 20;
  const auto within = [&](const char* name, int64_t most) -> Result<int64_t> {
    const int64_t value = options.Integer(name);
    if (value >= 1 && value <= most) return value;
    return InvalidArgumentError("OPTION_INVALID",
                                fmt::format("{} is a number from 1 to {}.", name, most))
        .Where(name);
  };
  SqlLimits limits;
  STROBE_ASSIGN_OR_RETURN(limits.steps, within("max_steps", kMaxSteps));
  STROBE_ASSIGN_OR_RETURN(limits.seconds, within("max_seconds", kMaxSeconds));
  STROBE_ASSIGN_OR_RETURN(const int64_t mib, within("max_memory_mib", kMaxMemoryMib));
  limits.memory_bytes = mib * kMibBytes;
  return limits;
}

Result<Value> AnswerSql(const EventsConnection& connection, std::string_view sql, int64_t limit) {
  if (sql.size() > kMaxSqlBytes) {
    return InvalidArgumentError(
        "SQL_TOO_LONG",
        fmt::format("The query has {} bytes; at most {} are read.", sql.size(), kMaxSqlBytes));
  }
  STROBE_ASSIGN_OR_RETURN(const Statement statement, Prepare(connection, sql));
  return RowsOf(connection, statement.get(), sql, LimitOf(limit, kMaxListedRecords));
}

Result<ToolResult> DatabaseFile(const EventsConnection& connection) {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(
      sqlite3_serialize(connection.database(), "main", &size, 0), &sqlite3_free);
  if (bytes == nullptr) {
    return ResourceExhaustedError("EVENTS_DB_TOO_LARGE", "There is no memory for the file.");
  }
  ToolResult result = TextResult(
      std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<size_t>(size)));
  result.content_type = "application/vnd.sqlite3";
  return result;
}

std::vector<OptionSpec> SqlOptions() {
  return {{.name = "query",
           .description = "One SELECT over Events, in SQLite's SQL; none: the columns are named."},
          {.name = "limit",
           .type = OptionType::kInteger,
           .default_value = "1000",
           .description = "Most rows to answer with; 0 and less: 1000000."},
          {.name = "max_steps",
           .type = OptionType::kInteger,
           .default_value = "1000000000",
           .description = "Most steps of the database's machine."},
          {.name = "max_seconds",
           .type = OptionType::kInteger,
           .default_value = "30",
           .description = "Longest time."},
          {.name = "max_memory_mib",
           .type = OptionType::kInteger,
           .default_value = "1024",
           .description = "Most memory of the database, in MiB."}};
}

ToolDescriptor MakeQueryEventsDbTool() {
  ToolDescriptor tool = AgentTool("query_events_db", "Events in SQL",
                                  "What does a query over the events say?", SqlOptions());
  tool.stored = false;
  tool.run = RunQuery;
  return tool;
}

ToolDescriptor MakeCreateEventsDbTool() {
  ToolDescriptor tool = AgentTool("create_events_db", "Events as a database",
                                  "What are all events, for another program?", {});
  tool.stored = false;
  tool.run = RunCreate;
  return tool;
}

}  // namespace strobe::tools
