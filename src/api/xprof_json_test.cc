#include "src/api/xprof_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace strobe::api {
namespace {

using tools::Cell;
using tools::Table;
using tools::ToolResult;
using tools::Value;

TEST(XprofNumberTest, PrintsDoublesAsXprofDoes) {
  EXPECT_EQ(XprofNumber(0), "0.0");
  EXPECT_EQ(XprofNumber(-0.0), "-0.0");
  EXPECT_EQ(XprofNumber(1), "1.0");
  EXPECT_EQ(XprofNumber(-24), "-24.0");
  EXPECT_EQ(XprofNumber(36111.965), "36111.965");
  EXPECT_EQ(XprofNumber(1504.665208333333), "1504.665208333333");
  EXPECT_EQ(XprofNumber(0.1), "0.1");
  EXPECT_EQ(XprofNumber(0.0001), "0.0001");
  EXPECT_EQ(XprofNumber(0.00001), "1e-05");
  EXPECT_EQ(XprofNumber(1.5e-7), "1.5e-07");
  EXPECT_EQ(XprofNumber(999999999999999), "999999999999999.0");
  EXPECT_EQ(XprofNumber(1e15), "1e+15");
  EXPECT_EQ(XprofNumber(1234567890123456789.0), "1.2345678901234568e+18");
  EXPECT_EQ(XprofNumber(1e300), "1e+300");
  EXPECT_EQ(XprofNumber(std::nan("")), "null");
  EXPECT_EQ(XprofNumber(std::numeric_limits<double>::infinity()), "null");
}

TEST(XprofNumberTest, PrintsDoublesAsPythonDoes) {
  EXPECT_EQ(PythonNumber(1), "1.0");
  EXPECT_EQ(PythonNumber(1e15), "1000000000000000.0");
  EXPECT_EQ(PythonNumber(1e16), "1e+16");
  EXPECT_EQ(PythonNumber(0.00001), "1e-05");
  EXPECT_EQ(ProtobufNumber(1), "1");
  EXPECT_EQ(ProtobufNumber(0.5), "0.5");
  EXPECT_EQ(ProtobufNumber(std::nan("")), "\"NaN\"");
  EXPECT_EQ(ProtobufNumber(-std::numeric_limits<double>::infinity()), "\"-Infinity\"");
}

Table SmallTable() {
  Table table("t", "T");
  table.AddColumn({.id = "name", .label = "Name", .type = tools::ColumnType::kString});
  table.AddColumn({.id = "n", .label = "N (\xce\xbcs)", .properties = {{"role", "interval"}}});
  table.AddColumn({.id = "b", .type = tools::ColumnType::kBoolean});
  table.AddRow({"<a>\n\"\x7f", 1.0, true});
  table.AddRow({Cell(), Cell(31).Format("0x1f"), std::nan("")});
  table.SetProperty("zeta", "1");
  table.SetProperty("alpha", "0.0");
  return table;
}

TEST(XprofJsonTest, WritesTablesWithSortedKeys) {
  EXPECT_EQ(XprofTableJson(SmallTable()),
            R"({"cols":[{"id":"name","label":"Name","type":"string"},)"
            R"x({"id":"n","label":"N (μs)","p":{"role":"interval"},"type":"number"},)x"
            R"({"id":"b","label":"","type":"boolean"}],)"
            R"("p":{"alpha":"0.0","zeta":"1"},"rows":[)"
            "{\"c\":[{\"v\":\"<a>\\n\\\"\x7f\"},{\"v\":1.0},{\"v\":true}]},"
            R"({"c":[{"v":null},{"f":"0x1f","v":31.0},{"v":null}]}]})");
  EXPECT_EQ(XprofTableJson(Table()), "{}");
  EXPECT_EQ(XprofTableJson(Table("index", "")), R"({"cols":[],"rows":[]})");
}

TEST(XprofJsonTest, WritesTreesAsProtobufDoes) {
  Value value = Value::Object();
  value.Set("b", Value::Uint64(uint64_t{1} << 63));
  value.Set("a", Value::Int64(-5));
  value.Set("n", Value::Int32(7));
  value.Set("d", Value::Double(2));
  value.Set("s", Value::String("<x>"));
  Value& list = value.Set("l", Value::List());
  list.Add(Value::Bool(false));
  list.Add(Value::Null());
  EXPECT_EQ(XprofDocumentJson(value),
            R"({"b":"9223372036854775808","a":"-5","n":7,"d":2,"s":"\u003cx\u003e",)"
            R"("l":[false,null]})");
}

TEST(XprofJsonTest, ShapesBodies) {
  ToolResult result;
  result.shape = ToolResult::Shape::kTables;
  result.tables = {Table("a", ""), Table()};
  EXPECT_EQ(MakeXprofBody(result)->bytes, R"([{"cols":[],"rows":[]},{}])");
  result.shape = ToolResult::Shape::kTable;
  EXPECT_EQ(MakeXprofBody(result)->bytes, R"({"cols":[],"rows":[]})");
  result.shape = ToolResult::Shape::kText;
  result.text = "HloModule m";
  result.content_type = "text/plain";
  EXPECT_EQ(MakeXprofBody(result)->bytes, "HloModule m");
  EXPECT_EQ(MakeXprofBody(result)->content_type, "text/plain");
}

TEST(XprofCsvTest, QuotesEveryFieldAsPythonDoes) {
  ToolResult result;
  result.shape = ToolResult::Shape::kTables;
  result.tables = {SmallTable(), Table()};
  EXPECT_EQ(XprofCsv(result).value(),
            "\"Name\",\"N (\xce\xbcs)\",\"b\"\n"
            "\"<a>\n\"\"\x7f\",\"1.0\",\"True\"\n"
            "\"\",\"31.0\",\"\"\n");
  result.tables = {Table("index", "")};
  EXPECT_EQ(XprofCsv(result).value(), "\n");
}

TEST(XprofCsvTest, SaysWhatHasNoTable) {
  ToolResult result;
  result.shape = ToolResult::Shape::kDocument;
  EXPECT_EQ(XprofCsv(result).status().message(),
            "Data format not suitable for CSV (missing 'cols')");
  result.shape = ToolResult::Shape::kText;
  result.content_type = "text/plain";
  EXPECT_EQ(XprofCsv(result).status().message(), "CSV format not supported for this tool type");
}

TEST(XprofCsvTest, NamesFiles) {
  EXPECT_EQ(XprofCsvName("hlo_stats", "llama/run 1", "worker-0"), "hlo_stats_llama_run_1_0.csv");
  EXPECT_EQ(XprofCsvName("trace_viewer@", "r", "ALL_HOSTS"), "trace_viewer__r_ALL_HOSTS.csv");
}

}  // namespace
}  // namespace strobe::api
