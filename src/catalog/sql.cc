#include "src/catalog/sql.h"

namespace strobe::catalog {

std::string ForDialect(std::string_view sql, SqlDialect dialect) {
  const bool sqlite = dialect == SqlDialect::kSqlite;
  std::string out;
  while (!sql.empty()) {
    const size_t open = std::min(sql.find('{'), sql.size());
    out += sql.substr(0, open);
    sql.remove_prefix(open);
    if (sql.empty()) break;
    const size_t close = sql.find('}');
    STROBE_CHECK(close != std::string_view::npos);
    const std::string_view token = sql.substr(1, close - 1);
    sql.remove_prefix(close + 1);
    constexpr std::string_view kContains = "contains:";
    if (token == "text") {
      // Bytes decide the order on both, whatever the database's locale is.
      out += sqlite ? "TEXT NOT NULL DEFAULT ''" : "TEXT COLLATE \"C\" NOT NULL DEFAULT ''";
    } else if (token == "big") {
      out += sqlite ? "INTEGER NOT NULL DEFAULT 0" : "BIGINT NOT NULL DEFAULT 0";
    } else {
      STROBE_CHECK(token.starts_with(kContains));
      out += sqlite ? "instr(" : "strpos(";
      out += token.substr(kContains.size());
      out += ", ?) > 0";
    }
  }
  return out;
}

}  // namespace strobe::catalog
