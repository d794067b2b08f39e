// The catalogue's tables, as numbered steps that are only ever added to.
//
//   STROBE_RETURN_IF_ERROR(Migrate(database, clock));
//
// Each step runs once, in one transaction with the note that it ran, so a server that is killed
// meanwhile leaves either the old or the new form. Several servers may start at once. Errors:
// CATALOG_NEWER when a later release has written the catalogue; it is left as it is.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "src/base/clock.h"
#include "src/catalog/sql.h"

namespace strobe::catalog {

struct Migration {
  int64_t number = 0;
  std::string_view name;
  std::vector<std::string_view> statements;
};

std::span<const Migration> AllMigrations();
// Tables of users, roles, tokens, links and the audit chain.
std::vector<std::string_view> AccessStatements();
// Points, curves and configs of runs.
std::vector<std::string_view> MetricStatements();
Status Migrate(SqlDatabase& database, const Clock& clock,
               std::span<const Migration> migrations = AllMigrations());

}  // namespace strobe::catalog
