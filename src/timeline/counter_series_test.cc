#include "src/timeline/counter_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/ids.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::timeline {
namespace {

using ::testing::ElementsAre;
using xplane::LineBuilder;
using xplane::PlaneBuilder;

std::shared_ptr<xplane::ProfileFile> Open(std::string bytes) {
  auto opened = xplane::ProfileFile::Open(storage::OwnBytes(std::move(bytes)), {});
  EXPECT_TRUE(opened.ok()) << opened.status().ToString();
  return *opened;
}

TEST(CounterReaderTest, EachNameAndStatIsASeries) {
  xplane::XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  LineBuilder& line = plane.AddLine(1, "_counters_", 0);
  const int64_t memory = plane.AddEventMetadata("HBM bytes");
  const int64_t other = plane.AddEventMetadata("load %");
  // Not in order of time, with a text, a link and two numbers.
  line.AddEvent(memory, 3000, 0)
      .AddStat(plane.StatId("used"), uint64_t{30})
      .AddStat(plane.StatId("free"), 0.5);
  line.AddEvent(memory, 1000, 0)
      .AddStat(plane.StatId("used"), int64_t{-10})
      .AddStat(plane.StatId("cat"), std::string_view("text"))
      .AddStat(plane.StatId("_r"), uint64_t{1});
  line.AddEvent(other, 2000, 0).AddStat(plane.StatId("value"), uint64_t{7});
  const auto file = Open(space.Serialize());
  CounterReader reader(*file, 0, /*shift_ps=*/5, 100);
  ASSERT_TRUE(reader.AddCounterLine(0, CancelToken()).ok());
  EXPECT_FALSE(reader.truncated());
  const std::vector<CounterSeries> series = std::move(reader).Finish();
  ASSERT_EQ(series.size(), 3u);
  EXPECT_EQ(series[0].group + "/" + series[0].name, "HBM bytes/free");
  EXPECT_EQ(series[1].group + "/" + series[1].name, "HBM bytes/used");
  EXPECT_THAT(series[1].time_ps, ElementsAre(1005, 3005));
  EXPECT_THAT(series[1].value, ElementsAre(-10, 30));
  EXPECT_EQ(series[1].unit, "bytes");
  EXPECT_EQ(series[2].unit, "percent");
  EXPECT_EQ(series[2].line, 0u);
}

TEST(CounterReaderTest, MemoryIsByAllocatorOverAllThreads) {
  xplane::XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t take = plane.AddEventMetadata("MemoryAllocation");
  const int64_t give = plane.AddEventMetadata("MemoryDeallocation");
  const int64_t torch = plane.AddEventMetadata("[memory]");
  const auto add = [&](LineBuilder& line, int64_t name, int64_t at_ps, std::string_view allocator,
                       int64_t bytes) {
    line.AddEvent(name, at_ps, 0)
        .AddStat(plane.StatId("allocator_name"), allocator)
        .AddStat(plane.StatId("bytes_allocated"), bytes)
        .AddStat(plane.StatId("bytes_reserved"), int64_t{1});
  };
  LineBuilder& first = plane.AddLine(1, "a", 0);
  add(first, take, 10, "gpu0", 100);
  add(first, give, 30, "gpu0", 50);
  LineBuilder& second = plane.AddLine(2, "b", 0);
  add(second, take, 20, "gpu0", 150);
  add(second, take, 5, "cpu", 7);
  second.AddEvent(torch, 40, 0)
      .AddStat(plane.StatId("Total Allocated"), int64_t{500})
      .AddStat(plane.StatId("Total Reserved"), int64_t{900})
      .AddStat(plane.StatId("Device Type"), int64_t{1})
      .AddStat(plane.StatId("Device Id"), int64_t{3});
  const auto file = Open(space.Serialize());
  CounterReader reader(*file, 0, 0, 100);
  ASSERT_TRUE(reader.AddMemory(CancelToken()).ok());
  const std::vector<CounterSeries> series = std::move(reader).Finish();
  ASSERT_EQ(series.size(), 4u);
  EXPECT_EQ(series[0].group, "GPU 3");
  EXPECT_EQ(series[0].name, "in use");
  EXPECT_THAT(series[1].value, ElementsAre(900));
  EXPECT_EQ(series[2].group, "cpu");
  EXPECT_EQ(series[3].kind, SeriesKind::kMemory);
  EXPECT_THAT(series[3].time_ps, ElementsAre(10, 20, 30));
  EXPECT_THAT(series[3].value, ElementsAre(101, 151, 51));
}

TEST(CounterReaderTest, WhatIsLeftOutIsTold) {
  xplane::XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("p");
  LineBuilder& line = plane.AddLine(1, "_counters_", 0);
  const int64_t name = plane.AddEventMetadata("c");
  for (int i = 0; i < 5; ++i) line.AddEvent(name, i, 0).AddStat(plane.StatId("v"), int64_t{i});
  const auto file = Open(space.Serialize());
  CounterReader reader(*file, 0, 0, 3);
  ASSERT_TRUE(reader.AddCounterLine(0, CancelToken()).ok());
  EXPECT_TRUE(reader.truncated());
  CancelSource gone;
  gone.Cancel();
  EXPECT_EQ(reader.AddCounterLine(0, gone.token()).name(), "CANCELLED");
}

TEST(SummarizeSeriesTest, AgreesWithLookingAtEverySample) {
  SeededRandom random(5);
  for (int round = 0; round < 50; ++round) {
    CounterSeries series;
    int64_t time = -1000;
    for (uint64_t i = random.Next() % 300; i > 0; --i) {
      time += static_cast<int64_t>(random.Next() % 50);
      series.time_ps.push_back(time);
      series.value.push_back(static_cast<double>(random.Next() % 1000) - 500);
    }
    const int64_t from = -1200 + static_cast<int64_t>(random.Next() % 4000);
    const int64_t to = from + static_cast<int64_t>(random.Next() % 5000);
    const size_t buckets = 1 + random.Next() % 40;
    const SeriesBuckets shown = SummarizeSeries(series, from, to, buckets);
    std::vector<std::vector<double>> expected(buckets);
    std::optional<SeriesSample> before;
    for (size_t i = 0; i < series.time_ps.size(); ++i) {
      const int64_t t = series.time_ps[i];
      if (t < from) before = SeriesSample{t, series.value[i]};
      if (t < from || t >= to) continue;
      expected[static_cast<size_t>((t - from) * static_cast<int64_t>(buckets) / (to - from))]
          .push_back(series.value[i]);
    }
    ASSERT_EQ(shown.before.has_value(), before.has_value());
    if (before) {
      EXPECT_EQ(shown.before->value, before->value);
    }
    for (size_t b = 0; b < buckets; ++b) {
      ASSERT_EQ(shown.count[b], expected[b].size());
      if (expected[b].empty()) continue;
      EXPECT_EQ(shown.min[b], *std::ranges::min_element(expected[b]));
      EXPECT_EQ(shown.max[b], *std::ranges::max_element(expected[b]));
      EXPECT_EQ(shown.last[b], expected[b].back());
      double sum = 0;
      for (const double value : expected[b]) sum += value;
      EXPECT_DOUBLE_EQ(shown.mean[b], sum / static_cast<double>(expected[b].size()));
    }
  }
}

TEST(SummarizeSeriesTest, TheWholeOfTimeDoesNotOverflow) {
  CounterSeries series;
  series.time_ps = {INT64_MIN, 0, INT64_MAX - 1};
  series.value = {1, 2, 3};
  const SeriesBuckets shown = SummarizeSeries(series, INT64_MIN, INT64_MAX, 2);
  EXPECT_EQ(shown.samples, 3u);
  EXPECT_THAT(shown.count, ElementsAre(1, 2));
}

}  // namespace
}  // namespace strobe::timeline
