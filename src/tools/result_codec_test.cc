#include "src/tools/result_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace strobe::tools {
namespace {

ToolResult Everything() {
  ToolResult result;
  result.shape = ToolResult::Shape::kTables;
  result.partial = true;
  result.text = std::string("a\0b\xff", 4);
  result.content_type = "text/html";
  result.notices = {{Notice::Severity::kError, "NAME", "message", "hint"},
                    {Notice::Severity::kInfo, "", "", ""}};
  Table table("ops", "Operations");
  table.AddColumn({.id = "a",
                   .label = "A",
                   .type = ColumnType::kString,
                   .unit = "us",
                   .properties = {{"role", "tooltip"}},
                   .description = "What it is."});
  table.AddColumn({.id = "b", .label = "B"});
  table.AddColumn({.id = "c", .label = "C", .type = ColumnType::kBoolean});
  table.AddRow({"same", 0.1, true}, {.hlo_module_id = UINT64_MAX,
                                     .op_name = "fusion.3",
                                     .framework_op = "jit(f)",
                                     .step = 7,
                                     .host = "h",
                                     .side = RowSubject::Side::kHost,
                                     .launch = "regs:8"});
  table.AddRow({"same", Cell(-0.0).Format("0x0"), false});
  table.AddRow({Cell(), std::numeric_limits<double>::infinity(), Cell("x").Format("same")},
               {.step = 0});
  table.SetProperty("device", "TPU");
  result.tables = {table, Table(), Table("empty", "")};
  result.document = Value::Object();
  result.document.Set("i", Value::Int64(INT64_MIN));
  result.document.Set("u", Value::Uint64(UINT64_MAX));
  result.document.Set("n", Value::Int32(-5));
  result.document.Set("d", Value::Double(0.25));
  result.document.Set("s", Value::String("same"));
  result.document.Set("b", Value::Bool(true));
  result.document.Set("nothing", Value::Null());
  Value list = Value::List();
  list.Add(Value::Object());
  list.Add(Value::List());
  result.document.Set("list", std::move(list));
  return result;
}

void ExpectEqual(const ToolResult& a, const ToolResult& b) {
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.partial, b.partial);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.content_type, b.content_type);
  ASSERT_EQ(a.notices.size(), b.notices.size());
  for (size_t i = 0; i < a.notices.size(); ++i) {
    EXPECT_EQ(a.notices[i].severity, b.notices[i].severity);
    EXPECT_EQ(a.notices[i].name, b.notices[i].name);
    EXPECT_EQ(a.notices[i].message, b.notices[i].message);
    EXPECT_EQ(a.notices[i].hint, b.notices[i].hint);
  }
  ASSERT_EQ(a.tables.size(), b.tables.size());
  for (size_t i = 0; i < a.tables.size(); ++i) {
    const Table& x = a.tables[i];
    const Table& y = b.tables[i];
    EXPECT_EQ(x.id(), y.id());
    EXPECT_EQ(x.title(), y.title());
    EXPECT_EQ(x.properties(), y.properties());
    EXPECT_EQ(x.rows(), y.rows());
    EXPECT_EQ(x.subjects(), y.subjects());
    ASSERT_EQ(x.columns().size(), y.columns().size());
    for (size_t c = 0; c < x.columns().size(); ++c) {
      EXPECT_EQ(x.columns()[c].id, y.columns()[c].id);
      EXPECT_EQ(x.columns()[c].label, y.columns()[c].label);
      EXPECT_EQ(x.columns()[c].type, y.columns()[c].type);
      EXPECT_EQ(x.columns()[c].unit, y.columns()[c].unit);
      EXPECT_EQ(x.columns()[c].properties, y.columns()[c].properties);
      EXPECT_EQ(x.columns()[c].description, y.columns()[c].description);
    }
  }
  EXPECT_EQ(a.document, b.document);
}

std::string Encoded(const ToolResult& result) {
  Result<std::string> bytes = EncodeResult(result);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  return bytes.ok() ? *bytes : "";
}

TEST(ResultCodecTest, GivesBackEverything) {
  const ToolResult result = Everything();
  const Result<ToolResult> again = DecodeResult(Encoded(result));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  ExpectEqual(result, *again);
  EXPECT_TRUE(std::signbit(std::get<double>(again->tables[0].rows()[1][1].value)));
}

TEST(ResultCodecTest, GivesBackAnEmptyAnswer) {
  const Result<ToolResult> again = DecodeResult(Encoded(ToolResult()));
  ASSERT_TRUE(again.ok());
  ExpectEqual(ToolResult(), *again);
}

TEST(ResultCodecTest, KeepsEqualTextsOnce) {
  const std::string name(1000, 'k');
  Table table("t", "");
  table.AddColumn({.id = "name", .type = ColumnType::kString});
  for (int i = 0; i < 100; ++i) table.AddRow({Cell(name)}, {.op_name = name});
  ToolResult result;
  result.tables = {table};
  EXPECT_LT(Encoded(result).size(), 3000u);
}

TEST(ResultCodecTest, RefusesWhatIsCutAnywhere) {
  const std::string bytes = Encoded(Everything());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<ToolResult> cut = DecodeResult(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(cut.ok()) << size;
    EXPECT_EQ(cut.status().name(), "RESULT_DAMAGED");
  }
}

TEST(ResultCodecTest, RefusesWhatIsChangedAnywhere) {
  const std::string good = Encoded(Everything());
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x21);
    EXPECT_FALSE(DecodeResult(bytes).ok()) << at;
  }
  EXPECT_FALSE(DecodeResult(good + "x").ok());
}

TEST(ResultCodecTest, SaysThatAnotherVersionWroteIt) {
  std::string bytes = Encoded(Everything());
  bytes[8] = static_cast<char>(kResultFormatVersion + 1);
  EXPECT_EQ(DecodeResult(bytes).status().name(), "RESULT_OTHER_VERSION");
}

TEST(ResultCodecTest, DoesNotKeepTreesWithoutEnd) {
  Value deep = Value::List();
  for (int i = 0; i < kMaxValueDepth + 1; ++i) {
    Value outer = Value::List();
    outer.Add(std::move(deep));
    deep = std::move(outer);
  }
  ToolResult result;
  result.shape = ToolResult::Shape::kDocument;
  result.document = std::move(deep);
  EXPECT_EQ(EncodeResult(result).status().name(), "RESULT_NOT_STORABLE");
  result.document = Value::Null();
  result.shape = ToolResult::Shape::kTrace;
  EXPECT_EQ(EncodeResult(result).status().name(), "RESULT_NOT_STORABLE");
}

}  // namespace
}  // namespace strobe::tools
