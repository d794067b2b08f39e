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

#include "src/tools/event_rows.h"

namespace strobe::tools {

class EventsConnection {
 public:
  // `context` outlives the connection. `table` is the name of the table of events.
  static Result<std::unique_ptr<EventsConnection>> Open(const AgentContext& context,
                                                        const char* table);
  ~EventsConnection();
  EventsConnection(const EventsConnection&) = delete;
  EventsConnection& operator=(const EventsConnection&) = delete;

  sqlite3* database() const { return database_; }
  // From here on only reading is allowed. `table` as at Open.
  Status AllowOnlyReading(const char* table);
  // The reason why SQLite stopped with `code`.
  Status ErrorOf(int code, std::string_view sql) const;

  const AgentContext& context() const { return context_; }
  void Keep(Status failure) { failure_ = std::move(failure); }

 private:
  explicit EventsConnection(const AgentContext& context) : context_(context) {}
  static int OnProgress(void* self);
  static int OnAuthorize(void* self, int action, const char* first, const char* second,
                         const char* database, const char* trigger);

  const AgentContext& context_;
  sqlite3* database_ = nullptr;
  int64_t steps_ = 0;
  bool refused_ = false;
  Status failure_;
};

}  // namespace strobe::tools
