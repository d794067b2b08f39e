#include "src/tools/events_table.h"

#include <new>

#include "src/tools/agent_sql.h"

namespace strobe::tools {
namespace {

constexpr int kStepsBetweenLooks = 10'000;
// Longest text of one cell; longer ones are SQLite's "string or blob too big".
constexpr int kMaxCellBytes = 16 * 1024 * 1024;

struct EventsVirtualTable {
  sqlite3_vtab base = {};
  EventsConnection* connection = nullptr;
};

struct EventsCursor {
  sqlite3_vtab_cursor base = {};
  EventsConnection* connection = nullptr;
  std::unique_ptr<EventRows> rows;
};

EventsCursor* CursorOf(sqlite3_vtab_cursor* cursor) {
  return reinterpret_cast<EventsCursor*>(cursor);
}

int Told(EventsConnection* connection, Status status) {
  if (status.ok()) return SQLITE_OK;
  const bool cancelled = status.code() == StatusCode::kCancelled;
  connection->Keep(std::move(status));
  return cancelled ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

int Connect(sqlite3* database, void* connection, int /*count*/, const char* const* /*names*/,
            sqlite3_vtab** table, char** /*error*/) {
  std::string declaration = "CREATE TABLE x(";
  for (const EventColumnSpec& column : EventColumns()) {
    if (column.column != EventColumns().front().column) declaration += ", ";
    declaration += std::string(column.name) + (column.is_text ? " TEXT" : " INTEGER");
  }
  const int declared = sqlite3_declare_vtab(database, (declaration + ")").c_str());
  if (declared != SQLITE_OK) return declared;
  auto* made = new (std::nothrow) EventsVirtualTable;
  if (made == nullptr) return SQLITE_NOMEM;
  made->connection = static_cast<EventsConnection*>(connection);
  *table = &made->base;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<EventsVirtualTable*>(table);
  return SQLITE_OK;
}

// Always a walk over all events.
int BestIndex(sqlite3_vtab* /*table*/, sqlite3_index_info* info) {
  info->estimatedCost = 1e6;
  info->estimatedRows = 1'000'000;
  return SQLITE_OK;
}

int OpenCursor(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  auto* made = new (std::nothrow) EventsCursor;
  if (made == nullptr) return SQLITE_NOMEM;
  made->connection = reinterpret_cast<EventsVirtualTable*>(table)->connection;
  made->rows = std::make_unique<EventRows>(made->connection->context());
  *cursor = &made->base;
  return SQLITE_OK;
}

int CloseCursor(sqlite3_vtab_cursor* cursor) {
  delete CursorOf(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* cursor, int /*index*/, const char* /*text*/, int /*count*/,
           sqlite3_value** /*values*/) {
  EventsCursor* const self = CursorOf(cursor);
  return Told(self->connection, self->rows->First());
}

int Next(sqlite3_vtab_cursor* cursor) {
  EventsCursor* const self = CursorOf(cursor);
  return Told(self->connection, self->rows->Next());
}

int AtEnd(sqlite3_vtab_cursor* cursor) { return CursorOf(cursor)->rows->AtEnd() ? 1 : 0; }

int Column(sqlite3_vtab_cursor* cursor, sqlite3_context* result, int column) {
  EventsCursor* const self = CursorOf(cursor);
  Result<EventCell> cell = self->rows->Cell(static_cast<EventColumn>(column));
  if (!cell.ok()) return Told(self->connection, cell.status());
  switch (cell->kind) {
    case EventCell::Kind::kNull:
      sqlite3_result_null(result);
      break;
    case EventCell::Kind::kInteger:
      sqlite3_result_int64(result, cell->integer);
      break;
    case EventCell::Kind::kText:
      sqlite3_result_text64(result, cell->text.data(), cell->text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8);
      break;
  }
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* row) {
  *row = static_cast<sqlite3_int64>(CursorOf(cursor)->rows->row()) + 1;
  return SQLITE_OK;
}

// Without xCreate the table is there by its name and no other can be made.
sqlite3_module EventsModule() {
  sqlite3_module module = {};
  module.xConnect = Connect;
  module.xDisconnect = Disconnect;
  module.xBestIndex = BestIndex;
  module.xOpen = OpenCursor;
  module.xClose = CloseCursor;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = AtEnd;
  module.xColumn = Column;
  module.xRowid = RowId;
  return module;
}
const sqlite3_module kEventsModule = EventsModule();

}  // namespace

Result<std::unique_ptr<EventsConnection>> EventsConnection::Open(const AgentContext& context,
                                                                 const char* table) {
  std::unique_ptr<EventsConnection> opened(new EventsConnection(context));
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  int code = sqlite3_open_v2(":memory:", &opened->database_, kFlags, nullptr);
  if (code == SQLITE_OK) {
    code =
        sqlite3_create_module_v2(opened->database_, table, &kEventsModule, opened.get(), nullptr);
  }
  if (code != SQLITE_OK) {
    return InternalError("SQL_ENGINE", std::string("SQLite cannot start: ") + sqlite3_errstr(code));
  }
  sqlite3_limit(opened->database_, SQLITE_LIMIT_LENGTH, kMaxCellBytes);
  sqlite3_limit(opened->database_, SQLITE_LIMIT_SQL_LENGTH, static_cast<int>(kMaxSqlBytes));
  sqlite3_limit(opened->database_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(opened->database_, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_progress_handler(opened->database_, kStepsBetweenLooks, OnProgress, opened.get());
  return opened;
}

EventsConnection::~EventsConnection() { sqlite3_close(database_); }

Status EventsConnection::AllowOnlyReading(const char* table) {
  // SQLite makes its own table of columns when the table is first named, and that is not reading.
  const std::string first = std::string("SELECT 1 FROM ") + table;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_, first.c_str(), -1, &statement, nullptr);
  sqlite3_finalize(statement);
  if (code != SQLITE_OK) return InternalError("SQL_ENGINE", sqlite3_errmsg(database_));
  sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_set_authorizer(database_, OnAuthorize, this);
  return OkStatus();
}

int EventsConnection::OnProgress(void* self) {
  auto* const connection = static_cast<EventsConnection*>(self);
  connection->steps_ += kStepsBetweenLooks;
  if (connection->steps_ > kMaxSqlSteps) {
    connection->Keep(ResourceExhaustedError("SQL_LIMIT_STEPS", "The question takes more than " +
                                                                   std::to_string(kMaxSqlSteps) +
                                                                   " steps of the database.")
                         .Hint("Join fewer rows: aggregate first, or name one host."));
    return 1;
  }
  Status status = connection->context_.cancel.Check();
  if (status.ok()) return 0;
  connection->Keep(std::move(status));
  return 1;
}

int EventsConnection::OnAuthorize(void* self, int action, const char* /*first*/, const char* second,
                                  const char* /*database*/, const char* /*trigger*/) {
  const bool loads = action == SQLITE_FUNCTION && second != nullptr &&
                     std::string_view(second) == "load_extension";
  if (!loads && (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                 action == SQLITE_RECURSIVE)) {
    return SQLITE_OK;
  }
  static_cast<EventsConnection*>(self)->refused_ = true;
  return SQLITE_DENY;
}

Status EventsConnection::ErrorOf(int code, std::string_view sql) const {
  if (!failure_.ok()) return failure_;
  if (refused_ || code == SQLITE_AUTH) {
    return InvalidArgumentError("SQL_NOT_READ_ONLY", "Only one SELECT over Events is answered.")
        .Where("query")
        .Hint("SELECT name, count(*) FROM Events GROUP BY name ORDER BY 2 DESC LIMIT 20");
  }
  if (code == SQLITE_FULL) {
    return ResourceExhaustedError("EVENTS_DB_TOO_LARGE", "The events take more than " +
                                                             std::to_string(kMaxEventsFileBytes) +
                                                             " bytes as a file.")
        .Hint("Name fewer hosts, or ask query_events_db, which makes no file.");
  }
  const int place = sqlite3_error_offset(database_);
  Status status =
      InvalidArgumentError("SQL_INVALID", std::string("SQLite: ") + sqlite3_errmsg(database_));
  status = std::move(status).Hint("query_events_db without a query names the columns of Events.");
  if (place < 0 || static_cast<size_t>(place) > sql.size()) return status;
  return std::move(status).Where("query, from: " +
                                 std::string(sql.substr(static_cast<size_t>(place), 40)));
}

}  // namespace strobe::tools
