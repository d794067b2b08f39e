// What a point costs on its way in, and a curve on its way out; on SQLite, on the disk below
// TMPDIR.
#include <benchmark/benchmark.h>

#include "src/base/ids.h"
#include "src/catalog/catalog.h"
#include "src/catalog/metric_series.h"
#include "src/catalog/metrics.h"
#include "src/storage/test_directory.h"

namespace strobe::catalog {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

struct Place {
  Place() {
    catalog =
        Catalog::Open({.place = directory.path() + "/c.db"}, SystemClock(), SystemRandom()).value();
    Write([&](Transaction& transaction) {
      Run record;
      record.project = run.project;
      record.location = run.location;
      record.id = run.id;
      record.body = "{}";
      return transaction.Insert(record);
    });
  }
  void Write(const std::function<Status(Transaction&)>& work) {
    STROBE_CHECK(catalog->Write(work).ok());
  }
  // `curves` metrics, each with the steps from `from` on.
  std::vector<MetricBatch> Batches(int64_t curves, int64_t from, int64_t count) const {
    std::vector<MetricBatch> batches;
    for (int64_t c = 0; c < curves; ++c) {
      MetricBatch batch{.name = "metric" + std::to_string(c), .host = "h", .unit = "1"};
      for (int64_t step = from; step < from + count; ++step) {
        batch.points.push_back({step * kSecondNs, step, 1.0 / static_cast<double>(step + 1)});
      }
      batches.push_back(std::move(batch));
    }
    return batches;
  }

  storage::TestDirectory directory;
  Key run{"p", "l", "", "r"};
  std::unique_ptr<Catalog> catalog;
};

// One request of an exporter: ten metrics, a few points each.
void BM_Append(benchmark::State& state) {
  Place place;
  const int64_t count = state.range(0);
  int64_t step = 0;
  for (auto _ : state) {
    const std::vector<MetricBatch> batches = place.Batches(10, step, count);
    place.Write([&](Transaction& transaction) {
      return AppendMetrics(transaction, place.run, batches).status();
    });
    step += count;
  }
  state.SetItemsProcessed(state.iterations() * 10 * count);
}
BENCHMARK(BM_Append)->Arg(1)->Arg(20)->Unit(benchmark::kMicrosecond);

// A curve of a million points as a chart of 500.
void BM_Series(benchmark::State& state) {
  Place place;
  const int64_t count = state.range(0);
  constexpr int64_t kAtOnce = 10'000;
  for (int64_t step = 0; step < count; step += kAtOnce) {
    const std::vector<MetricBatch> batches = place.Batches(1, step, kAtOnce);
    place.Write([&](Transaction& transaction) {
      return AppendMetrics(transaction, place.run, batches).status();
    });
  }
  size_t kept = 0;
  for (auto _ : state) {
    place.Write([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(const std::vector<MetricCurve> curves,
                              MetricCurvesOf(transaction, place.run));
      std::vector<std::vector<StoredPoint>> points(1);
      STROBE_ASSIGN_OR_RETURN(points[0], PointsOf(transaction, curves[0]));
      kept = points[0].size();
      benchmark::DoNotOptimize(FoldPoints(points, {.max_points = 500}));
      return OkStatus();
    });
  }
  int64_t bytes = 0;
  place.Write([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(
        const SqlRows rows,
        transaction.sql().Run("SELECT SUM(LENGTH(points)) FROM metric_blocks", {}));
    bytes = std::get<int64_t>(rows.rows.at(0).at(0));
    return OkStatus();
  });
  state.counters["kept_points"] = static_cast<double>(kept);
  state.counters["kept_bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Series)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace strobe::catalog
