#include "src/api/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/api/fake_engine_for_test.h"
#include "src/api/finish.h"
#include "src/api/http_client_for_test.h"
#include "src/api/json_answers.h"
#include "src/api/openapi.h"
#include "src/api/planted_tools_for_test.h"
#include "src/api/schema_check_for_test.h"
#include "src/api/server.h"
#include "src/base/log.h"
#include "src/storage/test_directory.h"

namespace strobe::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class AppTest : public testing::Test {
 protected:
  AppTest() : engine_({directory_.path()}), console_("") {
    SetLogLevel("off");
    engine_.Add("llama/run1", "2026_11_29", {"host0", "host1"});
    engine_.Add("", "single", {"node0.example.com"});
    engine_.Add("broken", "text", {"host0"}, xplane::CompletenessState::kDamaged);
    engine_.Add("broken", "nothing", {}, xplane::CompletenessState::kEmpty);
    context_ = std::make_shared<AppContext>();
    context_->engine = &engine_;
    context_->operations = operations_.get();
    context_->clock = &SystemClock();
    context_->console = &console_;
    context_->capture = [this](const capture::CaptureRequest& request, const CancelToken& cancel,
                               const std::function<void(const capture::CaptureProgress&)>& report) {
      return FakeCapture(request, cancel, report);
    };
    context_->tools = &PlantedTools();
    routes_ = MakeRoutes(context_);
    metrics_ = std::make_unique<HttpMetrics>(routes_.size() + 1);
    context_->metrics = metrics_.get();
    router_ = std::make_unique<Router>(routes_);
    schemas_ = json::parse(SchemasJson());
  }
  ~AppTest() override { SetLogLevel("info"); }

  Result<capture::CaptureResult> FakeCapture(
      const capture::CaptureRequest& request, const CancelToken& cancel,
      const std::function<void(const capture::CaptureProgress&)>& report) {
    capture::CaptureProgress progress;
    progress.elapsed_ms = 5;
    progress.duration_ms = request.duration_ms;
    progress.targets.resize(1);
    progress.targets[0].target = request.targets[0];
    progress.targets[0].state = capture::TargetState::kRecording;
    report(progress);
    while (wait_for_cancel_ && !cancel.cancelled()) std::this_thread::yield();
    if (wait_for_cancel_) return CancelledError("CAPTURE_CANCELLED", "Nothing was recorded yet.");
    const xplane::SessionEntry entry = engine_.Add(request.run, "captured", {"127.0.0.1_9012"});
    capture::CaptureResult result;
    result.session_name = "captured";
    result.session_path = entry.path;
    result.hosts_saved = 1;
    result.targets = progress.targets;
    result.targets[0].state = capture::TargetState::kSaved;
    return result;
  }

  Response Run(std::string_view method, std::string_view target, std::string body = "") {
    Request request = MakeRequest(method, target).value();
    request.body = std::move(body);
    request.request_id = "r-1";
    const Match match = router_->Find(request);
    Response response = router_->Run(match, request);
    if (match.route != nullptr && response.status == match.route->success_status &&
        !match.route->response_schema.empty()) {
      EXPECT_EQ(CheckSchema(json::parse(*response.body), schemas_[match.route->response_schema],
                            schemas_),
                "")
          << target;
    }
    if (response.status >= 400 && response.content_type.starts_with("application/json")) {
      EXPECT_EQ(CheckSchema(json::parse(*response.body), schemas_["ErrorAnswer"], schemas_), "")
          << target;
    }
    return response;
  }
  json Get(std::string_view target) { return json::parse(*Run("GET", target).body); }
  std::string ErrorName(std::string_view method, std::string_view target, std::string body = "") {
    return Run(method, target, std::move(body)).error_name;
  }

  storage::TestDirectory directory_;
  FakeEngine engine_;
  IdMaker ids_{SystemClock(), SystemRandom()};
  std::unique_ptr<queue::OperationTable> operations_ =
      queue::OperationTable::Create({}, SystemClock(), ids_);
  StaticFiles console_;
  std::atomic<bool> wait_for_cancel_{false};
  std::shared_ptr<AppContext> context_;
  std::vector<Route> routes_;
  std::unique_ptr<HttpMetrics> metrics_;
  std::unique_ptr<Router> router_;
  json schemas_;
};

TEST_F(AppTest, ListsSessionsNewestFirstInPages) {
  const json first = Get("/api/v1/sessions?page_size=3");
  EXPECT_EQ(first["total"], 4);
  ASSERT_EQ(first["sessions"].size(), 3u);
  EXPECT_EQ(first["sessions"][0]["name"], "nothing");
  EXPECT_EQ(first["sessions"][2]["path"], "plugins/profile/single");
  // A session that comes in between moves nothing on the next page.
  engine_.Add("later", "later", {"host0"});
  const std::string token = first["next_page_token"];
  const json second = Get("/api/v1/sessions?page_size=3&page_token=" + token);
  ASSERT_EQ(second["sessions"].size(), 1u);
  EXPECT_EQ(second["sessions"][0]["run"], "llama/run1");
  EXPECT_FALSE(second.contains("next_page_token"));
}

TEST_F(AppTest, SearchesSessionsByRunNameAndHost) {
  EXPECT_EQ(Get("/api/v1/sessions?q=LLAMA")["total"], 1);
  EXPECT_EQ(Get("/api/v1/sessions?q=single")["total"], 1);
  EXPECT_EQ(Get("/api/v1/sessions?q=example.COM")["total"], 1);
  EXPECT_EQ(Get("/api/v1/sessions?q=nosuch")["total"], 0);
}

TEST_F(AppTest, RefusesMalformedParametersByName) {
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions?page_size=0"), "PARAMETER_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions?page_size=x"), "PARAMETER_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions?page_token=x"), "PAGE_TOKEN_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/search"), "SEARCH_EMPTY");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/search?q="), "SEARCH_EMPTY");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/events/0.1.2"), "EVENT_ID_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/events/0.1.2.x"), "EVENT_ID_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/events/0.1.2.99999999999"),
            "EVENT_ID_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/events?line=0.1&at_ps=3"), "LINE_ID_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/events?line=0.1.2"), "AT_OR_EVENT");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/nosuch"), "SESSION_UNKNOWN");
  EXPECT_EQ(ErrorName("GET", "/api/v1/nosuch"), "ROUTE_UNKNOWN");
  EXPECT_EQ(Run("DELETE", "/api/v1/sessions").status, 405);
}

TEST_F(AppTest, DescribesOneSession) {
  const json detail = Get("/api/v1/sessions/id0");
  EXPECT_EQ(detail["version"], "9f31c2d0a7e4b65d");
  EXPECT_EQ(detail["origin_unix_ns"], "1748736000000000000");
  EXPECT_EQ(detail["window"]["end_ps"], 5'000'000);
  EXPECT_EQ(detail["load"]["stage"], "ready");
  EXPECT_EQ(detail["files"][0]["file"], "host0.xplane.pb");
}

TEST_F(AppTest, TellsHowFarAnOpeningHasCome) {
  EXPECT_TRUE(Get("/api/v1/sessions/id0/opening")["stage"].is_null());
  engine_.opening = {engine::LoadStage::kUnpacking, 300, 1000};
  const json opening = Get("/api/v1/sessions/id0/opening");
  EXPECT_EQ(opening["stage"], "unpacking");
  EXPECT_EQ(opening["done_bytes"], 300);
  EXPECT_EQ(opening["total_bytes"], 1000);
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/nosuch/opening"), "SESSION_UNKNOWN");
}

TEST_F(AppTest, DescribesSessionsThatCannotBeOpened) {
  const json damaged = Get("/api/v1/sessions/id2");
  EXPECT_EQ(damaged["load"]["stage"], "failed");
  EXPECT_EQ(damaged["error"]["name"], "XPLANE_NOT_A_PROFILE");
  EXPECT_TRUE(damaged["window"].is_null());
  const json record = Get("/api/v1/sessions/id2/completeness");
  EXPECT_EQ(record["state"], "damaged");
  EXPECT_TRUE(record["hosts"][0]["events"].is_null());
  EXPECT_EQ(record["hosts"][0]["damage"][0]["name"], "XPLANE_NOT_A_PROFILE");
  EXPECT_EQ(Get("/api/v1/sessions/id3/completeness")["state"], "empty");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id3/overview"), "SESSION_EMPTY");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/nosuch/completeness"), "SESSION_UNKNOWN");
}

TEST_F(AppTest, ShowsCompletenessWithUnknownAsNull) {
  const json record = Get("/api/v1/sessions/id0/completeness");
  EXPECT_EQ(record["hosts_received"], 2);
  EXPECT_TRUE(record["hosts_expected"].is_null());
  EXPECT_EQ(record["hosts"][0]["events"], 26723);
  EXPECT_EQ(record["hosts"][0]["damage"][0]["offset_bytes"], 77);
  EXPECT_TRUE(record["hosts"][1]["events"].is_null());
  EXPECT_TRUE(record["hosts"][1]["window"].is_null());
}

TEST_F(AppTest, ShowsOverviewWithLargeNumbersAsText) {
  const json overview = Get("/api/v1/sessions/id0/overview");
  EXPECT_EQ(overview["duration_ps"], 5'000'000);
  EXPECT_EQ(overview["hosts"][0]["device_count"], 1);
  EXPECT_TRUE(overview["devices"][0]["name"].is_null());
  EXPECT_EQ(overview["steps"]["items"][0]["line"], "0.1.0");
  EXPECT_EQ(overview["top_ops"][0]["total_ps"], "1152921504606846976");
  EXPECT_EQ(overview["top_ops"][0]["event"], "0.1.2.55");
}

TEST_F(AppTest, ShowsLinesAndWaitsAsAsked) {
  const json lines = Get("/api/v1/sessions/id0/lines?wait_ms=7");
  EXPECT_EQ(engine_.opened_["id0"]->last_wait_ms, 7);
  const json plane = lines["hosts"][0]["planes"][0];
  EXPECT_EQ(plane["id"], "0.1");
  EXPECT_EQ(plane["lines"][0]["id"], "0.1.0");
  EXPECT_EQ(plane["lines"][0]["thread_id"], "-3");
  EXPECT_EQ(plane["lines"][0]["display_name"], "XLA Ops");
  EXPECT_TRUE(plane["lines"][1]["event_count"].is_null());
  EXPECT_EQ(lines["hosts"][1]["error"]["name"], "XPLANE_TRUNCATED");
}

TEST_F(AppTest, ServesTilesImmutablyUnderTheirVersion) {
  const Response tile = Run("GET", "/api/v1/sessions/id0/tiles/0.1.0/30/-2?v=9f31c2d0a7e4b65d");
  EXPECT_EQ(tile.status, 200);
  EXPECT_EQ(*tile.body, "STL1 0 0 30 -2");
  EXPECT_THAT(tile.cache_control, HasSubstr("immutable"));
  EXPECT_EQ(tile.etag, "9f31c2d0a7e4b65d-0.1.0-30--2");
  EXPECT_EQ(Run("GET", "/api/v1/sessions/id0/tiles/0.1.0/30/2?v=old").status, 409);
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/tiles/0.1.0/30/2?v=old"), "VERSION_CHANGED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/tiles/0.1.0/9/2?v=x"), "TILE_ADDRESS");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/tiles/0.1.0/63/2?v=x"), "TILE_ADDRESS");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/tiles/0.1.0/30/x?v=x"), "TILE_ADDRESS");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/tiles/0.-1.0/30/2?v=x"), "INDEX_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/tiles/0.1/30/2?v=x"), "ROUTE_UNKNOWN");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/tiles/0.1.0/30/2"), "PARAMETER_MISSING");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/tiles/0.7.0/30/2?v=9f31c2d0a7e4b65d"),
            "TILE_UNKNOWN");
}

TEST_F(AppTest, ShowsEventsWithTypedStats) {
  const json event = Get("/api/v1/sessions/id0/events/0.1.2.55");
  EXPECT_EQ(event["id"], "0.1.2.55");
  EXPECT_EQ(event["parent"], "0.1.1.3");
  const json stats = event["stats"];
  EXPECT_EQ(stats[0]["value"], "1152921504606846976");
  EXPECT_EQ(stats[0]["unit"], "B");
  EXPECT_EQ(stats[0]["origin"], "metadata");
  EXPECT_EQ(stats[1]["value"], -5);
  EXPECT_EQ(stats[2]["value"], 0.5);
  EXPECT_EQ(stats[3]["value"].get<std::string>().size(), kMaxStatTextBytes);
  EXPECT_EQ(stats[3]["truncated"], true);
  EXPECT_EQ(stats[4]["value"]["size_bytes"], 70'000);
  EXPECT_EQ(stats[4]["value"]["hex"].get<std::string>().size(), 128u);
  EXPECT_TRUE(stats[5]["value"].is_null());
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/events/0.1.2.100"), "EVENT_UNKNOWN");
}

TEST_F(AppTest, FindsNeighbours) {
  const json at = Get("/api/v1/sessions/id0/events?line=0.1.2&at_ps=7");
  EXPECT_EQ(at["event"], "0.1.2.7");
  EXPECT_TRUE(at["previous"].is_null());
  EXPECT_EQ(at["next"], "0.1.2.9");
  EXPECT_EQ(Get("/api/v1/sessions/id0/events?line=0.1.2&event=4")["event"], "0.1.2.4");
}

TEST_F(AppTest, Searches) {
  const json found = Get("/api/v1/sessions/id0/search?q=fu+sion%2F&from_ps=-3&to_ps=9&limit=5");
  EXPECT_EQ(found["query"], "fu sion/");
  EXPECT_EQ(found["hits"][0]["line"], "0.1.2");
  const engine::SearchQuery& query = engine_.opened_["id0"]->last_query;
  EXPECT_EQ(query.from_ps, -3);
  EXPECT_EQ(query.to_ps, 9);
  EXPECT_EQ(query.limit, 5u);
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/search?q=a&limit=10001"), "PARAMETER_MALFORMED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/search?q=a&from_ps=9&to_ps=8"),
            "TIME_RANGE_REVERSED");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/totals?from_ps=9&to_ps=8"),
            "TIME_RANGE_REVERSED");
}

TEST_F(AppTest, SumsUpASpan) {
  const json totals =
      Get("/api/v1/sessions/id0/totals?from_ps=5&to_ps=90&side=devices&lines=0.1.2,0.1.3&limit=1");
  EXPECT_EQ(totals["from_ps"], 5);
  EXPECT_EQ(totals["side"], "devices");
  EXPECT_EQ(totals["names"][0]["category"], "fusion");
  EXPECT_EQ(totals["names"][0]["longest"], "0.1.2.55");
  EXPECT_EQ(totals["other_names"]["self_ps"], 10);
  EXPECT_EQ(totals["lines"][0]["line"], "0.1.2");
  EXPECT_EQ(totals["planes"][0]["plane"], "0.1");
  const engine::TotalsQuery& query = engine_.opened_["id0"]->last_totals;
  EXPECT_EQ(query.side, engine::AreaSide::kDevices);
  ASSERT_EQ(query.lines.size(), 2u);
  EXPECT_EQ(query.lines[1].line, 3u);
  EXPECT_EQ(query.limit, 1u);
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/totals?side=left"), "SIDE_UNKNOWN");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/totals?lines=0.1"), "LINE_ID_MALFORMED");
}

TEST_F(AppTest, ListsGapsAndFlows) {
  const json gaps = Get("/api/v1/sessions/id0/gaps?plane=0.1");
  EXPECT_EQ(gaps["count"], 9);
  EXPECT_EQ(gaps["gaps"][0]["duration_ps"], 30);
  EXPECT_TRUE(gaps["gaps"][0]["before"].is_null());
  EXPECT_EQ(gaps["gaps"][0]["after"], "0.1.2.7");
  EXPECT_EQ(gaps["gaps"][0]["meanwhile"][0]["thread"], "python");
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/gaps?plane=x"), "PLANE_ID_MALFORMED");
  const json flows = Get("/api/v1/sessions/id0/flows?event=0.1.2.55");
  EXPECT_EQ(flows["truncated"], true);
  EXPECT_EQ(flows["flows"][0]["from"]["event"], "0.3.1.4");
  EXPECT_EQ(flows["flows"][0]["to"]["row"], 0);
  EXPECT_TRUE(engine_.opened_["id0"]->last_flows.event.has_value());
  EXPECT_EQ(ErrorName("GET", "/api/v1/sessions/id0/flows?event=1.2"), "EVENT_ID_MALFORMED");
}

TEST_F(AppTest, OffersCaptureOnlyWhereItCanWrite) {
  EXPECT_EQ(Get("/api/v1/config")["capture_enabled"], true);
  EXPECT_TRUE(Get("/api/v1/config")["capture_reason"].is_null());
  FakeEngine file_only({directory_.Write("one.xplane.pb", "")});
  context_->engine = &file_only;
  const json config = Get("/api/v1/config");
  EXPECT_EQ(config["capture_enabled"], false);
  EXPECT_THAT(config["capture_reason"].get<std::string>(), HasSubstr("may write"));
  EXPECT_EQ(ErrorName("POST", "/api/v1/captures", "{\"targets\":[\"a:1\"]}"),
            "CAPTURE_NOT_OFFERED");
}

TEST_F(AppTest, CapturesAndNamesTheNewSession) {
  const Response started = Run("POST", "/api/v1/captures",
                               R"({"targets":["127.0.0.1:9012"],"duration_ms":20,"run":"live"})");
  ASSERT_EQ(started.status, 202) << *started.body;
  const std::string id = json::parse(*started.body)["id"];
  uint64_t seen = 0;
  queue::OperationState state;
  do {
    state = operations_->WaitForChange(id, seen, 10'000).value();
    seen = state.revision;
  } while (!state.done);
  const json done = Get("/api/v1/operations/" + id);
  EXPECT_EQ(done["result"]["session"], "id4");
  EXPECT_EQ(done["result"]["hosts_saved"], 1);
  EXPECT_EQ(done["targets"][0]["state"], "saved");
  EXPECT_EQ(Get("/api/v1/operations")["operations"].size(), 1u);
  EXPECT_EQ(ErrorName("GET", "/api/v1/operations/nosuch"), "OPERATION_UNKNOWN");
}

TEST_F(AppTest, RefusesCapturesThatMakeNoSense) {
  const auto name = [&](std::string body) {
    return ErrorName("POST", "/api/v1/captures", std::move(body));
  };
  EXPECT_EQ(name("{"), "BODY_NOT_JSON");
  EXPECT_EQ(name("[]"), "BODY_NOT_JSON");
  EXPECT_EQ(name("{}"), "CAPTURE_NO_TARGET");
  EXPECT_EQ(name(R"({"targets":["a"]})"), "CAPTURE_BAD_TARGET");
  EXPECT_EQ(name(R"({"targets":["a:1"],"duration_ms":0})"), "CAPTURE_BAD_DURATION");
  EXPECT_EQ(name(R"({"targets":["a:1"],"duration_ms":18446744073709551615})"),
            "CAPTURE_BAD_DURATION");
  EXPECT_EQ(name(R"({"targets":["a:1"],"duration_ms":1.5})"), "FIELD_MALFORMED");
  EXPECT_EQ(name(R"({"targets":["a:1"],"session":"../x"})"), "CAPTURE_BAD_NAME");
  EXPECT_EQ(name(R"({"targets":["a:1"],"root":"/etc"})"), "ROOT_NOT_ALLOWED");
  EXPECT_EQ(name(R"({"targets":["a:1"],"typo":1})"), "FIELD_UNKNOWN");
  EXPECT_EQ(name(R"({"targets":["a:1"],"options":{"x":[1]}})"), "FIELD_MALFORMED");
  EXPECT_EQ(name(R"({"targets":["a:1"],"host_tracer_level":-1})"), "FIELD_MALFORMED");
}

TEST_F(AppTest, AnswersAsXprofDoes) {
  EXPECT_EQ(*Run("GET", "/runs").body,
            R"(["single", "llama/run1/2026_11_29", "broken/text", "broken/nothing"])");
  EXPECT_EQ(*Run("GET", "/data/plugin/profile/runs/").body, *Run("GET", "/runs").body);
  EXPECT_EQ(*Run("GET", "/hosts?run=llama/run1/2026_11_29&tag=overview_page").body,
            R"([{"hostname": "ALL_HOSTS"}])");
  EXPECT_EQ(*Run("GET", "/hosts?run=llama/run1/2026_11_29&tag=kernel_stats").body,
            R"([{"hostname": "ALL_HOSTS"}, {"hostname": "host0"}, {"hostname": "host1"}])");
  EXPECT_EQ(*Run("GET", "/hosts?run=llama/run1/2026_11_29").body,
            R"([{"hostname": "host0"}, {"hostname": "host1"}])");
  EXPECT_EQ(*Run("GET", "/hosts?run=nosuch&tag=x").body, "[]");
  EXPECT_EQ(*Run("GET", "/run_tools?run=nosuch").body, "[]");
  EXPECT_EQ(*Run("GET", "/run_tools?run=single").body,
            R"(["overview_page", "op_profile", "hlo_stats"])");
  EXPECT_EQ(*Run("GET", "/run_tools?run=broken/text").body, "[]");
  EXPECT_EQ(*Run("GET", "/config").body,
            R"({"enableTabNameLabel": false, "hideCaptureProfileButton": false, )"
            R"("srcPathPrefix": null})");
  EXPECT_EQ(*Run("GET", "/version").body, "2.24.2");
  EXPECT_EQ(ErrorName("GET", "/hosts"), "PARAMETER_MISSING");
  EXPECT_EQ(Run("GET", "/runs").compression, Compression::kAlways);
}

TEST_F(AppTest, FollowsXprofPathsInsideTheRootsOnly) {
  directory_.Write("plugins/profile/inside/h.xplane.pb", "");
  directory_.Write("loose/a/h1.xplane.pb", "");
  directory_.Write("loose/b/readme.txt", "");
  const std::string root = directory_.path();
  const storage::TestDirectory outside;
  outside.Write("plugins/profile/secret/h.xplane.pb", "");
  std::filesystem::create_symlink(outside.path() + "/plugins/profile/secret", root + "/link");
  const auto runs = [&](const std::string& query) { return *Run("GET", "/runs?" + query).body; };
  EXPECT_EQ(runs("session_path=" + root + "/plugins/profile/inside"), "[\"inside\"]");
  EXPECT_EQ(runs("run_path=" + root + "/loose"), "[\"a\"]");
  EXPECT_EQ(runs("session_path=/_nonexistent"), "[]");
  EXPECT_EQ(runs("session_path=" + outside.path() + "/plugins/profile/secret"), "[]");
  EXPECT_EQ(
      runs("session_path=" + root + "/../" +
           std::filesystem::path(outside.path()).filename().string() + "/plugins/profile/secret"),
      "[]");
  EXPECT_EQ(runs("session_path=" + root + "/link"), "[]");
  EXPECT_EQ(*Run("GET", "/hosts?run=inside&session_path=" + root + "/plugins/profile/inside").body,
            R"([{"hostname": "h"}])");
}

TEST_F(AppTest, NamesPathsOutsideOfTheRoots) {
  directory_.Write("loose/a/h1.xplane.pb", "");
  const std::string root = directory_.path();
  const storage::TestDirectory outside;
  outside.Write("plugins/profile/secret/h.xplane.pb", "");
  std::filesystem::create_symlink(outside.path() + "/plugins/profile/secret", root + "/link");
  for (const std::string& path : {outside.path() + "/plugins/profile/secret", root + "/link",
                                  std::string("/_nonexistent"), root + "/../elsewhere"}) {
    for (const char* name : {"session_path", "run_path"}) {
      for (const char* route : {"/data", "/data_csv"}) {
        const std::string address =
            std::string(route) + "?run=secret&tag=overview_page&" + name + "=" + path;
        EXPECT_EQ(ErrorName("GET", address), "PATH_OUTSIDE_ROOTS") << address;
      }
    }
  }
  // What is not there but could be is XProf's "not found".
  EXPECT_EQ(*Run("GET", "/data?run=x&tag=overview_page&session_path=" + root + "/nothing/x").body,
            "No xplane file found for run: x, tool: overview_page");
  Run("GET", "/hosts?run=a&session_path=" + root + "/loose/a");
  ASSERT_EQ(engine_.adopted.size(), 1u);
  EXPECT_EQ(engine_.adopted[0].path, root + "/loose/a");
}

TEST_F(AppTest, ServesMetrics) {
  Run("GET", "/api/v1/sessions/id0");
  metrics_->Record(0, 200, 0.002, 5);
  const std::string text = *Run("GET", "/metrics").body;
  EXPECT_THAT(text, HasSubstr("strobe_http_requests_total{route=\"/healthz\",status=\"2xx\"} 1\n"));
  EXPECT_THAT(
      text, HasSubstr("strobe_http_request_seconds_bucket{route=\"/healthz\",le=\"0.0025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("strobe_engine_resident_bytes 77\n"));
  EXPECT_THAT(text, HasSubstr("strobe_sessions 4\n"));
  EXPECT_THAT(text, HasSubstr("strobe_requests_waiting{class=\"interactive\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("strobe_requests_served_total{class=\"work\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("strobe_engine_work_running{class=\"background\"} 3\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("process_resident_memory_bytes 0\n")));
}

TEST_F(AppTest, IsNotReadyWhileItStops) {
  EXPECT_EQ(Run("GET", "/readyz").status, 200);
  context_->draining = [] { return true; };
  EXPECT_EQ(ErrorName("GET", "/readyz"), "DRAINING");
  EXPECT_EQ(Run("GET", "/healthz").status, 200);
}

TEST_F(AppTest, DescribesEveryRouteAndNothingElse) {
  const json document = Get("/api/v1/openapi.json");
  EXPECT_EQ(document["openapi"], "3.1.0");
  size_t described = 0;
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      ++described;
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      // Every parameter of the path is filled with something, then the router must know it.
      std::string target = path;
      for (size_t open; (open = target.find('{')) != std::string::npos;) {
        target.replace(open, target.find('}') - open + 1, "0");
      }
      Request request = MakeRequest(upper, target).value();
      const Match match = router_->Find(request);
      ASSERT_NE(match.route, nullptr) << target;
      EXPECT_EQ(match.route->pattern, path);
      EXPECT_EQ(match.route->operation_id, operation["operationId"].get<std::string>());
      const json& content = operation["responses"].begin().value()["content"];
      for (const auto& [type, media] : content.items()) {
        EXPECT_TRUE(type.find('/') != std::string::npos) << path;
        if (media.contains("schema")) {
          const std::string ref = media["schema"]["$ref"];
          EXPECT_TRUE(schemas_.contains(ref.substr(ref.rfind('/') + 1))) << ref;
        }
      }
    }
  }
  size_t documented = 0;
  for (const Route& route : routes_) documented += route.documented && route.pattern != kAnyPath;
  EXPECT_EQ(described, documented);
}

TEST_F(AppTest, KeepsTheWrittenDescriptionUpToDate) {
  std::ifstream file("docs/api/openapi.json");
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty()) << "run from the root of the repository";
  EXPECT_EQ(text.str(), OpenApiJson(routes_))
      << "write it anew: build/strobe openapi > docs/api/openapi.json";
}

// ---- over sockets
// --------------------------------------------------------------------------------

class AppServerTest : public AppTest {
 protected:
  AppServerTest() {
    context_->heartbeat_ms = 1;
    Result<std::unique_ptr<Server>> server = Server::Start({}, {.router = *router_,
                                                                .guard = guard_,
                                                                .metrics = *metrics_,
                                                                .clock = SystemClock(),
                                                                .ids = ids_});
    server_ = std::move(server).value();
  }
  uint16_t port() const { return server_->port(); }

  Guard guard_{GuardOptions{}};
  std::unique_ptr<Server> server_;
};

TEST_F(AppServerTest, SendsStrictHeadersOnEveryRoute) {
  for (const Route& route : routes_) {
    std::string target = route.pattern == kAnyPath ? "/s/id0/overview" : route.pattern;
    for (size_t open; (open = target.find('{')) != std::string::npos;) {
      target.replace(open, target.find('}') - open + 1, "0");
    }
    TestClient client(port());
    const TestAnswer answer =
        route.method == Method::kPost ? client.Post(target, "{}") : client.Get(target);
    EXPECT_NE(answer.status, 0) << target;
    ExpectStrictHeaders(answer);
  }
}

TEST_F(AppServerTest, GivesXprofAnswersGzippedWhateverIsAccepted) {
  TestClient client(port());
  const TestAnswer answer = client.Get("/data/plugin/profile/version");
  EXPECT_EQ(answer.Get("content-encoding"), "gzip");
  EXPECT_EQ(answer.Get("content-type"), "text/plain");
  EXPECT_EQ(answer.body.substr(0, 2), "\x1f\x8b");
}

TEST_F(AppServerTest, RefusesForeignHostsOriginsAndTypes) {
  const auto send = [this](std::string_view bytes) {
    TestClient client(port());
    client.Send(bytes);
    return client.Read();
  };
  EXPECT_EQ(send("GET /runs HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 421);
  EXPECT_EQ(send("GET /runs HTTP/1.1\r\n\r\n").status, 400);
  EXPECT_EQ(send("GET /runs HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").status, 400);
  EXPECT_EQ(send("GET /runs HTTP/1.1\r\nHost: localhost:1\r\n\r\n").status, 200);
  EXPECT_EQ(send("GET /runs HTTP/1.1\r\nHost: [::1]\r\n\r\n").status, 200);
  EXPECT_EQ(send("POST /api/v1/captures HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                 "text/plain\r\nContent-Length: 2\r\n\r\n{}")
                .status,
            415);
  EXPECT_EQ(send("PUT /runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").status, 405);
  EXPECT_EQ(send("DELETE /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 404);
  const TestAnswer foreign = send(
      "POST /api/v1/captures HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n"
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(foreign.status, 403);
  EXPECT_THAT(foreign.body, HasSubstr("ORIGIN_NOT_ALLOWED"));
  EXPECT_EQ(send("POST /api/v1/captures HTTP/1.1\r\nHost: localhost:8\r\nOrigin: "
                 "http://localhost:8\r\nContent-Type: application/json\r\nContent-Length: "
                 "2\r\n\r\n{}")
                .status,
            400);
}

TEST_F(AppServerTest, FollowsAnOperationToItsEnd) {
  TestClient client(port());
  wait_for_cancel_ = true;
  const TestAnswer started =
      client.Post("/api/v1/captures", R"({"targets":["127.0.0.1:9012"],"duration_ms":20})");
  ASSERT_EQ(started.status, 202) << started.body;
  const std::string id = json::parse(started.body)["id"];
  TestClient follower(port());
  follower.Send(follower.Head("GET", "/api/v1/operations/" + id + "/events", ""));
  const TestAnswer head = follower.ReadHead();
  EXPECT_EQ(head.Get("content-type"), "text/event-stream");
  std::string events;
  // The state now, then at least one sign of life while nothing happens.
  while (events.find("\"recording\"") == std::string::npos ||
         events.find(": still here") == std::string::npos) {
    ASSERT_TRUE(follower.ReadChunk(&events)) << events;
  }
  EXPECT_EQ(client.Post("/api/v1/operations/" + id + ":cancel", "{}").status, 200);
  while (follower.ReadChunk(&events)) {
  }
  const std::string last = events.substr(events.rfind("data: ") + 6);
  const json state = json::parse(last.substr(0, last.find('\n')));
  EXPECT_EQ(state["done"], true);
  EXPECT_EQ(state["cancelled"], true);
}

TEST_F(AppServerTest, NoticesThatAFollowerLeft) {
  TestClient client(port());
  wait_for_cancel_ = true;
  const TestAnswer started =
      client.Post("/api/v1/captures", R"({"targets":["127.0.0.1:9012"],"duration_ms":20})");
  const std::string id = json::parse(started.body)["id"];
  {
    TestClient follower(port());
    follower.Send(follower.Head("GET", "/api/v1/operations/" + id + "/events", ""));
    EXPECT_EQ(follower.ReadHead().status, 200);
    // Counted by the thread that writes it, which may come after the head.
    while (metrics_->open_streams.load() != 1) std::this_thread::yield();
  }
  while (metrics_->open_streams.load() != 0) std::this_thread::yield();
}

}  // namespace
}  // namespace strobe::api
