#include "src/api/table_parquet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace strobe::api {
namespace {

using tools::Cell;
using tools::ColumnType;
using tools::Table;
using wire::ParquetType;

std::vector<ParquetType> TypesOf(const Table& table, std::vector<size_t> rows) {
  ParquetTable from{.owner = {}, .table = &table, .columns = {}, .rows = std::move(rows)};
  for (size_t c = 0; c < table.columns().size(); ++c) from.columns.push_back(c);
  std::vector<ParquetType> types;
  for (const wire::ParquetColumn& column : ParquetColumnsOf(from)) types.push_back(column.type);
  return types;
}

TEST(TableParquetTest, TypesFollowColumnsUnitsAndTheRowsAskedFor) {
  Table table("t", "T");
  table.AddColumn({.id = "name", .type = ColumnType::kString});
  table.AddColumn({.id = "runs", .unit = "count"});
  table.AddColumn({.id = "time", .unit = "us"});
  table.AddColumn({.id = "eager", .type = ColumnType::kBoolean});
  table.AddColumn({.id = "size", .unit = "bytes"});
  table.AddRow({"a", 3, 7, true, Cell()});
  table.AddRow({"b", Cell(), 8, Cell(), std::nan("")});
  table.AddRow({5, 0.5, "n/a", 1, std::numeric_limits<double>::infinity()});
  using enum ParquetType;
  EXPECT_EQ(TypesOf(table, {0, 1}), (std::vector{kText, kInt64, kDouble, kBool, kInt64}));
  EXPECT_EQ(TypesOf(table, {0, 1, 2}), (std::vector{kText, kDouble, kText, kText, kDouble}));
  EXPECT_EQ(TypesOf(table, {}), (std::vector{kText, kInt64, kDouble, kBool, kInt64}));
}

TEST(TableParquetTest, StopsWhenNobodyWaits) {
  Table table("t", "T");
  table.AddColumn({.id = "n"});
  table.AddRow({1});
  const ParquetTable from{.owner = {}, .table = &table, .columns = {0}, .rows = {0}};
  std::string file;
  const auto sink = [&file](std::string part) {
    file += part;
    return OkStatus();
  };
  ASSERT_TRUE(WriteParquet(from, sink, CancelToken()).ok());
  EXPECT_TRUE(file.ends_with("PAR1"));
  CancelSource cancel;
  cancel.Cancel();
  file.clear();
  EXPECT_EQ(WriteParquet(from, sink, cancel.token()).code(), StatusCode::kCancelled);
  EXPECT_EQ(file, "PAR1");
}

}  // namespace
}  // namespace strobe::api
