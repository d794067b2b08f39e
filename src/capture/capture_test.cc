#include "src/capture/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <set>

#include "src/capture/testing/fake_profiler_server.h"
#include "src/storage/byte_source.h"
#include "src/storage/test_directory.h"

namespace strobe::capture {
namespace {

using storage::TestDirectory;
using testing::CuttingRelay;
using testing::FakeProfilerServer;
using ::testing::HasSubstr;
using testing::MakeXSpace;
using ::testing::Not;
using testing::SilentListener;
using testing::UnusedPort;

constexpr int kUnknown = 2, kPermissionDenied = 7, kResourceExhausted = 8, kInternal = 13;

class CaptureTest : public ::testing::Test {
 protected:
  CaptureRequest RequestFor(std::vector<std::string> targets) {
    CaptureRequest request;
    request.targets = std::move(targets);
    request.duration_ms = 100;
    request.root = directory_.path();
    request.connect_timeout_ms = 20'000;
    return request;
  }
  Result<CaptureResult> Run(const CaptureRequest& request) {
    return Capture(request, context_, cancel_.token(), [this](const CaptureProgress& progress) {
      last_ = progress;
      ++reports_;
      for (const TargetProgress& target : progress.targets) {
        seen_.emplace(std::string(TargetStateName(target.state)));
        if (!target.message.empty()) messages_.insert(target.message);
      }
    });
  }
  // What stands in the directory, whatever happened.
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      if (entry.is_regular_file()) files.push_back(entry.path().filename().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  std::string ReadSaved(const TargetProgress& target) const {
    return TestDirectory::Read(directory_.path() + "/" + target.file);
  }
  // The one target's end when nothing was saved.
  TargetProgress Failed(const CaptureRequest& request) {
    const Result<CaptureResult> result = Run(request);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.status().name(), "CAPTURE_NOTHING_SAVED");
    EXPECT_THAT(std::string(result.status().message()), HasSubstr(last_.targets[0].message));
    EXPECT_TRUE(Files().empty());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      // No session directory is left behind.
      EXPECT_THAT((std::set<std::string>{"plugins", "profile"}),
                  ::testing::Contains(entry.path().filename().string()));
    }
    EXPECT_FALSE(last_.targets[0].hint.empty());
    return last_.targets[0];
  }

  TestDirectory directory_;
  SeededRandom random_{11};
  IdMaker ids_{SystemClock(), random_};
  CaptureContext context_{SystemClock(), ids_};
  CancelSource cancel_;
  CaptureProgress last_;
  int reports_ = 0;
  std::set<std::string> seen_;
  std::set<std::string> messages_;
};

TEST_F(CaptureTest, SavesWhatCame) {
  const std::string xspace = MakeXSpace({.hostname = "worker"});
  FakeProfilerServer server({.xspace = xspace});
  CaptureRequest request = RequestFor({server.target()});
  request.run = "llama/run1";
  request.options = {{"text", std::string("x")}, {"truth", true}, {"number", int64_t{-7}}};
  const Result<CaptureResult> result = Run(request);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->hosts_saved, 1u);
  ASSERT_EQ(result->targets.size(), 1u);
  const TargetProgress& target = result->targets[0];
  EXPECT_EQ(target.state, TargetState::kSaved);
  EXPECT_EQ(target.message, "");
  EXPECT_EQ(target.file,
            "llama/run1/plugins/profile/" + result->session_name + "/worker.xplane.pb");
  EXPECT_GE(target.received_bytes, xspace.size());
  EXPECT_EQ(ReadSaved(target), xspace);
  EXPECT_EQ(last_.targets[0].state, TargetState::kSaved);
  EXPECT_GE(last_.elapsed_ms, 100);
  EXPECT_THAT(seen_, ::testing::IsSupersetOf({"recording", "saved"}));

  // The rules for requests.
  const std::vector<tensorflow::ProfileRequest> sent = server.requests();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].duration_ms(), 100u);
  EXPECT_EQ(sent[0].opts().duration_ms(), 100u);
  EXPECT_EQ(sent[0].opts().version(), 1u);
  EXPECT_EQ(sent[0].opts().host_tracer_level(), 2u);
  EXPECT_EQ(sent[0].opts().device_tracer_level(), 1u);
  EXPECT_EQ(sent[0].opts().python_tracer_level(), 0u);
  EXPECT_TRUE(sent[0].opts().enable_hlo_proto());
  EXPECT_EQ(sent[0].opts().start_timestamp_ns(), 0u);  // alone: at once
  EXPECT_TRUE(sent[0].emit_xspace());
  EXPECT_EQ(sent[0].repository_root(), "");
  EXPECT_EQ(sent[0].session_id(), result->session_name);
  EXPECT_EQ(sent[0].opts().override_hostname(), "127.0.0.1_" + std::to_string(server.port()));
  const auto& advanced = sent[0].opts().advanced_configuration();
  EXPECT_EQ(advanced.at("text").string_value(), "x");
  EXPECT_TRUE(advanced.at("truth").bool_value());
  EXPECT_EQ(advanced.at("number").int64_value(), -7);
}

TEST_F(CaptureTest, NamedSession) {
  FakeProfilerServer server({.xspace = MakeXSpace({})});
  CaptureRequest request = RequestFor({server.target()});
  request.session = "before-the-change";
  ASSERT_TRUE(Run(request).ok());
  // Never overwritten, and nothing is sent for it.
  const Result<CaptureResult> again = Run(request);
  EXPECT_EQ(again.status().name(), "CAPTURE_SESSION_EXISTS");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(CaptureTest, SeveralStartTogether) {
  FakeProfilerServer one({.xspace = MakeXSpace({.hostname = "worker", .process_id = 1})});
  FakeProfilerServer two({.xspace = MakeXSpace({.hostname = "worker", .process_id = 2})});
  const int64_t before_ns = SystemClock().NowUnixNanos();
  const Result<CaptureResult> result = Run(RequestFor({one.target(), two.target()}));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->hosts_saved, 2u);
  const auto start_ns = static_cast<int64_t>(one.requests()[0].opts().start_timestamp_ns());
  EXPECT_EQ(two.requests()[0].opts().start_timestamp_ns(), static_cast<uint64_t>(start_ns));
  EXPECT_GT(start_ns, before_ns);
  EXPECT_LT(start_ns, SystemClock().NowUnixNanos() + 2'000'000'000);
  // One host name, two files.
  EXPECT_THAT(Files(), ::testing::UnorderedElementsAre(
                           "worker_" + std::to_string(one.port()) + ".xplane.pb",
                           "worker_" + std::to_string(two.port()) + ".xplane.pb"));
  EXPECT_EQ(result->targets[0].message, "");
}

TEST_F(CaptureTest, SameProcessBehindTwoTargetsIsToldOf) {
  FakeProfilerServer one({.xspace = MakeXSpace({.hostname = "worker", .process_id = 77})});
  FakeProfilerServer two({.xspace = MakeXSpace({.hostname = "worker", .process_id = 77})});
  const Result<CaptureResult> result = Run(RequestFor({one.target(), two.target()}));
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(result->targets[0].message,
              HasSubstr("the same process (77) answered for " + two.target()));
  EXPECT_THAT(result->targets[1].message, HasSubstr(one.target()));
  EXPECT_FALSE(result->targets[0].hint.empty());
}

TEST_F(CaptureTest, OneLostTargetDoesNotSpoilTheOther) {
  FakeProfilerServer living({.xspace = MakeXSpace({})});
  const std::string dead = "127.0.0.1:" + std::to_string(UnusedPort());
  const Result<CaptureResult> result = Run(RequestFor({dead, living.target()}));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->hosts_saved, 1u);
  EXPECT_EQ(result->targets[0].state, TargetState::kFailed);
  EXPECT_THAT(result->targets[0].message, HasSubstr("cannot be reached"));
  EXPECT_EQ(result->targets[1].state, TargetState::kSaved);
}

TEST_F(CaptureTest, OneThatNeverConnectsDoesNotHoldTheOtherBack) {
  SilentListener silent;
  FakeProfilerServer living({.xspace = MakeXSpace({})});
  CaptureRequest request = RequestFor({silent.target(), living.target()});
  request.connect_timeout_ms = 1'500;
  const Result<CaptureResult> result = Run(request);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->targets[0].state, TargetState::kFailed);
  EXPECT_THAT(result->targets[0].message, HasSubstr("No connection within 1.5 s"));
  EXPECT_EQ(result->targets[1].state, TargetState::kSaved);
}

TEST_F(CaptureTest, Refused) {
  const TargetProgress target = Failed(RequestFor({"127.0.0.1:" + std::to_string(UnusedPort())}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("cannot be reached"));
  EXPECT_THAT(target.hint, HasSubstr("start_server"));
}

TEST_F(CaptureTest, UnknownName) {
  CaptureRequest request = RequestFor({"no-such-host.invalid:9012"});
  const TargetProgress target = Failed(request);
  EXPECT_EQ(target.state, TargetState::kFailed);
}

TEST_F(CaptureTest, SilentPeer) {
  SilentListener silent;
  CaptureRequest request = RequestFor({silent.target()});
  request.connect_timeout_ms = 300;
  const TargetProgress target = Failed(request);
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("No connection within 0.3 s"));
}

TEST_F(CaptureTest, HangingServerMeetsTheDeadline) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .hangs = true});
  CaptureRequest request = RequestFor({server.target()});
  request.answer_grace_ms = 200;
  const TargetProgress target = Failed(request);
  EXPECT_THAT(target.message, HasSubstr("No answer"));
  EXPECT_THAT(seen_, ::testing::Contains("collecting"));
}

TEST_F(CaptureTest, DiesWhileRecording) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .hangs = true});
  // The connection is reset, not closed: nothing but the settings has gone to the client.
  CuttingRelay relay(server.port(), 60);
  const TargetProgress target = Failed(RequestFor({relay.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
}

TEST_F(CaptureTest, DiesHalfWayThroughTheAnswer) {
  FakeProfilerServer server({.xspace = MakeXSpace({.padding_bytes = 8 << 20})});
  CuttingRelay relay(server.port(), 4 << 20);
  const TargetProgress target = Failed(RequestFor({relay.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("connection was lost"));
  EXPECT_THAT(target.hint, HasSubstr("ended or was killed"));
}

TEST_F(CaptureTest, KilledServer) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .hangs = true});
  CaptureRequest request = RequestFor({server.target()});
  request.duration_ms = 60'000;
  std::future<TargetProgress> failed =
      std::async(std::launch::async, [&] { return Failed(request); });
  server.WaitUntilRecording();
  server.Kill();
  EXPECT_EQ(failed.get().state, TargetState::kFailed);
}

TEST_F(CaptureTest, EmptyAnswers) {
  FakeProfilerServer nothing({});
  TargetProgress target = Failed(RequestFor({nothing.target()}));
  EXPECT_EQ(target.state, TargetState::kEmpty);
  EXPECT_THAT(target.hint, HasSubstr("idle"));

  FakeProfilerServer only_metadata({.xspace = MakeXSpace({.events = 0}), .empty_trace = true});
  target = Failed(RequestFor({only_metadata.target()}));
  EXPECT_EQ(target.state, TargetState::kEmpty);

  FakeProfilerServer old({.tool_data = 2});
  target = Failed(RequestFor({old.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("old kind"));
}

TEST_F(CaptureTest, BusyIsAskedAgain) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .busy_times = 2});
  const Result<CaptureResult> result = Run(RequestFor({server.target()}));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(result->targets[0].message, "");
  EXPECT_THAT(messages_, ::testing::Contains(HasSubstr(
                             "busy: another profile is being taken (by this or another tool")));
}

TEST_F(CaptureTest, BusyForTooLong) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .busy_times = 1000});
  CaptureRequest request = RequestFor({server.target()});
  request.connect_timeout_ms = 700;
  const TargetProgress target = Failed(request);
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("busy: another profile is being taken"));
  EXPECT_THAT(target.hint, HasSubstr("Wait"));
  EXPECT_GE(server.requests().size(), 2u);
}

TEST_F(CaptureTest, TwoCapturesOfOneTargetDoNotCollide) {
  FakeProfilerServer server({.xspace = MakeXSpace({})});
  const CaptureRequest request = RequestFor({server.target()});
  std::future<Result<CaptureResult>> other = std::async(std::launch::async, [&] {
    IdMaker ids(SystemClock(), SystemRandom());
    return Capture(request, {SystemClock(), ids}, CancelToken(), nullptr);
  });
  const Result<CaptureResult> mine = Run(request);
  const Result<CaptureResult> others = other.get();
  ASSERT_TRUE(mine.ok()) << mine.status().ToString();
  ASSERT_TRUE(others.ok()) << others.status().ToString();
  EXPECT_NE(mine->session_path, others->session_path);
  EXPECT_EQ(Files().size(), 2u);
}

TEST_F(CaptureTest, BusyWithOurOwnCaptureSaysSo) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .hangs = true});
  CaptureRequest first = RequestFor({server.target()});
  first.session = "mine";
  CancelSource stop;
  std::future<Result<CaptureResult>> other = std::async(std::launch::async, [&] {
    IdMaker ids(SystemClock(), SystemRandom());
    return Capture(first, {SystemClock(), ids}, stop.token(), nullptr);
  });
  server.WaitUntilRecording();
  CaptureRequest second = RequestFor({server.target()});
  second.connect_timeout_ms = 500;
  const Result<CaptureResult> result = Run(second);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(last_.targets[0].message, HasSubstr("by this program: session mine"));
  stop.Cancel();
  EXPECT_TRUE(other.get().ok());
}

TEST_F(CaptureTest, NoProfilerThere) {
  FakeProfilerServer server({.without_service = true});
  const TargetProgress target = Failed(RequestFor({server.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("not a profiler server"));
}

TEST_F(CaptureTest, OtherErrorsKeepThePeersWordsButNotItsControlCharacters) {
  for (const int code : {kUnknown, kPermissionDenied, kResourceExhausted, kInternal}) {
    FakeProfilerServer server({.fail_code = code, .fail_message = "no \x1b[31mspace\nleft"});
    const TargetProgress target = Failed(RequestFor({server.target()}));
    EXPECT_THAT(target.message, HasSubstr("no  [31mspace left"));
    EXPECT_THAT(target.message, Not(HasSubstr("\n")));
  }
  FakeProfilerServer late({.fail_code = kInternal, .fail_message = "late", .fail_late = true});
  EXPECT_THAT(Failed(RequestFor({late.target()})).message, HasSubstr("late"));
}

TEST_F(CaptureTest, WrongAnswer) {
  FakeProfilerServer server({.xspace = "garbage, and not an XSpace at all"});
  const TargetProgress target = Failed(RequestFor({server.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("not a profile"));
  EXPECT_THAT(target.message, HasSubstr("byte "));
}

TEST_F(CaptureTest, SlowCollectingIsWaitedFor) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .collecting_ms = 700});
  const Result<CaptureResult> result = Run(RequestFor({server.target()}));
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(seen_, ::testing::Contains("collecting"));
  EXPECT_GE(reports_, 4);  // progress goes on while waiting
}

TEST_F(CaptureTest, LargeAnswer) {
  const std::string xspace = MakeXSpace({.padding_bytes = 200'000'000});
  FakeProfilerServer server({.xspace = xspace});
  const Result<CaptureResult> result = Run(RequestFor({server.target()}));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_GE(result->targets[0].received_bytes, 200'000'000u);
  EXPECT_EQ(std::filesystem::file_size(directory_.path() + "/" + result->targets[0].file),
            xspace.size());
  const auto saved = storage::OpenMappedFile(directory_.path() + "/" + result->targets[0].file);
  ASSERT_TRUE(saved.ok());
  EXPECT_TRUE((*saved)->bytes() == xspace);
}

TEST_F(CaptureTest, CancelKeepsWhatWasRecorded) {
  FakeProfilerServer server({.xspace = MakeXSpace({})});
  CaptureRequest request = RequestFor({server.target()});
  request.duration_ms = 60'000;
  std::future<Result<CaptureResult>> result =
      std::async(std::launch::async, [&] { return Run(request); });
  server.WaitUntilRecording();
  cancel_.Cancel();
  const Result<CaptureResult> ended = result.get();
  ASSERT_TRUE(ended.ok()) << ended.status().ToString();
  EXPECT_EQ(ended->hosts_saved, 1u);
  EXPECT_EQ(ended->targets[0].state, TargetState::kSaved);
  EXPECT_THAT(ended->targets[0].message, HasSubstr("Stopped after"));
  EXPECT_THAT(server.terminated(), ::testing::Contains(ended->session_name));
  EXPECT_LT(last_.elapsed_ms, 30'000);
}

TEST_F(CaptureTest, CancelWithNothingRecorded) {
  FakeProfilerServer server({.xspace = MakeXSpace({.events = 0}), .empty_trace = true});
  CaptureRequest request = RequestFor({server.target()});
  request.duration_ms = 60'000;
  std::future<Result<CaptureResult>> result =
      std::async(std::launch::async, [&] { return Run(request); });
  server.WaitUntilRecording();
  cancel_.Cancel();
  EXPECT_EQ(result.get().status().name(), "CAPTURE_CANCELLED");
  EXPECT_EQ(last_.targets[0].state, TargetState::kCancelled);
}

TEST_F(CaptureTest, CancelBeforeTheCommonStart) {
  FakeProfilerServer one({.xspace = MakeXSpace({.process_id = 1})});
  FakeProfilerServer two({.xspace = MakeXSpace({.process_id = 2})});
  CaptureRequest request = RequestFor({one.target(), two.target()});
  request.duration_ms = 60'000;
  std::future<Result<CaptureResult>> result =
      std::async(std::launch::async, [&] { return Run(request); });
  one.WaitUntilRecording();  // both have the request, and wait for its start time
  two.WaitUntilRecording();
  cancel_.Cancel();
  const Result<CaptureResult> ended = result.get();
  ASSERT_TRUE(ended.ok()) << ended.status().ToString();
  EXPECT_EQ(ended->hosts_saved, 2u);
  EXPECT_LT(last_.elapsed_ms, 30'000);
  EXPECT_THAT(one.terminated(), ::testing::Contains(ended->session_name));
  EXPECT_THAT(two.terminated(), ::testing::Contains(ended->session_name));
}

TEST_F(CaptureTest, CancelOfADeafServerEndsAnyway) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .hangs = true, .deaf = true});
  CaptureRequest request = RequestFor({server.target()});
  request.duration_ms = 60'000;
  request.answer_grace_ms = 100;
  std::future<Result<CaptureResult>> result =
      std::async(std::launch::async, [&] { return Run(request); });
  server.WaitUntilRecording();
  cancel_.Cancel();
  EXPECT_EQ(result.get().status().name(), "CAPTURE_CANCELLED");
  EXPECT_LT(last_.elapsed_ms, 30'000);
  EXPECT_TRUE(Files().empty());
}

TEST_F(CaptureTest, CancelBeforeAnything) {
  SilentListener silent;
  cancel_.Cancel();
  EXPECT_EQ(Run(RequestFor({silent.target()})).status().name(), "CAPTURE_CANCELLED");
  EXPECT_EQ(last_.targets[0].state, TargetState::kCancelled);
}

TEST_F(CaptureTest, ProxiesOfTheEnvironmentAreNotUsed) {
  const std::string nowhere = "http://127.0.0.1:" + std::to_string(UnusedPort());
  for (const char* name : {"http_proxy", "grpc_proxy", "https_proxy"}) {
    ::setenv(name, nowhere.c_str(), 1);
  }
  FakeProfilerServer server({.xspace = MakeXSpace({})});
  EXPECT_TRUE(Run(RequestFor({server.target()})).ok());
  for (const char* name : {"http_proxy", "grpc_proxy", "https_proxy"}) ::unsetenv(name);
}

TEST_F(CaptureTest, ManyTargets) {
  std::vector<std::unique_ptr<FakeProfilerServer>> servers;
  std::vector<std::string> targets;
  for (int i = 0; i < 24; ++i) {
    servers.push_back(std::make_unique<FakeProfilerServer>(FakeProfilerServer::Script{
        .xspace = MakeXSpace({.hostname = "worker", .process_id = 100 + i})}));
    targets.push_back(servers.back()->target());
  }
  const Result<CaptureResult> result = Run(RequestFor(targets));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->hosts_saved, 24u);
  EXPECT_EQ(Files().size(), 24u);
}

TEST_F(CaptureTest, AsManyDeadTargetsAsAreAllowed) {
  const std::string port = ":" + std::to_string(UnusedPort());
  std::vector<std::string> targets;
  for (size_t i = 0; i < kMaxTargets; ++i) {
    targets.push_back("127.1." + std::to_string(i / 250) + "." + std::to_string(1 + i % 250) +
                      port);
  }
  const Result<CaptureResult> result = Run(RequestFor(targets));
  EXPECT_EQ(result.status().name(), "CAPTURE_NOTHING_SAVED");
  EXPECT_LT(result.status().message().size(), 4000u);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("And 1019 more targets."));
  for (const TargetProgress& target : last_.targets) {
    ASSERT_EQ(target.state, TargetState::kFailed);
    ASSERT_THAT(target.message, HasSubstr("cannot be reached"));
  }
}

TEST_F(CaptureTest, BadRequestsAreRefusedBeforeAnythingHappens) {
  const std::string good = "127.0.0.1:9012";
  EXPECT_EQ(Run(RequestFor({})).status().name(), "CAPTURE_NO_TARGET");
  EXPECT_EQ(Run(RequestFor({"unix:/x"})).status().name(), "CAPTURE_BAD_TARGET");
  EXPECT_EQ(Run(RequestFor({good, good})).status().name(), "CAPTURE_BAD_TARGET");
  for (const int64_t duration_ms : {int64_t{0}, int64_t{-1}, kMaxDurationMs + 1, INT64_MAX}) {
    CaptureRequest request = RequestFor({good});
    request.duration_ms = duration_ms;
    EXPECT_EQ(Run(request).status().name(), "CAPTURE_BAD_DURATION");
  }
  CaptureRequest request = RequestFor({good});
  request.session = "../../x";
  EXPECT_EQ(Run(request).status().name(), "CAPTURE_BAD_NAME");
  request = RequestFor({good});
  request.run = "a/../../b";
  EXPECT_EQ(Run(request).status().name(), "CAPTURE_BAD_NAME");
  request = RequestFor({good});
  request.options[std::string(5000, 'x')] = true;
  EXPECT_EQ(Run(request).status().name(), "CAPTURE_BAD_OPTION");
  request = RequestFor({good});
  request.root = "/proc/nothing";
  EXPECT_EQ(Run(request).status().name(), "CAPTURE_ROOT");
  EXPECT_EQ(reports_, 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

// With a live profiler server (host:port) in the environment; tests/python/test_capture_jax.py
// looks closer.
TEST_F(CaptureTest, LiveJob) {
  const char* const target = std::getenv("STROBE_TEST_JAX_TARGET");
  if (target == nullptr) GTEST_SKIP() << "STROBE_TEST_JAX_TARGET names no profiler server";
  CaptureRequest request = RequestFor({target});
  request.duration_ms = 1000;
  const Result<CaptureResult> result = Run(request);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_GT(ReadSaved(result->targets[0]).size(), 1000u);
  if (const char* const keep = std::getenv("STROBE_TEST_KEEP")) {
    std::filesystem::copy(result->session_path, keep, std::filesystem::copy_options::recursive);
  }
}

}  // namespace
}  // namespace strobe::capture
