// Every promise of the catalogue, on SQLite and on a real PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <set>
#include <thread>

#include "src/catalog/catalog.h"
#include "src/catalog/migrations.h"
#include "src/catalog/postgres_for_test.h"
#include "src/catalog/rules.h"
#include "src/catalog/tables.h"
#include "src/storage/test_directory.h"

namespace strobe::catalog {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ConformanceTest : public testing::TestWithParam<SqlDialect> {
 protected:
  using Run = catalog::Run;  // not the test's own
  void SetUp() override {
    place_ = PlaceForTest(GetParam(), directory_.path(), "the catalogue");
    if (place_.empty()) GTEST_SKIP();
    catalog_ = OpenAgain();
  }
  std::unique_ptr<Catalog> OpenAgain() {
    Result<std::unique_ptr<Catalog>> opened = Catalog::Open({.place = place_}, clock_, random_);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return std::move(opened).value();
  }
  Run MakeRun(const std::string& id) {
    Run run;
    run.project = "p";
    run.location = "l";
    run.id = id;
    run.etag = "e";
    run.create_unix_ns = clock_.NowUnixNanos();
    run.body = "{}";
    ApplyPhase(run.create_unix_ns, "ACTIVE", &run);
    return run;
  }
  Status Insert(const Run& run) {
    return catalog_->Write([&](Transaction& transaction) { return transaction.Insert(run); });
  }
  std::vector<std::string> Ids(const ListQuery& query, size_t* pages = nullptr) {
    std::vector<std::string> ids;
    ListQuery page_query = query;
    for (size_t pages_seen = 1;; ++pages_seen) {
      Page<Run> page;
      const Status read = catalog_->Read([&](Transaction& transaction) -> Status {
        STROBE_ASSIGN_OR_RETURN(page, transaction.List<Run>(page_query));
        return OkStatus();
      });
      EXPECT_TRUE(read.ok()) << read.ToString();
      for (const Run& run : page.items) ids.push_back(run.id);
      if (pages != nullptr) *pages = pages_seen;
      if (!read.ok() || page.next_page_token.empty()) return ids;
      page_query.page_token = page.next_page_token;
    }
  }
  Status ListError(const ListQuery& query) {
    return catalog_->Read(
        [&](Transaction& transaction) { return transaction.List<Run>(query).status(); });
  }

  storage::TestDirectory directory_;
  FakeClock clock_;
  SeededRandom random_{7};
  std::string place_;
  std::unique_ptr<Catalog> catalog_;
};

INSTANTIATE_TEST_SUITE_P(Both, ConformanceTest,
                         testing::Values(SqlDialect::kSqlite, SqlDialect::kPostgres),
                         [](const auto& each) {
                           return each.param == SqlDialect::kSqlite ? "Sqlite" : "Postgres";
                         });

// A value of its own in every column comes back, and an update changes all but the key.
template <typename T>
void RoundTrip(Catalog& catalog) {
  const Table<T>& table = TableOf<T>();
  const auto fill = [&table](T* record, size_t from, int64_t offset) {
    for (size_t c = from; c < table.columns.size(); ++c) {
      if (const auto* text = std::get_if<std::string T::*>(&table.columns[c].member)) {
        record->** text = "\xC3\xA4 'v' " + std::to_string(offset + static_cast<int64_t>(c));
      } else {
        record->*std::get<int64_t T::*>(table.columns[c].member) =
            (offset + static_cast<int64_t>(c)) << 40;
      }
    }
  };
  const auto same = [&table](const T& a, const T& b) {
    for (const Column<T>& column : table.columns) {
      if (const auto* text = std::get_if<std::string T::*>(&column.member)) {
        EXPECT_EQ(a.**text, b.**text) << column.name;
      } else {
        const auto member = std::get<int64_t T::*>(column.member);
        EXPECT_EQ(a.*member, b.*member) << column.name;
      }
    }
  };
  T record;
  fill(&record, 0, 1);
  ASSERT_TRUE(catalog.Write([&](Transaction& t) { return t.Insert(record); }).ok());
  const auto read = [&] {
    T got;
    EXPECT_TRUE(catalog
                    .Read([&](Transaction& t) -> Status {
                      STROBE_ASSIGN_OR_RETURN(got, t.Get<T>(record.key()));
                      return OkStatus();
                    })
                    .ok());
    return got;
  };
  same(read(), record);
  EXPECT_EQ(catalog.Write([&](Transaction& t) { return t.Insert(record); }).code(),
            StatusCode::kAlreadyExists);
  fill(&record, table.key_columns, 100);
  ASSERT_TRUE(catalog.Write([&](Transaction& t) { return t.Update(record); }).ok());
  same(read(), record);
  ASSERT_TRUE(catalog.Write([&](Transaction& t) { return t.Delete<T>(record.key()); }).ok());
  EXPECT_EQ(catalog.Write([&](Transaction& t) { return t.Delete<T>(record.key()); }).code(),
            StatusCode::kNotFound);
  EXPECT_EQ(catalog.Write([&](Transaction& t) { return t.Update(record); }).code(),
            StatusCode::kNotFound);
}

TEST_P(ConformanceTest, KeepsEveryColumn) {
  RoundTrip<Run>(*catalog_);
  RoundTrip<ProfilerTarget>(*catalog_);
  RoundTrip<ProfilerSession>(*catalog_);
  RoundTrip<MonitoredEvent>(*catalog_);
  RoundTrip<Operation>(*catalog_);
  RoundTrip<AnsweredRequest>(*catalog_);
  RoundTrip<MetricCurve>(*catalog_);
  RoundTrip<MetricBlock>(*catalog_);
  RoundTrip<RunConfig>(*catalog_);
}

TEST_P(ConformanceTest, UndoesEverythingOfAWriteThatFails) {
  const Status failed = catalog_->Write([&](Transaction& transaction) -> Status {
    STROBE_RETURN_IF_ERROR(transaction.Insert(MakeRun("a")));
    return transaction.Insert(MakeRun("a"));
  });
  EXPECT_EQ(failed.name(), "RUN_EXISTS");
  EXPECT_THAT(Ids({.parent = {"p", "l", "", ""}}), ElementsAre());
}

TEST_P(ConformanceTest, IsThereAfterOpeningAgain) {
  ASSERT_TRUE(Insert(MakeRun("a")).ok());
  catalog_.reset();
  catalog_ = OpenAgain();
  EXPECT_THAT(Ids({.parent = {"p", "l", "", ""}}), ElementsAre("a"));
}

TEST_P(ConformanceTest, RefusesTextThatOneOfTheDatabasesCannotKeep) {
  Run run = MakeRun("a");
  run.display_name = std::string("a\0b", 3);
  EXPECT_EQ(Insert(run).name(), "TEXT_MALFORMED");
  run.display_name = "\xff";
  EXPECT_EQ(Insert(run).name(), "TEXT_MALFORMED");
}

TEST_P(ConformanceTest, PagesNewestFirstWhileRunsComeAndGo) {
  for (int i = 0; i < 25; ++i) {
    ASSERT_TRUE(Insert(MakeRun("r" + std::to_string(i))).ok());
    if (i % 3 == 0) clock_.AdvanceNanos(1);  // several share a time
  }
  size_t pages = 0;
  const std::vector<std::string> ids = Ids({.parent = {"p", "l", "", ""}, .page_size = 4}, &pages);
  EXPECT_EQ(pages, 7u);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 25u);
  EXPECT_EQ(ids.front(), "r22");
  // One that comes in between and one that goes neither repeat nor hide others.
  Page<Run> first;
  ASSERT_TRUE(catalog_
                  ->Read([&](Transaction& t) -> Status {
                    STROBE_ASSIGN_OR_RETURN(
                        first, t.List<Run>({.parent = {"p", "l", "", ""}, .page_size = 4}));
                    return OkStatus();
                  })
                  .ok());
  clock_.AdvanceNanos(5);
  ASSERT_TRUE(Insert(MakeRun("later")).ok());
  ASSERT_TRUE(
      catalog_->Write([&](Transaction& t) { return t.Delete<Run>(first.items.back().key()); })
          .ok());
  const std::vector<std::string> rest =
      Ids({.parent = {"p", "l", "", ""}, .page_size = 100, .page_token = first.next_page_token});
  EXPECT_EQ(rest, std::vector<std::string>(ids.begin() + 4, ids.end()));
}

TEST_P(ConformanceTest, BindsPageTokensToWhatWasAsked) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Insert(MakeRun("r" + std::to_string(i))).ok());
  Page<Run> page;
  const ListQuery query{.parent = {"p", "l", "", ""}, .order_by = "display_name", .page_size = 2};
  ASSERT_TRUE(catalog_
                  ->Read([&](Transaction& t) -> Status {
                    STROBE_ASSIGN_OR_RETURN(page, t.List<Run>(query));
                    return OkStatus();
                  })
                  .ok());
  ListQuery other = query;
  other.page_token = page.next_page_token;
  EXPECT_TRUE(ListError(other).ok());
  other.filter = "state=ACTIVE";
  EXPECT_EQ(ListError(other).name(), "PAGE_TOKEN_MISMATCH");
  other = query;
  other.page_token = page.next_page_token;
  other.order_by = "display_name desc";
  EXPECT_EQ(ListError(other).name(), "PAGE_TOKEN_MISMATCH");
  other = query;
  other.parent.location = "elsewhere";
  other.page_token = page.next_page_token;
  EXPECT_EQ(ListError(other).name(), "PAGE_TOKEN_MISMATCH");
  other = query;
  for (size_t i = 0; i < page.next_page_token.size(); ++i) {
    other.page_token = page.next_page_token;
    other.page_token[i] = other.page_token[i] == 'A' ? 'B' : 'A';
    const Status status = ListError(other);
    EXPECT_TRUE(status.ok() || status.name().starts_with("PAGE_TOKEN_")) << status.ToString();
  }
}

TEST_P(ConformanceTest, NamesTheProjectsThatHaveRuns) {
  for (const char* project : {"zebra", "ant", "zebra", "bee"}) {
    Run run = MakeRun("r" + std::to_string(random_.Next()));
    run.project = project;
    ASSERT_TRUE(Insert(run).ok());
  }
  std::vector<std::string> projects;
  const auto read = [&](int64_t limit) {
    return catalog_->Read([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(projects, ProjectsOfRuns(transaction, limit));
      return OkStatus();
    });
  };
  ASSERT_TRUE(read(10).ok());
  EXPECT_THAT(projects, ElementsAre("ant", "bee", "zebra"));
  ASSERT_TRUE(read(2).ok());
  EXPECT_THAT(projects, ElementsAre("ant", "bee"));
}

TEST_P(ConformanceTest, FiltersAndSortsAsGooglesListsDo) {
  const auto add = [&](const std::string& id, const std::string& name, const std::string& set,
                       const std::string& phase, const std::string& orchestrator) {
    Run run = MakeRun(id);
    run.display_name = name;
    run.run_set = set;
    run.orchestrator = orchestrator;
    if (phase != "ACTIVE") ApplyPhase(clock_.NowUnixNanos(), phase, &run);
    ASSERT_TRUE(Insert(run).ok());
    clock_.AdvanceNanos(1'000'000'000);
  };
  add("a", "Zeta", "s1", "ACTIVE", "GKE");
  add("b", "alpha", "s2", "FAILED", "SLURM");
  add("c", "it's", "s1", "COMPLETED", "");
  const auto ids = [&](const std::string& filter, const std::string& order = "create_time") {
    return Ids({.parent = {"p", "-", "", ""}, .filter = filter, .order_by = order});
  };
  EXPECT_THAT(ids("state = \"STATE_COMPLETED\""), ElementsAre("c"));
  EXPECT_THAT(ids("orchestrator=ORCHESTRATOR_GKE OR state=STATE_FAILED"), ElementsAre("a", "b"));
  // OR binds tighter than AND.
  EXPECT_THAT(ids("run_set=\"s1\" AND state=FAILED OR state=COMPLETED"), ElementsAre("c"));
  EXPECT_THAT(ids("(run_set=\"s1\" AND state=FAILED) OR state=COMPLETED"), ElementsAre("c"));
  EXPECT_THAT(ids("NOT run_group=s1"), ElementsAre("b"));
  EXPECT_THAT(ids("displayName=\"it's\""), ElementsAre("c"));
  EXPECT_THAT(ids("display_name:'lph'"), ElementsAre("b"));
  EXPECT_THAT(ids("create_time > \"2023-11-14T22:13:21.5Z\""), ElementsAre("c"));
  EXPECT_THAT(ids("create_time <= 2023-11-14T22:13:21Z"), ElementsAre("a", "b"));
  EXPECT_THAT(ids("region = \"l\" run_id != \"a\""), ElementsAre("b", "c"));
  EXPECT_THAT(ids("etag = \"none\""), ElementsAre());
  // Bytes decide, so capitals come first on both databases.
  EXPECT_THAT(ids("", "display_name"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(ids("", "run_set desc, display_name desc"), ElementsAre("b", "c", "a"));
  for (const char* bad :
       {"state", "state=", "nosuch=1", "state=\"x", "(state=x", "state=x)", "AND", "state>ACTIVE",
        "create_time=yesterday", "state = x AND", "id='1'; DROP TABLE runs"}) {
    EXPECT_EQ(ListError({.parent = {"p", "l", "", ""}, .filter = bad}).name(), "FILTER_MALFORMED")
        << bad;
  }
  EXPECT_EQ(ListError({.parent = {"p", "l", "", ""}, .filter = std::string(17, '(')}).name(),
            "FILTER_MALFORMED");
  for (const char* bad : {"nosuch", "state desc desc", "state sideways", "state,,id", ","}) {
    EXPECT_EQ(ListError({.parent = {"p", "l", "", ""}, .order_by = bad}).name(), "ORDER_MALFORMED")
        << bad;
  }
}

TEST_P(ConformanceTest, DeletesChildrenOnlyWhenForced) {
  const Run run = MakeRun("a");
  ASSERT_TRUE(Insert(run).ok());
  ProfilerTarget automatic;
  automatic.project = "p";
  automatic.location = "l";
  automatic.run = "a";
  automatic.id = "t0";
  automatic.automatic = 1;
  ProfilerSession session;
  session.project = "p";
  session.location = "l";
  session.run = "a";
  session.id = "s";
  ASSERT_TRUE(catalog_
                  ->Write([&](Transaction& t) -> Status {
                    STROBE_RETURN_IF_ERROR(t.Insert(automatic));
                    return t.Insert(session);
                  })
                  .ok());
  const auto remove = [&](bool force) {
    return catalog_->Write([&](Transaction& t) { return DeleteRun(t, run.key(), force); });
  };
  EXPECT_EQ(remove(false).name(), "RUN_HAS_CHILDREN");
  // What was refused has undone nothing of it.
  EXPECT_TRUE(
      catalog_
          ->Read([&](Transaction& t) { return t.Get<ProfilerTarget>(automatic.key()).status(); })
          .ok());
  EXPECT_TRUE(remove(true).ok());
  EXPECT_EQ(
      catalog_->Read([&](Transaction& t) { return t.Get<ProfilerSession>(session.key()).status(); })
          .name(),
      "PROFILER_SESSION_NOT_FOUND");
}

TEST_P(ConformanceTest, AnswersARequestIdOnceForADay) {
  const std::string id = MakeUuid(random_);
  const auto request = [&](const std::string& fingerprint) -> Result<std::string> {
    std::string operation_id;
    const Status done = catalog_->Write([&](Transaction& t) -> Status {
      STROBE_ASSIGN_OR_RETURN(const std::optional<Operation> answered,
                              FindAnswered(t, {"p", "l", "", ""}, id, fingerprint));
      if (answered) {
        operation_id = answered->id;
        return OkStatus();
      }
      Operation operation = MakeOperation(t, {"p", "l", "", "r"}, "target", "create");
      Finish(clock_.NowUnixNanos(), "{}", &operation);
      operation_id = operation.id;
      STROBE_RETURN_IF_ERROR(t.Insert(operation));
      return RememberAnswered(t, operation, id, fingerprint);
    });
    if (!done.ok()) return done;
    return operation_id;
  };
  const Result<std::string> first = request("same");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(request("same").value(), *first);
  EXPECT_EQ(request("other").status().name(), "REQUEST_ID_REUSED");
  clock_.AdvanceNanos(kRequestIdKeptNs + 1);
  ASSERT_TRUE(catalog_->Write([](Transaction& t) { return Prune(t).status(); }).ok());
  EXPECT_NE(request("same").value(), *first);
}

TEST_P(ConformanceTest, LosesNoChangeOfManyAtOnce) {
  ASSERT_TRUE(Insert(MakeRun("a")).ok());
  // Two catalogues as two servers have them.
  const std::unique_ptr<Catalog> second = OpenAgain();
  constexpr int kThreads = 4;
  constexpr int kEach = 15;
  std::atomic<int> acknowledged{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Catalog& mine = i % 2 == 0 ? *catalog_ : *second;
      for (int n = 0; n < kEach; ++n) {
        const Status done = mine.Write([](Transaction& t) -> Status {
          STROBE_ASSIGN_OR_RETURN(Run run, t.Get<Run>({"p", "l", "", "a"}));
          ++run.scan_interval_ns;
          return t.Update(run);
        });
        if (done.ok()) ++acknowledged;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int64_t counted = 0;
  ASSERT_TRUE(catalog_
                  ->Read([&](Transaction& t) -> Status {
                    STROBE_ASSIGN_OR_RETURN(const Run run, t.Get<Run>({"p", "l", "", "a"}));
                    counted = run.scan_interval_ns;
                    return OkStatus();
                  })
                  .ok());
  EXPECT_EQ(counted, acknowledged.load());
  EXPECT_GT(acknowledged.load(), 0);
}

TEST_P(ConformanceTest, MigratesOnceAndLeavesLaterFormsAlone) {
  ASSERT_TRUE(Insert(MakeRun("a")).ok());
  {
    const auto database = GetParam() == SqlDialect::kSqlite ? OpenSqlite({.path = place_})
                                                            : OpenPostgres({.url = place_});
    ASSERT_TRUE(database.ok());
    std::vector<Migration> later(AllMigrations().begin(), AllMigrations().end());
    later.push_back({later.back().number + 1, "later", {"CREATE TABLE later (a {big}, b {text})"}});
    EXPECT_TRUE(Migrate(**database, clock_, later).ok());
    EXPECT_TRUE(Migrate(**database, clock_, later).ok());
  }
  const auto refused = Catalog::Open({.place = place_}, clock_, random_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().name(), "CATALOG_NEWER");
}

TEST_P(ConformanceTest, BacksUpWhileOthersWrite) {
  ASSERT_TRUE(Insert(MakeRun("a")).ok());
  const std::string copy = directory_.path() + "/copy.db";
  const Status done = catalog_->BackUpTo(copy);
  if (GetParam() == SqlDialect::kPostgres) {
    EXPECT_EQ(done.name(), "CATALOG_BACKUP");
    return;
  }
  ASSERT_TRUE(done.ok()) << done.ToString();
  ASSERT_TRUE(Insert(MakeRun("b")).ok());
  const auto opened = Catalog::Open({.place = copy}, clock_, random_);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE((*opened)
                  ->Read([](Transaction& t) { return t.Get<Run>({"p", "l", "", "a"}).status(); })
                  .ok());
  EXPECT_FALSE((*opened)
                   ->Read([](Transaction& t) { return t.Get<Run>({"p", "l", "", "b"}).status(); })
                   .ok());
}

TEST(RulesTest, AFailureStandsForAMinute) {
  catalog::Run run;
  ApplyPhase(100, "ACTIVE", &run);
  ApplyPhase(200, "FAILED", &run);
  EXPECT_EQ(run.end_unix_ns, 200);
  ApplyPhase(300, "COMPLETED", &run);
  EXPECT_EQ(run.phase, "FAILED");
  ApplyPhase(400, "ACTIVE", &run);
  EXPECT_EQ(run.end_unix_ns, 0);
  ApplyPhase(500, "FAILED", &run);
  ApplyPhase(500 + kLateCompletedNs, "COMPLETED", &run);
  EXPECT_EQ(run.state, "COMPLETED");
}

TEST(RulesTest, TakesIdsThatAreSafeInPathsAndNames) {
  for (const char* good : {"a", "0f", "exp-2026.11_29~x", "A"})
    EXPECT_TRUE(CheckId("x", good).ok());
  for (const char* bad : {"", ".", "..", "-a", "a/b", "a b", "a\n", "\xC3\xA4", "a:b", "a%2f"}) {
    EXPECT_EQ(CheckId("x", bad).name(), "ID_MALFORMED") << bad;
  }
  EXPECT_TRUE(CheckId("x", std::string(kMaxIdBytes, 'a')).ok());
  EXPECT_FALSE(CheckId("x", std::string(kMaxIdBytes + 1, 'a')).ok());
}

TEST(RulesTest, ASessionIsAsItsTargetsAre) {
  EXPECT_EQ(SessionStateOf({}), "ACTIVE");
  EXPECT_EQ(SessionStateOf({"SUCCEEDED", "ACTIVE"}), "ACTIVE");
  EXPECT_EQ(SessionStateOf({"SUCCEEDED", "FAILED", "CANCELLED"}), "FAILED");
  EXPECT_EQ(SessionStateOf({"SUCCEEDED", "CANCELLED"}), "CANCELLED");
  EXPECT_EQ(SessionStateOf({"SUCCEEDED", "SUCCEEDED"}), "SUCCEEDED");
}

}  // namespace
}  // namespace strobe::catalog
