// Sessions of hundreds of hosts, and questions that nobody waits for any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "src/engine/session_for_test.h"
#include "src/tools/registry.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using xplane::LineBuilder;
using xplane::PlaneBuilder;

constexpr int kHosts = 256;
constexpr int kMissing = 17;
constexpr int kDamaged[] = {3, 100, 255};

std::string HostName(int host) {
  std::string number = std::to_string(host);
  return "host" + std::string(3 - number.size(), '0') + number;
}

// A TPU with two steps of one op each; the op is longer on later hosts.
std::string Profile(int host) {
  xplane::XSpaceBuilder space;
  PlaneBuilder& device = space.AddPlane("/device:TPU:0");
  const int64_t op = device.AddEventMetadata("fusion.1");
  device.EventMetadataStats(op).AddStat(device.StatId("hlo_category"), std::string_view("fusion"));
  LineBuilder& steps = device.AddLine(1, "Steps", 0);
  LineBuilder& ops = device.AddLine(2, "XLA Ops", 0);
  for (int s = 0; s < 2; ++s) {
    steps.AddEvent(device.AddEventMetadata(std::to_string(s)), s * 1'000'000, 900'000)
        .AddStat(device.StatId("group_id"), static_cast<int64_t>(s));
    ops.AddEvent(op, s * 1'000'000, 1000 + host)
        .AddStat(device.StatId("group_id"), static_cast<int64_t>(s));
  }
  space.AddPlane("/host:CPU");
  return space.Serialize();
}

class ManyHostsTest : public ::testing::Test {
 protected:
  static std::map<std::string, std::string> Files() {
    std::map<std::string, std::string> files;
    for (int h = 0; h < kHosts; ++h) {
      if (h == kMissing) continue;
      const bool damaged = std::ranges::find(kDamaged, h) != std::end(kDamaged);
      files[HostName(h)] = damaged ? "This is text, not a profile." : Profile(h);
    }
    return files;
  }
  ManyHostsTest() : made_(Files()) { SetLogLevel("off"); }
  ~ManyHostsTest() override { SetLogLevel("info"); }

  const SessionForTest made_;
};

TEST_F(ManyHostsTest, OpenWithThoseThatFailNamed) {
  const LineTree tree = made_.session()->Lines(60'000);
  ASSERT_EQ(tree.hosts.size(), size_t{kHosts - 1});
  std::vector<std::string> failed;
  for (const HostInfo& host : tree.hosts) {
    if (!host.error) {
      EXPECT_EQ(host.planes.size(), 2u) << host.name;
      continue;
    }
    failed.push_back(host.name);
    EXPECT_EQ(host.error->name(), "XPLANE_NOT_A_PROFILE");
  }
  EXPECT_THAT(failed, ::testing::ElementsAre("host003", "host100", "host255"));
  const auto record = made_.session()->CompletenessRecord(CancelToken());
  ASSERT_TRUE(record.ok());
  EXPECT_EQ((*record)->state, xplane::CompletenessState::kPartial);
  EXPECT_THAT((*record)->reasons, Contains(HasSubstr("host100")));
}

TEST_F(ManyHostsTest, AreCombinedWithoutThoseThatFail) {
  tools::ToolQuestion question;
  for (size_t h = 0; h < kHosts - 1; ++h) question.hosts.push_back(h);
  const tools::ToolDescriptor* const tool = tools::FindTool("hlo_stats");
  ASSERT_NE(tool, nullptr);
  question.options =
      tools::ToolOptions::Parse(tool->options, {}, tools::ToolOptions::Policy::kStrict).value();
  const auto result = made_.session()->RunTool(*tool, question, CancelToken());
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE((*result)->partial);
  std::string notices;
  for (const tools::Notice& notice : (*result)->notices) notices += notice.message + "\n";
  for (const char* host : {"host003", "host100", "host255"}) {
    EXPECT_THAT(notices, HasSubstr(host));
  }
  // 252 hosts ran the op twice each.
  const Result<AreaTotals> totals =
      made_.session()->Totals({.side = AreaSide::kDevices}, CancelToken());
  ASSERT_TRUE(totals.ok());
  EXPECT_EQ(totals->sum.count, 252u * 2);
}

TEST_F(ManyHostsTest, TellHowFarTheyAre) {
  std::atomic<bool> go_on{false};
  std::atomic<bool> entered{false};
  tools::ToolDescriptor tool;
  tool.id = "waiting";
  tool.cost = tools::CostClass::kEvents;
  tool.run = [&](const tools::ToolQuestion&, tools::ToolInput&,
                 const CancelToken&) -> Result<tools::ToolResult> {
    entered = true;
    while (!go_on) std::this_thread::yield();
    return tools::ToolResult();
  };
  tools::ToolQuestion question;
  question.hosts = {0, 1, 2, 3};
  EXPECT_FALSE(made_.session()->ProgressOfTool("waiting").has_value());
  std::thread asker([&] { (void)made_.session()->RunTool(tool, question, CancelToken()).ok(); });
  while (!entered) std::this_thread::yield();
  const std::optional<ToolProgress> progress = made_.session()->ProgressOfTool("waiting");
  go_on = true;
  asker.join();
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->stage, ToolProgress::Stage::kCombining);
  EXPECT_EQ(progress->hosts_total, 4u);
  EXPECT_EQ(progress->hosts_done, 4u);
  ASSERT_EQ(progress->failed.size(), 1u);
  EXPECT_EQ(progress->failed[0].first, "host003");
  EXPECT_FALSE(made_.session()->ProgressOfTool("waiting").has_value());
}

// Whoever closes the tab in the middle of a question stops its work. The time is that between the
// cancellation and the end, so a slow machine makes it no longer than its slowest stretch between
// two looks.
class StaleQuestionTest : public ::testing::Test {
 protected:
  static constexpr int kEvents = 300'000;
  static constexpr std::chrono::milliseconds kMostAfterCancel{200};

  static std::map<std::string, std::string> Files() {
    xplane::XSpaceBuilder space;
    PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
    LineBuilder& line = plane.AddLine(1, "XLA Ops", 0);
    const int64_t name = plane.AddEventMetadata("fusion");
    for (int e = 0; e < kEvents; ++e) {
      line.AddEvent(name, int64_t{e} * 1000, 500)
          .AddStat(plane.StatId("bytes_accessed"), static_cast<uint64_t>(e));
    }
    return {{"host0", space.Serialize()}};
  }
  StaleQuestionTest() : made_(Files()) { made_.session()->Lines(60'000); }

  // Asks again and again until it is cancelled in the middle of an answer; how long it went on.
  template <typename Ask>
  static std::chrono::milliseconds TimeAfterCancel(Ask ask) {
    CancelSource source;
    std::atomic<int> asked{0};
    std::chrono::steady_clock::time_point ended;
    std::thread asker([&] {
      while (true) {
        ++asked;
        if (ask(source.token()).code() == StatusCode::kCancelled) break;
      }
      ended = std::chrono::steady_clock::now();
    });
    while (asked < 2) std::this_thread::yield();
    const auto begin = std::chrono::steady_clock::now();
    source.Cancel();
    asker.join();
    return std::chrono::duration_cast<std::chrono::milliseconds>(ended - begin);
  }

  const SessionForTest made_;
};

TEST_F(StaleQuestionTest, SearchTotalsAndExportStop) {
  OpenedSession* const session = made_.session();
  EXPECT_LE(TimeAfterCancel([&](const CancelToken& cancel) {
              return session
                  ->Search(
                      {.text = "stat:bytes_accessed>5 and not stat:nosuch", .expression = true},
                      cancel)
                  .status();
            }),
            kMostAfterCancel);
  EXPECT_LE(TimeAfterCancel([&](const CancelToken& cancel) {
              return session->Search({.text = "fusion"}, cancel).status();
            }),
            kMostAfterCancel);
  EXPECT_LE(TimeAfterCancel(
                [&](const CancelToken& cancel) { return session->Totals({}, cancel).status(); }),
            kMostAfterCancel);
  EXPECT_LE(TimeAfterCancel([&](const CancelToken& cancel) {
              return session->Export({}, [](const std::string&) { return true; }, cancel).status();
            }),
            kMostAfterCancel);
}

}  // namespace
}  // namespace strobe::engine
