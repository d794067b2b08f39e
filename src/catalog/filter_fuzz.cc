// Any bytes as a filter and as an order: a named error or a condition whose values are as many as
// its question marks.
#include <algorithm>

#include "src/catalog/filter.h"

using namespace strobe::catalog;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto fields : {FieldsOf<Run>(), FieldsOf<ProfilerTarget>(), FieldsOf<Operation>()}) {
    const auto filter = ParseFilter(text, fields);
    if (filter.ok()) {
      for (const SqlDialect dialect : {SqlDialect::kSqlite, SqlDialect::kPostgres}) {
        std::string sql;
        std::vector<SqlValue> values;
        filter->AppendSql(dialect, &sql, &values);
        const auto marks = static_cast<size_t>(std::count(sql.begin(), sql.end(), '?'));
        STROBE_CHECK(marks == values.size() && values.size() <= kMaxFilterTerms);
        STROBE_CHECK(std::count(sql.begin(), sql.end(), '(') ==
                     std::count(sql.begin(), sql.end(), ')'));
      }
    } else {
      STROBE_CHECK(filter.status().name() == "FILTER_MALFORMED");
    }
    const auto order = ParseOrder(text, fields);
    STROBE_CHECK(order.ok() ? order->size() <= kMaxOrderKeys
                            : order.status().name() == "ORDER_MALFORMED");
  }
  return 0;
}
