// Sessions in a bucket, through the engine: found, opened, replaced, deleted, and opened again with
// only what is looked at fetched. The bucket is in memory; tests/stores does the same with servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "src/base/log.h"
#include "src/engine/engine.h"
#include "src/storage/memory_store.h"
#include "src/storage/test_directory.h"
#include "src/wire/compress.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::engine {
namespace {

constexpr int64_t kLongWaitMs = 60'000;

class CountingStore : public storage::MemoryStore {
 public:
  using MemoryStore::MemoryStore;
  Result<storage::ReadAnswer> Read(const std::string& key, const storage::ReadQuery& query,
                                   const storage::CallOptions& call) override {
    if (down) return UnavailableError("OBJECT_STORE_UNREACHABLE", "no route").Where(key);
    Result<storage::ReadAnswer> answer = MemoryStore::Read(key, query, call);
    if (answer.ok()) read_bytes += answer->bytes.size();
    return answer;
  }
  std::atomic<uint64_t> read_bytes{0};
  std::atomic<bool> down{false};
};

class EngineBucketTest : public ::testing::Test {
 protected:
  EngineBucketTest() { SetLogLevel("off"); }
  ~EngineBucketTest() override { SetLogLevel("info"); }

  void Put(const std::string& key, const std::string& bytes) {
    ASSERT_TRUE(store_->Put(key, bytes, {}, {}).ok());
    clock_.AdvanceNanos(10'000'000'000);  // behind what is too young to be remembered
  }
  void Start() {
    places_ = std::make_shared<storage::PlaceOpener>(storage::SystemCloudContext());
    places_->Use("s3://bkt", store_);
    engine_ = Engine::Create({.roots = {"s3://bkt/logs"},
                              .cache_directory = directory_.path() + "/cache",
                              .rescan_interval_ms = 0,
                              .places = places_},
                             clock_);
    const Status refreshed = engine_->Refresh();
    ASSERT_TRUE(refreshed.ok()) << refreshed.ToString();
  }
  std::shared_ptr<OpenedSession> MustOpen(size_t index = 0) {
    const std::vector<SessionSummary> sessions = engine_->Sessions();
    EXPECT_GT(sessions.size(), index);
    if (sessions.size() <= index) return nullptr;
    Result<std::shared_ptr<OpenedSession>> session = engine_->Open(sessions[index].entry.id);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return session.ok() ? *session : nullptr;
  }
  // One long line of ops, behind a plane whose lines nobody looks at.
  static std::string Profile(int events, const std::string& op) {
    xplane::XSpaceBuilder space;
    for (const char* const name : {"/device:TPU:0", "/device:TPU:1"}) {
      xplane::PlaneBuilder& device = space.AddPlane(name);
      xplane::LineBuilder& ops = device.AddLine(3, "XLA Ops", 0);
      const int64_t metadata = device.AddEventMetadata(op);
      for (int e = 0; e < events; ++e) {
        ops.AddEvent(metadata, e * 100, 50).AddStat(device.StatId("bytes_accessed"), uint64_t{7});
      }
    }
    return space.Serialize();
  }
  static std::string Key(const std::string& name) { return "logs/run/plugins/profile/s1/" + name; }

  FakeClock clock_;
  storage::TestDirectory directory_;
  std::shared_ptr<CountingStore> store_ = std::make_shared<CountingStore>(clock_, "s3://bkt");
  std::shared_ptr<storage::PlaceOpener> places_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineBucketTest, ASessionIsFoundAndOpened) {
  Put(Key("h0.xplane.pb"), Profile(1000, "fusion.1"));
  Put(Key("h1.xplane.pb.gz"), wire::GzipCompress(Profile(500, "fusion.2")));
  Start();
  ASSERT_EQ(engine_->Sessions().size(), 1U);
  EXPECT_EQ(engine_->Sessions()[0].entry.xprof_run(), "run/s1");
  const auto session = MustOpen();
  ASSERT_NE(session, nullptr);
  const LineTree tree = session->Lines(kLongWaitMs);
  ASSERT_EQ(tree.hosts.size(), 2U);
  EXPECT_EQ(tree.hosts[0].planes[0].event_count, 1000U);
  EXPECT_EQ(tree.hosts[1].planes[0].event_count, 500U);
  EXPECT_EQ(session->Search({.text = "fusion.2"}, {})->total, 1000U);
}

TEST_F(EngineBucketTest, ReplacedAndDeletedObjectsAreNoticed) {
  Put(Key("h0.xplane.pb"), Profile(10, "fusion.1"));
  Start();
  const auto first = MustOpen();
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->Lines(kLongWaitMs).complete);
  Put(Key("h0.xplane.pb"), Profile(20, "fusion.1"));
  Put("logs/other/plugins/profile/s2/h.xplane.pb", Profile(5, "x"));
  ASSERT_TRUE(engine_->MarkWhole("s3://bkt/logs/run/plugins/profile/s1").ok());
  ASSERT_TRUE(engine_->MarkWhole("s3://bkt/logs/other/plugins/profile/s2").ok());
  ASSERT_TRUE(engine_->Refresh().ok());
  ASSERT_EQ(engine_->Sessions().size(), 2U);
  EXPECT_EQ(engine_->FindByXprofRun("other/s2")->run, "other");
  const auto second = engine_->Open(first->entry().id);
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_NE((*second)->version(), first->version());
  EXPECT_EQ((*second)->Lines(kLongWaitMs).hosts[0].planes[0].event_count, 20U);
  // The old one stays as it was.
  EXPECT_EQ(first->Lines(0).hosts[0].planes[0].event_count, 10U);
}

TEST_F(EngineBucketTest, AnObjectReplacedSinceItWasListedIsAnErrorNotAMixture) {
  Put(Key("h0.xplane.pb"), Profile(10, "fusion.1"));
  Start();
  Put(Key("h0.xplane.pb"), Profile(20, "fusion.1"));
  const auto opened = engine_->Open(engine_->Sessions()[0].entry.id);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().name(), "OBJECT_CHANGED");
}

TEST_F(EngineBucketTest, WithColumnsOnlyWhatIsLookedAtIsFetched) {
  const std::string bytes = Profile(1'600'000, "fusion.1");
  ASSERT_GT(bytes.size(), size_t{36} << 20);
  Put(Key("h0.xplane.pb"), bytes);
  Start();
  auto first = MustOpen();
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->Lines(kLongWaitMs).complete);
  const auto tile = first->Tile(0, 0, 0, 28, 0, {});
  while (engine_->Sessions()[0].state == xplane::CompletenessState::kUnread) {
    std::this_thread::yield();
  }
  EXPECT_GE(store_->read_bytes, bytes.size());
  first.reset();

  store_->read_bytes = 0;
  Start();
  const auto second = MustOpen();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(engine_->stats().column_file_hits, 1U);
  EXPECT_EQ(**second->Tile(0, 0, 0, 28, 0, {}), **tile);
  EXPECT_LT(store_->read_bytes, bytes.size() / 2);
}

TEST_F(EngineBucketTest, AStoreThatGoesAwayIsToldAndReadAgainWhenItIsBack) {
  Put(Key("h0.xplane.pb"), Profile(1000, "fusion.1"));
  Start();
  store_->down = true;
  const std::string id = engine_->Sessions()[0].entry.id;
  const auto lost = engine_->Open(id);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.status().name(), "OBJECT_STORE_UNREACHABLE");
  store_->down = false;
  const auto session = engine_->Open(id);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_EQ((*session)->Lines(kLongWaitMs).hosts[0].planes[0].event_count, 1000U);
}

TEST_F(EngineBucketTest, ABucketThatCannotBeListedIsAnErrorAtTheStart) {
  struct Refusing : storage::MemoryStore {
    using MemoryStore::MemoryStore;
    Result<storage::ListPage> List(const storage::ListQuery&,
                                   const storage::CallOptions&) override {
      return NotFoundError("BUCKET_NOT_FOUND", "There is no such bucket.");
    }
  };
  auto places = std::make_shared<storage::PlaceOpener>(storage::SystemCloudContext());
  places->Use("s3://bkt", std::make_shared<Refusing>(clock_));
  const auto engine =
      Engine::Create({.roots = {"s3://bkt"}, .rescan_interval_ms = 0, .places = places}, clock_);
  EXPECT_EQ(engine->Refresh().name(), "BUCKET_NOT_FOUND");
}

}  // namespace
}  // namespace strobe::engine
