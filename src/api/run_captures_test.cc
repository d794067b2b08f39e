#include "src/api/run_captures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <semaphore>

#include "src/api/fake_engine_for_test.h"
#include "src/api/planted_tools_for_test.h"
#include "src/base/log.h"
#include "src/storage/test_directory.h"

namespace strobe::api {
namespace {

using capture::CaptureProgress;
using capture::CaptureRequest;
using capture::CaptureResult;
using capture::TargetState;
using Json = nlohmann::json;
using testing::HasSubstr;

const std::string kRunPath = "/v1alpha/projects/p/locations/l/machineLearningRuns/r1";
const std::string kSessions = kRunPath + "/profilerSessions";

// A server's routes over a catalogue, with captures that do what a test says.
class RunCapturesTest : public testing::Test {
 protected:
  RunCapturesTest() : engine_({directory_.path()}), console_("") {
    SetLogLevel("off");
    Open();
    context_->engine = &engine_;
    context_->operations = operations_.get();
    context_->catalog = catalog_.get();
    context_->clock = &clock_;
    context_->console = &console_;
    context_->tools = &PlantedTools();
    captures_ = MakeCaptures();
    context_->run_captures = captures_.get();
    router_ = std::make_unique<Router>(MakeRoutes(context_));
    Ask("POST", "/v1alpha/projects/p/locations/l/machineLearningRuns?machineLearningRunId=r1",
        R"({"artifacts":{"gcsPath":")" + directory_.path() + R"("}})");
    for (const char* target : {"t0", "t1"}) {
      Ask("POST", kRunPath + "/profilerTargets?profilerTargetId=" + target,
          std::string(R"({"hostname":")") + target + R"(.example"})");
    }
  }
  ~RunCapturesTest() override {
    go_on_.release(100);
    captures_.reset();
    SetLogLevel("info");
  }

  void Open() {
    auto opened = catalog::Catalog::Open({.place = directory_.path() + "/catalog.db"}, clock_,
                                         SystemRandom());
    STROBE_CHECK(opened.ok());
    catalog_ = std::move(opened).value();
  }
  std::unique_ptr<RunCaptures> MakeCaptures() {
    return std::make_unique<RunCaptures>(RunCaptures::Parts{
        .catalog = catalog_.get(),
        .operations = operations_.get(),
        .clock = &clock_,
        .capture =
            [this](const CaptureRequest& request, const std::string& staging,
                   const CancelToken& cancel, const RunCaptures::Progress& progress) {
              asked_ = request;
              staging_ = staging;
              return Captured(request, cancel, progress);
            },
        .remove_staged = [this](
                             const std::string& place,
                             const std::string& name) { removed_.push_back(place + "|" + name); },
        .scan_run =
            [this](const catalog::Key& run) {
              scanned_.push_back(run.id);
              return OkStatus();
            }});
  }

  // Says that it records, waits until the test lets it go on or it is cancelled, and ends as told.
  Result<CaptureResult> Captured(const CaptureRequest& request, const CancelToken& cancel,
                                 const RunCaptures::Progress& progress) {
    CaptureProgress now{.duration_ms = request.duration_ms};
    for (const std::string& target : request.targets) {
      now.targets.push_back({.target = target, .state = TargetState::kRecording});
    }
    progress(now);
    recording_.release();
    while (!cancel.cancelled() && !go_on_.try_acquire_for(std::chrono::milliseconds(5))) {
    }
    CaptureResult result{.session_name = request.session, .targets = now.targets};
    for (size_t i = 0; i < result.targets.size(); ++i) {
      result.targets[i].state = i < ends_.size() ? ends_[i] : TargetState::kSaved;
      if (result.targets[i].state == TargetState::kSaved) ++result.hosts_saved;
      if (result.targets[i].state == TargetState::kFailed) result.targets[i].message = "No answer.";
    }
    now.targets = result.targets;
    progress(now);
    if (result.hosts_saved == 0) return UnavailableError("CAPTURE_NOTHING_SAVED", "No target.");
    return result;
  }

  Json Ask(std::string_view method, const std::string& target, std::string body = "{}") {
    Request request = MakeRequest(method, target).value();
    request.headers.push_back({"host", "strobe.example"});
    request.body = std::move(body);
    const Response response = router_->Run(router_->Find(request), request);
    error_name_ = response.error_name;
    return response.body == nullptr ? Json() : Json::parse(*response.body);
  }
  static std::string Body(const std::string& more = "") {
    return R"({"profilerTargets":["projects/p/locations/l/machineLearningRuns/r1/profilerTargets/t0","t1"],
               "duration":"5s","kind":"KIND_ON_DEMAND","hostTracerLevel":"HOST_TRACER_LEVEL_VERBOSE",
               "pythonTracerLevel":"PYTHON_TRACER_LEVEL_ENABLED")" +
           more + "}";
  }
  // The operation when it is done: asked as clients do.
  Json Done(const Json& operation) {
    const std::string path = "/v1alpha/" + operation["name"].get<std::string>();
    while (true) {
      const Json now = Ask("GET", path);
      if (now["done"].get<bool>()) return now;
      std::this_thread::yield();
    }
  }

  storage::TestDirectory directory_;
  FakeClock clock_;
  FakeEngine engine_;
  StaticFiles console_;
  std::unique_ptr<catalog::Catalog> catalog_;
  IdMaker ids_{SystemClock(), SystemRandom()};
  std::unique_ptr<queue::OperationTable> operations_ =
      queue::OperationTable::Create({}, SystemClock(), ids_);
  std::shared_ptr<AppContext> context_ = std::make_shared<AppContext>();
  std::unique_ptr<RunCaptures> captures_;
  std::unique_ptr<Router> router_;
  std::counting_semaphore<1000> recording_{0};
  std::counting_semaphore<1000> go_on_{0};
  std::vector<TargetState> ends_;
  CaptureRequest asked_;
  std::string staging_;
  std::vector<std::string> scanned_;
  std::vector<std::string> removed_;
  std::string error_name_;
};

TEST_F(RunCapturesTest, ASessionThatIsPostedIsCaptured) {
  const Json begun = Ask("POST", kSessions + "?profilerSessionId=s1", Body());
  ASSERT_FALSE(begun["done"].get<bool>()) << begun.dump();
  EXPECT_THAT(begun["metadata"]["target"].get<std::string>(), HasSubstr("profilerSessions/s1"));
  recording_.acquire();
  EXPECT_EQ(asked_.targets, (std::vector<std::string>{"t0.example:9999", "t1.example:9999"}));
  EXPECT_EQ(asked_.duration_ms, 5000);
  EXPECT_EQ(asked_.host_tracer_level, 3u);
  EXPECT_EQ(asked_.device_tracer_level, 1u);
  EXPECT_EQ(asked_.python_tracer_level, 1u);
  EXPECT_EQ(asked_.root + "/" + asked_.run + "/" + asked_.session, directory_.path() + "/r1/s1");
  EXPECT_THAT(begun["name"].get<std::string>(), HasSubstr(staging_));

  captures_->KeepOnce();
  Json session = Ask("GET", kSessions + "/s1");
  EXPECT_EQ(session["state"], "ACTIVE");
  EXPECT_EQ(session["targetSessions"]["t1"]["sessionPhase"], "ACTIVE") << session.dump();
  const Json going = Ask("GET", "/v1alpha/" + begun["name"].get<std::string>());
  EXPECT_EQ(going["metadata"]["progress"]["stage"], "recording") << going.dump();
  EXPECT_EQ(going["metadata"]["progress"]["steps"][0]["state"], "IN_PROGRESS");
  Ask("DELETE", kSessions + "/s1");
  EXPECT_EQ(error_name_, "SESSION_CAPTURING");

  go_on_.release();
  const Json done = Done(begun);
  EXPECT_EQ(done["response"]["state"], "SUCCEEDED") << done.dump();
  EXPECT_EQ(done["metadata"]["progress"]["steps"][1]["state"], "DONE");
  EXPECT_EQ(scanned_, std::vector<std::string>{"r1"});
  session = Ask("GET", kSessions + "/s1");
  EXPECT_EQ(session["kind"], "KIND_ON_DEMAND");
  EXPECT_TRUE(session.contains("startTime") && session.contains("endTime")) << session.dump();
  Ask("POST", kSessions + "?profilerSessionId=s1", Body());
  EXPECT_EQ(error_name_, "PROFILER_SESSION_EXISTS");
}

TEST_F(RunCapturesTest, OneTargetThatFailsFailsTheSessionButNotTheOperation) {
  ends_ = {TargetState::kSaved, TargetState::kFailed};
  go_on_.release();
  const Json done = Done(Ask("POST", kSessions + "?profilerSessionId=s1", Body()));
  EXPECT_TRUE(done.contains("response")) << done.dump();
  const Json session = Ask("GET", kSessions + "/s1");
  EXPECT_EQ(session["state"], "FAILED");
  EXPECT_EQ(session["targetSessions"]["t1"]["sessionPhase"], "FAILED");
  EXPECT_THAT(session["targetSessions"]["t1"]["status"]["message"].get<std::string>(),
              HasSubstr("No answer."));
  EXPECT_EQ(session["targetSessions"].size(), 2u);
}

TEST_F(RunCapturesTest, NothingSavedFailsTheOperation) {
  ends_ = {TargetState::kFailed, TargetState::kEmpty};
  go_on_.release();
  const Json done = Done(Ask("POST", kSessions + "?profilerSessionId=s1", Body()));
  EXPECT_EQ(done["error"]["code"], 14) << done.dump();
  EXPECT_EQ(Ask("GET", kSessions + "/s1")["state"], "FAILED");
  EXPECT_TRUE(scanned_.empty());
}

TEST_F(RunCapturesTest, ACancelKeepsWhatCame) {
  const Json begun = Ask("POST", kSessions + "?profilerSessionId=s1", Body());
  recording_.acquire();
  Ask("POST", "/v1alpha/" + begun["name"].get<std::string>() + ":cancel");
  const Json done = Done(begun);
  EXPECT_EQ(done["error"]["code"], 1) << done.dump();
  EXPECT_TRUE(done["metadata"]["requestedCancellation"].get<bool>());
  EXPECT_EQ(Ask("GET", kSessions + "/s1")["state"], "CANCELLED");
  EXPECT_EQ(scanned_.size(), 1u);
}

// As when two servers share a catalogue: the cancel comes to the other one.
TEST_F(RunCapturesTest, ACancelTakenElsewhereIsFoundWithTheLease) {
  const Json begun = Ask("POST", kSessions + "?profilerSessionId=s1", Body());
  recording_.acquire();
  context_->run_captures = nullptr;
  Ask("POST", "/v1alpha/" + begun["name"].get<std::string>() + ":cancel");
  clock_.AdvanceNanos(kRenewEveryNs + 1);
  captures_->KeepOnce();
  EXPECT_EQ(Done(begun)["error"]["code"], 1);
}

TEST_F(RunCapturesTest, WhatAKilledServerLeftIsEnded) {
  const Json begun = Ask("POST", kSessions + "?profilerSessionId=s1", Body());
  recording_.acquire();
  captures_->KeepOnce();
  // Another server looks: as long as the lease holds nothing happens.
  const std::unique_ptr<RunCaptures> other = MakeCaptures();
  other->EndLapsed();
  EXPECT_FALSE(Ask("GET", "/v1alpha/" + begun["name"].get<std::string>())["done"].get<bool>());
  clock_.AdvanceNanos(catalog::kLeaseNs + 1'000'000'000);
  other->EndLapsed();
  const Json done = Ask("GET", "/v1alpha/" + begun["name"].get<std::string>());
  EXPECT_EQ(done["error"]["code"], 10) << done.dump();
  EXPECT_THAT(done["error"]["message"].get<std::string>(), HasSubstr("OPERATION_INTERRUPTED"));
  const Json session = Ask("GET", kSessions + "/s1");
  EXPECT_EQ(session["state"], "FAILED") << session.dump();
  EXPECT_EQ(removed_, std::vector<std::string>{directory_.path() + "|" + staging_});
  // The one taken for dead notices, stops, and changes nothing of what was told.
  captures_->KeepOnce();
  captures_->Stop();
  EXPECT_THAT(Ask("GET", "/v1alpha/" + begun["name"].get<std::string>())["error"]["message"]
                  .get<std::string>(),
              HasSubstr("OPERATION_INTERRUPTED"));
}

TEST_F(RunCapturesTest, AServerThatStopsSaysSo) {
  const Json begun = Ask("POST", kSessions + "?profilerSessionId=s1", Body());
  recording_.acquire();
  captures_->Stop();
  const Json done = Done(begun);
  EXPECT_THAT(done["error"]["message"].get<std::string>(), HasSubstr("OPERATION_INTERRUPTED"));
  EXPECT_EQ(Ask("GET", kSessions + "/s1")["state"], "CANCELLED");
}

TEST_F(RunCapturesTest, TheSameRequestAgainCapturesOnce) {
  const std::string target =
      kSessions + "?profilerSessionId=s1&requestId=11111111-2222-4333-8444-555555555555";
  go_on_.release();
  const Json first = Ask("POST", target, Body());
  const Json again = Ask("POST", target, Body());
  EXPECT_EQ(first["name"], again["name"]);
  Done(first);
  recording_.acquire();
  EXPECT_FALSE(recording_.try_acquire());
}

TEST_F(RunCapturesTest, AllTargetsWhenNoneIsNamed) {
  go_on_.release();
  const Json done = Done(Ask("POST", kSessions + "?profilerSessionId=s1",
                             R"({"duration":"0.25s","kind":"KIND_ON_DEMAND"})"));
  EXPECT_EQ(asked_.targets.size(), 2u);
  EXPECT_EQ(asked_.duration_ms, 250);
  EXPECT_TRUE(done["response"]["targetSessions"].contains(
      "projects/p/locations/l/machineLearningRuns/r1/profilerTargets/t0"))
      << done.dump();
}

TEST_F(RunCapturesTest, WhatCannotBeCapturedIsNamed) {
  const auto error = [this](const std::string& body, const std::string& run = "r1") {
    Ask("POST",
        "/v1alpha/projects/p/locations/l/machineLearningRuns/" + run +
            "/profilerSessions?profilerSessionId=s9",
        body);
    return error_name_;
  };
  EXPECT_EQ(error(R"({"kind":"KIND_ON_DEMAND","profilerTargets":["t0"]})"),
            "CAPTURE_DURATION_MISSING");
  EXPECT_EQ(error(R"({"kind":"KIND_ON_DEMAND","profilerTargets":["t9"],"duration":"1s"})"),
            "PROFILER_TARGET_NOT_FOUND");
  EXPECT_EQ(error(R"({"kind":"KIND_ON_DEMAND","profilerTargets":["t0"],"duration":"7200s"})"),
            "CAPTURE_BAD_DURATION");
  EXPECT_EQ(error(R"({"kind":"KIND_ON_DEMAND","profilerTargets":["t0","t0"],"duration":"1s"})"),
            "CAPTURE_BAD_TARGET");
  EXPECT_EQ(error(R"({"kind":"KIND_SNAPSHOT","profilerTargets":["t0"]})"), "SWEEP_NOT_ACTIVE");
  EXPECT_EQ(error(Body(), "nosuch"), "RUN_NOT_FOUND");
  const std::string runs =
      "/v1alpha/projects/p/locations/l/machineLearningRuns?machineLearningRunId=";
  Ask("POST", runs + "r2", "{}");
  EXPECT_EQ(error(Body(), "r2"), "RUN_NO_STORAGE");
  Ask("POST", runs + "r3", R"({"artifacts":{"gcsPath":"/etc"}})");
  EXPECT_EQ(error(Body(), "r3"), "STORAGE_OUTSIDE_ROOTS");
  Ask("POST", runs + "r4", R"({"artifacts":{"gcsPath":")" + directory_.path() + R"("}})");
  EXPECT_EQ(error(R"({"kind":"KIND_ON_DEMAND","duration":"1s"})", "r4"), "RUN_NO_TARGETS");
  // A link in the run's place leads nowhere else.
  std::filesystem::create_directory_symlink("/etc", directory_.path() + "/r1");
  EXPECT_EQ(error(Body()), "STORAGE_OUTSIDE_ROOTS");
  Ask("PATCH", kSessions + "/s9", R"({"kind":"KIND_ON_DEMAND"})");
  EXPECT_EQ(error_name_, "SESSION_BY_CAPTURE");
  // Nothing of it was kept.
  EXPECT_FALSE(Ask("GET", kSessions).contains("profilerSessions"));
}

}  // namespace
}  // namespace strobe::api
