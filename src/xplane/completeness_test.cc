#include "src/xplane/completeness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::xplane {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kStartNs = 1'764'000'000'000'000'000;
constexpr int64_t kSecondPs = 1'000'000'000'000;

SessionFile FileOf(const std::string& bytes, const std::string& host = "host0") {
  return {.host = host,
          .path = "/logs/plugins/profile/run/" + host + ".xplane.pb",
          .format = FileFormat::kXplane,
          .size_bytes = bytes.size(),
          .modified_unix_ns = 0};
}

HostCompleteness Check(const std::string& bytes) {
  return CheckHost(FileOf(bytes), *MustOpen(bytes), "xxh3:00");
}

void AddTask(XSpaceBuilder& space, int64_t seconds) {
  PlaneBuilder& task = space.AddPlane("Task Environment");
  task.PlaneStats()
      .AddStat(task.StatId("profile_start_time"), uint64_t{kStartNs})
      .AddStat(task.StatId("profile_stop_time"),
               static_cast<uint64_t>(kStartNs + seconds * 1'000'000'000));
}

TEST(CompletenessTest, AWholeProfileIsCompleteWithItsCounts) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t name = plane.AddEventMetadata("call");
  LineBuilder& line = plane.AddLine(1, "python", 0);
  line.AddEvent(name, 0, 10);
  line.AddEvent(name, 20, 10);
  plane.AddLine(2, "idle", 0);
  space.AddPlane("/host:metadata");
  AddTask(space, 2);
  const std::string bytes = space.Serialize();
  const HostCompleteness host = Check(bytes);
  EXPECT_EQ(host.state, CompletenessState::kComplete);
  EXPECT_EQ(host.file, "host0.xplane.pb");
  EXPECT_EQ(host.content_hash, "xxh3:00");
  EXPECT_EQ(host.planes, 3u);
  EXPECT_EQ(host.lines, 2u);
  EXPECT_EQ(host.events, 2u);
  ASSERT_EQ(host.line_counts.size(), 2u);
  EXPECT_EQ(host.line_counts[0].events, 2u);
  EXPECT_EQ(host.readable_bytes, bytes.size());
  EXPECT_EQ(host.window_source, "Task Environment");
  EXPECT_EQ(host.window->end_ps, 2 * kSecondPs);
  EXPECT_TRUE(host.empty_planes.empty()) << "planes that only carry metadata are not missing";
  const Completeness record = Combine({host});
  EXPECT_EQ(record.state, CompletenessState::kComplete);
  EXPECT_TRUE(record.reasons.empty());
  EXPECT_FALSE(record.hosts_expected.has_value());
  EXPECT_FALSE(record.hosts_expected_reason.empty());
}

TEST(CompletenessTest, OddEventsAreCountedAndSaid) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  const int64_t name = plane.AddEventMetadata("op");
  LineBuilder& line = plane.AddLine(1, "XLA Ops", 0);
  line.AddEvent(name, -5 * kSecondPs, 10);  // before the window
  line.AddEvent(name, -kSecondPs / 6, 10);  // within the tolerance
  line.AddEvent(name, 100, 100);
  line.AddEvent(name, 150, 100);  // outlives what it began in
  line.AddEvent(name, 50, 10);    // out of order
  line.AddEvent(999, 1000, -4);   // negative, without metadata
  // Ends late, begins within the tolerance; then one behind the window.
  line.AddEvent(name, 22 * kSecondPs / 10 - 100, 200);
  line.AddEvent(name, 22 * kSecondPs / 10 + 1, 1);
  line.AddAggregatedEvent(name, 5, 99);
  LineBuilder& async = plane.AddLine(2, "Async XLA Ops", 0);
  async.AddEvent(name, 0, 100);
  async.AddEvent(name, 50, 100);
  space.AddPlane("/device:TPU:1");
  AddTask(space, 2);
  space.AddWarning("clock unstable");
  const HostCompleteness host = Check(space.Serialize());
  EXPECT_EQ(host.state, CompletenessState::kComplete);
  EXPECT_EQ(host.events_beyond_window, 2u);
  EXPECT_EQ(host.events_overlapping, 1u);
  EXPECT_EQ(host.events_out_of_order, 1u);
  EXPECT_EQ(host.events_negative, 1u);
  EXPECT_EQ(host.missing_metadata, 1u);
  EXPECT_EQ(host.events_aggregated, 1u);
  EXPECT_THAT(host.empty_planes, ElementsAre("/device:TPU:1"));
  const Completeness record = Combine({host});
  EXPECT_THAT(record.reasons,
              Contains("host0: 2 events more than 200 ms outside the window of 2 s that the "
                       "profiler recorded."));
  EXPECT_THAT(record.reasons, Contains("host0: the plane /device:TPU:1 has no event."));
  EXPECT_THAT(record.reasons.front(), HasSubstr("clock unstable")) << "worst first";
}

TEST(CompletenessTest, TheToleranceFollowsTheLengthOfTheWindow) {
  EXPECT_EQ(WindowTolerancePs({0, kSecondPs / 1000}), kSecondPs / 10000);
  EXPECT_EQ(WindowTolerancePs({kSecondPs, 11 * kSecondPs}), kSecondPs);
  EXPECT_EQ(WindowTolerancePs({0, 98 * kSecondPs}), kSecondPs) << "never more than a second";
  EXPECT_EQ(WindowTolerancePs({5, 0}), 0);
}

TEST(CompletenessTest, TheWindowIsThatOfTheEventsWhenNobodySaysIt) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  plane.AddLine(1, "a", 0).AddEvent(1, 500, 100);
  plane.AddLine(2, "b", 0).AddEvent(1, 200, 50);
  plane.AddLine(3, "c", 0).AddAggregatedEvent(1, 2, 9999);
  const HostCompleteness host = Check(space.Serialize());
  EXPECT_EQ(host.window_source, "first and last event");
  EXPECT_EQ(host.window->start_ps, 200);
  EXPECT_EQ(host.window->end_ps, 600);
  EXPECT_EQ(host.events_beyond_window, 0u);
}

TEST(CompletenessTest, DamageAndErrorsMakeAHostPartial) {
  XSpaceBuilder space;
  LineBuilder& line = space.AddPlane("p").AddLine(1, "the line", 0);
  for (int i = 0; i < 10; ++i) line.AddEvent(1, i * 10, 5);
  const std::string whole = space.Serialize();
  const std::string cut = whole.substr(0, whole.size() - 13);
  const HostCompleteness host = Check(cut);
  EXPECT_EQ(host.state, CompletenessState::kPartial);
  EXPECT_EQ(host.readable_bytes, cut.size());
  EXPECT_LT(host.events, 10u);
  const Completeness record = Combine({host});
  EXPECT_EQ(record.state, CompletenessState::kPartial);
  EXPECT_THAT(record.reasons.front(), HasSubstr("the line"));
  EXPECT_THAT(record.reasons.front(), HasSubstr("The file ends after"));

  space.AddError("device 3 did not answer");
  const HostCompleteness reported = Check(space.Serialize());
  EXPECT_EQ(reported.state, CompletenessState::kPartial);
  EXPECT_THAT(Combine({reported}).reasons.front(), HasSubstr("device 3 did not answer"));
}

TEST(CompletenessTest, SessionsCombineTheirHosts) {
  XSpaceBuilder space;
  space.AddPlane("p").AddLine(1, "l", 0).AddEvent(1, 0, 1);
  const HostCompleteness good = Check(space.Serialize());
  const HostCompleteness bad = FailedHost(FileOf("", "host1"), OpenBytes("").status());
  EXPECT_EQ(bad.state, CompletenessState::kDamaged);
  EXPECT_EQ(Combine({good, bad}).state, CompletenessState::kPartial);
  EXPECT_EQ(Combine({good, bad}).reasons.front(), "host1: The file is empty (0 bytes).");
  EXPECT_EQ(Combine({bad, bad}).state, CompletenessState::kDamaged);
  EXPECT_EQ(Combine({good, good}).state, CompletenessState::kComplete);
  EXPECT_EQ(Combine({}).state, CompletenessState::kEmpty);
  HostCompleteness writing = good;
  writing.state = CompletenessState::kWriting;
  EXPECT_EQ(Combine({good, writing}).state, CompletenessState::kWriting);
}

TEST(CompletenessTest, RealProfilesAreCompleteAndInTheirWindow) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus / "sessions")) {
    if (!entry.path().string().ends_with(".xplane.pb")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const HostCompleteness host = Check(ReadWholeFile(entry.path()));
    EXPECT_EQ(host.state, CompletenessState::kComplete);
    EXPECT_EQ(host.events_beyond_window, 0u);
    EXPECT_EQ(host.events_negative, 0u);
    EXPECT_EQ(host.events_saturated, 0u);
    EXPECT_GT(host.events, 0u);
  }
}

}  // namespace
}  // namespace strobe::xplane
