#include "src/api/compare.h"

#include <gtest/gtest.h>

namespace strobe::api {
namespace {

using tools::Cell;
using tools::Table;

Table Ops(const std::vector<std::pair<std::string, double>>& rows) {
  Table table("ops", "Operations");
  table.AddColumn({.id = "hlo_op_name", .type = tools::ColumnType::kString});
  table.AddColumn({.id = "expression", .type = tools::ColumnType::kString});
  table.AddColumn({.id = "time"});
  for (const auto& [name, time] : rows) table.AddRow({Cell(name), Cell("%" + name), Cell(time)});
  return table;
}

TEST(CompareTest, AlignsRowsByKey) {
  const Table a = Ops({{"x", 10}, {"y", 4}, {"only a", 1}});
  const Table b = Ops({{"only b", 2}, {"y", 5}, {"x", 0}});
  const std::vector<const Table*> tables = {&a, &b};
  const std::vector<size_t> keys = KeyColumns("hlo_stats", a, {}).value();
  EXPECT_EQ(keys, std::vector<size_t>{0});  // not the expression
  const Comparison made = CompareTables(tables, keys);
  ASSERT_EQ(made.rows.size(), 4u);
  EXPECT_EQ(made.columns, std::vector<size_t>{2});
  EXPECT_EQ(made.rows[0].row_ids, (std::vector<std::optional<size_t>>{0, 2}));
  EXPECT_EQ(made.rows[1].row_ids, (std::vector<std::optional<size_t>>{1, 1}));
  EXPECT_EQ(made.rows[2].row_ids, (std::vector<std::optional<size_t>>{2, std::nullopt}));
  EXPECT_EQ(made.rows[3].row_ids, (std::vector<std::optional<size_t>>{std::nullopt, 0}));
  const Difference y = DifferenceOf(ComparedCell(tables, made.rows[1], 2, 0),
                                    ComparedCell(tables, made.rows[1], 2, 1));
  EXPECT_EQ(y.absolute, 1);
  EXPECT_EQ(y.relative, 0.25);
  EXPECT_EQ(DifferenceOf(Cell(0.0), Cell(3.0)).absolute, 3);
  EXPECT_EQ(DifferenceOf(Cell(0.0), Cell(3.0)).relative, std::nullopt);
  EXPECT_EQ(DifferenceOf(Cell(), Cell(3.0)).absolute, std::nullopt);
}

TEST(CompareTest, MatchesEqualKeysInOrder) {
  const Table a = Ops({{"x", 1}, {"x", 2}});
  const Table b = Ops({{"x", 3}, {"x", 4}, {"x", 5}});
  const Comparison made = CompareTables(std::vector<const Table*>{&a, &b}, {0});
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_EQ(made.rows[1].row_ids, (std::vector<std::optional<size_t>>{1, 1}));
  EXPECT_EQ(made.rows[2].row_ids, (std::vector<std::optional<size_t>>{std::nullopt, 2}));
}

TEST(CompareTest, SortsByDifference) {
  const Table a = Ops({{"x", 10}, {"y", 4}, {"z", 1}, {"gone", 9}});
  const Table b = Ops({{"x", 11}, {"y", 1}, {"z", 3}});
  const std::vector<const Table*> tables = {&a, &b};
  const auto order = [&](const std::string& by, bool descending) {
    Comparison made = CompareTables(tables, {0});
    EXPECT_TRUE(SortComparison(tables, {{by, descending}}, &made).ok());
    std::string names;
    for (const ComparedRow& row : made.rows) {
      names += std::get<std::string>(ComparedCell(tables, row, 0, 0).value) + " ";
    }
    return names;
  };
  EXPECT_EQ(order("time", true), "x gone y z ");
  EXPECT_EQ(order("time.absolute", false), "y x z gone ");
  EXPECT_EQ(order("time.absolute", true), "y z x gone ");  // by amount
  EXPECT_EQ(order("time.relative", true), "z y x gone ");
  EXPECT_EQ(order("hlo_op_name", false), "gone x y z ");
  Comparison made = CompareTables(tables, {0});
  EXPECT_EQ(SortComparison(tables, {{"nosuch", false}}, &made).name(), "COLUMN_UNKNOWN");
}

TEST(CompareTest, FindsColumnsById) {
  const Table a = Ops({{"x", 1}});
  Table b("ops", "");
  b.AddColumn({.id = "time"});
  b.AddColumn({.id = "hlo_op_name", .type = tools::ColumnType::kString});
  b.AddRow({Cell(7.0), Cell("x")});
  const std::vector<const Table*> tables = {&a, &b};
  const Comparison made = CompareTables(tables, {0});
  ASSERT_EQ(made.rows.size(), 1u);
  EXPECT_EQ(ComparedCell(tables, made.rows[0], 2, 1), Cell(7.0));
  EXPECT_EQ(ComparedCell(tables, made.rows[0], 1, 1), Cell());
  EXPECT_EQ(KeyColumns("unknown tool", a, {}).value(), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(KeyColumns("x", a, {"time"}).value(), std::vector<size_t>{2});
  EXPECT_FALSE(KeyColumns("x", a, {"nosuch"}).ok());
}

}  // namespace
}  // namespace strobe::api
