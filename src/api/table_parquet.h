// A tool's table as a Parquet file that is streamed while it is made.
//
//   return ParquetResponse({.owner = result, .table = table, .columns = view.columns,
//                           .rows = rows, .metadata = {{"strobe.tool", "hlo_stats"}}},
//                          "s1_hlo_stats_ops.parquet");
//
// Names of columns are their ids. Texts are STRING, truths BOOLEAN, numbers DOUBLE; numbers that
// are counts, bytes or picoseconds are INT64 as long as every one of the rows asked for is whole
// and below 2^53. Cells that say nothing (empty, NaN) are null. A column whose cells are not of its
// type becomes STRING with the texts of the CSV. The metadata of the file has what the caller gives
// and, as "strobe.columns", id, label, unit and description of each column as JSON.
//
// Cost: two passes over the rows asked for; memory as wire/parquet_writer.h says.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/api/response.h"
#include "src/tools/table.h"
#include "src/wire/parquet_writer.h"

namespace strobe::api {

struct ParquetTable {
  std::shared_ptr<const void> owner = {};  // keeps the table alive while it is sent
  const tools::Table* table = nullptr;
  std::vector<size_t> columns = {};
  std::vector<size_t> rows = {};
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

std::vector<wire::ParquetColumn> ParquetColumnsOf(const ParquetTable& from);
// Errors: those of the writer and the sink; CANCELLED.
Status WriteParquet(const ParquetTable& from, const wire::ParquetWriter::Sink& sink,
                    const CancelToken& cancel);
Response ParquetResponse(ParquetTable from, std::string_view file_name);

}  // namespace strobe::api
