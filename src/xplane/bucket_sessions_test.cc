#include "src/xplane/bucket_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/log.h"
#include "src/storage/memory_store.h"
#include "src/storage/test_directory.h"

namespace strobe::xplane {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BucketSessionsTest : public ::testing::Test {
 protected:
  void Put(const std::string& key, const std::string& bytes = "x") {
    clock_.AdvanceNanos(1'000'000'000);
    ASSERT_TRUE(store_->Put(key, bytes, {}, {}).ok());
  }
  std::vector<SessionEntry> List(const std::string& prefix, const ListOptions& options = {}) {
    storage::Place place;
    place.store = store_;
    place.prefix = prefix;
    place.text = "s3://bkt" + (prefix.empty() ? "" : "/" + prefix);
    Result<BucketListing> listing = ListBucketSessions(place, nullptr, options, clock_, {});
    EXPECT_TRUE(listing.ok()) << listing.status().ToString();
    if (!listing.ok()) return {};
    cut_ = listing->cut;
    objects_ = listing->objects;
    return std::move(listing->sessions);
  }
  std::vector<std::string> Runs(const std::string& prefix) {
    std::vector<std::string> runs;
    for (const SessionEntry& entry : List(prefix)) runs.push_back(entry.xprof_run());
    return runs;
  }

  FakeClock clock_;
  std::shared_ptr<storage::MemoryStore> store_ =
      std::make_shared<storage::MemoryStore>(clock_, "s3://bkt");
  bool cut_ = false;
  uint64_t objects_ = 0;
};

TEST_F(BucketSessionsTest, FindsTheLayoutAnywhereNewestFirst) {
  Put("plugins/profile/top/h.xplane.pb");
  Put("team/run/plugins/profile/s1/h0.xplane.pb", "12345");
  Put("team/run/plugins/profile/s1/h1.xplane.pb.gz", "123");
  Put("team/run/plugins/profile/s1/notes.txt");
  Put("team/run/plugins/profile/s1/deeper/h.xplane.pb");
  Put("team/run/plugins/profile/loose.xplane.pb");
  Put("team/run/myplugins/profile/s2/h.xplane.pb");
  Put("team/a/b/plugins/profile/s3/h.trace.json.gz");
  EXPECT_THAT(Runs(""), ElementsAre("team/a/b/s3", "team/run/s1", "top"));
  EXPECT_THAT(Runs("team"), ElementsAre("a/b/s3", "run/s1"));
  const std::vector<SessionEntry> sessions = List("team/run");
  ASSERT_EQ(sessions.size(), 1);
  EXPECT_EQ(sessions[0].path, "s3://bkt/team/run/plugins/profile/s1");
  EXPECT_EQ(sessions[0].run, "");
  EXPECT_EQ(sessions[0].size_bytes, 8);
  ASSERT_EQ(sessions[0].files.size(), 2);
  EXPECT_EQ(sessions[0].files[1].format, FileFormat::kXplaneGzip);
  ASSERT_NE(sessions[0].files[0].remote, nullptr);
  EXPECT_FALSE(sessions[0].files[0].remote->info.version.empty());
}

TEST_F(BucketSessionsTest, IdsDoNotDependOnThePrefix) {
  Put("team/run/plugins/profile/s1/h0.xplane.pb");
  EXPECT_EQ(List("")[0].id, List("team")[0].id);
  EXPECT_EQ(List("")[0].id, List("team/run/plugins/profile/s1")[0].id);
}

TEST_F(BucketSessionsTest, APlaceMayBeASessionAFolderOfProfilesOrOneProfile) {
  Put("x/plugins/profile/s1/h0.xplane.pb");
  Put("folder/h1.xplane.pb");
  Put("one.xplane.pb.gz");
  EXPECT_EQ(List("x/plugins/profile/s1")[0].name, "s1");
  EXPECT_EQ(List("folder")[0].files[0].host, "h1");
  const std::vector<SessionEntry> one = List("one.xplane.pb.gz");
  ASSERT_EQ(one.size(), 1);
  EXPECT_EQ(one[0].files[0].path, "s3://bkt/one.xplane.pb.gz");
  EXPECT_THAT(List("nothing"), IsEmpty());
}

TEST_F(BucketSessionsTest, ASessionThatIsBeingWrittenIsLeftOutForAnHour) {
  Put("plugins/profile/s1/" + std::string(kWritingMark));
  Put("plugins/profile/s1/h0.xplane.pb");
  EXPECT_THAT(List(""), IsEmpty());
  clock_.AdvanceNanos(kWritingMarkNs);
  EXPECT_EQ(List("").size(), 1);
  ASSERT_TRUE(store_->Delete("plugins/profile/s1/" + std::string(kWritingMark), {}).ok());
  EXPECT_EQ(List("").size(), 1);
}

TEST_F(BucketSessionsTest, AHundredThousandObjectsKeepOnlyTheProfiles) {
  for (int i = 0; i < 100'000; ++i) {
    const std::string number = std::to_string(1'000'000 + i);
    const std::string key = i % 100 == 0 ? "r" + number + "/plugins/profile/s/h.xplane.pb"
                                         : "data/" + number + ".tfrecord";
    ASSERT_TRUE(store_->Put(key, "", {}, {}).ok());
  }
  EXPECT_EQ(List("").size(), 1000);
  EXPECT_EQ(objects_, 100'000);
  EXPECT_FALSE(cut_);
  SetLogLevel("off");
  EXPECT_EQ(List("", {.max_sessions = 10}).size(), 10);
  SetLogLevel("info");
  EXPECT_TRUE(cut_);
}

}  // namespace
}  // namespace strobe::xplane
