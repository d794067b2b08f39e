// 100,000 runs listed page by page, on SQLite and on a real PostgreSQL: every run once, whatever
// the order and the filter, the last page as soon as the first, and never more in memory than a
// page.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <unordered_set>

#include "src/catalog/catalog.h"
#include "src/catalog/many_runs_for_test.h"
#include "src/catalog/postgres_for_test.h"
#include "src/storage/test_directory.h"

namespace strobe::catalog {
namespace {

constexpr int64_t kRuns = 100'000;
constexpr int64_t kBodyBytes = 2048;  // 200 MB in all
// A page is 3 MB; the sanitizers of the tests keep up to 256 MB of what was freed.
constexpr int64_t kMaxGrowthKb = 400 * 1024;

int64_t PeakMemoryKb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t value = 0;
    if (word == "VmHWM:" && status >> value) return value;
  }
  return 0;
}

// So that the next peak is that of what follows.
void ForgetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

class ManyRunsTest : public testing::TestWithParam<SqlDialect> {
 protected:
  void SetUp() override {
    const std::string place = PlaceForTest(GetParam(), directory_.path(), "100,000 runs");
    if (place.empty()) GTEST_SKIP();
    Result<std::unique_ptr<Catalog>> opened = Catalog::Open({.place = place}, clock_, random_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    catalog_ = std::move(opened).value();
    const auto begin = std::chrono::steady_clock::now();
    const Status made = InsertManyRuns(*catalog_, kRuns, kBodyBytes);
    std::printf("made in %.1f s\n",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    ASSERT_TRUE(made.ok()) << made.ToString();
  }

  struct Listed {
    int64_t runs = 0;
    int64_t pages = 0;
    double first_ms = 0;  // of a quarter of the pages, at the beginning
    double last_ms = 0;   // and at the end
  };
  Listed ListAll(ListQuery query) {
    Listed listed;
    std::unordered_set<std::string> seen;
    std::vector<double> times_ms;
    do {
      Page<catalog::Run> page;
      const auto begin = std::chrono::steady_clock::now();
      const Status read = catalog_->Read([&](Transaction& transaction) -> Status {
        STROBE_ASSIGN_OR_RETURN(page, transaction.List<catalog::Run>(query));
        return OkStatus();
      });
      times_ms.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
              .count());
      EXPECT_TRUE(read.ok()) << read.ToString();
      if (!read.ok()) break;
      EXPECT_LE(static_cast<int64_t>(page.items.size()), kMaxPageSize);
      for (const catalog::Run& run : page.items) {
        EXPECT_TRUE(seen.insert(run.id).second) << run.id << " came twice";
      }
      query.page_token = page.next_page_token;
    } while (!query.page_token.empty());
    listed.runs = static_cast<int64_t>(seen.size());
    listed.pages = static_cast<int64_t>(times_ms.size());
    const size_t quarter = times_ms.size() / 4;
    for (size_t i = 0; i < quarter; ++i) {
      listed.first_ms += times_ms[i];
      listed.last_ms += times_ms[times_ms.size() - 1 - i];
    }
    std::printf("%lld runs, %lld pages of \"%s\" \"%s\": first quarter %.0f ms, last %.0f ms\n",
                static_cast<long long>(listed.runs), static_cast<long long>(listed.pages),
                query.filter.c_str(), query.order_by.c_str(), listed.first_ms, listed.last_ms);
    return listed;
  }

  storage::TestDirectory directory_;
  FakeClock clock_;
  SeededRandom random_{7};
  std::unique_ptr<Catalog> catalog_;
};

INSTANTIATE_TEST_SUITE_P(Both, ManyRunsTest,
                         testing::Values(SqlDialect::kSqlite, SqlDialect::kPostgres),
                         [](const auto& each) {
                           return each.param == SqlDialect::kSqlite ? "Sqlite" : "Postgres";
                         });

TEST_P(ManyRunsTest, AreListedPageByPageInBoundedTimeAndMemory) {
  ForgetPeakMemory();
  const int64_t before_kb = PeakMemoryKb();
  ASSERT_GT(before_kb, 0);
  // Of one place and of all, as the console asks.
  for (const char* location : {"l", "-"}) {
    const Listed all = ListAll({.parent = {"p", location, "", ""}, .page_size = 1000});
    EXPECT_EQ(all.runs, location[0] == '-' ? kRuns : kRuns / 2);
    EXPECT_EQ(all.pages, all.runs / 1000);
    // Where a page begins costs nothing: without a seek the last quarter takes many times as long.
    EXPECT_LT(all.last_ms, 4 * all.first_ms + 100);
  }
  // A filter with few hits and another order: every page of these may look at all runs.
  EXPECT_EQ(ListAll({.parent = {"p", "-", "", ""},
                     .filter = "run_set = \"set 7\"",
                     .order_by = "display_name",
                     .page_size = 500})
                .runs,
            kRuns / 40);
  EXPECT_EQ(ListAll({.parent = {"p", "-", "", ""},
                     .filter = "create_time < 2023-11-14T22:13:21Z",
                     .order_by = "create_time",
                     .page_size = 1000})
                .runs,
            kRuns);
  EXPECT_LT(PeakMemoryKb() - before_kb, kMaxGrowthKb);
}

}  // namespace
}  // namespace strobe::catalog
