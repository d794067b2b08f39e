#include "src/tools/events_table.h"

#include <algorithm>
#include <new>
#include <vector>

#include "src/tools/agent_sql.h"

namespace strobe::tools {
namespace {

// One step may search a whole text, which takes up to some milliseconds.
constexpr int kStepsBetweenLooks = 100;
// Longest text that a question may make; longer ones are SQLite's "string or blob too big". Texts
// of events are cut there.
constexpr int kMaxCellBytes = 1024 * 1024;
// LIKE compares text by pattern bytes in one step, and so do instr, replace and trim.
constexpr int kMaxLikeBytes = 250;
constexpr size_t kMaxNeedleBytes = 250;
constexpr int kMaxExpressionDepth = 200;
constexpr int kMaxCompounds = 100;
constexpr int64_t kNanosPerSecond = 1'000'000'000;

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

// As much of a text as a cell may hold, whole characters.
size_t CellBytes(std::string_view text) {
  size_t end = static_cast<size_t>(kMaxCellBytes) - 1;
  if (text.size() <= end) return text.size();
  while (end > 0 && (static_cast<uint8_t>(text[end]) >> 6) == 2) --end;
  return end;
}

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
      sqlite3_result_text64(result, cell->text.data(), CellBytes(cell->text), SQLITE_TRANSIENT,
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

// Makes texts or bytes out of nothing, reads files, or shows the library's inside.
bool IsRefused(std::string_view function) {
  for (const char* name : {"load_extension", "randomblob", "zeroblob", "random", "fts3_tokenizer",
                           "readfile", "writefile", "edit", "sqlite_compileoption_get"}) {
    if (function == name) return true;
  }
  return false;
}

// instr, replace, trim and their kin compare every place of the first text with the whole second
// one, in which SQLite cannot be stopped. Ours answer only for short second texts.
struct Searched {
  std::string_view text;
  std::string_view needle;
};

std::string_view TextOf(sqlite3_value* value) {
  const auto* const bytes = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_value_bytes(value))};
}

// False when the answer is already there: null, or that the second text is too long.
bool ReadSearched(sqlite3_context* result, sqlite3_value** values, int count, Searched* searched) {
  for (int i = 0; i < count; ++i) {
    if (sqlite3_value_type(values[i]) != SQLITE_NULL) continue;
    sqlite3_result_null(result);
    return false;
  }
  searched->text = TextOf(values[0]);
  searched->needle = count > 1 ? TextOf(values[1]) : std::string_view(" ");
  if (searched->needle.size() <= kMaxNeedleBytes) return true;
  sqlite3_result_error(result, "the text that is looked for is longer than 250 bytes", -1);
  return false;
}

// Characters of UTF-8: every byte but those that continue one.
int64_t Characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) >> 6) != 2; });
}

void Instr(sqlite3_context* result, int count, sqlite3_value** values) {
  Searched searched;
  if (!ReadSearched(result, values, count, &searched)) return;
  const size_t at = searched.text.find(searched.needle);
  sqlite3_result_int64(
      result, at == std::string_view::npos ? 0 : Characters(searched.text.substr(0, at)) + 1);
}

void Replace(sqlite3_context* result, int count, sqlite3_value** values) {
  Searched searched;
  if (!ReadSearched(result, values, count, &searched)) return;
  const std::string_view with = TextOf(values[2]);
  std::string made;
  size_t from = 0;
  while (!searched.needle.empty()) {
    const size_t at = searched.text.find(searched.needle, from);
    if (at == std::string_view::npos) break;
    made.append(searched.text.substr(from, at - from)).append(with);
    from = at + searched.needle.size();
    if (made.size() > static_cast<size_t>(kMaxCellBytes))
      return sqlite3_result_error_toobig(result);
  }
  made.append(searched.text.substr(from));
  sqlite3_result_text64(result, made.data(), made.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// The characters of `set`, each with its bytes.
std::vector<std::string_view> CharactersOf(std::string_view set) {
  std::vector<std::string_view> characters;
  for (size_t at = 0; at < set.size();) {
    size_t end = at + 1;
    while (end < set.size() && (static_cast<uint8_t>(set[end]) >> 6) == 2) ++end;
    characters.push_back(set.substr(at, end - at));
    at = end;
  }
  return characters;
}

// The user data says which ends: 1 the left, 2 the right.
void Trim(sqlite3_context* result, int count, sqlite3_value** values) {
  Searched searched;
  if (!ReadSearched(result, values, count, &searched)) return;
  const auto ends = reinterpret_cast<intptr_t>(sqlite3_user_data(result));
  const std::vector<std::string_view> set = CharactersOf(searched.needle);
  std::string_view text = searched.text;
  const auto cut = [&](bool left) {
    for (const std::string_view one : set) {
      if (!(left ? text.starts_with(one) : text.ends_with(one))) continue;
      text = left ? text.substr(one.size()) : text.substr(0, text.size() - one.size());
      return true;
    }
    return false;
  };
  while ((ends & 1) != 0 && cut(true)) {
  }
  while ((ends & 2) != 0 && cut(false)) {
  }
  sqlite3_result_text64(result, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

int AddSearches(sqlite3* database) {
  struct Function {
    const char* name;
    int arguments;
    intptr_t data;
    void (*run)(sqlite3_context*, int, sqlite3_value**);
  };
  constexpr Function kFunctions[] = {{"instr", 2, 0, Instr}, {"replace", 3, 0, Replace},
                                     {"trim", 1, 3, Trim},   {"trim", 2, 3, Trim},
                                     {"ltrim", 1, 1, Trim},  {"ltrim", 2, 1, Trim},
                                     {"rtrim", 1, 2, Trim},  {"rtrim", 2, 2, Trim}};
  for (const Function& function : kFunctions) {
    const int code = sqlite3_create_function_v2(
        database, function.name, function.arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
        reinterpret_cast<void*>(function.data), function.run, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace

EventsConnection::EventsConnection(const AgentContext& context, const SqlLimits& limits,
                                   const Clock& clock)
    : context_(context),
      limits_(limits),
      clock_(clock),
      begin_ns_(clock.MonotonicNanos()),
      begin_memory_bytes_(sqlite3_memory_used()) {}

Result<std::unique_ptr<EventsConnection>> EventsConnection::Open(const AgentContext& context,
                                                                 const char* table,
                                                                 const SqlLimits& limits,
                                                                 const Clock& clock) {
  std::unique_ptr<EventsConnection> opened(new EventsConnection(context, limits, clock));
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  int code = sqlite3_open_v2(":memory:", &opened->database_, kFlags, nullptr);
  // What is sorted would else go to files.
  if (code == SQLITE_OK) {
    code = sqlite3_exec(opened->database_, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);
  }
  if (code == SQLITE_OK) code = AddSearches(opened->database_);
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
  sqlite3_limit(opened->database_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kMaxLikeBytes);
  sqlite3_limit(opened->database_, SQLITE_LIMIT_EXPR_DEPTH, kMaxExpressionDepth);
  sqlite3_limit(opened->database_, SQLITE_LIMIT_COMPOUND_SELECT, kMaxCompounds);
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

Status EventsConnection::WithinLimits() const {
  if (steps_ > limits_.steps) {
    return ResourceExhaustedError("SQL_LIMIT_STEPS", "The question takes more than " +
                                                         std::to_string(limits_.steps) +
                                                         " steps of the database.")
        .Hint("Join fewer rows: aggregate first, or name one host. max_steps raises the limit.");
  }
  if (clock_.MonotonicNanos() - begin_ns_ > limits_.seconds * kNanosPerSecond) {
    return ResourceExhaustedError(
               "SQL_LIMIT_TIME",
               "The question takes more than " + std::to_string(limits_.seconds) + " seconds.")
        .Hint("Ask for less: aggregate first, or name one host. max_seconds raises the limit.");
  }
  if (sqlite3_memory_used() - begin_memory_bytes_ > limits_.memory_bytes) {
    return ResourceExhaustedError("SQL_LIMIT_MEMORY", "The question takes more than " +
                                                          std::to_string(limits_.memory_bytes) +
                                                          " bytes of memory.")
        .Hint("Sort and group fewer or shorter rows. max_memory_mib raises the limit.");
  }
  return context_.cancel.Check();
}

int EventsConnection::OnProgress(void* self) {
  auto* const connection = static_cast<EventsConnection*>(self);
  connection->steps_ += kStepsBetweenLooks;
  Status status = connection->WithinLimits();
  if (status.ok()) return 0;
  connection->Keep(std::move(status));
  return 1;
}

int EventsConnection::OnAuthorize(void* self, int action, const char* /*first*/, const char* second,
                                  const char* /*database*/, const char* /*trigger*/) {
  const bool refused = action == SQLITE_FUNCTION && (second == nullptr || IsRefused(second));
  if (!refused && (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
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
  if (code == SQLITE_NOMEM) {
    return ResourceExhaustedError("SQL_LIMIT_MEMORY", "There is no memory for the question.")
        .Hint("Sort and group fewer or shorter rows.");
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
