// Metrics from the wire to the chart: the forms in which they come, and how they are asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "src/api/app.h"
#include "src/api/fake_engine_for_test.h"
#include "src/api/metric_entries.h"
#include "src/api/openapi.h"
#include "src/api/planted_tools_for_test.h"
#include "src/api/schema_check_for_test.h"
#include "src/base/log.h"
#include "src/storage/test_directory.h"

namespace strobe::api {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;

// The part of protobuf's wire format that the tests write, apart from what reads it.
std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}
std::string Bytes(int number, const std::string& value) {
  return Varint(static_cast<uint64_t>(number) << 3 | 2) + Varint(value.size()) + value;
}
std::string Fixed(int number, uint64_t value) {
  std::string bytes = Varint(static_cast<uint64_t>(number) << 3 | 1);
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
std::string Attribute(int number, const std::string& key, const std::string& value) {
  return Bytes(number, Bytes(1, key) + Bytes(2, Bytes(1, value)));
}

class RunMetricsTest : public testing::Test {
 protected:
  RunMetricsTest() : engine_({directory_.path()}), console_("") {
    SetLogLevel("off");
    auto opened = catalog::Catalog::Open({.place = directory_.path() + "/catalog.db"}, clock_,
                                         SystemRandom());
    STROBE_CHECK(opened.ok());
    catalog_ = std::move(opened).value();
    context_->engine = &engine_;
    context_->catalog = catalog_.get();
    context_->clock = &clock_;
    context_->console = &console_;
    context_->tools = &PlantedTools();
    const std::vector<Route> routes = MakeRoutes(context_);
    schemas_ = Json::parse(OpenApiJson(routes))["components"]["schemas"];
    router_ = std::make_unique<Router>(routes);
    for (const char* run : {"r1", "r2"}) {
      Send(
          "POST",
          std::string("/v1alpha/projects/p/locations/l/machineLearningRuns?machineLearningRunId=") +
              run,
          R"({"displayName":"job","configs":{"softwareConfigs":{"framework":"JAX"},
               "userConfigs":{"a":"old"}}})");
    }
  }
  ~RunMetricsTest() override { SetLogLevel("info"); }

  Response Send(std::string_view method, const std::string& target, std::string body = "",
                const std::string& type = "application/json") {
    Request request = MakeRequest(method, target).value();
    request.headers.push_back({"content-type", type});
    request.body = std::move(body);
    return router_->Run(router_->Find(request), request);
  }
  Json Ask(const std::string& target, const std::string& schema) {
    const Response response = Send("GET", target);
    error_name_ = response.error_name;
    const Json json = Json::parse(*response.body);
    if (response.status == 200) EXPECT_EQ(CheckSchema(json, schemas_[schema], schemas_), "");
    return json;
  }
  static std::string Entry(const std::string& name, const std::string& payload,
                           const std::string& run = "r1") {
    return R"({"logName":"projects/p/logs/ml_diagnostics_metric","resource":{"type":"generic_node",
        "labels":{"project_id":"p","location":"l","namespace":")" +
           name + R"(","node_id":")" + run +
           R"("}},"severity":"INFO","timestamp":"2026-11-29T10:15:00.5Z","jsonPayload":)" +
           payload + "}";
  }
  Json Write(const std::string& entries) {
    const Response response =
        Send("POST", "/v2/entries:write", R"({"partialSuccess":true,"entries":[)" + entries + "]}");
    EXPECT_EQ(response.status, 200) << *response.body;
    return Json::parse(*response.body)["strobe"];
  }

  const std::string metrics_ = "/api/v1/runs/p/l/r1/metrics";
  storage::TestDirectory directory_;
  FakeClock clock_;
  FakeEngine engine_;
  StaticFiles console_;
  std::unique_ptr<catalog::Catalog> catalog_;
  std::shared_ptr<AppContext> context_ = std::make_shared<AppContext>();
  std::unique_ptr<Router> router_;
  Json schemas_;
  std::string error_name_;
};

TEST_F(RunMetricsTest, EntriesOfTheSdkBecomeCurves) {
  const Json taken =
      Write(Entry("loss", R"({"values":[2.5],"step_index":1,"unit":"1"})") + "," +
            Entry("loss", R"({"values":[1.5],"step_index":2.0,"unit":"1"})") + "," +
            Entry("hbm_utilization",
                  R"({"values":[10,30],"accelerator_labels":["h-tpu0","h-tpu1"],"hostname":"h",
                "process_index":"1","unit":"%","accelerator_type":"tpu"})") +
            "," + Entry("mlrun_configs", R"({"userConfigs":{"a":"new","b":7}})") + "," +
            Entry("sdk_logs", R"({"message":"hello"})") + "," +
            Entry("loss", R"({"values":[1]})", "nosuch"));
  EXPECT_EQ(taken["points"], 3) << taken.dump();
  EXPECT_EQ(taken["configs"], 2);
  EXPECT_EQ(taken["ignored"], 1);
  EXPECT_EQ(taken["unknown_run"], 1);

  const Json got = Ask(metrics_, "RunMetrics");
  ASSERT_EQ(got["metrics"].size(), 2u) << got.dump();
  const Json& system = got["metrics"][0];
  EXPECT_EQ(system["name"], "hbm_utilization");
  EXPECT_EQ(system["hosts"][0], "h/1");
  EXPECT_EQ(system["last"], 20);
  EXPECT_TRUE(system["first_step"].is_null());
  const Json& loss = got["metrics"][1];
  EXPECT_EQ(loss["last"], 1.5);
  EXPECT_EQ(loss["mean"], 2.0);
  EXPECT_EQ(loss["last_step"], 2);
  EXPECT_EQ(loss["first_unix_ms"], 1795947300500);
  EXPECT_EQ(got["configs"]["user"], (Json{{"a", "new"}, {"b", "7"}}));
  EXPECT_EQ(got["configs"]["software"]["framework"], "JAX");
}

TEST_F(RunMetricsTest, CurvesOfSeveralRunsInOneAnswer) {
  std::string entries;
  for (int step = 0; step < 100; ++step) {
    for (const char* run : {"r1", "r2"}) {
      entries += (entries.empty() ? "" : ",") +
                 Entry("loss",
                       R"({"values":[)" + std::to_string(step) + R"(],"step_index":)" +
                           std::to_string(step) + "}",
                       run);
    }
  }
  Write(entries + "," + Entry("cpu", R"({"values":[1]})"));
  const std::string with = "&with=projects/p/locations/l/machineLearningRuns/r2";
  const Json got = Ask(metrics_ + "/series?name=loss&name=mfu&points=10" + with, "RunSeries");
  ASSERT_EQ(got["series"].size(), 2u) << got.dump();
  EXPECT_EQ(got["runs"].size(), 2u);
  EXPECT_EQ(got["absent"], Json::array({"mfu"}));
  EXPECT_EQ(got["series"][1]["run"], "projects/p/locations/l/machineLearningRuns/r2");
  EXPECT_EQ(got["series"][1]["bucket_width"], 10);
  EXPECT_EQ(got["series"][1]["x"][9], 90);
  EXPECT_EQ(got["series"][1]["max"][9], 99);
  const Json all = Ask(metrics_ + "/series", "RunSeries");
  EXPECT_EQ(all["without_steps"], Json::array({"cpu"}));
  EXPECT_EQ(all["series"].size(), 1u);
  EXPECT_TRUE(all["series"][0]["bucket_width"].is_null());
  const Json by_time = Ask(metrics_ + "/series?by=time&name=cpu&split=host", "RunSeries");
  EXPECT_EQ(by_time["series"][0]["x"], Json::array({1795947300500}));
  EXPECT_EQ(by_time["series"][0]["host"], "");
  EXPECT_EQ(Ask(metrics_ + "/series?from=5&to=6&name=loss", "RunSeries")["series"][0]["x"],
            Json::array({5, 6}));
}

TEST_F(RunMetricsTest, WrongQuestionsAreNamed) {
  Ask("/api/v1/runs/p/l/nosuch/metrics", "RunMetrics");
  EXPECT_EQ(error_name_, "RUN_NOT_FOUND");
  Ask(metrics_ + "/series?with=projects/p/locations/l/machineLearningRuns/nosuch", "RunSeries");
  EXPECT_EQ(error_name_, "RUN_NOT_FOUND");
  for (const char* wrong : {"?by=hour", "?split=core", "?with=r2", "?points=0", "?from=x"}) {
    Ask(metrics_ + "/series" + wrong, "RunSeries");
    EXPECT_EQ(error_name_, "PARAMETER_MALFORMED") << wrong;
  }
  for (const char* wrong : {"[]", "{", R"({"entries":1})"}) {
    EXPECT_EQ(Send("POST", "/v2/entries:write", wrong).status, 400) << wrong;
  }
}

TEST_F(RunMetricsTest, NanIsNull) {
  Write(Entry("loss", R"({"values":["NaN"],"step_index":1})"));
  const Json got = Ask(metrics_, "RunMetrics");
  EXPECT_TRUE(got["metrics"][0]["last"].is_null());
  EXPECT_TRUE(got["metrics"][0]["mean"].is_null());
  EXPECT_EQ(got["metrics"][0]["not_finite_count"], 1);
  EXPECT_TRUE(Ask(metrics_ + "/series", "RunSeries")["series"][0]["mean"][0].is_null());
}

TEST_F(RunMetricsTest, OtlpAsJsonAndAsProtobuf) {
  const std::string json = R"({"resourceMetrics":[{"resource":{"attributes":[
      {"key":"host.name","value":{"stringValue":"r1"}},
      {"key":"project_id","value":{"stringValue":"p"}}]},
      "scopeMetrics":[{"metrics":[
        {"name":"loss","unit":"1","gauge":{"dataPoints":[
          {"asDouble":0.5,"timeUnixNano":"1764411300000000000","attributes":[
            {"key":"location","value":{"stringValue":"elsewhere"}},
            {"key":"phase","value":{"stringValue":"train"}}]}]}},
        {"name":"training_step","gauge":{"dataPoints":[{"asInt":"7"}]}}]}]}]})";
  EXPECT_EQ(Json::parse(*Send("POST", "/v1/metrics", json).body)["strobe"]["points"], 1);

  const std::string point = Fixed(3, 1764411301000000000) +
                            Fixed(4, std::bit_cast<uint64_t>(0.25)) +
                            Attribute(7, "phase", "train");
  const std::string step = Fixed(6, 8);
  const std::string metrics =
      Bytes(2, Bytes(1, "loss") + Bytes(3, "1") + Bytes(5, Bytes(1, point))) +
      Bytes(2, Bytes(1, "training_step") + Bytes(5, Bytes(1, step)));
  const std::string body =
      Bytes(1, Bytes(1, Attribute(1, "host.name", "r1") + Attribute(1, "project_id", "p")) +
                   Bytes(2, metrics));
  const Response taken = Send("POST", "/v1/metrics", body, "application/x-protobuf");
  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(taken.content_type, "application/x-protobuf");
  EXPECT_EQ(*taken.body, "");
  const Json series = Ask(metrics_ + "/series", "RunSeries")["series"];
  ASSERT_EQ(series.size(), 1u) << series.dump();
  EXPECT_EQ(series[0]["labels"], (Json{{"phase", "train"}}));
  EXPECT_EQ(series[0]["x"], Json::array({7, 8}));
  EXPECT_EQ(series[0]["mean"], Json::array({0.5, 0.25}));

  const std::string record = Attribute(6, "namespace", "mlrun_configs") +
                             Bytes(5, Bytes(1, R"({"userConfigs":{"lr":0.1}})"));
  const std::string logs =
      Bytes(1, Bytes(1, Attribute(1, "host.name", "r1") + Attribute(1, "project_id", "p")) +
                   Bytes(2, Bytes(2, record)));
  EXPECT_EQ(Send("POST", "/v1/logs", logs, "application/x-protobuf").status, 200);
  EXPECT_EQ(Ask(metrics_, "RunMetrics")["configs"]["user"]["lr"], "0.1");
  EXPECT_EQ(Send("POST", "/v1/metrics", "\x0a\xff", "application/x-protobuf").status, 400);
}

TEST_F(RunMetricsTest, WhatIsTooDeepOrTooManyIsRefusedOrLeftOut) {
  std::string deep = "1";
  for (int i = 0; i < 5000; ++i) {
    deep = R"({"kvlistValue":{"values":[{"key":"a","value":)" + deep + "}]}}";
  }
  EXPECT_EQ(Send("POST", "/v1/logs",
                 R"({"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":)" + deep + "}]}]}]}")
                .status,
            200);
  std::string nested = Bytes(1, "x");
  for (int i = 0; i < 100; ++i) nested = Bytes(6, Bytes(1, Bytes(2, nested)));
  EXPECT_FALSE(OtlpToJson(Bytes(1, Bytes(2, Bytes(2, Bytes(5, nested)))), OtlpSignal::kLogs).ok());
  std::string many;
  for (size_t i = 0; i <= kMaxEntries; ++i) many += i == 0 ? "{}" : ",{}";
  EXPECT_EQ(Send("POST", "/v2/entries:write", R"({"entries":[)" + many + "]}").error_name,
            "ENTRIES_TOO_MANY");
}

}  // namespace
}  // namespace strobe::api
