// What clients of the ML Diagnostics API get wrong, repeat and come too late with: requests sent
// again, stale etags, old page tokens, deletes with children, cancels of what is done, names of
// every byte, and a clock that goes backwards.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "src/api/app.h"
#include "src/api/fake_engine_for_test.h"
#include "src/api/planted_tools_for_test.h"
#include "src/base/log.h"
#include "src/catalog/rules.h"
#include "src/storage/test_directory.h"

namespace strobe::api {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr char kParent[] = "/v1alpha/projects/p/locations/l";
constexpr int64_t kHourNs = 3600LL * 1'000'000'000;

class V1alphaCasesTest : public testing::Test {
 protected:
  V1alphaCasesTest() : engine_({directory_.path()}), console_("") {
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
    router_ = std::make_unique<Router>(MakeRoutes(context_));
  }
  ~V1alphaCasesTest() override { SetLogLevel("info"); }

  Json Send(std::string_view method, const std::string& target, const Json& body = {}) {
    Request request = MakeRequest(method, kParent + target).value();
    request.headers.push_back({"content-type", "application/json"});
    if (!body.is_null()) request.body = body.dump();
    const Response response = router_->Run(router_->Find(request), request);
    status_ = response.status;
    error_ = response.error_name;
    const std::string text = response.body == nullptr ? "{}" : *response.body;
    return Json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  Json Create(const std::string& id, const Json& body = Json::object()) {
    Json made = Send("POST", Runs("?machineLearningRunId=" + id), body);
    EXPECT_EQ(status_, 200) << made.dump();
    return made;
  }
  Json Get(const std::string& id) { return Send("GET", Runs("/" + id)); }
  static std::string Runs(const std::string& rest = "") { return "/machineLearningRuns" + rest; }
  std::vector<std::string> Listed(const std::string& query) {
    std::vector<std::string> ids;
    const Json page = Send("GET", Runs(query));
    for (const Json& run : page.value("machineLearningRuns", Json::array())) {
      const std::string name = run["name"];
      ids.push_back(name.substr(name.rfind('/') + 1));
    }
    token_ = page.value("nextPageToken", "");
    return ids;
  }

  storage::TestDirectory directory_;
  FakeClock clock_;
  FakeEngine engine_;
  StaticFiles console_;
  std::unique_ptr<catalog::Catalog> catalog_;
  std::shared_ptr<AppContext> context_ = std::make_shared<AppContext>();
  std::unique_ptr<Router> router_;
  int status_ = 0;
  std::string error_;
  std::string token_;
};

TEST_F(V1alphaCasesTest, ARequestThatIsSentAgainIsAnsweredAsBefore) {
  const std::string request = "&requestId=1b4e28ba-2fa1-41d2-883f-0016d3cca427";
  const Json first =
      Send("POST", Runs("?machineLearningRunId=a" + request), {{"displayName", "x"}});
  EXPECT_EQ(status_, 200);
  clock_.AdvanceNanos(kHourNs - 1);  // Google promises an hour
  EXPECT_EQ(Send("POST", Runs("?machineLearningRunId=a" + request), {{"displayName", "x"}}), first);
  Send("POST", Runs("?machineLearningRunId=a" + request), {{"displayName", "y"}});
  EXPECT_EQ(error_, "REQUEST_ID_REUSED");
  Send("POST", Runs("?machineLearningRunId=b" + request), {{"displayName", "x"}});
  EXPECT_EQ(error_, "REQUEST_ID_REUSED");
  Send("POST", Runs("?machineLearningRunId=b&requestId=1"), {{"displayName", "x"}});
  EXPECT_EQ(error_, "REQUEST_ID_MALFORMED");
  EXPECT_EQ(Listed("").size(), 1u);
}

TEST_F(V1alphaCasesTest, AStaleEtagChangesNothing) {
  Create("a", {{"displayName", "one"}});
  const std::string stale = Get("a")["etag"];
  Send("PATCH", Runs("/a?updateMask=displayName"), {{"displayName", "two"}, {"etag", stale}});
  EXPECT_EQ(status_, 200);
  const Json error =
      Send("PATCH", Runs("/a?updateMask=displayName"), {{"displayName", "three"}, {"etag", stale}});
  EXPECT_EQ(status_, 409);
  EXPECT_EQ(error["error"]["status"], "ABORTED");
  Send("DELETE", Runs("/a?etag=" + stale));
  EXPECT_EQ(status_, 409);
  const Json run = Get("a");
  EXPECT_EQ(run["displayName"], "two");
  EXPECT_NE(run["etag"], stale);
}

TEST_F(V1alphaCasesTest, AnOldPageTokenBelongsToItsQuestion) {
  for (int i = 0; i < 25; ++i) {
    Create("r" + std::to_string(i), {{"displayName", "name"}});
    clock_.AdvanceNanos(1000);
  }
  EXPECT_EQ(Listed("").size(), 10u) << "Google's own size";
  const std::string token = token_;
  EXPECT_EQ(Listed("?page_token=" + token).front(), "r14");
  for (const char* changed : {"&filter=state%3DSTATE_ACTIVE", "&orderBy=run_id"}) {
    Send("GET", Runs("?pageToken=" + token + changed));
    EXPECT_EQ(error_, "PAGE_TOKEN_MISMATCH") << changed;
    EXPECT_EQ(status_, 400);
  }
  Send("GET", Runs("?pageToken=" + token.substr(1)));
  EXPECT_THAT(error_, HasSubstr("PAGE_TOKEN_"));
  EXPECT_EQ(Listed("?pageSize=100000").size(), 25u) << "cut, not refused";
  Send("GET", Runs("?pageSize=-1"));
  EXPECT_EQ(error_, "PAGE_SIZE_NEGATIVE");
  Send("GET", Runs("?pageSize=x"));
  EXPECT_EQ(error_, "PAGE_SIZE_MALFORMED");
}

TEST_F(V1alphaCasesTest, ADeleteWithChildrenNeedsForce) {
  Create("a");
  const Json event{{"type", "PERFORMANCE_DEGRADATION"}, {"startTime", "2026-01-01T00:00:00Z"}};
  Send("POST", Runs("/a/monitoredEvents?monitoredEventId=e"), event);
  ASSERT_EQ(status_, 200);
  const Json error = Send("DELETE", Runs("/a"));
  EXPECT_EQ(error["error"]["status"], "FAILED_PRECONDITION");
  EXPECT_EQ(status_, 400);
  Send("GET", Runs("/a/monitoredEvents/e"));
  EXPECT_EQ(status_, 200);
  Send("DELETE", Runs("/a?force=true"));
  EXPECT_EQ(status_, 200);
  Create("a");
  Send("GET", Runs("/a/monitoredEvents/e"));
  EXPECT_EQ(status_, 404) << "it went with the run of before";
}

TEST_F(V1alphaCasesTest, CancellingTwiceIsNoError) {
  ASSERT_TRUE(catalog_
                  ->Write([](catalog::Transaction& t) {
                    return t.Insert(catalog::Operation{
                        .project = "p", .location = "l", .id = "runs", .verb = "create"});
                  })
                  .ok());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Send("POST", "/operations/runs:cancel", Json::object()), Json::object());
    EXPECT_EQ(status_, 200);
    EXPECT_EQ(Send("GET", "/operations/runs")["metadata"]["requestedCancellation"], true);
  }
  Send("DELETE", "/operations/runs");
  EXPECT_EQ(error_, "OPERATION_RUNNING");
  std::string done = Create("a")["name"];
  done = done.substr(done.find("/operations/"));
  for (int i = 0; i < 2; ++i) {
    Send("POST", done + ":cancel", Json::object());
    EXPECT_EQ(status_, 200);
    EXPECT_EQ(Send("GET", done)["metadata"]["requestedCancellation"], false) << "it was done";
  }
}

TEST_F(V1alphaCasesTest, AClockThatGoesBackwardsTurnsNoTimeAround) {
  Create("a", {{"displayName", "one"}});
  const Json before = Get("a");
  Create("b");
  clock_.AdvanceNanos(-kHourNs);
  Send("PATCH", Runs("/a?updateMask=displayName"), {{"displayName", "two"}});
  ASSERT_EQ(status_, 200);
  Json after = Get("a");
  EXPECT_EQ(after["createTime"], before["createTime"]);
  EXPECT_GT(after["updateTime"], before["updateTime"]);
  Send("PATCH", Runs("/a?updateMask=runPhase"), {{"runPhase", "COMPLETED"}});
  ASSERT_EQ(status_, 200);
  after = Get("a");
  EXPECT_GE(after["endTime"], after["createTime"]);
  EXPECT_EQ(after["runPhase"], "COMPLETED");
  // What is made now is older than what was there; lists and pages stay whole all the same.
  Create("c");
  std::vector<std::string> ids = Listed("?pageSize=2");
  const std::vector<std::string> rest = Listed("?pageSize=2&pageToken=" + token_);
  ids.insert(ids.end(), rest.begin(), rest.end());
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()), (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(ids.back(), "c");
  Send("DELETE", Runs("/a"));
  EXPECT_EQ(status_, 200);
}

TEST_F(V1alphaCasesTest, NamesOfEveryByte) {
  const std::string legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  size_t taken = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const std::string id = "a" + std::string(1, c) + "z";
    const bool good = legal.find(c) != std::string::npos;
    const std::string encoded = fmt::format("a%{:02X}z", byte);
    Result<Request> made = MakeRequest("POST", kParent + Runs("?machineLearningRunId=" + encoded));
    if (!made.ok()) {
      EXPECT_FALSE(good) << byte;
      continue;
    }
    Send("POST", Runs("?machineLearningRunId=" + encoded), Json::object());
    EXPECT_EQ(status_, good ? 200 : 400) << byte << " " << error_;
    if (!good) continue;
    ++taken;
    EXPECT_EQ(Get(encoded)["name"], "projects/p/locations/l/machineLearningRuns/" + id);
  }
  EXPECT_EQ(taken, legal.size());
  EXPECT_EQ(Listed("?pageSize=1000").size(), legal.size()) << "nothing else was made";
  // What people call it may be anything that is text, and comes back as it was.
  const std::string name = "\xE2\x80\xAE <b>'\"\\ \t\n \xF0\x9F\x94\xA5 \x7F";
  Create("named", {{"displayName", name}});
  EXPECT_EQ(Get("named")["displayName"], name);
  Request broken = MakeRequest("POST", kParent + Runs("?machineLearningRunId=b")).value();
  broken.headers.push_back({"content-type", "application/json"});
  broken.body = "{\"displayName\":\"\xff\"}";
  EXPECT_EQ(router_->Run(router_->Find(broken), broken).status, 400);
}

}  // namespace
}  // namespace strobe::api
