// Metrics and configs on SQLite and on a real PostgreSQL.
#include "src/catalog/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "src/catalog/metric_series.h"
#include "src/catalog/postgres_for_test.h"
#include "src/catalog/rules.h"
#include "src/storage/test_directory.h"

namespace strobe::catalog {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kSecondNs = 1'000'000'000;

Series Fold(const std::vector<std::vector<StoredPoint>>& curves, const SeriesQuery& query = {}) {
  return FoldPoints(curves, query);
}

class MetricsTest : public testing::TestWithParam<SqlDialect> {
 protected:
  void SetUp() override {
    const std::string place = PlaceForTest(GetParam(), directory_.path(), "metrics");
    if (place.empty()) GTEST_SKIP();
    Result<std::unique_ptr<Catalog>> opened = Catalog::Open({.place = place}, clock_, random_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    catalog_ = std::move(opened).value();
    catalog::Run run;
    run.project = run_.project;
    run.location = run_.location;
    run.id = run_.id;
    run.body = "{}";
    Write([&](Transaction& transaction) { return transaction.Insert(run); });
  }
  void Write(const std::function<Status(Transaction&)>& work) {
    const Status done = catalog_->Write(work);
    ASSERT_TRUE(done.ok()) << done.ToString();
  }
  MetricsTaken Append(const MetricBatch& batch) {
    MetricsTaken taken;
    Write([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(taken, AppendMetrics(transaction, run_, {&batch, 1}));
      return OkStatus();
    });
    return taken;
  }
  std::vector<MetricCurve> Curves() {
    std::vector<MetricCurve> curves;
    Write([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(curves, MetricCurvesOf(transaction, run_));
      return OkStatus();
    });
    return curves;
  }
  std::vector<StoredPoint> Points(const MetricCurve& curve) {
    std::vector<StoredPoint> points;
    Write([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(points, PointsOf(transaction, curve));
      return OkStatus();
    });
    return points;
  }
  int64_t CountRows(const std::string& table) {
    int64_t count = 0;
    Write([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(const SqlRows rows,
                              transaction.sql().Run("SELECT COUNT(*) FROM " + table, {}));
      count = std::get<int64_t>(rows.rows.at(0).at(0));
      return OkStatus();
    });
    return count;
  }
  static MetricBatch Loss(int64_t from, int64_t to) {
    MetricBatch batch{.name = "loss", .host = "h0", .unit = "1"};
    for (int64_t step = from; step < to; ++step) {
      batch.points.push_back({step * kSecondNs, step, static_cast<double>(step)});
    }
    return batch;
  }

  const Key run_{"p", "l", "", "r"};
  storage::TestDirectory directory_;
  FakeClock clock_;
  SeededRandom random_{7};
  std::unique_ptr<Catalog> catalog_;
};

INSTANTIATE_TEST_SUITE_P(Both, MetricsTest,
                         testing::Values(SqlDialect::kSqlite, SqlDialect::kPostgres),
                         [](const auto& each) {
                           return each.param == SqlDialect::kSqlite ? "Sqlite" : "Postgres";
                         });

TEST_P(MetricsTest, PointsComeBackAsTheyCame) {
  EXPECT_EQ(Append(Loss(0, 3)).points, 3);
  EXPECT_EQ(Append(Loss(3, 600)).points, 597);
  const std::vector<MetricCurve> curves = Curves();
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_EQ(curves[0].point_count, 600);
  EXPECT_EQ(curves[0].kept_count, 600);
  EXPECT_EQ(curves[0].last_step, 599);
  EXPECT_EQ(curves[0].last, "599");
  EXPECT_EQ(NumberOf(curves[0].sum), 599 * 600 / 2);
  const std::vector<StoredPoint> points = Points(curves[0]);
  ASSERT_EQ(points.size(), 600u);
  for (int64_t step = 0; step < 600; ++step) {
    EXPECT_EQ(points[static_cast<size_t>(step)].step, step);
    EXPECT_EQ(points[static_cast<size_t>(step)].sum, static_cast<double>(step));
  }
}

TEST_P(MetricsTest, TheSameRequestAgainAddsNothing) {
  Append(Loss(0, 10));
  const MetricsTaken again = Append(Loss(0, 12));
  EXPECT_EQ(again.repeated, 10);
  EXPECT_EQ(again.points, 2);
  EXPECT_EQ(Points(Curves()[0]).size(), 12u);
}

TEST_P(MetricsTest, LongCurvesAreCombinedAndStayTrue) {
  constexpr int64_t kCount = 40'000;
  for (int64_t step = 0; step < kCount; step += 4000) Append(Loss(step, step + 4000));
  const MetricCurve curve = Curves()[0];
  EXPECT_EQ(curve.point_count, kCount);
  const std::vector<StoredPoint> points = Points(curve);
  EXPECT_EQ(static_cast<int64_t>(points.size()), curve.kept_count);
  EXPECT_LT(points.size(), 16'000u);
  int64_t count = 0;
  double sum = 0;
  int64_t raw = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    count += points[i].count;
    sum += points[i].sum;
    raw += points[i].count == 1 ? 1 : 0;
    // In order, and without a hole between one and the next.
    EXPECT_EQ(points[i].minimum, static_cast<double>(points[i].step));
    EXPECT_EQ(points[i].maximum, static_cast<double>(points[i].step + points[i].count - 1));
    if (i > 0) EXPECT_EQ(points[i].step, points[i - 1].step + points[i - 1].count);
  }
  EXPECT_EQ(count, kCount);
  EXPECT_EQ(sum, static_cast<double>(kCount) * (kCount - 1) / 2);
  EXPECT_GE(raw, 8192);
  EXPECT_LE(CountRows("metric_blocks"), 40 + 16 + 16);
}

TEST_P(MetricsTest, HostsAndLabelsAreCurvesOfTheirOwn) {
  for (const char* host : {"h0", "h1"}) {
    for (const char* phase : {"train", "eval"}) {
      Append({.name = "loss",
              .host = host,
              .labels = {{"phase", phase}},
              .points = {{kSecondNs, 1, 1}}});
    }
  }
  std::vector<std::string> seen;
  for (const MetricCurve& curve : Curves()) seen.push_back(curve.host + curve.labels);
  EXPECT_THAT(seen, ElementsAre(R"(h0{"phase":"eval"})", R"(h1{"phase":"eval"})",
                                R"(h0{"phase":"train"})", R"(h1{"phase":"train"})"));
}

TEST_P(MetricsTest, WhatIsNotFiniteIsCountedAndSpoilsNothing) {
  const double nan = std::nan("");
  Append({.name = "loss", .points = {{1, 1, nan}, {2, 2, 4}, {3, 3, HUGE_VAL}}});
  Append({.name = "loss", .points = {{1, 1, nan}}});
  const MetricCurve curve = Curves()[0];
  EXPECT_EQ(curve.not_finite_count, 2);
  EXPECT_EQ(curve.point_count, 3);
  EXPECT_EQ(curve.minimum, "4");
  EXPECT_EQ(curve.maximum, "4");
  const std::vector<StoredPoint> points = Points(curve);
  const Series series = Fold({points});
  EXPECT_TRUE(std::isnan(series.mean[0]));
  EXPECT_EQ(series.mean[1], 4);
}

TEST_P(MetricsTest, BoundsHold) {
  EXPECT_EQ(Append({.name = "", .points = {{1, 1, 1}}}).refused, 1);
  EXPECT_EQ(Append({.name = std::string(300, 'x'), .points = {{1, 1, 1}}}).refused, 1);
  EXPECT_EQ(Append({.name = "\xff", .points = {{1, 1, 1}}}).refused, 1);
  std::vector<MetricBatch> many;
  for (int64_t i = 0; i < kMaxCurvesPerRun + 5; ++i) {
    many.push_back({.name = "m" + std::to_string(i), .points = {{1, 1, 1}}});
  }
  MetricsTaken taken;
  Write([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(taken, AppendMetrics(transaction, run_, many));
    return OkStatus();
  });
  EXPECT_EQ(taken.points, kMaxCurvesPerRun);
  EXPECT_EQ(taken.refused, 5);
  EXPECT_EQ(catalog_
                ->Write([&](Transaction& transaction) {
                  return AppendMetrics(transaction, {"p", "l", "", "nosuch"}, many).status();
                })
                .name(),
            "RUN_NOT_FOUND");
}

TEST_P(MetricsTest, ConfigsAreSetAndGoWithTheRun) {
  Append(Loss(0, 3));
  Write([&](Transaction& t) { return SetRunConfigs(t, run_, {{"a", "1"}, {"b", "2"}}).status(); });
  Write([&](Transaction& t) { return SetRunConfigs(t, run_, {{"b", "3"}}).status(); });
  std::vector<std::string> seen;
  Write([&](Transaction& t) -> Status {
    STROBE_ASSIGN_OR_RETURN(const std::vector<RunConfig> configs, RunConfigsOf(t, run_));
    for (const RunConfig& config : configs) seen.push_back(config.id + "=" + config.value);
    return OkStatus();
  });
  EXPECT_THAT(seen, ElementsAre("a=1", "b=3"));
  Write([&](Transaction& t) { return DeleteRun(t, run_, /*force=*/false); });
  EXPECT_EQ(CountRows("metric_blocks") + CountRows("metric_curves") + CountRows("run_configs"), 0);
}

// ---- without a database

std::vector<StoredPoint> Ramp(int64_t count, double add = 0) {
  std::vector<StoredPoint> points;
  for (int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(i) + add;
    points.push_back({i * kSecondNs, i, 1, value, value, value});
  }
  return points;
}

TEST(MetricSeries, EveryStepForItselfWhileThereIsRoom) {
  const std::vector<StoredPoint> ramp = Ramp(3);
  const Series series = Fold({ramp}, {.max_points = 3});
  EXPECT_FALSE(series.bucket_width);
  EXPECT_THAT(series.x, ElementsAre(0, 1, 2));
  EXPECT_THAT(series.mean, ElementsAre(0, 1, 2));
  EXPECT_THAT(series.count, ElementsAre(1, 1, 1));
}

TEST(MetricSeries, BucketsHoldTheExtremes) {
  const std::vector<StoredPoint> ramp = Ramp(1000);
  const Series series = Fold({ramp}, {.max_points = 10});
  EXPECT_EQ(series.bucket_width, 100);
  ASSERT_EQ(series.x.size(), 10u);
  EXPECT_EQ(series.x[9], 900);
  EXPECT_EQ(series.minimum[9], 900);
  EXPECT_EQ(series.maximum[9], 999);
  EXPECT_EQ(series.mean[9], 949.5);
  EXPECT_EQ(series.point_count, 1000);
}

TEST(MetricSeries, HostsAreFolded) {
  const std::vector<std::vector<StoredPoint>> hosts = {Ramp(3), Ramp(3, 10)};
  const Series series = Fold(hosts);
  EXPECT_THAT(series.minimum, ElementsAre(0, 1, 2));
  EXPECT_THAT(series.mean, ElementsAre(5, 6, 7));
  EXPECT_THAT(series.maximum, ElementsAre(10, 11, 12));
}

TEST(MetricSeries, SpansByTimeAndStep) {
  const std::vector<std::vector<StoredPoint>> ramp = {Ramp(10)};
  EXPECT_THAT(Fold(ramp, {.from = 3, .to = 4}).x, ElementsAre(3, 4));
  EXPECT_THAT(Fold(ramp, {.by = SeriesBy::kTime, .from = 3000, .to = 4999}).x,
              ElementsAre(3000, 4000));
  EXPECT_THAT(Fold(ramp, {.from = 30}).x, IsEmpty());
  EXPECT_THAT(Fold({}).x, IsEmpty());
}

TEST(MetricSeries, StepsAtBothEndsOfTheNumbers) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::vector<StoredPoint> points;
  for (const int64_t step : {kNoStep + 1, int64_t{0}, kMax})
    points.push_back({1, step, 1, 1, 1, 1});
  const Series series = Fold({points}, {.max_points = 2});
  EXPECT_EQ(series.x.size(), 2u);
  EXPECT_THAT(series.count, ElementsAre(2, 1));
}

TEST(MetricPoints, AStepThatGoesBackBeginsAnew) {
  std::vector<StoredPoint> points = Ramp(4);
  const std::vector<StoredPoint> again = Ramp(4);
  points.insert(points.end(), again.begin(), again.end());
  const std::vector<StoredPoint> combined = CombinePoints(points);
  ASSERT_EQ(combined.size(), 2u);
  EXPECT_EQ(combined[1].step, 0);
  EXPECT_EQ(combined[1].count, 4);
}

TEST(MetricPoints, DamageIsTold) {
  EXPECT_EQ(DecodePoints("!!", false).status().name(), "METRIC_DAMAGED");
  EXPECT_EQ(DecodePoints("AAAA", true).status().name(), "METRIC_DAMAGED");
  EXPECT_TRUE(DecodePoints("", true)->empty());
}

}  // namespace
}  // namespace strobe::catalog
