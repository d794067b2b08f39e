// Questions in SQL to the events of a session, and the events as a database file.
//
//   query_events_db   one SELECT over the table `Events`; without a query: what columns there are
//   create_events_db  an SQLite file with the table `Events`, for other programs
//
//   strobe query_events_db RUN "SELECT line, count(*), sum(self_time_ps) FROM Events GROUP BY line"
//
// The table is not copied: SQLite reads the decoded columns of the profile through event_rows.h, a
// row at a time and only the cells that the question names. Nothing but reading is allowed: one
// statement, no other table, no file, no PRAGMA.
//
// Cost: 0.2-1 us an event and cell; a file of all events 2-5 us an event. Limits, each named in
// the error or told in the answer: kMaxSqlBytes, kMaxListedRecords rows, kMaxSqlAnswerBytes,
// kMaxEventsFileBytes, and those of SqlLimits, which the options max_steps, max_seconds and
// max_memory_mib raise. Sorting happens in memory; no file is read or written. Errors: SQL_INVALID,
// SQL_NOT_READ_ONLY, SQL_TOO_LONG, SQL_LIMIT_STEPS, SQL_LIMIT_TIME, SQL_LIMIT_MEMORY,
// EVENTS_DB_TOO_LARGE, EVENTS_LIMIT, CANCELLED.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

inline constexpr size_t kMaxSqlBytes = 100'000;
inline constexpr uint64_t kMaxSqlAnswerBytes = 64 * 1024 * 1024;
// The file is made in memory, because a tool writes none.
inline constexpr uint64_t kMaxEventsFileBytes = 1024 * 1024 * 1024;

struct SqlLimits;
class EventsConnection;

// For tools that ask their own tables as well. The first of the options is `query`.
std::vector<OptionSpec> SqlOptions();
Result<SqlLimits> SqlLimitsOf(const ToolOptions& options);
// The rows of one SELECT, at most `limit` (0 and less: kMaxListedRecords); only reading is allowed
// already.
Result<Value> AnswerSql(const EventsConnection& connection, std::string_view sql, int64_t limit);
// The connection's own tables as an SQLite file.
Result<ToolResult> DatabaseFile(const EventsConnection& connection);

ToolDescriptor MakeQueryEventsDbTool();
ToolDescriptor MakeCreateEventsDbTool();

}  // namespace strobe::tools
