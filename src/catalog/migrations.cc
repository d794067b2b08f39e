#include "src/catalog/migrations.h"

#include <fmt/format.h>

namespace strobe::catalog {
namespace {

constexpr std::string_view kNotes =
    "CREATE TABLE IF NOT EXISTS schema_migrations (number {big}, name {text}, applied_unix_ns "
    "{big}, PRIMARY KEY (number))";

// Any number that other programs in the same database are unlikely to lock by.
constexpr std::string_view kPostgresLock = "SELECT pg_advisory_xact_lock(7382916450)";

Status RunAll(SqlConnection& sql, const Migration& migration, const Clock& clock) {
  for (const std::string_view statement : migration.statements) {
    const Result<SqlRows> done = sql.Run(ForDialect(statement, sql.dialect()), {});
    if (!done.ok()) return done.status().Where(fmt::format("migration {}", migration.number));
  }
  return sql
      .Run("INSERT INTO schema_migrations (number, name, applied_unix_ns) VALUES (?, ?, ?)",
           {SqlValue{migration.number}, SqlValue{std::string(migration.name)},
            SqlValue{clock.NowUnixNanos()}})
      .status();
}

}  // namespace

std::span<const Migration> AllMigrations() {
  static const std::vector<Migration> migrations = {
      {.number = 1,
       .name = "runs, targets, sessions, events, operations",
       .statements =
           {
               R"sql(CREATE TABLE runs (
  project {text},
  location {text},
  id {text},
  etag {text},
  create_unix_ns {big},
  update_unix_ns {big},
  end_unix_ns {big},
  display_name {text},
  run_set {text},
  state {text},
  phase {text},
  orchestrator {text},
  storage_path {text},
  logical_id {text},
  existing_only {big},
  scan_due_unix_ns {big},
  scan_done_unix_ns {big},
  scan_interval_ns {big},
  scan_error {text},
  body {text},
  PRIMARY KEY (project, location, id)))sql",
               R"sql(CREATE TABLE profiler_targets (
  project {text},
  location {text},
  run {text},
  id {text},
  etag {text},
  create_unix_ns {big},
  hostname {text},
  node_index {big},
  is_master {big},
  automatic {big},
  PRIMARY KEY (project, location, run, id)))sql",
               R"sql(CREATE TABLE profiler_sessions (
  project {text},
  location {text},
  run {text},
  id {text},
  etag {text},
  create_unix_ns {big},
  update_unix_ns {big},
  start_unix_ns {big},
  end_unix_ns {big},
  kind {text},
  state {text},
  operation {text},
  found_path {text},
  viewer_id {text},
  hosts {text},
  host_count {big},
  size_bytes {big},
  completeness {text},
  found_modified_unix_ns {big},
  body {text},
  PRIMARY KEY (project, location, run, id)))sql",
               R"sql(CREATE TABLE monitored_events (
  project {text},
  location {text},
  run {text},
  id {text},
  etag {text},
  create_unix_ns {big},
  update_unix_ns {big},
  display_name {text},
  type {text},
  start_unix_ns {big},
  end_unix_ns {big},
  insight_found {big},
  body {text},
  PRIMARY KEY (project, location, run, id)))sql",
               R"sql(CREATE TABLE operations (
  project {text},
  location {text},
  id {text},
  create_unix_ns {big},
  end_unix_ns {big},
  done {big},
  verb {text},
  target {text},
  run {text},
  cancel_requested {big},
  error_code {big},
  error_message {text},
  response {text},
  PRIMARY KEY (project, location, id)))sql",
               R"sql(CREATE TABLE answered_requests (
  project {text},
  location {text},
  id {text},
  create_unix_ns {big},
  fingerprint {text},
  operation {text},
  PRIMARY KEY (project, location, id)))sql",
               "CREATE INDEX runs_by_time ON runs (project, location, create_unix_ns DESC, id)",
               "CREATE INDEX runs_by_scan ON runs (scan_due_unix_ns) WHERE scan_due_unix_ns > 0",
               "CREATE UNIQUE INDEX runs_by_logical_id ON runs (project, location, logical_id) "
               "WHERE "
               "logical_id <> ''",
               "CREATE INDEX runs_by_storage ON runs (storage_path)",
               "CREATE INDEX sessions_by_time ON profiler_sessions (project, location, run, "
               "create_unix_ns DESC, id)",
               "CREATE INDEX events_by_time ON monitored_events (project, location, run, "
               "create_unix_ns DESC, id)",
               "CREATE INDEX operations_by_time ON operations (project, location, create_unix_ns "
               "DESC, "
               "id)",
               "CREATE INDEX operations_by_target ON operations (project, location, run)",
               "CREATE INDEX operations_by_end ON operations (end_unix_ns) WHERE done = 1",
               "CREATE INDEX requests_by_time ON answered_requests (create_unix_ns)"}},
      {.number = 2, .name = "users, roles, tokens, links, audit", .statements = AccessStatements()},
      {.number = 3,
       .name = "operations that go on",
       .statements = {"ALTER TABLE operations ADD COLUMN lease_unix_ns {big}",
                      "ALTER TABLE operations ADD COLUMN progress {text}",
                      "CREATE INDEX operations_by_lease ON operations (lease_unix_ns) WHERE "
                      "lease_unix_ns > 0"}},
      {.number = 4, .name = "metrics and configs of runs", .statements = MetricStatements()},
      {.number = 5,
       .name = "runs of all locations by time",
       .statements = {
           "CREATE INDEX runs_by_project_time ON runs (project, create_unix_ns DESC, id, "
           "location)"}}};
  return migrations;
}

namespace {

Status MigrateOnce(SqlDatabase& database, const Clock& clock,
                   std::span<const Migration> migrations) {
  return database.Transact(SqlAccess::kWrite, [&](SqlConnection& sql) -> Status {
    if (sql.dialect() == SqlDialect::kPostgres) {
      STROBE_RETURN_IF_ERROR(sql.Run(kPostgresLock, {}).status());
    }
    STROBE_RETURN_IF_ERROR(sql.Run(ForDialect(kNotes, sql.dialect()), {}).status());
    STROBE_ASSIGN_OR_RETURN(const SqlRows at,
                            sql.Run("SELECT COALESCE(MAX(number), 0) FROM schema_migrations", {}));
    const int64_t reached = std::get<int64_t>(at.rows.at(0).at(0));
    if (!migrations.empty() && reached > migrations.back().number) {
      return FailedPreconditionError("CATALOG_NEWER",
                                     "The catalogue was written by a later release of Strobe.")
          .Where(fmt::format("form {}, this release knows {}", reached, migrations.back().number))
          .Hint("Start that release, or restore a backup that was made before.");
    }
    for (const Migration& migration : migrations) {
      if (migration.number <= reached) continue;
      STROBE_RETURN_IF_ERROR(RunAll(sql, migration, clock));
    }
    return OkStatus();
  });
}

// Servers that start together wait for each other, and those that waited look at the state of
// before; a second look sees what the first one made.
constexpr int kMaxLooks = 3;

}  // namespace

Status Migrate(SqlDatabase& database, const Clock& clock, std::span<const Migration> migrations) {
  Status status;
  for (int look = 0; look < kMaxLooks; ++look) {
    status = MigrateOnce(database, clock, migrations);
    if (status.ok() || status.name() != "CATALOG_STATEMENT") break;
  }
  return status;
}

}  // namespace strobe::catalog
