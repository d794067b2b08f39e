#include "src/tools/agent_llo_events.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>

#include "src/tools/agent_event_walk.h"
#include "src/tools/agent_sql.h"
#include "src/tools/events_table.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kRecordingFlag = "--xla_xprof_enable_custom_call_tracing=true";
constexpr size_t kRowsBetweenLooks = 1000;

constexpr const char* kSchema =
    "CREATE TABLE llo_events (host TEXT, device TEXT, line_name TEXT, event_name TEXT, offset_ps "
    "INTEGER, duration_ps INTEGER, details TEXT, source_info TEXT, llo_scopes TEXT, "
    "pallas_primitive TEXT, source_call_stack TEXT, bundle_number INTEGER, instruction_ordinal "
    "INTEGER, unit_id INTEGER)";
constexpr const char* kInsert =
    "INSERT INTO llo_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
// Stats that are columns, in the order of the columns behind the times; the last three are numbers.
constexpr std::array<std::string_view, 8> kStats = {
    "details",           "source_info",   "llo_scopes",          "pallas_primitive",
    "source_call_stack", "bundle_number", "instruction_ordinal", "unit_id"};
constexpr size_t kFirstNumber = 5;
constexpr int kFirstStatColumn = 7;

struct Prepared {
  std::string_view name;
  std::string_view sql;
};
constexpr Prepared kPrepared[] = {
    {"instruction_mix",
     "SELECT event_name, count(*) AS count FROM llo_events WHERE line_name LIKE '%Instructions' "
     "GROUP BY event_name ORDER BY count DESC, event_name LIMIT 10"},
    {"top_pallas_primitives",
     "SELECT event_name, count(*) AS count, sum(duration_ps) AS total_duration_ps FROM llo_events "
     "WHERE line_name = 'Pallas Primitives' GROUP BY event_name ORDER BY total_duration_ps DESC, "
     "event_name"},
    {"longest_events",
     "SELECT line_name, event_name, offset_ps, duration_ps, details FROM llo_events ORDER BY "
     "duration_ps DESC, offset_ps LIMIT 20"}};

bool IsLloLine(std::string_view line) {
  constexpr std::string_view kEnding = " Instructions";
  for (const std::string_view known : {"Pallas Primitives", "Source Lines", "Source code"}) {
    if (line == known) return true;
  }
  if (!line.ends_with(kEnding)) return false;
  const std::string_view unit = line.substr(0, line.size() - kEnding.size());
  if (unit.starts_with("MXU")) return true;
  for (const std::string_view known : {"LLO", "SALU", "VALU", "EUP", "XLU", "VLD", "VST"}) {
    if (unit == known) return true;
  }
  return false;
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

std::string TextOf(const xplane::Stat& stat) {
  switch (stat.type) {
    case xplane::StatType::kInt64:
      return std::to_string(stat.int64_value);
    case xplane::StatType::kUint64:
      return std::to_string(stat.uint64_value);
    case xplane::StatType::kDouble:
      return std::to_string(stat.number);
    default:
      return std::string(stat.text);
  }
}

std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

using Values = std::array<std::optional<std::string>, kStats.size()>;

void Take(const std::vector<xplane::Stat>& stats, Values* values) {
  for (const xplane::Stat& stat : stats) {
    const auto known = std::ranges::find(kStats, stat.name);
    if (known != kStats.end())
      (*values)[static_cast<size_t>(known - kStats.begin())] = TextOf(stat);
  }
}

void BindText(sqlite3_stmt* statement, int column, std::string_view text) {
  sqlite3_bind_text64(statement, column, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

class Loader {
 public:
  explicit Loader(EventsConnection* connection) : connection_(*connection) {}

  // How many events there are.
  Result<size_t> Load() {
    sqlite3* const database = connection_.database();
    if (sqlite3_exec(database, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK) {
      return InternalError("SQL_ENGINE", sqlite3_errmsg(database));
    }
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database, kInsert, -1, &prepared, nullptr) != SQLITE_OK) {
      return InternalError("SQL_ENGINE", sqlite3_errmsg(database));
    }
    insert_.reset(prepared);
    STROBE_RETURN_IF_ERROR(ForEachTrack(connection_.context(),
                                        [this](const Track& track) { return LoadTrack(track); }));
    return rows_;
  }

 private:
  Status LoadTrack(const Track& track) {
    const xplane::Plane& plane = track.plane();
    if (!plane.name.starts_with("/device:TPU:")) return OkStatus();
    const std::string_view line = track.line().label();
    if (!IsLloLine(line)) return OkStatus();
    std::map<uint32_t, Values> by_metadata;
    const xplane::LineColumns& columns = track.columns();
    for (uint32_t e = 0; e < columns.event_count(); ++e) {
      if (rows_ % kRowsBetweenLooks == 0) STROBE_RETURN_IF_ERROR(connection_.WithinLimits());
      const auto [known, is_new] = by_metadata.try_emplace(columns.name[e]);
      if (is_new)
        Take(track.file().MetadataStats(track.plane_index(), columns.name[e]), &known->second);
      Values values = known->second;
      Take(track.file().EventStats(track.plane_index(), track.line_index(), e), &values);
      STROBE_RETURN_IF_ERROR(Insert(track, plane.name, line, columns, e, values));
    }
    return OkStatus();
  }

  Status Insert(const Track& track, std::string_view device, std::string_view line,
                const xplane::LineColumns& columns, uint32_t event, const Values& values) {
    sqlite3_stmt* const row = insert_.get();
    sqlite3_reset(row);
    sqlite3_clear_bindings(row);
    BindText(row, 1, track.host_name());
    BindText(row, 2, device);
    BindText(row, 3, line);
    BindText(row, 4, track.EventName(event));
    sqlite3_bind_int64(row, 5, track.StartPs(event));
    sqlite3_bind_int64(row, 6, columns.duration_ps[event]);
    for (size_t s = 0; s < values.size(); ++s) {
      if (!values[s]) continue;
      const int column = kFirstStatColumn + static_cast<int>(s);
      const std::optional<int64_t> number = NumberOf(*values[s]);
      if (s < kFirstNumber) {
        BindText(row, column, *values[s]);
      } else if (number) {
        sqlite3_bind_int64(row, column, *number);
      }
    }
    const int code = sqlite3_step(row);
    if (code != SQLITE_DONE) return connection_.ErrorOf(code, kInsert);
    ++rows_;
    return OkStatus();
  }

  EventsConnection& connection_;
  Statement insert_;
  size_t rows_ = 0;
};

Value Absent() {
  Value document = Value::Object();
  document.Set("status", Value::String("NO_DATA"));
  document.Set("reason", Value::String("LLO_EVENTS_ABSENT"));
  document.Set("error", Value::String("The session's TPUs recorded no LLO instructions."));
  document.Set("required_flags", Value::List()).Add(Value::String(kRecordingFlag));
  document.Set("remediation",
               Value::String("Run with LIBTPU_INIT_ARGS=\"" + std::string(kRecordingFlag) +
                             "\" set before the program imports jax. What the compiler planned "
                             "is in get_llo_analysis."));
  return document;
}

Result<ToolResult> RunQuery(const ToolQuestion& question, ToolInput& input,
                            const CancelToken& cancel) {
  std::string sql = question.options.Text("query");
  for (const Prepared& prepared : kPrepared) {
    if (sql == prepared.name) sql = prepared.sql;
  }
  if (Trimmed(sql).empty()) sql = kPrepared[0].sql;
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const SqlLimits limits, SqlLimitsOf(question.options));
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<EventsConnection> connection,
                          EventsConnection::Open(context, "Events", limits));
  STROBE_ASSIGN_OR_RETURN(const size_t rows, Loader(connection.get()).Load());
  if (rows == 0) return DocumentResult(Absent());
  STROBE_RETURN_IF_ERROR(connection->AllowOnlyReading("Events"));
  STROBE_ASSIGN_OR_RETURN(Value document,
                          AnswerSql(*connection, sql, question.options.Integer("limit")));
  return DocumentResult(std::move(document));
}

Result<ToolResult> RunLoad(const ToolQuestion& question, ToolInput& input,
                           const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  const SqlLimits limits = {.steps = INT64_MAX,
                            .seconds = INT32_MAX,
                            .memory_bytes = static_cast<int64_t>(kMaxEventsFileBytes)};
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<EventsConnection> connection,
                          EventsConnection::Open(context, "Events", limits));
  STROBE_ASSIGN_OR_RETURN(const size_t rows, Loader(connection.get()).Load());
  if (rows == 0) {
    return NotFoundError("LLO_EVENTS_ABSENT", "The session's TPUs recorded no LLO instructions.")
        .Hint("Run with LIBTPU_INIT_ARGS=\"" + std::string(kRecordingFlag) +
              "\" set before the program imports jax.");
  }
  return DatabaseFile(*connection);
}

}  // namespace

ToolDescriptor MakeLloQueryTool() {
  std::vector<OptionSpec> options = SqlOptions();
  options.front().description =
      "One SELECT over llo_events, in SQLite's SQL, or instruction_mix, top_pallas_primitives or "
      "longest_events; none: instruction_mix.";
  ToolDescriptor tool = AgentTool("llo_query", "Recorded LLO in SQL",
                                  "What did TPU kernels execute?", std::move(options));
  tool.stored = false;
  tool.run = RunQuery;
  return tool;
}

ToolDescriptor MakeLloLoadTool() {
  ToolDescriptor tool = AgentTool("llo_load", "Recorded LLO as a database",
                                  "What did TPU kernels execute, for another program?", {});
  tool.stored = false;
  tool.run = RunLoad;
  return tool;
}

}  // namespace strobe::tools
