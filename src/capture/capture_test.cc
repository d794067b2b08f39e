#include "src/capture/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "src/capture/testing/capture_fixture.h"
#include "src/capture/testing/fake_profiler_server.h"
#include "src/storage/byte_source.h"

namespace strobe::capture {
namespace {

using testing::FakeProfilerServer;
using ::testing::HasSubstr;
using testing::MakeXSpace;
using testing::SilentListener;
using testing::UnusedPort;

class CaptureTest : public CaptureFixture {};

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
