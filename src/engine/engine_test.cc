#include "src/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "src/timeline/tile.h"
#include "src/timeline/tile_reader.h"
#include "src/wire/compress.h"
#include "src/xplane/test_bytes.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using xplane::CompletenessState;
using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kLongWaitMs = 60'000;

// A log directory of its own, a clock moved by hand, an engine that walks only when told.
class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "strobe-engine-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "logs");
  }
  void TearDown() override {
    engine_.reset();
    fs::remove_all(root_);
  }

  void Start(uint64_t memory_budget_bytes = 1ULL << 30) {
    engine_ = Engine::Create({.roots = {(root_ / "logs").string()},
                              .cache_directory = (root_ / "cache").string(),
                              .memory_budget_bytes = memory_budget_bytes,
                              .rescan_interval_ms = 0},
                             clock_);
    ASSERT_TRUE(engine_->Refresh().ok());
  }

  fs::path FileOf(const std::string& session, const std::string& host) const {
    return root_ / "logs" / "run" / "plugins" / "profile" / session / (host + ".xplane.pb");
  }
  // Written `age` ago by the fake clock; replaced in one step, as capture and rsync do.
  void Write(const std::string& session, const std::string& host, const std::string& bytes,
             int64_t age_ns = 60 * kSecondNs) {
    const fs::path path = FileOf(session, host);
    fs::create_directories(path.parent_path());
    const fs::path draft = root_ / "draft";
    std::ofstream(draft, std::ios::binary) << bytes;
    const auto age = std::chrono::nanoseconds(clock_.NowUnixNanos() - age_ns);
    const auto system = std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(age));
    fs::last_write_time(draft, fs::file_time_type(std::chrono::file_clock::from_sys(system)));
    fs::rename(draft, path);
  }

  // Waits for a file that the engine keeps beside the columns.
  fs::path AwaitKept(const std::string& extension) const {
    while (true) {
      for (const auto& entry : fs::recursive_directory_iterator(root_ / "cache")) {
        if (entry.path().extension() == extension) return entry.path();
      }
    }
  }
  static void FlipByte(const fs::path& path, int64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 0x10));
  }
  static std::string ReadAll(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // A host with one device line of `events` events of 50 ps every 100 ps, and a thread.
  static std::string Profile(int events, const std::string& op = "fusion.3",
                             uint64_t start_unix_ns = 0) {
    XSpaceBuilder space;
    PlaneBuilder& device = space.AddPlane("/device:TPU:0");
    LineBuilder& ops = device.AddLine(3, "XLA Ops", static_cast<int64_t>(start_unix_ns));
    const int64_t outer = device.AddEventMetadata("while.1");
    const int64_t inner = device.AddEventMetadata(op);
    for (int e = 0; e < events; ++e) {
      ops.AddEvent(outer, e * 100, 50);
      ops.AddEvent(inner, e * 100 + 10, 20).AddStat(device.StatId("bytes_accessed"), uint64_t{7});
    }
    PlaneBuilder& host = space.AddPlane("/host:CPU");
    host.AddLine(-5, "python", static_cast<int64_t>(start_unix_ns))
        .AddEvent(host.AddEventMetadata("main"), 0, 1000);
    if (start_unix_ns != 0) {
      PlaneBuilder& task = space.AddPlane("Task Environment");
      task.PlaneStats()
          .AddStat(task.StatId("profile_start_time"), start_unix_ns)
          .AddStat(task.StatId("profile_stop_time"), start_unix_ns + 1000);
    }
    return space.Serialize();
  }

  std::string OnlyId() {
    const std::vector<SessionSummary> sessions = engine_->Sessions();
    EXPECT_EQ(sessions.size(), 1u);
    return sessions.empty() ? "" : sessions[0].entry.id;
  }
  std::shared_ptr<OpenedSession> MustOpen(const std::string& id) {
    Result<std::shared_ptr<OpenedSession>> session = engine_->Open(id);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return session.ok() ? *session : nullptr;
  }

  fs::path root_;
  FakeClock clock_{SystemClock().NowUnixNanos()};
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, TellsHowFarTheUnpackingOfAProfileHasComeWhileItIsOpened) {
  std::string bytes;
  for (const std::string part = Profile(20'000); bytes.size() < 48u << 20;) bytes += part;
  Write("s1", "host0", wire::GzipCompress(bytes));
  fs::rename(FileOf("s1", "host0"), FileOf("s1", "host0").string() + ".gz");
  Start();
  const std::string id = OnlyId();
  EXPECT_FALSE(engine_->Opening(id).has_value());
  std::atomic<bool> opened = false;
  std::thread opener([&] {
    MustOpen(id);
    opened = true;
  });
  std::vector<LoadProgress> seen;
  while (!opened) {
    const std::optional<LoadProgress> now = engine_->Opening(id);
    if (now && now->stage == LoadStage::kUnpacking) seen.push_back(*now);
  }
  opener.join();
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::ranges::is_sorted(seen, {}, &LoadProgress::done_bytes));
  EXPECT_GT(seen.back().done_bytes, seen.front().done_bytes);
  EXPECT_EQ(seen.back().total_bytes, engine_->Sessions()[0].entry.size_bytes);
  EXPECT_FALSE(engine_->Opening(id).has_value());
}

TEST_F(EngineTest, OpensListsAndAnswers) {
  Write("s1", "host0", Profile(10));
  Start();
  const std::vector<SessionSummary> sessions = engine_->Sessions();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].state, CompletenessState::kUnread);
  EXPECT_EQ(sessions[0].entry.xprof_run(), "run/s1");
  EXPECT_EQ(engine_->FindByXprofRun("run/s1")->id, sessions[0].entry.id);
  EXPECT_EQ(engine_->FindByXprofRun("run/s2").status().name(), "RUN_UNKNOWN");
  EXPECT_EQ(engine_->Open("nothing").status().name(), "SESSION_UNKNOWN");

  const auto session = MustOpen(sessions[0].entry.id);
  ASSERT_NE(session, nullptr);
  const LineTree tree = session->Lines(kLongWaitMs);
  EXPECT_TRUE(tree.complete);
  EXPECT_EQ(tree.window_start_ps, 0);
  EXPECT_EQ(tree.window_end_ps, 1000);
  ASSERT_EQ(tree.hosts.size(), 1u);
  EXPECT_EQ(tree.hosts[0].name, "host0");
  ASSERT_EQ(tree.hosts[0].planes.size(), 2u);
  const PlaneInfo& device = tree.hosts[0].planes[0];
  EXPECT_EQ(device.name, "/device:TPU:0");
  EXPECT_EQ(device.event_count, 20u);
  EXPECT_EQ(device.lines[0].row_count, 2u);
  EXPECT_EQ(device.lines[0].kind, analysis::LineKind::kOps);
  EXPECT_EQ(tree.hosts[0].planes[1].lines[0].thread_id, -5);
  EXPECT_EQ(session->progress().stage, LoadStage::kReady);
  EXPECT_EQ(session->progress().done_bytes, session->progress().total_bytes);

  const auto tile = session->Tile(0, device.plane, 0, 10, 0, {});
  ASSERT_TRUE(tile.ok()) << tile.status().ToString();
  const auto read = timeline::ReadTile(**tile);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->lines[0].rects.size(), 20u);
  EXPECT_EQ(read->lines[0].rects[0].name, "while.1");
  EXPECT_EQ(session->Tile(0, 99, 0, 10, 0, {}).status().name(), "CHUNK_UNKNOWN");
  EXPECT_EQ(session->Tile(0, device.plane, 1, 10, 0, {}).status().name(), "CHUNK_UNKNOWN");
  EXPECT_EQ(session->Tile(7, 0, 0, 10, 0, {}).status().name(), "HOST_UNKNOWN");
  EXPECT_EQ(session->Tile(0, device.plane, 0, 5, 0, {}).status().name(), "TILE_LEVEL");

  const auto overview = session->FirstOverview({});
  ASSERT_TRUE(overview.ok());
  EXPECT_EQ((*overview)->event_count, 21u);
  EXPECT_EQ((*overview)->top_ops[0].name, "while.1");
  EXPECT_EQ((*overview)->top_ops[0].self_ps, 300);
  EXPECT_EQ(*session->FirstOverview({}), *overview) << "computed once";

  const auto record = session->CompletenessRecord({});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ((*record)->state, CompletenessState::kComplete);
  EXPECT_THAT((*record)->hosts[0].content_hash, HasSubstr("xxh3:"));
  EXPECT_EQ(engine_->Sessions()[0].state, CompletenessState::kComplete);
  EXPECT_EQ(session->files()[0].state, CompletenessState::kComplete);
}

TEST_F(EngineTest, EventsAndTheirNeighbours) {
  Write("s1", "host0", Profile(3, "dot.1", 1'700'000'000 * uint64_t{kSecondNs}));
  Start();
  const auto session = MustOpen(OnlyId());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->origin_unix_ns(), 1'700'000'000 * kSecondNs);
  const auto outer = session->NeighboursAt(0, 0, 0, 105);
  ASSERT_TRUE(outer.ok());
  const Result<EventDetail> while_event = session->Event(*outer->event);
  ASSERT_TRUE(while_event.ok());
  EXPECT_EQ(while_event->name, "while.1");
  EXPECT_EQ(while_event->start_ps, 100);
  EXPECT_EQ(while_event->self_ps, 30);
  EXPECT_FALSE(while_event->parent.has_value());
  ASSERT_TRUE(outer->previous && outer->next);

  const auto inner = session->NeighboursAt(0, 0, 0, 115);
  const Result<EventDetail> dot = session->Event(*inner->event);
  ASSERT_TRUE(dot.ok());
  EXPECT_EQ(dot->name, "dot.1");
  EXPECT_EQ(dot->depth, 1u);
  EXPECT_EQ(dot->parent->event, outer->event->event);
  ASSERT_EQ(dot->stats.size(), 1u);
  EXPECT_EQ(dot->stats[0].stat.name, "bytes_accessed");
  EXPECT_EQ(dot->stats[0].stat.uint64_value, 7u);
  EXPECT_GT(dot->offset_bytes, 0u);

  EXPECT_EQ(session->NeighboursAt(0, 0, 0, INT64_MIN)->event->event, 0u);
  const auto last = session->NeighboursAt(0, 0, 0, INT64_MAX);
  EXPECT_EQ(session->Event(*last->event)->start_ps, 200);
  EXPECT_FALSE(session->NeighboursOf(*last->event)->next.has_value());
  EXPECT_EQ(session->Event({0, 0, 0, 999}).status().name(), "EVENT_UNKNOWN");
  EXPECT_EQ(session->Event({0, 0, 9, 0}).status().name(), "LINE_UNKNOWN");
}

TEST_F(EngineTest, SumsUpASpanAndCountsEachMomentOnce) {
  Write("s1", "host0", Profile(10));
  Start();
  const auto session = MustOpen(OnlyId());
  ASSERT_NE(session, nullptr);
  // Ten loops of 50 ps every 100 ps, 20 ps of each a fusion; the span cuts off the first and the
  // second half of the last.
  const auto totals = session->Totals({.from_ps = 100, .to_ps = 925, .limit = 1}, {});
  ASSERT_TRUE(totals.ok()) << totals.status().ToString();
  EXPECT_EQ(totals->side, AreaSide::kDevices);
  EXPECT_EQ(totals->sum.count, 18u);
  EXPECT_EQ(totals->sum.self_ps, 8 * 50 + 25);
  ASSERT_EQ(totals->names.size(), 1u);
  EXPECT_EQ(totals->name_count, 2u);
  EXPECT_EQ(totals->names[0].name, "while.1");
  EXPECT_EQ(totals->names[0].sum.self_ps, 8 * 30 + 10);
  EXPECT_EQ(totals->other_names.self_ps, 8 * 20 + 15);
  ASSERT_EQ(totals->planes.size(), 1u);
  EXPECT_EQ(totals->planes[0].busy_ps, 8 * 50 + 25);
  const auto hosts = session->Totals({.side = AreaSide::kHosts}, {});
  ASSERT_TRUE(hosts.ok());
  ASSERT_EQ(hosts->names.size(), 1u);
  EXPECT_EQ(hosts->names[0].name, "main");
  EXPECT_EQ(session->Totals({.lines = {{0, 0, 9}}}, {}).status().name(), "LINE_UNKNOWN");
  CancelSource cancel;
  cancel.Cancel();
  EXPECT_EQ(session->Totals({}, cancel.token()).status().code(), StatusCode::kCancelled);
}

TEST_F(EngineTest, ListsGapsWithWhatTheHostDid) {
  Write("s1", "host0", Profile(3));
  Start();
  const auto session = MustOpen(OnlyId());
  ASSERT_NE(session, nullptr);
  const auto gaps = session->Gaps({.host = 0, .plane = 0, .from_ps = 0, .to_ps = 260}, {});
  ASSERT_TRUE(gaps.ok()) << gaps.status().ToString();
  EXPECT_EQ(gaps->count, 3u);
  EXPECT_EQ(gaps->total_ps, 110);
  ASSERT_EQ(gaps->gaps.size(), 3u);
  EXPECT_EQ(gaps->gaps[0].start_ps, 50);
  EXPECT_EQ(gaps->gaps[0].end_ps, 100);
  EXPECT_EQ(gaps->gaps[0].before_name, "while.1");
  ASSERT_EQ(gaps->gaps[0].meanwhile.size(), 1u);
  EXPECT_EQ(gaps->gaps[0].meanwhile[0].name, "main");
  EXPECT_EQ(gaps->gaps[0].meanwhile[0].thread, "python");
  EXPECT_EQ(gaps->gaps[0].meanwhile[0].self_ps, 50);
  EXPECT_EQ(session->Gaps({.host = 0, .plane = 9}, {}).status().name(), "LINE_UNKNOWN");
}

TEST_F(EngineTest, FlowsLeadFromProducersToConsumers) {
  XSpaceBuilder space;
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  const auto link = [&](LineBuilder& line, std::string_view name, int64_t at_ps,
                        std::string_view type, std::string_view id) {
    line.AddEvent(host.AddEventMetadata(std::string(name)), at_ps, 10)
        .AddStat(host.StatId(std::string(type)), int64_t{1})
        .AddStat(host.StatId(std::string(id)), uint64_t{42});
  };
  link(host.AddLine(1, "a", 0), "produce", 0, "_pt", "_p");
  link(host.AddLine(2, "b", 0), "consume", 100, "_ct", "_c");
  Write("s1", "host0", space.Serialize());
  Start();
  const auto session = MustOpen(OnlyId());
  ASSERT_NE(session, nullptr);
  const auto all = session->Flows({}, {});
  ASSERT_TRUE(all.ok()) << all.status().ToString();
  ASSERT_EQ(all->total, 1u);
  EXPECT_EQ(all->flows[0].from.name, "produce");
  EXPECT_EQ(all->flows[0].to.name, "consume");
  EXPECT_EQ(all->flows[0].to.start_ps, 100);
  const auto one = session->Flows({.event = all->flows[0].to.event}, {});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->total, 1u);
  EXPECT_EQ(session->Flows({.from_ps = 105}, {})->total, 0u);
}

TEST_F(EngineTest, HostsAreShiftedToOneClockAndSearchedInTimeOrder) {
  constexpr uint64_t kStart = 1'700'000'000 * uint64_t{kSecondNs};
  Write("s1", "host0", Profile(2, "dot.1", kStart + 1));
  Write("s1", "host1", Profile(2, "dot.1", kStart));
  Start();
  const auto session = MustOpen(OnlyId());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->origin_unix_ns(), static_cast<int64_t>(kStart));
  const auto result = session->Search({.text = "DOT", .limit = 3}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->total, 4u);
  EXPECT_EQ(result->names, 1u);
  EXPECT_TRUE(result->truncated);
  std::vector<std::pair<uint32_t, int64_t>> hits;
  for (const SearchHit& hit : result->hits) hits.emplace_back(hit.event.host, hit.start_ps);
  EXPECT_THAT(hits, ElementsAre(std::pair(1u, 10), std::pair(1u, 110), std::pair(0u, 1010)));
  EXPECT_EQ(session->Search({.text = "/(/"}, {}).status().name(), "SEARCH_PATTERN");
  const LineTree tree = session->Lines(kLongWaitMs);
  EXPECT_EQ(tree.window_start_ps, 0);
  EXPECT_EQ(tree.window_end_ps, 1'001'000);
}

TEST_F(EngineTest, AFileStillBeingWrittenIsNotServedAsWhole) {
  Write("s1", "host0", Profile(10), /*age_ns=*/kSecondNs / 10);
  Start();
  EXPECT_EQ(engine_->Sessions()[0].state, CompletenessState::kWriting);
  EXPECT_EQ(engine_->Open(OnlyId()).status().name(), "SESSION_FILE_WRITING");

  // It grows once more, with an old time as some copy programs leave it.
  clock_.AdvanceNanos(2 * kSecondNs);
  Write("s1", "host0", Profile(20), /*age_ns=*/3600 * kSecondNs);
  ASSERT_TRUE(engine_->Refresh().ok());
  EXPECT_EQ(engine_->Sessions()[0].state, CompletenessState::kWriting);

  const uint64_t list_version = engine_->list_version();
  clock_.AdvanceNanos(2 * kSecondNs);
  ASSERT_TRUE(engine_->Refresh().ok());
  EXPECT_NE(engine_->list_version(), list_version);
  EXPECT_NE(engine_->Sessions()[0].state, CompletenessState::kWriting);
  const auto session = MustOpen(OnlyId());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->Lines(kLongWaitMs).hosts[0].planes[0].event_count, 40u);
  const uint64_t settled_version = engine_->list_version();
  ASSERT_TRUE(engine_->Refresh().ok());
  EXPECT_EQ(engine_->list_version(), settled_version) << "nothing changed";
}

TEST_F(EngineTest, WhatWeWroteOurselvesNeedNotSettle) {
  Write("s1", "host0", Profile(10), /*age_ns=*/0);
  Write("s2", "host0", Profile(10), /*age_ns=*/0);
  Start();
  ASSERT_TRUE(engine_->MarkWhole(FileOf("s1", "host0").parent_path().string()).ok());
  ASSERT_TRUE(engine_->Refresh().ok());
  std::map<std::string, CompletenessState> states;
  std::string own_id;
  for (const SessionSummary& session : engine_->Sessions()) {
    states[session.entry.name] = session.state;
    if (session.entry.name == "s1") own_id = session.entry.id;
  }
  EXPECT_NE(states["s1"], CompletenessState::kWriting);
  EXPECT_EQ(states["s2"], CompletenessState::kWriting);
  EXPECT_TRUE(engine_->Open(own_id).ok());

  // Somebody writes to it after all: it settles like any other.
  clock_.AdvanceNanos(kSecondNs / 10);
  Write("s1", "host0", Profile(20), /*age_ns=*/0);
  ASSERT_TRUE(engine_->Refresh().ok());
  EXPECT_EQ(engine_->Open(own_id).status().name(), "SESSION_FILE_WRITING");
}

TEST_F(EngineTest, AHostStillWrittenDoesNotKeepTheOthersBack) {
  Write("s1", "good", Profile(10));
  Write("s1", "late", Profile(10), /*age_ns=*/0);
  Start();
  const auto session = MustOpen(OnlyId());
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->files()[1].state, CompletenessState::kWriting);
  const std::string version = session->version();
  clock_.AdvanceNanos(2 * kSecondNs);
  const auto whole = MustOpen(OnlyId());
  EXPECT_NE(whole->version(), version);
  EXPECT_NE(whole->files()[1].state, CompletenessState::kWriting);
}

TEST_F(EngineTest, AReplacedFileIsANewVersionAndTheOldOneStaysReadable) {
  Write("s1", "host0", Profile(10, "old_name"));
  Start();
  const auto before = MustOpen(OnlyId());
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(MustOpen(OnlyId()), before) << "the same while nothing changes";
  Write("s1", "host0", Profile(30, "new_name"), 30 * kSecondNs);
  EXPECT_EQ(engine_->Open(OnlyId()).status().name(), "SESSION_FILE_WRITING")
      << "seen to change just now";
  clock_.AdvanceNanos(2 * kSecondNs);
  const auto after = MustOpen(OnlyId());
  ASSERT_NE(after, nullptr);
  EXPECT_NE(after->version(), before->version());
  EXPECT_EQ(after->Search({.text = "new_name"}, {})->total, 30u);
  EXPECT_EQ(before->Search({.text = "old_name"}, {})->total, 10u);
  fs::remove(FileOf("s1", "host0"));
  EXPECT_FALSE(engine_->Open(OnlyId()).ok());
  EXPECT_EQ(after->Search({.text = "new_name"}, {})->total, 30u);
  ASSERT_TRUE(engine_->Refresh().ok());
  const auto sessions = engine_->Sessions();
  ASSERT_EQ(sessions.size(), 1u);
  EXPECT_EQ(sessions[0].state, CompletenessState::kEmpty);
  EXPECT_EQ(engine_->Open(sessions[0].entry.id).status().name(), "SESSION_EMPTY");
}

TEST_F(EngineTest, AHostThatFailsIsNamedAndTheRestWorks) {
  Write("s1", "bad", "this is a text file, not a profile, and it is long enough to be sure");
  Write("s1", "empty", "");
  Write("s1", "good", Profile(10));
  Start();
  const auto session = MustOpen(OnlyId());
  ASSERT_NE(session, nullptr);
  const LineTree tree = session->Lines(kLongWaitMs);
  ASSERT_EQ(tree.hosts.size(), 3u);
  EXPECT_TRUE(tree.hosts[0].error.has_value());
  EXPECT_EQ(tree.hosts[1].error->name(), "XPLANE_EMPTY");
  EXPECT_FALSE(tree.hosts[2].error.has_value());
  EXPECT_EQ(session->files()[0].state, CompletenessState::kDamaged);
  EXPECT_FALSE(session->Tile(0, 0, 0, 10, 0, {}).ok());
  EXPECT_TRUE(session->Tile(2, 0, 0, 10, 0, {}).ok());
  EXPECT_EQ((*session->FirstOverview({}))->event_count, 21u);
  const auto record = session->CompletenessRecord({});
  ASSERT_TRUE(record.ok());
  EXPECT_EQ((*record)->state, CompletenessState::kPartial);
  EXPECT_EQ(engine_->Sessions()[0].state, CompletenessState::kPartial);
}

TEST_F(EngineTest, TheErrorOfTheOnlyFileIsTheErrorOfTheSession) {
  Write("s1", "host0", "");
  Start();
  EXPECT_EQ(engine_->Open(OnlyId()).status().name(), "XPLANE_EMPTY");
  EXPECT_EQ(engine_->Sessions()[0].state, CompletenessState::kDamaged);
}

TEST_F(EngineTest, WhatAFileHoldsIsNoFaultOfTheRequest) {
  Write("s1", "host0", "this is a text file, not a profile, and it is long enough to be sure");
  Start();
  const Status error = engine_->Open(OnlyId()).status();
  EXPECT_EQ(error.code(), StatusCode::kDataLoss);  // 422, not 400
  EXPECT_EQ(error.name(), "XPLANE_NOT_A_PROFILE");
  EXPECT_FALSE(error.where().empty());
  EXPECT_FALSE(error.hint().empty());
}

TEST_F(EngineTest, SessionsLeaveWhenTheBudgetIsSpent) {
  for (int s = 0; s < 6; ++s) Write("s" + std::to_string(s), "host0", Profile(20'000));
  Start(/*memory_budget_bytes=*/3 << 20);
  std::vector<std::shared_ptr<OpenedSession>> held;
  for (const SessionSummary& summary : engine_->Sessions()) {
    held.push_back(MustOpen(summary.entry.id));
    ASSERT_NE(held.back(), nullptr);
    EXPECT_TRUE(held.back()->Lines(kLongWaitMs).complete);
  }
  EXPECT_LT(engine_->stats().opened_sessions, 6u);
  EXPECT_LE(engine_->stats().resident_bytes, 3u << 20);
  EXPECT_EQ(held[0]->Search({.text = "fusion"}, {})->total, 20'000u) << "still works while held";
}

TEST_F(EngineTest, TheSameTileIsEncodedOnceAndKept) {
  Write("s1", "host0", Profile(1000));
  Start();
  const auto session = MustOpen(OnlyId());
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const std::string>> tiles(8);
  for (size_t t = 0; t < tiles.size(); ++t) {
    threads.emplace_back([&, t] { tiles[t] = *session->Tile(0, 0, 0, 17, 0, {}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& tile : tiles) EXPECT_EQ(tile, tiles[0]);
  EXPECT_EQ(engine_->stats().tiles_encoded, 1u);
  EXPECT_EQ(*session->Tile(0, 0, 0, 17, 0, {}), tiles[0]);
  EXPECT_GE(engine_->stats().tile_cache_hits, 1u);
}

TEST_F(EngineTest, CancelledQuestionsEnd) {
  Write("s1", "host0", Profile(1000));
  Start();
  const auto session = MustOpen(OnlyId());
  CancelSource cancel;
  cancel.Cancel();
  EXPECT_EQ(session->Tile(0, 0, 0, 20, 0, cancel.token()).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(session->FirstOverview(cancel.token()).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(session->Search({.text = "f"}, cancel.token()).status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(session->FirstOverview({}).ok());
}

TEST_F(EngineTest, ManyThreadsWhileFilesAreReplaced) {
  for (int s = 0; s < 3; ++s) Write("s" + std::to_string(s), "host0", Profile(300));
  Start(/*memory_budget_bytes=*/200 << 10);
  std::vector<std::string> ids;
  for (const SessionSummary& summary : engine_->Sessions()) ids.push_back(summary.entry.id);
  std::atomic<uint64_t> answers{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const auto session = engine_->Open(ids[static_cast<size_t>(t + i) % ids.size()]);
        if (!session.ok()) continue;  // being replaced
        const auto tile = (*session)->Tile(0, 0, 0, 10 + i % 8, i % 4, {});
        if (tile.ok()) answers += timeline::ReadTile(**tile).has_value();
        const auto found = (*session)->Search({.text = "fusion"}, {});
        if (found.ok()) answers += found->total == 300 || found->total == 301;
        if (i % 7 == 0) answers += (*session)->Lines(0).hosts.size();
        if (i % 11 == 0) answers += (*session)->FirstOverview({}).ok();
        if (i % 13 == 0) answers += (*session)->CompletenessRecord({}).ok();
        if (i % 5 == 0) answers += (*session)->Event({0, 0, 0, 1}).ok();
        engine_->Sessions();
        engine_->stats();
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    Write("s" + std::to_string(round % 3), "host0", Profile(300 + round % 2));
    EXPECT_TRUE(engine_->Refresh().ok());
    clock_.AdvanceNanos(2 * kSecondNs);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(answers.load(), 0u);
  engine_.reset();  // with background work in the queue
}

TEST_F(EngineTest, TheEngineWalksByItself) {
  Write("s1", "host0", Profile(1));
  engine_ = Engine::Create({.roots = {(root_ / "logs").string()}, .rescan_interval_ms = 1}, clock_);
  while (engine_->list_version() == 0) std::this_thread::yield();
  EXPECT_EQ(engine_->Sessions().size(), 1u);
}

TEST_F(EngineTest, ASecondEngineTakesColumnsInsteadOfDecoding) {
  Write("s1", "host0", Profile(60'000));
  Start();
  ASSERT_GT(fs::file_size(FileOf("s1", "host0")), 1u << 20);
  const auto first = MustOpen(OnlyId());
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->Lines(kLongWaitMs).complete);
  const auto tile = first->Tile(0, 0, 0, 20, 0, {});
  // Columns are written before the session is judged.
  while (engine_->Sessions()[0].state == CompletenessState::kUnread) std::this_thread::yield();
  EXPECT_EQ(engine_->stats().column_file_hits, 0u);
  const auto record = *first->CompletenessRecord({});

  Start();
  const auto second = MustOpen(OnlyId());
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(engine_->stats().column_file_hits, 1u);
  EXPECT_EQ(second->version(), first->version());
  EXPECT_EQ(**second->Tile(0, 0, 0, 20, 0, {}), **tile);
  EXPECT_EQ((*second->CompletenessRecord({}))->hosts[0].content_hash,
            record->hosts[0].content_hash);
  EXPECT_EQ(second->Search({.text = "fusion"}, {})->total, 60'000u);
}

// Lines checked before the cut read as zeros after it; such an answer once was kept for good.
TEST_F(EngineTest, ColumnsCutShortWhileInUseAreNeverAnswered) {
  Write("s1", "host0", Profile(60'000));
  Start();
  const auto first = MustOpen(OnlyId());
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->Lines(kLongWaitMs).complete);
  const auto tile = first->Tile(0, 0, 0, 20, 1, {});
  ASSERT_TRUE(tile.ok());
  while (engine_->Sessions()[0].state == CompletenessState::kUnread) std::this_thread::yield();

  Start();
  const auto second = MustOpen(OnlyId());
  ASSERT_NE(second, nullptr);
  ASSERT_EQ(engine_->stats().column_file_hits, 1u);
  EXPECT_TRUE(second->Tile(0, 0, 0, 20, 0, {}).ok());  // the line is checked and in use
  size_t cut = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root_ / "cache")) {
    if (entry.path().extension() != ".col") continue;
    fs::resize_file(entry.path(), 4096);
    ++cut;
  }
  ASSERT_EQ(cut, 1u);
  const auto lost = second->Tile(0, 0, 0, 20, 1, {});
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.status().name(), "COLUMNS_LOST");
  EXPECT_EQ(second->Search({.text = "fusion"}, {}).status().name(), "COLUMNS_LOST");

  const auto third = MustOpen(OnlyId());
  ASSERT_NE(third, nullptr);
  EXPECT_NE(third, second);
  const auto again = third->Tile(0, 0, 0, 20, 1, {});
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(**again, **tile);
  EXPECT_EQ(third->Search({.text = "fusion"}, {})->total, 60'000u);
}

TEST_F(EngineTest, KeptPyramidsAreUsedAndDamagedOnesBuiltAnew) {
  Write("s1", "host0", Profile(60'000));
  Start();
  const auto first = MustOpen(OnlyId());
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->Lines(kLongWaitMs).complete);
  const std::string tile = **first->Tile(0, 0, 0, 22, 0, {});
  const fs::path look = AwaitKept(".look");  // it is written last, and would answer instead
  const fs::path kept = AwaitKept(".pyramids");
  const auto size_bytes = static_cast<int64_t>(fs::file_size(kept));
  for (const int64_t at : {int64_t{-1}, int64_t{3}, int64_t{90}, size_bytes / 2, size_bytes - 3}) {
    if (at >= 0) FlipByte(kept, at);
    fs::remove(look);
    Start();
    const auto again = MustOpen(OnlyId());
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(engine_->stats().column_file_hits, 1u);
    EXPECT_EQ(**again->Tile(0, 0, 0, 22, 0, {}), tile) << "byte " << at << " differs";
  }
}

TEST_F(EngineTest, FirstLookAnswersAtOnceAndDamageIsMadeAnew) {
  Write("s1", "host0", Profile(60'000));
  Start();
  const auto first = MustOpen(OnlyId());
  ASSERT_NE(first, nullptr);
  const LineTree whole = first->Lines(kLongWaitMs);
  ASSERT_TRUE(whole.complete);
  int level = timeline::kMinTileLevel;
  while ((int64_t{1} << level) <= whole.window_end_ps) ++level;
  const std::string tile = **first->Tile(0, 0, 0, level, 0, {});
  const fs::path look = AwaitKept(".look");
  const auto size_bytes = static_cast<int64_t>(fs::file_size(look));
  const std::string whole_file = ReadAll(look);
  for (int64_t at = -1; at < size_bytes; at += at < 0 ? 1 : std::max<int64_t>(1, size_bytes / 40)) {
    std::ofstream(look, std::ios::binary) << whole_file;
    if (at >= 0) FlipByte(look, at);
    Start();
    const auto again = MustOpen(OnlyId());
    ASSERT_NE(again, nullptr);
    const LineTree tree = again->Lines(at < 0 ? 0 : kLongWaitMs);
    EXPECT_TRUE(tree.complete) << "byte " << at;
    EXPECT_EQ(tree.window_start_ps, whole.window_start_ps);
    EXPECT_EQ(tree.window_end_ps, whole.window_end_ps);
    EXPECT_EQ(tree.hosts[0].planes[0].event_count, whole.hosts[0].planes[0].event_count);
    EXPECT_EQ(**again->Tile(0, 0, 0, level, 0, {}), tile) << "byte " << at << " differs";
  }
}

TEST_F(EngineTest, NoReadableRootIsAnError) {
  engine_ =
      Engine::Create({.roots = {(root_ / "missing").string()}, .rescan_interval_ms = 0}, clock_);
  EXPECT_FALSE(engine_->Refresh().ok());
}

TEST(RealSessionsTest, EachOpensAndAnswersEverything) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  const auto engine = Engine::Create({.roots = {(xplane::CorpusDirectory() / "sessions").string()},
                                      .rescan_interval_ms = 0,
                                      .settle_ms = 0},
                                     SystemClock());
  ASSERT_TRUE(engine->Refresh().ok());
  const std::vector<SessionSummary> sessions = engine->Sessions();
  EXPECT_EQ(sessions.size(), 15u);
  for (const SessionSummary& summary : sessions) {
    SCOPED_TRACE(summary.entry.path);
    const auto session = engine->Open(summary.entry.id);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    const LineTree tree = (*session)->Lines(kLongWaitMs);
    EXPECT_TRUE(tree.complete);
    EXPECT_GT(tree.window_end_ps, tree.window_start_ps);
    int level = timeline::kMinTileLevel;
    while ((int64_t{1} << level) < tree.window_end_ps) ++level;
    for (const HostInfo& host : tree.hosts) {
      EXPECT_FALSE(host.error.has_value()) << host.error->ToString();
      for (const PlaneInfo& plane : host.planes) {
        uint64_t shown = 0;
        for (uint32_t chunk = 0; chunk < plane.chunk_count; ++chunk) {
          for (const int64_t index : {-1, 0}) {
            const auto bytes = (*session)->Tile(host.host, plane.plane, chunk, level, index, {});
            ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
            const auto tile = timeline::ReadTile(**bytes);
            ASSERT_TRUE(tile.has_value());
            for (const timeline::DecodedLine& line : tile->lines) {
              for (const timeline::DecodedRect& rect : line.rects) {
                shown += rect.count - (rect.begins_before ? 1 : 0);
              }
            }
          }
        }
        EXPECT_EQ(shown, plane.event_count) << plane.name << ": an event is in no tile";
      }
    }
    EXPECT_TRUE((*session)->FirstOverview({}).ok());
    const auto record = (*session)->CompletenessRecord({});
    ASSERT_TRUE(record.ok());
    EXPECT_EQ((*record)->hosts.size(), summary.entry.files.size());
    EXPECT_TRUE((*session)->Search({.text = "/./"}, {})->total > 0);
  }
}

}  // namespace
}  // namespace strobe::engine
