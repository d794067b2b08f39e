// The two databases behind the catalogue as one small thing: SQL text with `?` for values, rows of
// integers and text, and transactions.
//
//   STROBE_ASSIGN_OR_RETURN(std::unique_ptr<SqlDatabase> database, OpenSqlite({.path = "c.db"}));
//   Status done = database->Transact(SqlAccess::kWrite, [](SqlConnection& sql) -> Status {
//     return sql.Run("INSERT INTO t(a) VALUES(?)", {SqlValue{int64_t{1}}}).status();
//   });
//
// When Transact returns OK for a write, the change is on stable storage. When it returns an error
// nothing of it is there, but for CATALOG_COMMIT_UNKNOWN (the connection broke while committing).
// `work` may run several times (PostgreSQL's serialization conflicts), so it must build its results
// anew each time. Columns are never NULL. Cost: one fsync a write (SQLite), one round trip a
// statement (PostgreSQL). Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/status.h"

namespace strobe::catalog {

using SqlValue = std::variant<int64_t, std::string>;

struct SqlRows {
  std::vector<std::vector<SqlValue>> rows;
  int64_t changed_rows = 0;
};

enum class SqlDialect : uint8_t { kSqlite, kPostgres };
enum class SqlAccess : uint8_t { kRead, kWrite };

class SqlConnection {
 public:
  virtual ~SqlConnection() = default;
  virtual SqlDialect dialect() const = 0;
  // One statement. Errors: CATALOG_UNAVAILABLE, CATALOG_FULL, CATALOG_DAMAGED, CATALOG_CONFLICT
  // (retried by Transact), CATALOG_STATEMENT (ours).
  virtual Result<SqlRows> Run(std::string_view sql, const std::vector<SqlValue>& values) = 0;
};

class SqlDatabase {
 public:
  virtual ~SqlDatabase() = default;
  virtual SqlDialect dialect() const = 0;
  virtual Status Transact(SqlAccess access, const std::function<Status(SqlConnection&)>& work) = 0;
  // A copy that is whole at one moment, while others go on writing. SQLite only.
  virtual Status BackUpTo(const std::string& path) = 0;
};

struct SqliteOptions {
  std::string path;  // ":memory:" keeps nothing
  // Readers beside the one writer; the server's handler threads rarely read more at once.
  int max_readers = 4;
  // How long another process may hold the file before we say so.
  int busy_timeout_ms = 10'000;
  std::string vfs = {};  // of tests that break writes; empty: the usual one
};
Result<std::unique_ptr<SqlDatabase>> OpenSqlite(const SqliteOptions& options);

struct PostgresOptions {
  std::string url;  // postgresql://... or libpq's key=value form
  int max_connections = 8;
  int connect_timeout_s = 10;
  int statement_timeout_ms = 30'000;
  // Conflicts under load end after a few tries; more than this is a fault.
  int max_tries = 20;
};
Result<std::unique_ptr<SqlDatabase>> OpenPostgres(const PostgresOptions& options);

// `{text}`, `{big}`, `{contains:COLUMN}` (one value) become what the dialect writes for them.
std::string ForDialect(std::string_view sql, SqlDialect dialect);

}  // namespace strobe::catalog
