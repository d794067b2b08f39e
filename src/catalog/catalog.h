// The catalogue: runs, profiler targets, profiler sessions, monitored events, operations, in SQLite
// or PostgreSQL. Records in, records out, in transactions.
//
//   STROBE_ASSIGN_OR_RETURN(auto catalog, Catalog::Open({.place = "catalog.db"}, clock, random));
//   Status done = catalog->Write([&](Transaction& transaction) -> Status {
//     STROBE_ASSIGN_OR_RETURN(Run run, transaction.Get<Run>(key));
//     run.display_name = "new";
//     return transaction.Update(run);
//   });
//
// An OK from Write means durable: the change survives the process and the machine. Anything else
// means that nothing of it is there. Writes are serializable; the function may run several times,
// so it sets its results anew each time. Clock and randomness are injected. Thread-safe.
// Cost: a read some 20 us, a write one fsync (SQLite). Limits: pages of kMaxPageSize.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/catalog/filter.h"
#include "src/catalog/resource.h"
#include "src/catalog/sql.h"

namespace strobe::catalog {

// Google's own bound; larger wishes are cut to it.
inline constexpr int64_t kMaxPageSize = 1000;

struct ListQuery {
  // `location` and `run` may be "-": of all.
  Key parent;
  std::string filter;
  std::string order_by;  // empty: newest first
  int64_t page_size = 10;
  std::string page_token;
};

template <typename T>
struct Page {
  std::vector<T> items;
  std::string next_page_token;  // empty: the last page
};

class Transaction {
 public:
  Transaction(SqlConnection& sql, const Clock& clock, Random& random)
      : sql_(sql), clock_(clock), random_(random) {}

  // Errors: <TABLE>_NOT_FOUND such as RUN_NOT_FOUND.
  template <typename T>
  Result<T> Get(const Key& key);
  template <typename T>
  Result<std::optional<T>> Find(const Key& key);
  // Errors: RUN_EXISTS ...
  template <typename T>
  Status Insert(const T& record);
  template <typename T>
  Status Update(const T& record);
  template <typename T>
  Status Delete(const Key& key);
  // Errors: FILTER_MALFORMED, ORDER_MALFORMED, PAGE_TOKEN_MALFORMED, PAGE_TOKEN_MISMATCH (the
  // token belongs to another filter, order or parent), PAGE_SIZE_NEGATIVE.
  template <typename T>
  Result<Page<T>> List(const ListQuery& query);
  // How many records fit parent and filter.
  template <typename T>
  Result<int64_t> Count(const ListQuery& query);
  // Every record for which `condition` (SQL of ours, with `?`) holds, at most `limit`.
  template <typename T>
  Result<std::vector<T>> Select(std::string_view condition, const std::vector<SqlValue>& values,
                                int64_t limit);
  // Children of a run; returns how many there were.
  template <typename T>
  Result<int64_t> DeleteChildren(const Key& run);

  SqlConnection& sql() { return sql_; }
  const Clock& clock() const { return clock_; }
  Random& random() { return random_; }

 private:
  SqlConnection& sql_;
  const Clock& clock_;
  Random& random_;
};

struct CatalogOptions {
  // A file, ":memory:" (forgotten at the end), or postgresql://...
  std::string place;
  std::string sqlite_vfs = {};  // of tests
};

class Catalog {
 public:
  // Makes or migrates the tables. Errors: CATALOG_*.
  static Result<std::unique_ptr<Catalog>> Open(const CatalogOptions& options, const Clock& clock,
                                               Random& random);

  Status Read(const std::function<Status(Transaction&)>& work);
  Status Write(const std::function<Status(Transaction&)>& work);
  // A whole copy as a SQLite file, while others write. Errors: CATALOG_BACKUP on PostgreSQL.
  Status BackUpTo(const std::string& path);
  SqlDialect dialect() const { return database_->dialect(); }

 private:
  Catalog(std::unique_ptr<SqlDatabase> database, const Clock& clock, Random& random)
      : database_(std::move(database)), clock_(clock), random_(random) {}

  std::unique_ptr<SqlDatabase> database_;
  const Clock& clock_;
  Random& random_;
};

bool IsPostgresPlace(std::string_view place);

}  // namespace strobe::catalog
