// A catalogue with as many runs as one asks for, made by a few statements.
//
//   STROBE_CHECK(InsertManyRuns(*catalog, 100'000, /*body_bytes=*/2048).ok());
//
// In project "p": half of them in location "l", half in "m", every ten share a time, names are
// spread without order.
#pragma once

#include <algorithm>
#include <string>

#include "src/catalog/catalog.h"

namespace strobe::catalog {

inline constexpr int64_t kManyRunsAtOnce = 10'000;

inline Status InsertManyRuns(Catalog& catalog, int64_t count, int64_t body_bytes) {
  const std::string body =
      "{\"labels\":{\"filler\":\"" + std::string(static_cast<size_t>(body_bytes), 'x') + "\"}}";
  for (int64_t from = 0; from < count; from += kManyRunsAtOnce) {
    const int64_t to = std::min(from + kManyRunsAtOnce, count) - 1;
    STROBE_RETURN_IF_ERROR(catalog.Write([&](Transaction& transaction) {
      return transaction.sql()
          .Run(ForDialect(
                   "WITH RECURSIVE numbers(n) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT n + 1 "
                   "FROM numbers WHERE n < CAST(? AS BIGINT)) INSERT INTO runs (project, location, "
                   "id, etag, create_unix_ns, update_unix_ns, end_unix_ns, display_name, run_set, "
                   "state, phase, orchestrator, storage_path, logical_id, existing_only, "
                   "scan_due_unix_ns, scan_done_unix_ns, scan_interval_ns, scan_error, body) "
                   "SELECT 'p', CASE WHEN n % 2 = 0 THEN 'l' ELSE 'm' END, 'run-' || n, 'e', "
                   "1700000000000000000 + n / 10, 0, 0, 'name ' || (n * 7919 % 100003), "
                   "'set ' || (n % 40), 'ACTIVE', 'ACTIVE', 'GKE', '', '', 0, 0, 0, 0, '', ? "
                   "FROM numbers",
                   transaction.sql().dialect()),
               {SqlValue{from}, SqlValue{to}, SqlValue{body}})
          .status();
    }));
  }
  return OkStatus();
}

}  // namespace strobe::catalog
