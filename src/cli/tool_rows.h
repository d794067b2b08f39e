// All rows of a tool's tables as one JSON document, page by page.
//
//   STROBE_ASSIGN_OR_RETURN(const RowsPrinted printed, PrintAllRows(client, target, PrintOut));
//
// The answer is that of the API with `rows` complete. The first page is asked for as it is; when a
// table has more rows than a page, the pages after it are asked for and written one by one, so that
// no more than one is in memory. Cost: one question a page; the tool itself runs once. Limits:
// kMaxPrintedRows a table; what is beyond is left out and counted in RowsPrinted::left_out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/cli/api_client.h"

namespace strobe::cli {

// 5 GB of JSON at some 500 bytes a row.
inline constexpr uint64_t kMaxPrintedRows = 10'000'000;

struct RowsPrinted {
  uint64_t rows = 0;
  uint64_t left_out = 0;
};

// `target` asks for JSON and names no offset and limit. `page_rows` and `most_rows` are for tests.
Result<RowsPrinted> PrintAllRows(ApiClient* client, const std::string& target,
                                 const std::function<void(std::string_view)>& print,
                                 uint64_t page_rows, uint64_t most_rows = kMaxPrintedRows);

}  // namespace strobe::cli
