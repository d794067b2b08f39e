// Listing 100,000 runs page by page, on SQLite and, where it is installed, on PostgreSQL: the time
// of a page at the beginning and at the end of the list, of all, and what memory it takes.
#include <benchmark/benchmark.h>

#include <fstream>

#include "src/base/ids.h"
#include "src/catalog/catalog.h"
#include "src/catalog/many_runs_for_test.h"
#include "src/catalog/postgres_for_test.h"
#include "src/storage/test_directory.h"

namespace strobe::catalog {
namespace {

constexpr int64_t kRuns = 100'000;
constexpr int64_t kBodyBytes = 1024;

int64_t PeakMemoryKb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t value = 0;
    if (word == "VmHWM:" && status >> value) return value;
  }
  return 0;
}

struct Place {
  explicit Place(SqlDialect dialect) {
    const std::string place = PlaceForTest(dialect, directory.path(), "100,000 runs");
    if (place.empty()) return;
    catalog = Catalog::Open({.place = place}, SystemClock(), SystemRandom()).value();
    STROBE_CHECK(InsertManyRuns(*catalog, kRuns, kBodyBytes).ok());
  }
  static Place& Of(SqlDialect dialect) {
    static Place sqlite(SqlDialect::kSqlite);
    static Place postgres(SqlDialect::kPostgres);
    return dialect == SqlDialect::kSqlite ? sqlite : postgres;
  }
  Page<Run> ListPage(const ListQuery& query) {
    Page<Run> page;
    const Status read = catalog->Read([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(page, transaction.List<Run>(query));
      return OkStatus();
    });
    STROBE_CHECK(read.ok());
    return page;
  }

  storage::TestDirectory directory;
  std::unique_ptr<Catalog> catalog;
};

ListQuery QueryOf(int64_t order) {
  constexpr const char* kOrders[] = {"", "create_time", "display_name"};
  return {.parent = {"p", "-", "", ""}, .order_by = kOrders[order], .page_size = kMaxPageSize};
}

// Arguments: the database, the order.
void BM_ListAll(benchmark::State& state) {
  Place& place = Place::Of(static_cast<SqlDialect>(state.range(0)));
  if (place.catalog == nullptr) {
    state.SkipWithError("no PostgreSQL");
    return;
  }
  std::ofstream("/proc/self/clear_refs") << "5";
  const int64_t before_kb = PeakMemoryKb();
  int64_t runs = 0;
  for (auto _ : state) {
    ListQuery query = QueryOf(state.range(1));
    do {
      const Page<Run> page = place.ListPage(query);
      runs += static_cast<int64_t>(page.items.size());
      query.page_token = page.next_page_token;
    } while (!query.page_token.empty());
  }
  STROBE_CHECK(runs == kRuns * state.iterations());
  state.SetItemsProcessed(runs);
  state.counters["peak_growth_kb"] = static_cast<double>(PeakMemoryKb() - before_kb);
}
BENCHMARK(BM_ListAll)
    ->ArgNames({"postgres", "order"})
    ->ArgsProduct({{0, 1}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// Arguments: the database, the page.
void BM_ListPage(benchmark::State& state) {
  Place& place = Place::Of(static_cast<SqlDialect>(state.range(0)));
  if (place.catalog == nullptr) {
    state.SkipWithError("no PostgreSQL");
    return;
  }
  ListQuery query = QueryOf(0);
  for (int64_t page = 0; page < state.range(1); ++page) {
    query.page_token = place.ListPage(query).next_page_token;
  }
  for (auto _ : state) benchmark::DoNotOptimize(place.ListPage(query));
}
BENCHMARK(BM_ListPage)
    ->ArgNames({"postgres", "page"})
    ->ArgsProduct({{0, 1}, {0, 99}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strobe::catalog
