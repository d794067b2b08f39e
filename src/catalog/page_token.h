// Page tokens: where a list goes on, bound to what was asked.
//
//   const std::string binding = PageBinding("runs", {project, location, filter, order});
//   WritePageToken(binding, {SqlValue{1700000000}, SqlValue{"run-7"}});
//   ReadPageToken(token, binding, 2);   // the same values, or PAGE_TOKEN_MISMATCH
//
// A token holds the last record's sort values, so that records which come or go in between neither
// repeat nor hide others. It is no secret and gives no right. Limit: kMaxPageTokenBytes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/catalog/sql.h"

namespace strobe::catalog {

// Sort values are names and times; display names are the longest.
inline constexpr size_t kMaxPageTokenBytes = 8192;

struct SortColumn {
  std::string_view name;
  bool descending = false;
};

Status PageTokenMalformed();
std::string PageBinding(std::string_view table, std::initializer_list<std::string_view> parts);
std::string WritePageToken(std::string_view binding, const std::vector<SqlValue>& values);
Result<std::vector<SqlValue>> ReadPageToken(std::string_view token, std::string_view binding,
                                            size_t values);
// Appends " AND (...)": what comes after the values in this order.
void AppendAfter(const std::vector<SortColumn>& sort, const std::vector<SqlValue>& after,
                 std::string* sql, std::vector<SqlValue>* values);

}  // namespace strobe::catalog
