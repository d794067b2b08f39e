// A change and its audit record are one: a fault at every write of the way to the commit leaves
// both or neither, on SQLite and on a real PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "src/catalog/audit.h"
#include "src/catalog/catalog.h"
#include "src/catalog/faulty_sqlite_for_test.h"
#include "src/catalog/postgres_for_test.h"
#include "src/catalog/rules.h"
#include "src/storage/test_directory.h"

namespace strobe::catalog {
namespace {

// As a request of a client: a run, its operation, what repeats it, and the record.
constexpr char kRun[] = "changed";

class AuditFaultTest : public testing::Test {
 protected:
  std::unique_ptr<Catalog> Open(const std::string& place, const std::string& vfs = "") {
    Result<std::unique_ptr<Catalog>> opened =
        Catalog::Open({.place = place, .sqlite_vfs = vfs}, clock_, random_);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return std::move(opened).value();
  }
  Status Change(Catalog& catalog, AuditTrail* trail) {
    return WriteAudited(catalog, trail, [](Transaction& transaction) -> Status {
      catalog::Run run{.project = "p", .location = "l", .id = kRun, .body = "{}"};
      STROBE_RETURN_IF_ERROR(transaction.Insert(run));
      Operation operation = MakeOperation(transaction, {"p", "l", "", kRun}, "target", "create");
      Finish(transaction.clock().NowUnixNanos(), "{}", &operation);
      STROBE_RETURN_IF_ERROR(transaction.Insert(operation));
      return RememberAnswered(transaction, operation, "11111111-2222-4333-8444-555555555555", "f");
    });
  }
  // What is there now, when it is wholly there or wholly not; -1 when it is half there.
  int Seen(Catalog& catalog, int64_t records_before) {
    int parts = 0;
    EXPECT_TRUE(
        catalog
            .Read([&](Transaction& transaction) -> Status {
              parts = 0;
              const Key run{"p", "l", "", kRun};
              STROBE_ASSIGN_OR_RETURN(const auto found, transaction.Find<catalog::Run>(run));
              STROBE_ASSIGN_OR_RETURN(const auto operations, transaction.Select<Operation>(
                                                                 "run = ?", {SqlValue{kRun}}, 10));
              parts = (found ? 1 : 0) + static_cast<int>(operations.size());
              return OkStatus();
            })
            .ok());
    const Result<AuditVerdict> verdict = VerifyAudit(catalog);
    EXPECT_TRUE(verdict.ok() && verdict->whole) << verdict->fault;
    parts += static_cast<int>(verdict->records - records_before);
    return parts == 0 ? 0 : parts == 3 ? 1 : -1;
  }
  AuditTrail Trail() {
    return {.record = {.actor = "user:ada", .action = "mlCreateRun", .outcome = "DONE"}};
  }

  storage::TestDirectory directory_;
  FakeClock clock_;
  SeededRandom random_{7};
};

TEST_F(AuditFaultTest, SqliteKeepsBothOrNeitherAtEveryWrite) {
  SqliteFaults& faults = SqliteFaults::Register();
  using Kind = SqliteFaults::Kind;
  int made = 0;
  int kept_though_failed = 0;
  for (const Kind kind : {Kind::kOnce, Kind::kGone, Kind::kTorn}) {
    bool through = false;
    for (int64_t at = 1; !through; ++at) {
      ASSERT_LT(at, 100) << "a commit has some dozen writes";
      const std::string place =
          fmt::format("{}/{}-{}.db", directory_.path(), static_cast<int>(kind), at);
      {
        const std::unique_ptr<Catalog> catalog = Open(place, SqliteFaults::kName);
        AuditTrail before = Trail();
        ASSERT_TRUE(WriteAudited(*catalog, &before, [](Transaction&) { return OkStatus(); }).ok());
        AuditTrail trail = Trail();
        faults.Arm(at, kind);
        const Status done = Change(*catalog, &trail);
        through = !faults.fired();
        EXPECT_EQ(trail.written.size(), done.ok() ? 1u : 0u);
        if (through) EXPECT_TRUE(done.ok()) << done.ToString();
        if (kind == Kind::kOnce) faults.Disarm();  // the same process goes on
        if (kind == Kind::kOnce && !done.ok()) {
          EXPECT_EQ(Seen(*catalog, 1), 0) << "write " << at;
        }
        if (done.ok()) {
          ++made;
          faults.Disarm();
          EXPECT_EQ(Seen(*catalog, 1), 1) << "acknowledged, write " << at;
          continue;
        }
      }
      faults.Disarm();
      // What the next server finds.
      const int seen = Seen(*Open(place), 1);
      EXPECT_GE(seen, 0) << "half of it after write " << at << " as kind "
                         << static_cast<int>(kind);
      kept_though_failed += seen;
    }
    std::printf("audit faults on SQLite: %lld writes until the commit\n",
                static_cast<long long>(faults.writes()));
    EXPECT_GE(faults.writes(), 3);
  }
  EXPECT_GE(made, 3) << "without a fault it succeeds";
  std::printf("audit faults on SQLite: %d changes were there although their commit failed\n",
              kept_though_failed);
}

// A trigger on every table fails the write that is asked for, or cuts the connection in the middle
// of it; a deferred one does the same to the commit itself.
TEST_F(AuditFaultTest, PostgresKeepsBothOrNeitherAtEveryWrite) {
  const std::string place =
      PlaceForTest(SqlDialect::kPostgres, directory_.path(), "faults at commits");
  if (place.empty()) GTEST_SKIP();
  std::unique_ptr<Catalog> catalog = Open(place);
  const auto run = [&](const std::string& sql) {
    const Status done =
        catalog->Write([&](Transaction& t) { return t.sql().Run(sql, {}).status(); });
    ASSERT_TRUE(done.ok()) << sql << ": " << done.ToString();
  };
  run("CREATE SEQUENCE fault_count");
  run("CREATE TABLE fault (at bigint, how text)");
  run("INSERT INTO fault VALUES (0, 'raise')");
  run("CREATE FUNCTION fault_here() RETURNS trigger LANGUAGE plpgsql AS $f$ DECLARE f record; "
      "BEGIN "
      "SELECT * INTO f FROM fault; "
      "IF f.at > 0 AND nextval('fault_count') = f.at THEN "
      "IF f.how = 'cut' THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); "
      "END IF; RAISE EXCEPTION 'planted'; END IF; "
      "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $f$");
  for (const char* table :
       {"runs", "operations", "answered_requests", "audit_records", "access_settings"}) {
    run(
        fmt::format("CREATE TRIGGER fault_in_{0} BEFORE INSERT OR UPDATE OR DELETE ON {0} FOR EACH "
                    "ROW EXECUTE FUNCTION fault_here()",
                    table));
  }
  run("CREATE CONSTRAINT TRIGGER fault_at_commit AFTER INSERT ON audit_records DEFERRABLE "
      "INITIALLY "
      "DEFERRED FOR EACH ROW EXECUTE FUNCTION fault_here()");
  int64_t records = 0;
  std::set<std::string> errors;
  for (const char* how : {"raise", "cut"}) {
    int at = 1;
    for (bool through = false; !through; ++at) {
      ASSERT_LT(at, 100);
      run(fmt::format("UPDATE fault SET at = {}, how = '{}'", at, how));
      run("SELECT setval('fault_count', 1, false)");
      AuditTrail trail = Trail();
      const Status done = Change(*catalog, &trail);
      run("UPDATE fault SET at = 0");
      const int seen = Seen(*catalog, records);
      EXPECT_GE(seen, 0) << "half of it after write " << at << ", " << how;
      EXPECT_EQ(trail.written.size(), done.ok() ? 1u : 0u);
      if (!done.ok()) {
        errors.insert(std::string(done.name()));
        EXPECT_EQ(seen, 0) << at << " " << how << ": " << done.ToString();
        continue;
      }
      through = true;
      EXPECT_EQ(seen, 1);
      ++records;
      run("DELETE FROM runs");
      run("DELETE FROM operations");
      run("DELETE FROM answered_requests");
    }
    std::printf("audit faults on PostgreSQL: %d writes and the commit, %s\n", at - 3, how);
    EXPECT_GE(at - 2, 6);
  }
  EXPECT_TRUE(errors.contains("CATALOG_COMMIT_UNKNOWN")) << "the commit itself was cut";
}

TEST_F(AuditFaultTest, WithoutARecordNothingIsChanged) {
  const std::unique_ptr<Catalog> catalog = Open(directory_.path() + "/c.db");
  ASSERT_TRUE(catalog
                  ->Write([](Transaction& t) {
                    return t.Insert(AccessSetting{"audit-head", "not readable"});
                  })
                  .ok());
  AuditTrail trail = Trail();
  EXPECT_EQ(Change(*catalog, &trail).name(), "AUDIT_DAMAGED");
  EXPECT_EQ(
      catalog
          ->Read([](Transaction& t) { return t.Get<catalog::Run>({"p", "l", "", kRun}).status(); })
          .name(),
      "RUN_NOT_FOUND");
  EXPECT_TRUE(Change(*catalog, nullptr).ok()) << "where no record is kept none is needed";
}

}  // namespace
}  // namespace strobe::catalog
