#include "src/cli/tool_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace strobe::cli {
namespace {

using Json = nlohmann::ordered_json;

// Two tables of 7 and 3 rows, answered as the API answers: at most `limit` rows from `offset`.
class PagedClient : public ApiClient {
 public:
  Result<ApiReply> Get(const std::string& target) override {
    targets.push_back(target);
    if (fail_at > 0 && targets.size() == fail_at) {
      return UnavailableError("SERVER_UNREACHABLE", "gone");
    }
    const uint64_t limit = Number(target, "limit=", 1000);
    const uint64_t offset = Number(target, "offset=", 0);
    const uint64_t table = Number(target, "table=", 2);
    Json answer;
    answer["session"] = "s";
    answer["tables"] = Json::array();
    for (uint64_t t = 0; t < 2; ++t) {
      if (table < 2 && t != table) continue;
      const uint64_t total = t == 0 ? 7 : 3;
      Json one;
      one["id"] = "t" + std::to_string(t);
      one["row_count"] = total;
      one["offset"] = offset;
      one["limit"] = limit;
      one["rows"] = Json::array();
      for (uint64_t row = offset; row < std::min(total, offset + limit); ++row) {
        one["rows"].push_back({{"row", row}, {"cells", {t, "x"}}});
      }
      one["notes"] = "after";
      answer["tables"].push_back(one);
    }
    answer["notices"] = Json::array();
    return ApiReply{"application/json", answer.dump()};
  }

  std::vector<std::string> targets;
  size_t fail_at = 0;

 private:
  static uint64_t Number(const std::string& target, const std::string& name, uint64_t otherwise) {
    const size_t at = target.find(name);
    return at == std::string::npos ? otherwise : std::stoull(target.substr(at + name.size()));
  }
};

Json Printed(PagedClient* client, uint64_t page_rows, RowsPrinted* printed,
             uint64_t most_rows = kMaxPrintedRows) {
  std::string out;
  const Result<RowsPrinted> done = PrintAllRows(
      client, "/t?sort=a", [&](std::string_view text) { out += text; }, page_rows, most_rows);
  EXPECT_TRUE(done.ok()) << done.status().ToString();
  if (done.ok()) *printed = *done;
  return Json::parse(out);
}

TEST(ToolRowsTest, OnePageIsPrintedAsItCame) {
  PagedClient client;
  RowsPrinted printed;
  const Json answer = Printed(&client, 7, &printed);
  EXPECT_EQ(client.targets, std::vector<std::string>{"/t?sort=a&limit=7"});
  EXPECT_EQ(answer["tables"][0]["rows"].size(), 7U);
  EXPECT_EQ(answer["tables"][0]["limit"], 7);
}

TEST(ToolRowsTest, PagesMakeTheSameDocument) {
  PagedClient whole_client;
  PagedClient client;
  RowsPrinted printed;
  Json whole = Printed(&whole_client, 1000, &printed);
  whole["tables"][0]["limit"] = 7;
  whole["tables"][1]["limit"] = 3;
  for (const uint64_t page : {1, 2, 3, 5, 6}) {
    EXPECT_EQ(Printed(&client, page, &printed).dump(), whole.dump()) << page;
    EXPECT_EQ(printed.rows, 10U);
    EXPECT_EQ(printed.left_out, 0U);
  }
}

TEST(ToolRowsTest, BeyondTheLimitRowsAreCounted) {
  PagedClient client;
  RowsPrinted printed;
  const Json answer = Printed(&client, 2, &printed, 5);
  EXPECT_EQ(answer["tables"][0]["rows"].size(), 5U);
  EXPECT_EQ(answer["tables"][0]["row_count"], 7);
  EXPECT_EQ(answer["tables"][0]["limit"], 5);
  EXPECT_EQ(answer["tables"][1]["rows"].size(), 3U);
  EXPECT_EQ(printed.left_out, 2U);
}

TEST(ToolRowsTest, AFailedPageIsAnError) {
  PagedClient client;
  client.fail_at = 3;
  const Result<RowsPrinted> done =
      PrintAllRows(&client, "/t", [](std::string_view) {}, 2, kMaxPrintedRows);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.status().name(), "SERVER_UNREACHABLE");
}

}  // namespace
}  // namespace strobe::cli
