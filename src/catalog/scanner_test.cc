#include "src/catalog/scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/catalog/rules.h"

namespace strobe::catalog {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class ScannerTest : public testing::Test {
 protected:
  using Run = catalog::Run;  // not the test's own
  ScannerTest() : catalog_(Catalog::Open({.place = ":memory:"}, clock_, random_).value()) {}

  void AddRun(const std::string& id, bool existing_only = false) {
    Run run;
    run.project = "p";
    run.location = "l";
    run.id = id;
    run.storage_path = "/logs";
    run.existing_only = existing_only ? 1 : 0;
    run.create_unix_ns = clock_.NowUnixNanos();
    run.scan_due_unix_ns = run.create_unix_ns;
    ApplyPhase(run.create_unix_ns, existing_only ? "COMPLETED" : "ACTIVE", &run);
    ASSERT_TRUE(catalog_->Write([&](Transaction& t) { return t.Insert(run); }).ok());
  }
  void Put(const std::string& run_folder, const std::string& name, uint64_t size_bytes = 10) {
    FoundSession session;
    session.path =
        "/logs/" + (run_folder.empty() ? "" : run_folder + "/") + "plugins/profile/" + name;
    session.name = name;
    session.viewer_id = "v-" + name;
    session.hosts = {"host0", "host1"};
    session.size_bytes = size_bytes;
    session.modified_unix_ns = 5;
    session.completeness = "complete";
    found_.push_back(session);
  }
  std::vector<ProfilerSession> Sessions(const std::string& run) {
    std::vector<ProfilerSession> sessions;
    EXPECT_TRUE(catalog_
                    ->Read([&](Transaction& t) -> Status {
                      STROBE_ASSIGN_OR_RETURN(
                          auto page, t.List<ProfilerSession>({.parent = {"p", "l", run, ""},
                                                              .order_by = "name",
                                                              .page_size = 100}));
                      sessions = page.items;
                      return OkStatus();
                    })
                    .ok());
    return sessions;
  }
  std::vector<std::string> Ids(const std::string& run) {
    std::vector<std::string> ids;
    for (const ProfilerSession& session : Sessions(run)) ids.push_back(session.id);
    return ids;
  }
  Run GetRun(const std::string& id) {
    Run run;
    EXPECT_TRUE(catalog_
                    ->Read([&](Transaction& t) -> Status {
                      STROBE_ASSIGN_OR_RETURN(run, t.Get<Run>({"p", "l", "", id}));
                      return OkStatus();
                    })
                    .ok());
    return run;
  }

  FakeClock clock_;
  SeededRandom random_{3};
  std::unique_ptr<Catalog> catalog_;
  std::vector<FoundSession> found_;
  Status error_;
  Scanner scanner_{*catalog_,
                   [this](const catalog::Run&) -> Result<std::vector<FoundSession>> {
                     if (!error_.ok()) return error_;
                     return found_;
                   },
                   clock_};
};

TEST_F(ScannerTest, GivesEachRunWhatLiesInItsOwnFolder) {
  AddRun("a");
  AddRun("b");
  Put("a", "s1");
  Put("b", "s1");
  Put("", "top");
  EXPECT_EQ(scanner_.ScanDue(10).value(), 2u);
  EXPECT_THAT(Ids("a"), ElementsAre("s1", "top"));
  EXPECT_THAT(Ids("b"), ElementsAre("s1", "top"));
  const ProfilerSession session = Sessions("a").front();
  EXPECT_EQ(session.kind, "SCANNED");
  EXPECT_EQ(session.state, "SUCCEEDED");
  EXPECT_EQ(session.hosts, R"(["host0","host1"])");
  EXPECT_EQ(session.host_count, 2);
  EXPECT_EQ(session.found_path, "/logs/a/plugins/profile/s1");
}

TEST_F(ScannerTest, AListOfExistingOnesHasAll) {
  AddRun("a");
  AddRun("all", /*existing_only=*/true);
  Put("a", "s1");
  Put("b/deep", "s1");
  ASSERT_TRUE(scanner_.ScanDue(10).ok());
  const std::vector<std::string> ids = Ids("all");
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(ids[0], "s1");
  EXPECT_TRUE(ids[1].starts_with("s1-"));
  // The same names at the next look.
  ASSERT_TRUE(scanner_.ScanRun({"p", "l", "", "all"}).ok());
  EXPECT_EQ(Ids("all"), ids);
}

// The storage is what counts: whatever was lost of the sessions comes back as it was.
TEST_F(ScannerTest, MakesTheSameSessionsOfTheStorageAlone) {
  for (int i = 0; i < 30; ++i) {
    const std::string run = "run" + std::to_string(i % 3);
    if (i < 3) AddRun(run);
    Put(run, "s" + std::to_string(i), static_cast<uint64_t>(i));
  }
  Put("", "of all");
  ASSERT_TRUE(scanner_.ScanDue(10).ok());
  const auto all = [this] {
    std::vector<std::string> lines;
    for (const char* run : {"run0", "run1", "run2"}) {
      for (const ProfilerSession& s : Sessions(run)) {
        lines.push_back(s.run + "|" + s.id + "|" + s.kind + "|" + s.state + "|" + s.found_path +
                        "|" + s.viewer_id + "|" + s.hosts + "|" + s.completeness + "|" +
                        std::to_string(s.size_bytes) + "|" + std::to_string(s.create_unix_ns) +
                        "|" + std::to_string(s.found_modified_unix_ns));
      }
    }
    return lines;
  };
  const std::vector<std::string> before = all();
  EXPECT_EQ(before.size(), 33u);
  ASSERT_TRUE(catalog_
                  ->Write([](Transaction& t) {
                    return t.sql().Run("DELETE FROM profiler_sessions", {}).status();
                  })
                  .ok());
  EXPECT_TRUE(all().empty());
  for (const char* run : {"run0", "run1", "run2"}) {
    ASSERT_TRUE(scanner_.ScanRun({"p", "l", "", run}).ok());
  }
  EXPECT_EQ(all(), before);
}

TEST_F(ScannerTest, NoticesWhatIsReplacedAndWhatGoes) {
  AddRun("a");
  Put("a", "s1");
  Put("a", "announced");
  ProfilerSession announced;
  announced.project = "p";
  announced.location = "l";
  announced.run = "a";
  announced.id = "announced";
  announced.kind = "PROGRAMMATIC";
  ASSERT_TRUE(catalog_->Write([&](Transaction& t) { return t.Insert(announced); }).ok());
  ASSERT_TRUE(scanner_.ScanDue(10).ok());
  EXPECT_EQ(Sessions("a").front().kind, "PROGRAMMATIC");
  EXPECT_EQ(Sessions("a").front().viewer_id, "v-announced");
  const std::string etag = Sessions("a").back().etag;
  ASSERT_TRUE(scanner_.ScanRun({"p", "l", "", "a"}).ok());
  EXPECT_EQ(Sessions("a").back().etag, etag);
  found_.clear();
  Put("a", "s1", 99);
  ASSERT_TRUE(scanner_.ScanRun({"p", "l", "", "a"}).ok());
  EXPECT_NE(Sessions("a").back().etag, etag);
  EXPECT_EQ(Sessions("a").back().size_bytes, 99);
  EXPECT_EQ(Sessions("a").front().found_path, "");
  found_.clear();
  ASSERT_TRUE(scanner_.ScanRun({"p", "l", "", "a"}).ok());
  EXPECT_THAT(Ids("a"), ElementsAre("announced"));
}

TEST_F(ScannerTest, LooksLessOftenWhileNothingChanges) {
  AddRun("a");
  ASSERT_EQ(scanner_.ScanDue(10).value(), 1u);
  EXPECT_EQ(scanner_.ScanDue(10).value(), 0u);
  clock_.AdvanceNanos(kFirstIntervalNs);
  EXPECT_EQ(scanner_.ScanDue(10).value(), 1u);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(scanner_.ScanRun({"p", "l", "", "a"}).ok());
  EXPECT_EQ(GetRun("a").scan_interval_ns, kActiveIntervalNs);
  Put("a", "s1");
  ASSERT_TRUE(scanner_.ScanRun({"p", "l", "", "a"}).ok());
  EXPECT_EQ(GetRun("a").scan_interval_ns, kFirstIntervalNs);
}

TEST_F(ScannerTest, KeepsAStoragesErrorWithTheRun) {
  AddRun("a");
  Put("a", "s1");
  ASSERT_TRUE(scanner_.ScanDue(10).ok());
  error_ = UnavailableError("STORAGE_DOWN", "It is down.");
  EXPECT_EQ(scanner_.ScanRun({"p", "l", "", "a"}).name(), "STORAGE_DOWN");
  EXPECT_THAT(GetRun("a").scan_error, testing::HasSubstr("STORAGE_DOWN"));
  // What is known stays.
  EXPECT_THAT(Ids("a"), ElementsAre("s1"));
  error_ = OkStatus();
  ASSERT_TRUE(scanner_.ScanRun({"p", "l", "", "a"}).ok());
  EXPECT_EQ(GetRun("a").scan_error, "");
}

TEST_F(ScannerTest, MakesIdsOfNamesThatAreNone) {
  AddRun("a");
  Put("a", "ok");
  Put("a", "two words");
  Put("a", "-dash");
  ASSERT_TRUE(scanner_.ScanDue(10).ok());
  for (const std::string& id : Ids("a")) EXPECT_TRUE(CheckId("session", id).ok()) << id;
  EXPECT_EQ(Ids("a").size(), 3u);
}

}  // namespace
}  // namespace strobe::catalog
