#include "src/analysis/host_op_metrics.h"

#include <gtest/gtest.h>

#include "src/analysis/op_profile_for_test.h"

namespace strobe::analysis {
namespace {

using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

OpMetricsDb HostOps(const PreparedForTest& made) {
  Result<OpMetricsDb> db = HostOpMetrics(*made.host, 0, CancelToken());
  EXPECT_TRUE(db.ok());
  return db.ok() ? std::move(*db) : OpMetricsDb();
}

TEST(HostOpMetricsTest, FrameworkOpsNestAndTheRestIsIdle) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t outer = plane.AddEventMetadata("model/while:While");
  const int64_t inner = plane.AddEventMetadata("model/add:AddV2");
  const int64_t python = plane.AddEventMetadata("my_function");
  LineBuilder& thread = plane.AddLine(1, "main", 0);
  thread.AddEvent(outer, 100, 100);
  thread.AddEvent(inner, 110, 30).AddStat(plane.StatId("is_eager"), int64_t{1});
  thread.AddEvent(python, 115, 10);
  thread.AddEvent(inner, 300, 20);
  plane.AddLine(2, "quiet", 0).AddEvent(python, 0, 1000);
  const OpMetricsDb db = HostOps(PreparedForTest(space));
  ExpectSane(db);
  EXPECT_EQ(FindOp(db, "model/while")->self_time_ps, 70u);
  const OpMetrics* add = FindOp(db, "model/add");
  EXPECT_EQ(add->occurrences, 2u);
  EXPECT_EQ(add->time_ps, 50u);
  EXPECT_EQ(add->category, "AddV2");
  EXPECT_TRUE(add->is_eager);
  EXPECT_EQ(FindOp(db, "my_function"), nullptr);
  // From 100 to 320, less 120 of ops; the quiet thread adds nothing.
  EXPECT_EQ(FindOp(db, kIdle)->self_time_ps, 100u);
}

TEST(HostOpMetricsTest, OverlapWithoutNestingLosesTheInnerBegin) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t a = plane.AddEventMetadata("a:A");
  const int64_t b = plane.AddEventMetadata("b:B");
  LineBuilder& thread = plane.AddLine(1, "main", 0);
  thread.AddEvent(a, 0, 100);
  thread.AddEvent(b, 50, 100);
  const OpMetricsDb db = HostOps(PreparedForTest(space));
  EXPECT_NE(FindOp(db, "a"), nullptr);
  EXPECT_EQ(FindOp(db, "b"), nullptr);
}

TEST(HostOpMetricsTest, PipelineStagesAreKnownByTheirId) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t read = plane.AddEventMetadata("ReadFiles");
  LineBuilder& thread = plane.AddLine(1, "main", 0);
  int64_t at_ps = 0;
  for (int64_t stage : {5, 6, 5}) {
    thread.AddEvent(read, at_ps += 100, 10)
        .AddStat(plane.StatId("_ipl_stage_id"), stage)
        .AddStat(plane.StatId("_ipl_stage_cat"), std::string_view("Read"));
  }
  const OpMetricsDb db = HostOps(PreparedForTest(space));
  ExpectSane(db);
  size_t stages = 0;
  for (const OpMetrics& op : db.ops) {
    if (op.name != "ReadFiles") continue;
    ++stages;
    EXPECT_EQ(op.category, "Read");
    EXPECT_EQ(op.occurrences, op.hlo_module_id == 5 ? 2u : 1u);
  }
  EXPECT_EQ(stages, 2u);
}

TEST(HostOpMetricsTest, InfeedTimesLeaveOutTheLastOne) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t infeed = plane.AddEventMetadata("feed:InfeedEnqueueTuple");
  LineBuilder& thread = plane.AddLine(1, "main", 0);
  thread.AddEvent(infeed, 0, 10);
  thread.AddEvent(infeed, 100, 20);
  thread.AddEvent(infeed, 300, 40);
  const OpMetricsDb db = HostOps(PreparedForTest(space));
  EXPECT_EQ(db.host_infeed_enqueue_duration_ps, 30u);
  EXPECT_EQ(db.host_infeed_enqueue_start_difference_ps, 300u);
}

TEST(HostOpMetricsTest, ExpensiveCallsAreThoseThatTraceOrRunEagerly) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t f = plane.AddEventMetadata("f");
  const int64_t g = plane.AddEventMetadata("g");
  const int64_t mode = plane.StatId("tf_function_call");
  LineBuilder& thread = plane.AddLine(1, "main", 0);
  thread.AddEvent(f, 0, 100).AddStat(mode, std::string_view("notTraced-xla"));
  thread.AddEvent(g, 10, 40).AddStat(mode, std::string_view("traced-nonXla"));
  thread.AddEvent(f, 200, 20).AddStat(mode, std::string_view("eager"));
  thread.AddEvent(g, 300, 60).AddStat(mode, std::string_view("concrete"));
  const PreparedForTest made(space);
  const TfFunctionTotals totals = TfFunctionsOf(*made.host, 0);
  // g: 40 of 100; f: 20 of 60 + 20, because 40 of its first 100 are g's.
  EXPECT_EQ(totals.worst_function, "g");
  EXPECT_EQ(totals.expensive_call_percent, 40.0);
}

}  // namespace
}  // namespace strobe::analysis
