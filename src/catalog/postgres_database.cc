// PostgreSQL through libpq: a bounded pool of connections; writes are serializable and tried again
// when they meet one another.
#include <libpq-fe.h>

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "src/base/ids.h"
#include "src/catalog/sql.h"

namespace strobe::catalog {
namespace {

constexpr unsigned kInt8Oid = 20;
constexpr unsigned kInt4Oid = 23;

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PgResult = std::unique_ptr<PGresult, ResultDeleter>;

std::string WithNumberedValues(std::string_view sql) {
  std::string out;
  int number = 0;
  bool quoted = false;
  for (const char c : sql) {
    if (c == '\'') quoted = !quoted;
    if (c == '?' && !quoted) {
      out += "$" + std::to_string(++number);
    } else {
      out += c;
    }
  }
  return out;
}

Status PostgresError(const PGconn* connection, const PGresult* result, std::string_view what) {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* text = result == nullptr ? PQerrorMessage(connection) : PQresultErrorMessage(result);
  std::string message = std::string(what) + ": " + (text == nullptr ? "" : text);
  while (message.ends_with('\n')) message.pop_back();
  const std::string_view code = state == nullptr ? "" : state;
  if (code == "40001" || code == "40P01") {
    return Status(StatusCode::kAborted, "CATALOG_CONFLICT", std::move(message));
  }
  if (code.starts_with("53")) return ResourceExhaustedError("CATALOG_FULL", std::move(message));
  if (code.empty() || code.starts_with("08") || code.starts_with("57")) {
    return UnavailableError("CATALOG_UNAVAILABLE", std::move(message))
        .Hint("Look whether PostgreSQL runs and the address is right.");
  }
  return InternalError("CATALOG_STATEMENT", std::move(message));
}

class PostgresConnection final : public SqlConnection {
 public:
  PostgresConnection() = default;
  ~PostgresConnection() override { PQfinish(connection_); }
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  Status Open(const PostgresOptions& options) {
    const std::string timeout = std::to_string(options.connect_timeout_s);
    // What the address says itself comes later and so wins.
    const char* keys[] = {"connect_timeout", "application_name", "client_encoding", "dbname",
                          nullptr};
    const char* values[] = {timeout.c_str(), "strobe", "UTF8", options.url.c_str(), nullptr};
    connection_ = PQconnectdbParams(keys, values, /*expand_dbname=*/1);
    if (PQstatus(connection_) != CONNECTION_OK) {
      return PostgresError(connection_, nullptr, "The catalogue's database cannot be reached");
    }
    // Notices would go to standard error as they are.
    PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);
    // A server that stands still in the middle of a change must not keep the others from theirs.
    const std::string limit = std::to_string(options.statement_timeout_ms);
    STROBE_RETURN_IF_ERROR(Run("SET statement_timeout = " + limit, {}).status());
    return Run("SET idle_in_transaction_session_timeout = " + limit, {}).status();
  }
  bool alive() const { return PQstatus(connection_) == CONNECTION_OK; }
  SqlDialect dialect() const override { return SqlDialect::kPostgres; }

  Result<SqlRows> Run(std::string_view sql, const std::vector<SqlValue>& values) override {
    std::vector<std::string> texts;
    texts.reserve(values.size());
    std::vector<const char*> pointers;
    for (const SqlValue& value : values) {
      if (const auto* number = std::get_if<int64_t>(&value)) {
        texts.push_back(std::to_string(*number));
      } else {
        texts.push_back(std::get<std::string>(value));
      }
      pointers.push_back(texts.back().c_str());
    }
    const PgResult result(PQexecParams(connection_, WithNumberedValues(sql).c_str(),
                                       static_cast<int>(values.size()), nullptr, pointers.data(),
                                       nullptr, nullptr, /*resultFormat=*/0));
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      return PostgresError(connection_, result.get(), "A statement failed");
    }
    return ReadRows(result.get());
  }

 private:
  static SqlRows ReadRows(PGresult* result) {
    SqlRows rows;
    const int columns = PQnfields(result);
    for (int r = 0; r < PQntuples(result); ++r) {
      std::vector<SqlValue>& row = rows.rows.emplace_back();
      for (int c = 0; c < columns; ++c) {
        const std::string_view text(PQgetvalue(result, r, c),
                                    static_cast<size_t>(PQgetlength(result, r, c)));
        const unsigned type = PQftype(result, c);
        if (type == kInt8Oid || type == kInt4Oid) {
          int64_t number = 0;
          std::from_chars(text.data(), text.data() + text.size(), number);
          row.emplace_back(number);
        } else {
          row.emplace_back(std::string(text));
        }
      }
    }
    const std::string_view changed = PQcmdTuples(result);
    std::from_chars(changed.data(), changed.data() + changed.size(), rows.changed_rows);
    return rows;
  }

  PGconn* connection_ = nullptr;
};

class PostgresDatabase final : public SqlDatabase {
 public:
  explicit PostgresDatabase(PostgresOptions options) : options_(std::move(options)) {}

  SqlDialect dialect() const override { return SqlDialect::kPostgres; }

  Status Transact(SqlAccess access, const std::function<Status(SqlConnection&)>& work) override {
    bool reconnected = false;
    for (int attempt = 1;; ++attempt) {
      STROBE_ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection, Take());
      bool began = false;
      const Status status = Once(*connection, access, work, &began);
      GiveBack(std::move(connection));
      // A kept connection may have died while nobody used it; then nothing has happened yet.
      if (!began && !status.ok() && status.name() == "CATALOG_UNAVAILABLE" && !reconnected) {
        reconnected = true;
        DropIdle();
        continue;
      }
      if (status.ok() || status.name() != "CATALOG_CONFLICT") return status;
      if (attempt >= options_.max_tries) {
        return Status(StatusCode::kAborted, "CATALOG_CONFLICT",
                      "The change met others again and again.")
            .Hint("Try again.");
      }
      // Waiting a random while, longer each time, lets one of those that met go first.
      const uint64_t limit_us = uint64_t{1000} << std::min(attempt, 6);
      std::this_thread::sleep_for(
          std::chrono::microseconds(SystemRandom().Next() % limit_us + 100));
    }
  }

  Status BackUpTo(const std::string&) override {
    return UnimplementedError("CATALOG_BACKUP", "PostgreSQL makes its own backups.")
        .Hint("Use pg_dump or pg_basebackup.");
  }

  Status Check() {
    return Transact(SqlAccess::kRead,
                    [](SqlConnection& sql) { return sql.Run("SELECT 1", {}).status(); });
  }

 private:
  static Status Once(PostgresConnection& connection, SqlAccess access,
                     const std::function<Status(SqlConnection&)>& work, bool* began) {
    STROBE_RETURN_IF_ERROR(connection
                               .Run(access == SqlAccess::kWrite
                                        ? "BEGIN ISOLATION LEVEL SERIALIZABLE"
                                        : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                                    {})
                               .status());
    *began = true;
    Status status = work(connection);
    if (!status.ok()) {
      if (connection.alive()) (void)connection.Run("ROLLBACK", {});
      return status;
    }
    status = connection.Run("COMMIT", {}).status();
    if (!status.ok() && access == SqlAccess::kWrite && !connection.alive()) {
      return UnavailableError("CATALOG_COMMIT_UNKNOWN",
                              "The connection broke while the change was being committed.")
          .Hint("Look whether it was made before trying again.");
    }
    if (!status.ok() && connection.alive()) (void)connection.Run("ROLLBACK", {});
    return status;
  }
  Result<std::unique_ptr<PostgresConnection>> Take() {
    {
      std::unique_lock lock(mutex_);
      free_.wait(lock, [this] { return !idle_.empty() || used_ < options_.max_connections; });
      ++used_;
      if (!idle_.empty()) {
        std::unique_ptr<PostgresConnection> connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    auto connection = std::make_unique<PostgresConnection>();
    Status opened = connection->Open(options_);
    if (opened.ok()) return connection;
    const std::lock_guard lock(mutex_);
    --used_;
    free_.notify_one();
    return opened;
  }
  void GiveBack(std::unique_ptr<PostgresConnection> connection) {
    const std::lock_guard lock(mutex_);
    --used_;
    if (connection->alive()) idle_.push_back(std::move(connection));
    free_.notify_one();
  }
  void DropIdle() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }

  const PostgresOptions options_;
  std::mutex mutex_;
  std::condition_variable free_;
  std::vector<std::unique_ptr<PostgresConnection>> idle_;
  int used_ = 0;
};

}  // namespace

Result<std::unique_ptr<SqlDatabase>> OpenPostgres(const PostgresOptions& options) {
  auto database = std::make_unique<PostgresDatabase>(options);
  STROBE_RETURN_IF_ERROR(database->Check());
  return std::unique_ptr<SqlDatabase>(std::move(database));
}

}  // namespace strobe::catalog
