#include "src/analysis/op_line_facts.h"

#include <gtest/gtest.h>

#include <thread>

#include "src/analysis/op_profile_for_test.h"

namespace strobe::analysis {
namespace {

using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

std::shared_ptr<const OpLineFacts> FactsOf(const xplane::ProfileFile& file, size_t line) {
  OpLineCache cache(file);
  return *cache.Of(0, line, CancelToken());
}

TEST(OpLineFactsTest, OnlyEventsWithBothTimesHaveTheirOwn) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  const int64_t op = AddTpuOp(&plane, {.name = "a", .symbol = 1});
  const int64_t offset = plane.StatId("device_offset_ps");
  const int64_t duration = plane.StatId("device_duration_ps");
  LineBuilder& some = plane.AddLine(1, "XLA Ops", 0);
  some.AddEvent(op, 0, 10).AddStat(offset, int64_t{100});
  some.AddEvent(op, 20, 10).AddStat(offset, int64_t{200}).AddStat(duration, int64_t{7});
  some.AddEvent(op, 40, 10).AddStat(offset, uint64_t{300}).AddStat(duration, int64_t{-1});
  LineBuilder& none = plane.AddLine(2, "XLA Ops", 0);
  none.AddEvent(op, 0, 10).AddStat(duration, int64_t{5});
  LineBuilder& others = plane.AddLine(3, "XLA Ops", 0);
  others.AddEvent(op, 0, 10).AddStat(plane.StatId("vdd_energy_j"), 0.5);
  others.AddEvent(op, 20, 10).AddStat(plane.StatId("group_id"), int64_t{1});
  plane.AddLine(4, "XLA Ops", 0).AddEvent(op, 0, 10);
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(space.Serialize());

  const auto facts = FactsOf(*file, 0);
  ASSERT_TRUE(facts->any_own_times());
  EXPECT_FALSE(facts->HasOwnTime(0));
  EXPECT_EQ(facts->OwnSpan(1).start_ps, 200);
  EXPECT_EQ(facts->OwnSpan(1).duration_ps, 7);
  ASSERT_TRUE(facts->HasOwnTime(2));
  EXPECT_EQ(facts->OwnSpan(2).start_ps, 300);
  EXPECT_EQ(facts->OwnSpan(2).duration_ps, 0) << "a negative one is none";
  EXPECT_FALSE(facts->any_others() || facts->any_groups());

  EXPECT_FALSE(FactsOf(*file, 1)->any_own_times());
  EXPECT_TRUE(FactsOf(*file, 2)->any_others());
  EXPECT_TRUE(FactsOf(*file, 2)->any_groups());
  EXPECT_FALSE(FactsOf(*file, 3)->any_own_times());
}

TEST(OpLineFactsTest, EveryOpLineOfATpuIsReadOnce) {
  XSpaceBuilder space;
  for (const char* name : {"/device:TPU:0", "/device:TPU:1", "/host:CPU"}) {
    PlaneBuilder& plane = space.AddPlane(name);
    const int64_t op = AddTpuOp(&plane, {.name = "a", .symbol = 1});
    plane.AddLine(1, "XLA Ops", 0)
        .AddEvent(op, 0, 10)
        .AddStat(plane.StatId("device_offset_ps"), int64_t{1})
        .AddStat(plane.StatId("device_duration_ps"), int64_t{2});
  }
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(space.Serialize());
  OpLineCache cache(*file);
  const uint64_t empty_bytes = cache.resident_bytes();
  ASSERT_TRUE(cache.ReadAll(CancelToken()).ok());
  const uint64_t read_bytes = cache.resident_bytes();
  EXPECT_GT(read_bytes, empty_bytes);
  const auto known = *cache.Of(1, 0, CancelToken());
  EXPECT_EQ(known, *cache.Of(1, 0, CancelToken()));
  EXPECT_EQ(cache.resident_bytes(), read_bytes);
  CancelSource cancelled;
  cancelled.Cancel();
  EXPECT_EQ(OpLineCache(*file).ReadAll(cancelled.token()).code(), StatusCode::kCancelled);
}

TEST(OpLineFactsTest, ThoseWhoAskAtOnceGetTheSameOrTheirOwnCancellation) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  const int64_t op = AddTpuOp(&plane, {.name = "a", .symbol = 1});
  const int64_t offset = plane.StatId("device_offset_ps");
  LineBuilder& ops = plane.AddLine(1, "XLA Ops", 0);
  for (int i = 0; i < 20000; ++i) ops.AddEvent(op, i * 20, 10).AddStat(offset, int64_t{i});
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(space.Serialize());
  OpLineCache cache(*file);
  CancelSource cancelled;
  cancelled.Cancel();
  std::vector<std::shared_ptr<const OpLineFacts>> got(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] {
      auto facts = cache.Of(0, 0, i % 2 == 0 ? CancelToken() : cancelled.token());
      if (facts.ok()) got[i] = *facts;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < got.size(); i += 2) {
    ASSERT_NE(got[i], nullptr);
    EXPECT_EQ(got[i], got[0]);
  }
}

}  // namespace
}  // namespace strobe::analysis
