// Tools over HTTP, XProf's way and our own, with tools whose answers are known exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "src/api/app.h"
#include "src/api/fake_engine_for_test.h"
#include "src/api/openapi.h"
#include "src/api/planted_tools_for_test.h"
#include "src/api/schema_check_for_test.h"
#include "src/base/log.h"

namespace strobe::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class ToolsApiTest : public ::testing::Test {
 protected:
  ToolsApiTest() : console_("") {
    SetLogLevel("off");
    engine_.Add("broken", "text", {"h"}, xplane::CompletenessState::kDamaged);
    engine_.Add("broken", "nothing", {});
    one_ = engine_.Add("", "single", {"host0"}).id;
    two_ = engine_.Add("llama/run1", "s1", {"host-0", "host-1"}).id;
    context_->engine = &engine_;
    context_->operations = operations_.get();
    context_->clock = &SystemClock();
    context_->console = &console_;
    context_->tools = &PlantedTools();
    router_ = std::make_unique<Router>(MakeRoutes(context_));
    schemas_ = json::parse(SchemasJson());
  }
  ~ToolsApiTest() override { SetLogLevel("info"); }

  Response Run(std::string_view method, std::string_view target) {
    Request request = MakeRequest(method, target).value();
    const Match match = router_->Find(request);
    Response response = router_->Run(match, request);
    const bool is_json = response.content_type.starts_with("application/json") &&
                         !response.content_type.starts_with("application/jsonl");
    if (is_json && match.route != nullptr && response.status == match.route->success_status &&
        !match.route->response_schema.empty()) {
      EXPECT_EQ(CheckSchema(json::parse(*response.body), schemas_[match.route->response_schema],
                            schemas_),
                "")
          << target;
    }
    return response;
  }
  json Get(std::string_view target) { return json::parse(*Run("GET", target).body); }
  std::string Text(std::string_view target) { return *Run("GET", target).body; }
  std::string ErrorName(std::string_view target) { return Run("GET", target).error_name; }
  // "404 No Data"
  std::string Refusal(std::string_view target, std::string_view method = "GET") {
    const Response response = Run(method, target);
    EXPECT_EQ(response.content_type, "text/plain") << target;
    return std::to_string(response.status) + " " + *response.body;
  }
  std::string Tools(const std::string& session) { return "/api/v1/sessions/" + session + "/tools"; }

  FakeEngine engine_{{"/srv/logs"}};
  IdMaker ids_{SystemClock(), SystemRandom()};
  std::unique_ptr<queue::OperationTable> operations_ =
      queue::OperationTable::Create({}, SystemClock(), ids_);
  StaticFiles console_;
  std::shared_ptr<AppContext> context_ = std::make_shared<AppContext>();
  std::unique_ptr<Router> router_;
  json schemas_;
  std::string one_;
  std::string two_;
};

// ---- XProf's routes

TEST_F(ToolsApiTest, DataAnswersWithTheToolsOptions) {
  const Response response = Run("GET", "/data?run=single&tag=hlo_stats&factor=2");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.compression, Compression::kAlways);
  const json table = json::parse(*response.body);
  EXPECT_EQ(table["rows"][0]["c"][2]["v"], 25.0);
  EXPECT_EQ(table["rows"][1]["c"][2]["f"], "0x1f");
  EXPECT_EQ(table["p"]["as"], "xprof");
  EXPECT_EQ(Text("/data/plugin/profile/data?run=single&tag=hlo_stats&factor=2"), *response.body);
  // Names that no tool knows are dropped, as is the mark of old names.
  EXPECT_EQ(Text("/data?run=single&tag=hlo_stats^&factor=2&tqx=x&nosuch=1"), *response.body);
}

TEST_F(ToolsApiTest, DataShapesAnswers) {
  EXPECT_EQ(Text("/data?run=single&tag=overview_page"),
            R"([{"cols":[{"id":"n","label":"N","type":"number"}],"rows":[{"c":[{"v":1.0}]},)"
            R"({"c":[{"v":0.1}]}]},{},{"cols":[],"rows":[]}])");
  EXPECT_EQ(Text("/data?run=single&tag=op_profile"),
            R"({"deviceType":"TPU \u003cv6\u003e","rawTime":"1152921504606846976",)"
            R"("children":[0.5,3]})");
  EXPECT_EQ(Run("GET", "/data?run=single&tag=graph_viewer").content_type, "text/html");
}

TEST_F(ToolsApiTest, DataChoosesHosts) {
  const auto hosts = [this](const std::string& choice) {
    return Get("/data?run=llama/run1/s1&tag=hlo_stats" + choice)["p"]["hosts"];
  };
  EXPECT_EQ(hosts(""), "2 of 2");
  EXPECT_EQ(hosts("&host=ALL_HOSTS"), "2 of 2");
  EXPECT_EQ(hosts("&host=host-1"), "1 of 2");
  EXPECT_EQ(Refusal("/data?run=llama/run1/s1&tag=hlo_stats&hosts=host-1"),
            "404 Host must be specified for tool hlo_stats in run llama/run1/s1");
  EXPECT_EQ(Refusal("/data?run=llama/run1/s1&tag=overview_page&host=nosuch"),
            "404 No xplane file found for host: nosuch in run: llama/run1/s1");
}

TEST_F(ToolsApiTest, DataRefusesAsXprofDoes) {
  EXPECT_EQ(Refusal("/data"), "500 'NoneType' object has no attribute 'rstrip'");
  EXPECT_EQ(Refusal("/data?run=nosuch&tag=overview_page"),
            "404 No xplane file found for run: nosuch, tool: overview_page");
  EXPECT_EQ(Refusal("/data?run=broken/nothing&tag=hlo_stats"),
            "404 No xplane file found for run: broken/nothing, tool: hlo_stats");
  EXPECT_EQ(Refusal("/data?run=single"), "404 No Data");
  EXPECT_EQ(Refusal("/data?run=single&tag=nosuch"), "404 No Data");
  EXPECT_EQ(Refusal("/data?run=single&tag=hlo_stats&fail=true"), "404 No Data");
  // Only "true" is true.
  EXPECT_EQ(Run("GET", "/data?run=single&tag=hlo_stats&fail=1").status, 200);
  EXPECT_EQ(Refusal("/data?run=broken/text&tag=hlo_stats"), "404 No Data");
  EXPECT_EQ(Refusal("/data?run=single&tag=graph_viewer&format=none"),
            "500 Can not load hlo proto from options.");
}

TEST_F(ToolsApiTest, CsvIsTheFirstTable) {
  const Response response = Run("GET", "/data_csv?run=llama/run1/s1&tag=hlo_stats&host=host-1");
  EXPECT_EQ(response.content_type, "text/csv");
  EXPECT_THAT(*response.body, HasSubstr("\"Category\",\"Op\",\"Self time (us)\",\"Eager\"\n"
                                        "\"fusion\",\"fusion.3\",\"12.5\",\"True\"\n"));
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0].second, "attachment; filename=\"hlo_stats_llama_run1_s1_1.csv\"");
  EXPECT_EQ(Refusal("/data_csv?run=single&tag=op_profile"),
            "500 Data format not suitable for CSV (missing 'cols')");
  EXPECT_EQ(Refusal("/data_csv?run=single&tag=graph_viewer"),
            "400 CSV format not supported for this tool type");
  EXPECT_EQ(Refusal("/data_csv?run=single&tag=nosuch"), "404 No Data Found");
  EXPECT_EQ(Refusal("/data_csv?run=nosuch&tag=hlo_stats"),
            "500 No xplane file found for run: nosuch, tool: hlo_stats");
}

TEST_F(ToolsApiTest, ModuleListAndToolsFollowTheFacts) {
  EXPECT_EQ(Refusal("/module_list?run=single"), "200 NO_MODULE");
  EXPECT_EQ(Refusal("/module_list?run=nosuch"), "200 ");
  EXPECT_EQ(Text("/run_tools?run=single"), R"(["overview_page", "op_profile", "hlo_stats"])");
  engine_.opened_[one_]->input->facts_value.has_hlo_modules = true;
  EXPECT_EQ(Text("/run_tools?run=single"),
            R"(["overview_page", "graph_viewer", "op_profile", "hlo_stats"])");
}

TEST_F(ToolsApiTest, RefusesToStartWorkThatIsNotAskedForRightly) {
  EXPECT_EQ(Refusal("/generate_cache"), "405 Method Not Allowed");
  EXPECT_EQ(Refusal("/generate_cache", "POST"), "400 Missing \"session_path\" parameter");
  EXPECT_EQ(Refusal("/generate_cache?session_path=/nonexistent", "POST"),
            "404 No XPlane files found in session_path");
  EXPECT_EQ(Text("/capture_profile?service_addr="),
            R"({"error": "INVALID_ARGUMENT: No service address provided."})");
  EXPECT_EQ(
      Text("/capture_profile?service_addr=nohost"),
      R"({"error": "INVALID_ARGUMENT: Could not interpret \"nohost\" as a host-port pair."})");
  EXPECT_EQ(Text("/capture_profile?service_addr=a:1&duration=0"),
            R"({"error": "INVALID_ARGUMENT: duration_ms must be greater than zero."})");
  Request request = MakeRequest("GET", "/capture_profile?service_addr=a:1").value();
  request.headers.push_back({"sec-fetch-site", "cross-site"});
  EXPECT_EQ(router_->Run(router_->Find(request), request).error_name, "ORIGIN_NOT_ALLOWED");
}

// ---- our own

TEST_F(ToolsApiTest, ListsToolsWithTheirOptions) {
  const json tools = Get("/api/v1/tools")["tools"];
  ASSERT_EQ(tools.size(), 4u);
  EXPECT_EQ(tools[1]["id"], "hlo_stats");
  EXPECT_EQ(tools[1]["version"], 3);
  EXPECT_EQ(tools[1]["aliases"], json::array({"hlo_op_stats"}));
  EXPECT_EQ(tools[1]["options"][0]["type"], "number");
  EXPECT_EQ(tools[2]["options"][0]["choices"], json::array({"program", "category"}));
}

TEST_F(ToolsApiTest, SaysWhichToolsApply) {
  const json answer = Get(Tools(two_));
  EXPECT_EQ(answer["hosts"], json::array({"host-0", "host-1"}));
  EXPECT_EQ(answer["tools"][2]["applies"], false);
  EXPECT_EQ(answer["tools"][2]["reason"], "No device was recorded.");
  EXPECT_EQ(answer["tools"][2]["hint"], "Record one.");
  EXPECT_EQ(answer["tools"][1]["applies"], true);
}

TEST_F(ToolsApiTest, AnswersWithTypedTables) {
  const json answer = Get(Tools(two_) + "/hlo_op_stats?hosts=host-1&factor=2");
  EXPECT_EQ(answer["tool"], "hlo_stats");
  EXPECT_EQ(answer["hosts"], json::array({"host-1"}));
  EXPECT_EQ(answer["options"]["factor"], "2");
  EXPECT_EQ(answer["notices"][0]["name"], "NO_STEPS");
  const json& table = answer["tables"][0];
  EXPECT_EQ(table["properties"]["as"], "own");
  EXPECT_EQ(table["columns"][2]["unit"], "us");
  EXPECT_EQ(table["columns"][0]["unit"], nullptr);
  EXPECT_EQ(table["rows"][0], json::array({"fusion", "fusion.3", 25, true}));
  EXPECT_EQ(table["rows"][1][2], json({{"value", 31}, {"text", "0x1f"}}));
  EXPECT_EQ(table["rows"][2][2], nullptr);
  EXPECT_EQ(table["subjects"][0]["hlo_module_id"], "7716253410928341207");
  EXPECT_EQ(table["subjects"][0]["step"], nullptr);
  EXPECT_EQ(table["subjects"][2], nullptr);
  EXPECT_EQ(answer["document"], nullptr);
  EXPECT_EQ(answer["trace"], false);
}

TEST_F(ToolsApiTest, SortsFiltersAndPagesRows) {
  const auto ids = [this](const std::string& query) {
    return Get(Tools(one_) + "/hlo_stats?" + query)["tables"][0]["row_ids"];
  };
  EXPECT_EQ(ids("sort=-total_self_time"), json::array({1, 0, 2}));  // empty cells last
  EXPECT_EQ(ids("sort=total_self_time"), json::array({0, 1, 2}));
  EXPECT_EQ(ids("sort=category,-hlo_op_name"), json::array({1, 0, 2}));
  EXPECT_EQ(ids("filter=category:eq:fusion"), json::array({0, 2}));
  EXPECT_EQ(ids("filter=category:eq:fusion&filter=total_self_time:gt:1"), json::array({0}));
  EXPECT_EQ(ids("filter=eager:eq:true"), json::array({0}));
  EXPECT_EQ(ids("filter=hlo_op_name:contains:SION.1"), json::array({2}));
  EXPECT_EQ(ids("filter=total_self_time:eq:"), json::array({2}));
  EXPECT_EQ(ids("q=0X1F"), json::array({1}));
  EXPECT_EQ(ids("offset=1&limit=1"), json::array({1}));
  EXPECT_EQ(ids("offset=9"), json::array());
  const json table =
      Get(Tools(one_) + "/hlo_stats?filter=category:ne:copy&columns=eager,category&limit=1");
  EXPECT_EQ(table["tables"][0]["row_count"], 2);
  EXPECT_EQ(table["tables"][0]["total_row_count"], 3);
  EXPECT_EQ(table["tables"][0]["rows"], json::array({json::array({true, "fusion"})}));
}

TEST_F(ToolsApiTest, ExportsTables) {
  const Response csv = Run("GET", Tools(one_) + "/hlo_stats?format=csv&columns=hlo_op_name,eager");
  EXPECT_EQ(csv.content_type, "text/csv");
  EXPECT_EQ(*csv.body, "hlo_op_name,eager\nfusion.3,true\ncopy.1,false\nfusion.10,false\n");
  EXPECT_EQ(Text(Tools(one_) + "/hlo_stats?format=jsonl&columns=category,total_self_time&limit=2"),
            "{\"category\":\"fusion\",\"total_self_time\":12.5}\n"
            "{\"category\":\"copy\",\"total_self_time\":{\"value\":31,\"text\":\"0x1f\"}}\n");
  ASSERT_EQ(csv.headers.size(), 1u);
  EXPECT_EQ(csv.headers[0].second, "attachment; filename=\"single_hlo_stats_ops.csv\"");
  EXPECT_EQ(ErrorName(Tools(one_) + "/op_profile?format=csv"), "TOOL_HAS_NO_TABLE");
  EXPECT_EQ(Text(Tools(one_) + "/graph_viewer?format=raw"), "digraph {}");
  EXPECT_EQ(Run("GET", Tools(one_) + "/graph_viewer?format=raw").content_type, "text/html");
}

// Takes what a stream writes; stops listening after `most` parts.
class CollectingWriter : public StreamWriter {
 public:
  explicit CollectingWriter(size_t most = SIZE_MAX) : most_(most) {}
  bool Write(std::string bytes) override {
    text += bytes;
    return ++parts_ < most_;
  }
  void Fail() override { failed = true; }
  const CancelToken& cancel() const override { return token_; }
  std::string text;
  bool failed = false;

 private:
  const size_t most_;
  size_t parts_ = 0;
  const CancelToken token_;
};

TEST_F(ToolsApiTest, ExportsParquet) {
  const Response response =
      Run("GET", Tools(two_) + "/hlo_stats?format=parquet&columns=hlo_op_name,total_self_time");
  EXPECT_EQ(response.content_type, "application/vnd.apache.parquet");
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0].second,
            "attachment; filename=\"llama_run1_s1_hlo_stats_ops.parquet\"");
  ASSERT_TRUE(response.stream);
  CollectingWriter out;
  response.stream(out);
  EXPECT_FALSE(out.failed);
  EXPECT_TRUE(out.text.starts_with("PAR1"));
  EXPECT_TRUE(out.text.ends_with("PAR1"));
  EXPECT_THAT(out.text, HasSubstr("hlo_op_name"));
  EXPECT_THAT(out.text, Not(HasSubstr("eager")));
  EXPECT_THAT(out.text, HasSubstr(R"("unit":"us")"));
  // Who goes away in the middle gets no whole file.
  CollectingWriter gone(2);
  response.stream(gone);
  EXPECT_TRUE(gone.failed);
  EXPECT_FALSE(gone.text.ends_with("PAR1"));
  EXPECT_EQ(ErrorName(Tools(one_) + "/op_profile?format=parquet"), "TOOL_HAS_NO_TABLE");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?format=xlsx"), "FORMAT_UNKNOWN");
  const Response compared = Run(
      "GET", "/api/v1/compare?sessions=" + one_ + "," + two_ + "&tool=hlo_stats&format=parquet");
  CollectingWriter both;
  compared.stream(both);
  EXPECT_THAT(both.text, HasSubstr("total_self_time.absolute"));
  EXPECT_TRUE(both.text.ends_with("PAR1"));
}

TEST_F(ToolsApiTest, AnswersWithTreesAndTexts) {
  const json tree = Get(Tools(one_) + "/op_profile");
  EXPECT_EQ(tree["document"]["deviceType"], "TPU <v6>");
  EXPECT_EQ(tree["document"]["rawTime"], "1152921504606846976");
  EXPECT_EQ(tree["document"]["children"], json::array({0.5, 3}));
  const json text = Get(Tools(one_) + "/graph_viewer");
  EXPECT_EQ(text["text"], "digraph {}");
  EXPECT_EQ(text["text_type"], "text/html");
  EXPECT_EQ(text["text_bytes"], 10);
  const json overview = Get(Tools(one_) + "/overview_page");
  EXPECT_EQ(overview["partial"], true);
  EXPECT_EQ(overview["tables"].size(), 3u);
  EXPECT_EQ(Get(Tools(one_) + "/overview_page?table=none")["tables"][0]["id"], "none");
  EXPECT_EQ(Get(Tools(one_) + "/overview_page?table=0")["tables"][0]["id"], "numbers");
}

TEST_F(ToolsApiTest, FollowsRowsToTheirEvents) {
  const json found = Get(Tools(two_) + "/hlo_stats/rows/1/events?order=duration&limit=1");
  EXPECT_EQ(found["subject"]["op_name"], "copy.1");
  EXPECT_EQ(found["total"], 2304);
  EXPECT_EQ(found["truncated"], true);
  EXPECT_EQ(found["events"], json::parse(R"([{"event": "0.1.2.55", "name": "copy.1", "start_ps": 3,
                                              "duration_ps": 9, "device_duration_ps": null,
                                              "line": "0.1.2"}])"));
  EXPECT_EQ(found["total_device_duration_ps"], nullptr);
  EXPECT_EQ(found["row_time"], "duration_ps");
  EXPECT_EQ(Get(Tools(two_) + "/hlo_stats/rows/2/events")["reason"], "Nothing.");
  EXPECT_EQ(ErrorName(Tools(two_) + "/hlo_stats/rows/3/events"), "ROW_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools(two_) + "/hlo_stats/rows/0/events?table=x"), "TABLE_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools(two_) + "/hlo_stats/rows/0/events?order=x"), "PARAMETER_MALFORMED");
}

TEST_F(ToolsApiTest, ComparesSessions) {
  const std::string compare = "/api/v1/compare?sessions=" + one_ + "," + two_;
  const json made = Get(compare + "&tool=hlo_stats&sort=total_self_time");
  EXPECT_EQ(made["keys"], json::array({"category", "hlo_op_name"}));
  EXPECT_EQ(made["sessions"][1]["run"], "llama/run1");
  EXPECT_EQ(made["columns"][0]["id"], "total_self_time");
  EXPECT_EQ(made["row_count"], 3);
  EXPECT_EQ(made["rows"][0]["key"], json::array({"fusion", "fusion.3"}));
  EXPECT_EQ(made["rows"][0]["values"], json::parse("[[12.5, 12.5]]"));
  EXPECT_EQ(made["rows"][0]["absolute"], json::parse("[[null, 0]]"));
  EXPECT_EQ(made["rows"][2]["relative"], json::parse("[[null, null]]"));
  EXPECT_EQ(
      Get(compare + "&tool=hlo_stats&filter=total_self_time.absolute:eq:0&limit=1")["rows"].size(),
      1u);
  EXPECT_EQ(Text(compare + "&tool=hlo_stats&format=csv&q=copy"),
            "category,hlo_op_name,total_self_time,total_self_time." + two_ +
                ",total_self_time.absolute,total_self_time.relative\ncopy,copy.1,31,31,0,0\n");
  EXPECT_EQ(ErrorName(compare + "&tool=op_profile"), "TOOL_HAS_NO_TABLE");
  EXPECT_EQ(ErrorName(compare + "&tool=nosuch"), "TOOL_UNKNOWN");
  EXPECT_EQ(ErrorName(compare), "PARAMETER_MISSING");
  EXPECT_EQ(ErrorName("/api/v1/compare?sessions=" + one_ + "&tool=hlo_stats"), "SESSIONS_COUNT");
}

TEST_F(ToolsApiTest, NamesWhatIsWrongWithAQuestion) {
  EXPECT_EQ(ErrorName(Tools(one_) + "/nosuch"), "TOOL_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools("nosuch") + "/hlo_stats"), "SESSION_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?hosts=nosuch"), "HOST_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?typo=1"), "OPTION_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?factor=x"), "OPTION_INVALID");
  EXPECT_EQ(ErrorName(Tools(one_) + "/op_profile?group_by=moon"), "OPTION_INVALID");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?sort=nosuch"), "COLUMN_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?filter=category"), "FILTER_MALFORMED");
  for (const char* number : {"abc", "nan", ""}) {
    EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?filter=total_self_time:gt:" + number),
              "FILTER_MALFORMED")
        << number;
  }
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?as_xprof=maybe"), "PARAMETER_MALFORMED");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?table=nosuch"), "TABLE_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?limit=100000"), "PARAMETER_MALFORMED");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?format=xml"), "FORMAT_UNKNOWN");
  EXPECT_EQ(ErrorName(Tools(one_) + "/hlo_stats?fail=true"), "PLANTED_FAILURE");
  EXPECT_EQ(ErrorName(Tools(two_) + "/graph_viewer?hosts=host-0,host-1"), "TOOL_NEEDS_ONE_HOST");
  EXPECT_EQ(ErrorName(Tools(one_) + "/graph_viewer?option.format=none"), "PLANTED_NO_MODULE");
}

}  // namespace
}  // namespace strobe::api
