// An SQLite connection whose only table is the events of a session.
//
//   STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<EventsConnection> connection,
//                           EventsConnection::Open(context, "Events"));
//   sqlite3_prepare_v2(connection->database(), ...);
//   if (code != SQLITE_DONE) return connection->ErrorOf(code, sql);
//
// In memory, one thread, gone with the object. What goes wrong while SQLite asks for rows is kept
// as the Status it was. Cost and limits: event_rows.h, agent_sql.h.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/clock.h"
#include "src/tools/event_rows.h"

namespace strobe::tools {

// What one question may take; beyond it the error names the limit and its option.
struct SqlLimits {
  // Instructions of SQLite's machine, 20-50 ns each: half a minute.
  int64_t steps = 1'000'000'000;
  int64_t seconds = 30;
  // Of SQLite's own memory in this process, counted from where the question began: of several
  // questions at once, what they take together.
  int64_t memory_bytes = int64_t{1} << 30;
};

class EventsConnection {
 public:
  // `context` and `clock` outlive the connection. `table` is the name of the table of events.
  static Result<std::unique_ptr<EventsConnection>> Open(const AgentContext& context,
                                                        const char* table,
                                                        const SqlLimits& limits = {},
                                                        const Clock& clock = SystemClock());
  ~EventsConnection();
  EventsConnection(const EventsConnection&) = delete;
  EventsConnection& operator=(const EventsConnection&) = delete;

  sqlite3* database() const { return database_; }
  // From here on only reading is allowed. `table` as at Open.
  Status AllowOnlyReading(const char* table);
  // The reason why SQLite stopped with `code`.
  Status ErrorOf(int code, std::string_view sql) const;

  // For who fills tables; SQLite asks by itself.
  Status WithinLimits() const;

  const AgentContext& context() const { return context_; }
  void Keep(Status failure) { failure_ = std::move(failure); }

 private:
  EventsConnection(const AgentContext& context, const SqlLimits& limits, const Clock& clock);
  static int OnProgress(void* self);
  static int OnAuthorize(void* self, int action, const char* first, const char* second,
                         const char* database, const char* trigger);

  const AgentContext& context_;
  const SqlLimits limits_;
  const Clock& clock_;
  const int64_t begin_ns_;
  const int64_t begin_memory_bytes_;
  sqlite3* database_ = nullptr;
  int64_t steps_ = 0;
  bool refused_ = false;
  Status failure_;
};

}  // namespace strobe::tools
