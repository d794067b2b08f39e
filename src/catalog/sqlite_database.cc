// SQLite: one writer, a few readers, write-ahead log, a full sync at each commit.
#include <sqlite3.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "src/catalog/sql.h"

namespace strobe::catalog {
namespace {

// All statements of ours are far fewer; list statements differ by filter, so the cache is emptied
// when it is full.
constexpr size_t kMaxPreparedStatements = 128;

Status SqliteError(sqlite3* handle, int code, std::string_view what) {
  const std::string message = std::string(what) + ": " +
                              (handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle));
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return UnavailableError("CATALOG_BUSY", message)
          .Hint("Another process holds the catalogue's file for long; try again.");
    case SQLITE_FULL:
      return ResourceExhaustedError("CATALOG_FULL", message).Hint("Make room on the disk.");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return DataLossError("CATALOG_DAMAGED", message)
          .Hint("Put the newest backup in the file's place.");
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_IOERR:
      return UnavailableError("CATALOG_UNAVAILABLE", message)
          .Hint("Look whether the catalogue's folder exists and may be written to.");
    default:
      return InternalError("CATALOG_STATEMENT", message);
  }
}

class SqliteConnection final : public SqlConnection {
 public:
  SqliteConnection() = default;
  ~SqliteConnection() override {
    DropStatements();
    sqlite3_close(handle_);
  }
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  Status Open(const SqliteOptions& options, bool writer) {
    const int flags =
        (writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE) |
        SQLITE_OPEN_NOMUTEX;
    const int code = sqlite3_open_v2(options.path.c_str(), &handle_, flags,
                                     options.vfs.empty() ? nullptr : options.vfs.c_str());
    if (code != SQLITE_OK) {
      return SqliteError(handle_, code, "The catalogue cannot be opened").Where(options.path);
    }
    sqlite3_busy_timeout(handle_, options.busy_timeout_ms);
    for (const char* pragma : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
                               "PRAGMA foreign_keys=ON", "PRAGMA trusted_schema=OFF"}) {
      const Result<SqlRows> set = Run(pragma, {});
      if (!set.ok()) return set.status().Where(options.path);
    }
    return OkStatus();
  }
  sqlite3* handle() const { return handle_; }
  SqlDialect dialect() const override { return SqlDialect::kSqlite; }

  Result<SqlRows> Run(std::string_view sql, const std::vector<SqlValue>& values) override {
    STROBE_ASSIGN_OR_RETURN(sqlite3_stmt * statement, Prepare(sql));
    for (size_t i = 0; i < values.size(); ++i) {
      const int at = static_cast<int>(i) + 1;
      if (const auto* number = std::get_if<int64_t>(&values[i])) {
        sqlite3_bind_int64(statement, at, *number);
      } else {
        const std::string& text = std::get<std::string>(values[i]);
        sqlite3_bind_text64(statement, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
      }
    }
    SqlRows result;
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) ReadRow(statement, &result);
    Status status;
    if (code != SQLITE_DONE) status = SqliteError(handle_, code, "A statement failed");
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (!status.ok()) return status;
    result.changed_rows = sqlite3_changes64(handle_);
    return result;
  }

 private:
  static void ReadRow(sqlite3_stmt* statement, SqlRows* result) {
    std::vector<SqlValue>& row = result->rows.emplace_back();
    const int columns = sqlite3_column_count(statement);
    for (int c = 0; c < columns; ++c) {
      if (sqlite3_column_type(statement, c) == SQLITE_INTEGER) {
        row.emplace_back(static_cast<int64_t>(sqlite3_column_int64(statement, c)));
      } else {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, c));
        const auto size_bytes = static_cast<size_t>(sqlite3_column_bytes(statement, c));
        row.emplace_back(text == nullptr ? std::string() : std::string(text, size_bytes));
      }
    }
  }
  Result<sqlite3_stmt*> Prepare(std::string_view sql) {
    const auto found = statements_.find(sql);
    if (found != statements_.end()) return found->second;
    if (statements_.size() >= kMaxPreparedStatements) DropStatements();
    sqlite3_stmt* statement = nullptr;
    const int code =
        sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    if (code != SQLITE_OK) return SqliteError(handle_, code, "A statement is not understood");
    statements_.emplace(std::string(sql), statement);
    return statement;
  }
  void DropStatements() {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    statements_.clear();
  }

  sqlite3* handle_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

class SqliteDatabase final : public SqlDatabase {
 public:
  explicit SqliteDatabase(SqliteOptions options) : options_(std::move(options)) {}

  Status Open() { return writer_.Open(options_, /*writer=*/true); }
  SqlDialect dialect() const override { return SqlDialect::kSqlite; }

  Status Transact(SqlAccess access, const std::function<Status(SqlConnection&)>& work) override {
    if (access == SqlAccess::kWrite || options_.path == ":memory:") {
      const std::lock_guard lock(writer_mutex_);
      return Within(writer_, access == SqlAccess::kWrite ? "BEGIN IMMEDIATE" : "BEGIN", work);
    }
    STROBE_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> reader, TakeReader());
    const Status status = Within(*reader, "BEGIN", work);
    GiveBack(std::move(reader));
    return status;
  }

  Status BackUpTo(const std::string& path) override {
    // VACUUM INTO reads one snapshot and writes a file of its own; nobody waits meanwhile.
    STROBE_ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> reader, TakeReader());
    const Status status = reader->Run("VACUUM INTO ?", {SqlValue{path}}).status();
    GiveBack(std::move(reader));
    return status;
  }

 private:
  static Status Within(SqliteConnection& connection, std::string_view begin,
                       const std::function<Status(SqlConnection&)>& work) {
    STROBE_RETURN_IF_ERROR(connection.Run(begin, {}).status());
    Status status = work(connection);
    if (status.ok()) {
      status = connection.Run("COMMIT", {}).status();
      if (status.ok()) return status;
    }
    // After some faults SQLite has rolled back already; then there is nothing left to do.
    if (sqlite3_get_autocommit(connection.handle()) == 0) {
      const Status rolled_back = connection.Run("ROLLBACK", {}).status();
      if (!rolled_back.ok()) return rolled_back;
    }
    return status;
  }
  Result<std::unique_ptr<SqliteConnection>> TakeReader() {
    std::unique_lock lock(readers_mutex_);
    reader_free_.wait(lock, [this] { return !idle_.empty() || readers_ < options_.max_readers; });
    if (!idle_.empty()) {
      std::unique_ptr<SqliteConnection> reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
    auto reader = std::make_unique<SqliteConnection>();
    STROBE_RETURN_IF_ERROR(reader->Open(options_, /*writer=*/false));
    ++readers_;
    return reader;
  }
  void GiveBack(std::unique_ptr<SqliteConnection> reader) {
    const std::lock_guard lock(readers_mutex_);
    idle_.push_back(std::move(reader));
    reader_free_.notify_one();
  }

  const SqliteOptions options_;
  std::mutex writer_mutex_;
  SqliteConnection writer_;
  std::mutex readers_mutex_;
  std::condition_variable reader_free_;
  std::vector<std::unique_ptr<SqliteConnection>> idle_;
  int readers_ = 0;
};

}  // namespace

Result<std::unique_ptr<SqlDatabase>> OpenSqlite(const SqliteOptions& options) {
  auto database = std::make_unique<SqliteDatabase>(options);
  STROBE_RETURN_IF_ERROR(database->Open());
  return std::unique_ptr<SqlDatabase>(std::move(database));
}

}  // namespace strobe::catalog
