// Counters, marks, search and exports over the routes, with an engine whose answers are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/api/app.h"
#include "src/api/fake_engine_for_test.h"
#include "src/api/finish.h"
#include "src/api/openapi.h"
#include "src/api/schema_check_for_test.h"
#include "src/base/log.h"

namespace strobe::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;

// Takes pieces until it has had enough.
class PieceTaker final : public StreamWriter {
 public:
  explicit PieceTaker(size_t enough) : enough_(enough) {}
  bool Write(std::string bytes) override {
    text_ += bytes;
    return ++pieces_ < enough_;
  }
  void Fail() override { failed_ = true; }
  const CancelToken& cancel() const override { return cancel_; }
  const std::string& text() const { return text_; }
  bool failed() const { return failed_; }

 private:
  const size_t enough_;
  size_t pieces_ = 0;
  std::string text_;
  bool failed_ = false;
  const CancelToken cancel_;
};

class CurvesApiTest : public testing::Test {
 protected:
  CurvesApiTest() : engine_({"/srv/logs"}), console_("") {
    SetLogLevel("off");
    engine_.Add("llama/run 1", "2026_11_29", {"host0"});
    context_ = std::make_shared<AppContext>();
    context_->engine = &engine_;
    context_->clock = &SystemClock();
    context_->console = &console_;
    router_ = std::make_unique<Router>(MakeRoutes(context_));
    schemas_ = json::parse(SchemasJson());
  }
  ~CurvesApiTest() override { SetLogLevel("info"); }

  Response Run(std::string_view target) {
    Request request = MakeRequest("GET", target).value();
    const Match match = router_->Find(request);
    return router_->Run(match, request);
  }
  json Get(std::string_view target) {
    const Response response = Run(target);
    EXPECT_EQ(response.status, 200) << *response.body;
    Request request = MakeRequest("GET", target).value();
    const json value = json::parse(*response.body);
    EXPECT_EQ(CheckSchema(value, schemas_[router_->Find(request).route->response_schema], schemas_),
              "")
        << target;
    return value;
  }
  std::string ErrorName(std::string_view target) { return Run(target).error_name; }
  FakeSession& session() {
    EXPECT_TRUE(engine_.Open("id0").ok());
    return *engine_.opened_["id0"];
  }

  FakeEngine engine_;
  StaticFiles console_;
  std::shared_ptr<AppContext> context_;
  std::unique_ptr<Router> router_;
  json schemas_;
};

TEST_F(CurvesApiTest, ListsCounters) {
  const json list = Get("/api/v1/sessions/id0/counters");
  ASSERT_EQ(list["counters"].size(), 2u);
  EXPECT_EQ(list["counters"][0]["line"], "0.1.3");
  EXPECT_EQ(list["counters"][0]["group"], "memory");
  EXPECT_EQ(list["counters"][1]["kind"], "memory");
  EXPECT_EQ(list["counters"][1]["line"], nullptr);
  EXPECT_EQ(list["counters"][1]["unit"], nullptr);
}

TEST_F(CurvesApiTest, ACounterIsBucketsWithNullsBetween) {
  const json curve = Get("/api/v1/sessions/id0/counters/0.1.3.0?from_ps=0&to_ps=4&buckets=4");
  EXPECT_EQ(curve["bucket_count"], 4);
  EXPECT_EQ(curve["before"]["value"], 7);
  EXPECT_EQ(curve["min"], json::parse("[null, 1.5, 3, null]"));
  EXPECT_EQ(curve["count"], json::parse("[0, 1, 1, 0]"));
  EXPECT_EQ(session().last_counter.buckets, 4u);
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/counters/0.1.3.9"), "COUNTER_UNKNOWN");
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/counters/0.1.3.0?buckets=0"), "PARAMETER_MALFORMED");
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/counters/0.1.3.0?buckets=8193"), "PARAMETER_MALFORMED");
}

TEST_F(CurvesApiTest, MarksAreStepsAndModules) {
  const json marks = Get("/api/v1/sessions/id0/marks?from_ps=1&to_ps=9&limit=7");
  EXPECT_EQ(marks["steps"]["line"], "0.1.0");
  EXPECT_EQ(marks["steps"]["items"][0]["event"], "0.1.0.0");
  EXPECT_EQ(marks["modules"][0]["plane"], "0.1");
  EXPECT_EQ(session().last_marks.limit, 7u);
}

TEST_F(CurvesApiTest, SearchTakesATextOrAnExpression) {
  EXPECT_EQ(Get("/api/v1/sessions/id0/search?q=fusion")["near"], nullptr);
  EXPECT_FALSE(session().last_query.expression);
  const json found =
      Get("/api/v1/sessions/id0/search?expression=stat%3Aflops%3E5&near=0.1.2.55&limit=0");
  EXPECT_TRUE(session().last_query.expression);
  EXPECT_EQ(session().last_query.text, "stat:flops>5");
  EXPECT_EQ(session().last_query.near->event, 55u);
  EXPECT_EQ(found["near"]["rank"], 17);
  EXPECT_EQ(found["near"]["previous"]["event"], "0.1.2.55");
  EXPECT_EQ(found["near"]["next"], nullptr);
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/search?q=a&expression=b"), "SEARCH_TWICE");
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/search?expression="), "SEARCH_EMPTY");
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/search?q=a&near=x"), "EVENT_ID_MALFORMED");
}

TEST_F(CurvesApiTest, ToolsTellHowFarTheyAre) {
  const json progress = Get("/api/v1/sessions/id0/tools/op_profile/progress");
  EXPECT_EQ(progress["running"], true);
  EXPECT_EQ(progress["stage"], "hosts");
  EXPECT_EQ(progress["hosts_done"], 3);
  EXPECT_EQ(progress["failed"][0]["host"], "host1");
  EXPECT_EQ(progress["failed"][0]["error"]["name"], "XPLANE_NOT_A_PROFILE");
  EXPECT_EQ(Get("/api/v1/sessions/id0/tools/hlo_stats/progress")["stage"], nullptr);
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/tools/nosuch/progress"), "TOOL_UNKNOWN");
}

TEST_F(CurvesApiTest, AnExportIsStreamedWithAName) {
  const Response response = Run("/api/v1/sessions/id0/export?format=perfetto&lines=0.1.2,0.1.3");
  ASSERT_TRUE(response.stream);
  EXPECT_EQ(response.content_type, "application/x-protobuf");
  EXPECT_THAT(response.headers,
              ElementsAre(std::pair<std::string, std::string>(
                  "Content-Disposition",
                  "attachment; filename=\"llama_run_1_2026_11_29.perfetto-trace\"")));
  PieceTaker all(100);
  response.stream(all);
  EXPECT_EQ(all.text(), "piece 0 piece 1 piece 2 ");
  EXPECT_FALSE(all.failed());
  // Whoever takes no more stops the work; what is not whole is broken off.
  session().export_pieces = 1'000'000;
  PieceTaker few(3);
  response.stream(few);
  EXPECT_TRUE(session().export_stopped);
  EXPECT_TRUE(few.failed());
  PieceTaker broken(100);
  Run("/api/v1/sessions/id0/export?stats=false").stream(broken);
  EXPECT_TRUE(broken.failed());
}

TEST_F(CurvesApiTest, WhatAnExportCannotBeIsSaidBeforeItBegins) {
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/export?format=zip"), "EXPORT_FORMAT_UNKNOWN");
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/export?lines=0.1"), "LINE_ID_MALFORMED");
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/export?lines=0.7.1"), "LINE_UNKNOWN");
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/export?stats=maybe"), "PARAMETER_MALFORMED");
  EXPECT_EQ(ErrorName("/api/v1/sessions/id0/export?v=old"), "VERSION_CHANGED");
  EXPECT_EQ(ErrorName("/api/v1/sessions/nosuch/export"), "SESSION_UNKNOWN");
}

}  // namespace
}  // namespace strobe::api
