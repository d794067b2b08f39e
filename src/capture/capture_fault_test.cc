// What a capture does when its targets misbehave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "src/capture/capture.h"
#include "src/capture/testing/capture_fixture.h"
#include "src/capture/testing/fake_profiler_server.h"

namespace strobe::capture {
namespace {

using testing::CuttingRelay;
using testing::FakeProfilerServer;
using ::testing::HasSubstr;
using testing::MakeXSpace;
using ::testing::Not;
using testing::SilentListener;
using testing::UnusedPort;

constexpr int kUnknown = 2, kPermissionDenied = 7, kResourceExhausted = 8, kInternal = 13;

class CaptureFaultTest : public CaptureFixture {};

TEST_F(CaptureFaultTest, OneLostTargetDoesNotSpoilTheOther) {
  FakeProfilerServer living({.xspace = MakeXSpace({})});
  const std::string dead = "127.0.0.1:" + std::to_string(UnusedPort());
  const Result<CaptureResult> result = Run(RequestFor({dead, living.target()}));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->hosts_saved, 1u);
  EXPECT_EQ(result->targets[0].state, TargetState::kFailed);
  EXPECT_THAT(result->targets[0].message, HasSubstr("cannot be reached"));
  EXPECT_EQ(result->targets[1].state, TargetState::kSaved);
}

TEST_F(CaptureFaultTest, OneThatNeverConnectsDoesNotHoldTheOtherBack) {
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

TEST_F(CaptureFaultTest, Refused) {
  const TargetProgress target = Failed(RequestFor({"127.0.0.1:" + std::to_string(UnusedPort())}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_EQ(target.message, "It cannot be reached: nobody listens there (connection refused).");
  EXPECT_THAT(target.hint, HasSubstr("start_server"));
}

TEST_F(CaptureFaultTest, UnknownName) {
  CaptureRequest request = RequestFor({"no-such-host.invalid:9012"});
  const TargetProgress target = Failed(request);
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_EQ(target.message, "It cannot be reached: its name is not known (DNS).");
}

TEST_F(CaptureFaultTest, SilentPeer) {
  SilentListener silent;
  CaptureRequest request = RequestFor({silent.target()});
  request.connect_timeout_ms = 300;
  const TargetProgress target = Failed(request);
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("No connection within 0.3 s"));
}

TEST_F(CaptureFaultTest, HangingServerMeetsTheDeadline) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .hangs = true});
  CaptureRequest request = RequestFor({server.target()});
  request.answer_grace_ms = 200;
  const TargetProgress target = Failed(request);
  EXPECT_THAT(target.message, HasSubstr("No answer"));
  EXPECT_THAT(seen_, ::testing::Contains("collecting"));
}

TEST_F(CaptureFaultTest, DiesWhileRecording) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .hangs = true});
  // The connection is reset, not closed: nothing but the settings has gone to the client.
  CuttingRelay relay(server.port(), 60);
  const TargetProgress target = Failed(RequestFor({relay.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
}

TEST_F(CaptureFaultTest, DiesHalfWayThroughTheAnswer) {
  FakeProfilerServer server({.xspace = MakeXSpace({.padding_bytes = 8 << 20})});
  CuttingRelay relay(server.port(), 4 << 20);
  const TargetProgress target = Failed(RequestFor({relay.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("connection was lost"));
  EXPECT_THAT(target.hint, HasSubstr("ended or was killed"));
}

TEST_F(CaptureFaultTest, KilledServer) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .hangs = true});
  CaptureRequest request = RequestFor({server.target()});
  request.duration_ms = 60'000;
  std::future<TargetProgress> failed =
      std::async(std::launch::async, [&] { return Failed(request); });
  server.WaitUntilRecording();
  server.Kill();
  EXPECT_EQ(failed.get().state, TargetState::kFailed);
}

TEST_F(CaptureFaultTest, EmptyAnswers) {
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

TEST_F(CaptureFaultTest, BusyIsAskedAgain) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .busy_times = 2});
  const Result<CaptureResult> result = Run(RequestFor({server.target()}));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(result->targets[0].message, "");
  EXPECT_THAT(messages_, ::testing::Contains(HasSubstr(
                             "busy: another profile is being taken (by this or another tool")));
}

TEST_F(CaptureFaultTest, BusyForTooLong) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .busy_times = 1000});
  CaptureRequest request = RequestFor({server.target()});
  request.connect_timeout_ms = 700;
  const TargetProgress target = Failed(request);
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("busy: another profile is being taken"));
  EXPECT_THAT(target.hint, HasSubstr("Wait"));
  EXPECT_GE(server.requests().size(), 2u);
}

TEST_F(CaptureFaultTest, BusyWithOurOwnCaptureSaysSo) {
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

TEST_F(CaptureFaultTest, NoProfilerThere) {
  FakeProfilerServer server({.without_service = true});
  const TargetProgress target = Failed(RequestFor({server.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("not a profiler server"));
}

TEST_F(CaptureFaultTest, OtherErrorsKeepThePeersWordsButNotItsControlCharacters) {
  for (const int code : {kUnknown, kPermissionDenied, kResourceExhausted, kInternal}) {
    FakeProfilerServer server({.fail_code = code, .fail_message = "no \x1b[31mspace\nleft"});
    const TargetProgress target = Failed(RequestFor({server.target()}));
    EXPECT_THAT(target.message, HasSubstr("no  [31mspace left"));
    EXPECT_THAT(target.message, Not(HasSubstr("\n")));
  }
  FakeProfilerServer late({.fail_code = kInternal, .fail_message = "late", .fail_late = true});
  EXPECT_THAT(Failed(RequestFor({late.target()})).message, HasSubstr("late"));
}

TEST_F(CaptureFaultTest, WrongAnswer) {
  FakeProfilerServer server({.xspace = "garbage, and not an XSpace at all"});
  const TargetProgress target = Failed(RequestFor({server.target()}));
  EXPECT_EQ(target.state, TargetState::kFailed);
  EXPECT_THAT(target.message, HasSubstr("not a profile"));
  EXPECT_THAT(target.message, HasSubstr("byte "));
}

TEST_F(CaptureFaultTest, SlowCollectingIsWaitedFor) {
  FakeProfilerServer server({.xspace = MakeXSpace({}), .collecting_ms = 700});
  const Result<CaptureResult> result = Run(RequestFor({server.target()}));
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(seen_, ::testing::Contains("collecting"));
  EXPECT_GE(reports_, 4);  // progress goes on while waiting
}

TEST_F(CaptureFaultTest, CancelOfADeafServerEndsAnyway) {
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

TEST_F(CaptureFaultTest, AsManyDeadTargetsAsAreAllowed) {
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

TEST_F(CaptureFaultTest, BadRequestsAreRefusedBeforeAnythingHappens) {
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

}  // namespace
}  // namespace strobe::capture
