#include "src/capture/staged_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/log.h"
#include "src/capture/testing/capture_fixture.h"
#include "src/capture/testing/fake_profiler_server.h"
#include "src/storage/memory_store.h"

namespace strobe::capture {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::FakeProfilerServer;
using ::testing::IsEmpty;
using testing::MakeXSpace;

class StagedCaptureTest : public CaptureFixture {
 protected:
  StagedCaptureTest() { SetLogLevel("off"); }
  ~StagedCaptureTest() override { SetLogLevel("info"); }

  Staging staging() const { return {.name = "op-1", .bucket_directory = ours_.path()}; }
  CaptureRequest Staged(std::vector<std::string> targets) {
    CaptureRequest request = RequestFor(std::move(targets));
    request.run = "run1";
    request.session = "s1";
    return request;
  }
  Result<CaptureResult> RunStaged(const CaptureRequest& request,
                                  const std::function<void()>& meanwhile = {}) {
    return CaptureStaged(request, staging(), context_, places_, cancel_.token(),
                         [&](const CaptureProgress& progress) {
                           last_ = progress;
                           if (meanwhile) meanwhile();
                         });
  }
  // Folders that any listing would take for sessions.
  std::vector<std::string> Sessions() const {
    std::vector<std::string> sessions;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path())) {
      const std::string path = entry.path().string();
      if (fs::path(path).parent_path().string().ends_with("/plugins/profile")) {
        sessions.push_back(path.substr(directory_.path().size() + 1));
      }
    }
    return sessions;
  }

  storage::TestDirectory ours_;
  storage::PlaceOpener places_{storage::SystemCloudContext()};
};

TEST_F(StagedCaptureTest, TheSessionAppearsWholeAtTheEnd) {
  FakeProfilerServer one({.xspace = MakeXSpace({.hostname = "node0", .process_id = 1})});
  FakeProfilerServer two({.xspace = MakeXSpace({.hostname = "node1", .process_id = 2})});
  size_t seen_early = 0;
  const Result<CaptureResult> result =
      RunStaged(Staged({one.target(), two.target()}), [&] { seen_early += Sessions().size(); });
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(seen_early, 0u);
  EXPECT_EQ(result->session_path, directory_.path() + "/run1/plugins/profile/s1");
  EXPECT_EQ(result->hosts_saved, 2u);
  EXPECT_THAT(Sessions(), ElementsAre("run1/plugins/profile/s1"));
  EXPECT_EQ(Files().size(), 2u);
  for (const TargetProgress& target : result->targets) {
    EXPECT_FALSE(ReadSaved(target).empty());
    EXPECT_TRUE(target.file.starts_with("run1/plugins/profile/s1/")) << target.file;
  }
  EXPECT_FALSE(fs::exists(directory_.path() + "/.strobe-captures"));
}

TEST_F(StagedCaptureTest, ATakenNameIsToldBeforeAnythingIsRecorded) {
  FakeProfilerServer server({.xspace = MakeXSpace({})});
  directory_.Write("run1/plugins/profile/s1/x.xplane.pb", "x");
  EXPECT_EQ(RunStaged(Staged({server.target()})).status().name(), "SESSION_EXISTS");
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(StagedCaptureTest, WhatWasRecordedBeforeACancelIsPublished) {
  FakeProfilerServer server({.xspace = MakeXSpace({})});
  CaptureRequest request = Staged({server.target()});
  request.duration_ms = 60'000;
  const Result<CaptureResult> result = RunStaged(request, [&] {
    if (last_.targets[0].state != TargetState::kRecording) return;
    server.WaitUntilRecording();
    cancel_.Cancel();
  });
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_THAT(Sessions(), ElementsAre("run1/plugins/profile/s1"));
  EXPECT_THAT(Files(), ElementsAre("node0.xplane.pb"));
}

TEST_F(StagedCaptureTest, NothingIsLeftOfOneThatBroughtNothing) {
  FakeProfilerServer server({.empty_trace = true});
  EXPECT_EQ(RunStaged(Staged({server.target()})).status().name(), "CAPTURE_NOTHING_SAVED");
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(StagedCaptureTest, WhatAKilledServerLeftIsTakenAway) {
  directory_.Write(".strobe-captures/op-1/s1/node0.xplane.pb", "x");
  directory_.Write(".strobe-captures/op-2/s1/node0.xplane.pb", "x");
  RemoveStaged(directory_.path(), staging());
  EXPECT_FALSE(fs::exists(directory_.path() + "/.strobe-captures/op-1"));
  EXPECT_TRUE(fs::exists(directory_.path() + "/.strobe-captures/op-2"));
}

TEST_F(StagedCaptureTest, IntoABucket) {
  auto store = std::make_shared<storage::MemoryStore>(SystemClock(), "s3://bucket");
  places_.Use("s3://bucket", store);
  FakeProfilerServer server({.xspace = MakeXSpace({})});
  CaptureRequest request = Staged({server.target()});
  request.root = "s3://bucket/logs";
  const Result<CaptureResult> result = RunStaged(request);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->session_path, "s3://bucket/logs/run1/plugins/profile/s1");
  const auto listed = store->List({.prefix = ""}, {});
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->objects.size(), 1u);
  EXPECT_EQ(listed->objects[0].key, "logs/run1/plugins/profile/s1/node0.xplane.pb");
  EXPECT_TRUE(fs::is_empty(ours_.path()));
  EXPECT_EQ(RunStaged(request).status().name(), "SESSION_EXISTS");
}

}  // namespace
}  // namespace strobe::capture
