// Grouping, links and rewritten lines over profiles whose groups are worked out by hand.
#include "src/analysis/prepared_host.h"

#include <gtest/gtest.h>

#include "src/analysis/event_links.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::analysis {
namespace {

using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

constexpr int64_t kNanosecond = 1000;

struct Opened {
  std::shared_ptr<xplane::ProfileFile> file;
  std::shared_ptr<const PreparedHost> host;

  const PreparedLine& Line(size_t plane, size_t line) const {
    return host->planes()[plane].lines[line];
  }
  const PreparedLine* Find(size_t plane, std::string_view name) const {
    for (const PreparedLine& line : host->planes()[plane].lines) {
      if (line.name == name) return &line;
    }
    return nullptr;
  }
  // Groups of a line's events, in the order of their start.
  std::vector<int64_t> Groups(size_t plane, size_t line) const {
    const xplane::LineColumns& columns = file->Line(plane, line);
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (uint32_t e = 0; e < columns.event_count(); ++e) {
      pairs.emplace_back(columns.start_ps[e], Line(plane, line).GroupOf(e));
    }
    std::ranges::sort(pairs);
    std::vector<int64_t> groups;
    for (const auto& [start, group] : pairs) groups.push_back(group);
    return groups;
  }
};

Opened Prepare(XSpaceBuilder& space, const PrepareOptions& options = {}) {
  Opened opened;
  auto file = xplane::ProfileFile::Open(storage::OwnBytes(space.Serialize()), {});
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  opened.file = *file;
  auto host = PreparedHost::Prepare(opened.file, *opened.file, options, {});
  EXPECT_TRUE(host.ok()) << host.status().ToString();
  opened.host = *host;
  return opened;
}

TEST(PreparedHostTest, RootsAreNumberedByTimeAndCoverWhatTheyContain) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t train = plane.AddEventMetadata("train");
  const int64_t op = plane.AddEventMetadata("work");
  LineBuilder& line = plane.AddLine(1, "python", 0);
  // Steps 7 and 8 with work inside, and work outside of any.
  line.AddEvent(train, 0, 100)
      .AddStat(plane.StatId("_r"), int64_t{1})
      .AddStat(plane.StatId("step_num"), int64_t{7});
  line.AddEvent(op, 10, 20);
  line.AddEvent(train, 200, 100)
      .AddStat(plane.StatId("_r"), int64_t{1})
      .AddStat(plane.StatId("step_num"), int64_t{8});
  line.AddEvent(op, 210, 20);
  line.AddEvent(op, 400, 20);
  const Opened opened = Prepare(space);
  EXPECT_EQ(opened.Groups(0, 0), (std::vector<int64_t>{0, 0, 1, 1, kNoGroup}));
  EXPECT_EQ(opened.host->groups().at(0).name, "train 7");
  EXPECT_EQ(opened.host->groups().at(1).name, "train 8");
  const AddedStat* name = opened.Line(0, 0).FindAddition(0, "step_name");
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(name->text, "train 7");
}

TEST(PreparedHostTest, HigherLevelsAreGroupedFirstAndBecomeParents) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t outer = plane.AddEventMetadata("ProcessBatch");
  const int64_t inner = plane.AddEventMetadata("BatchingSessionRun");
  const int64_t same = plane.AddEventMetadata("Request");
  LineBuilder& line = plane.AddLine(1, "server", 0);
  // The request (level 2) contains a run (level 1), which contains a batch (level 2 again: part of
  // the first).
  line.AddEvent(same, 0, 1000).AddStat(plane.StatId("_r"), int64_t{2});
  line.AddEvent(inner, 100, 500);
  line.AddEvent(outer, 200, 100);
  const Opened opened = Prepare(space);
  // Level 2 first: group 0 takes all three, so that the run is left with none to make.
  EXPECT_EQ(opened.Groups(0, 0), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(opened.host->groups().size(), 1U);
}

TEST(PreparedHostTest, ARootOfLowerLevelAboveAHigherOneKnowsItAsChild) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t run = plane.AddEventMetadata("run");
  const int64_t batch = plane.AddEventMetadata("batch");
  LineBuilder& line = plane.AddLine(1, "server", 0);
  line.AddEvent(run, 0, 1000).AddStat(plane.StatId("_r"), int64_t{1});
  line.AddEvent(batch, 200, 100).AddStat(plane.StatId("_r"), int64_t{2});
  const Opened opened = Prepare(space);
  EXPECT_EQ(opened.Groups(0, 0), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(opened.host->groups().at(1).children, (std::vector<int64_t>{0}));
  EXPECT_EQ(opened.host->groups().at(0).parents, (std::vector<int64_t>{1}));
}

TEST(PreparedHostTest, ProducersReachConsumersOnOtherLines) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t train = plane.AddEventMetadata("train");
  const int64_t send = plane.AddEventMetadata("send");
  const int64_t take = plane.AddEventMetadata("take");
  LineBuilder& a = plane.AddLine(1, "a", 0);
  a.AddEvent(train, 0, 100).AddStat(plane.StatId("_r"), int64_t{1});
  a.AddEvent(send, 10, 5)
      .AddStat(plane.StatId("_pt"), int64_t{5})
      .AddStat(plane.StatId("_p"), uint64_t{77});
  LineBuilder& b = plane.AddLine(2, "b", 0);
  b.AddEvent(take, 50, 100)
      .AddStat(plane.StatId("_ct"), int64_t{5})
      .AddStat(plane.StatId("_c"), uint64_t{77});
  b.AddEvent(take, 60, 5);
  b.AddEvent(take, 300, 5)
      .AddStat(plane.StatId("_ct"), int64_t{5})
      .AddStat(plane.StatId("_c"), uint64_t{78});
  const Opened opened = Prepare(space);
  EXPECT_EQ(opened.Groups(0, 1), (std::vector<int64_t>{0, 0, kNoGroup}));
  // The two ends have one flow: out of the one, into the other.
  ASSERT_EQ(opened.Line(0, 0).flows.size(), 1U);
  ASSERT_EQ(opened.Line(0, 1).flows.size(), 2U);
  const uint64_t out = opened.Line(0, 0).flows[0].flow;
  const uint64_t in = opened.Line(0, 1).flows[0].flow;
  EXPECT_EQ(FlowIdOf(out), FlowIdOf(in));
  EXPECT_EQ(FlowDirectionOf(out), kFlowOut);
  EXPECT_EQ(FlowDirectionOf(in), kFlowIn);
  EXPECT_EQ(FlowCategoryOf(out), 5);
  EXPECT_NE(FlowIdOf(opened.Line(0, 1).flows[1].flow), FlowIdOf(in));
}

TEST(PreparedHostTest, AsynchronousEventsNeitherNestNorAreNested) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t train = plane.AddEventMetadata("train");
  const int64_t work = plane.AddEventMetadata("work");
  LineBuilder& line = plane.AddLine(1, "a", 0);
  line.AddEvent(train, 0, 100).AddStat(plane.StatId("_r"), int64_t{1});
  line.AddEvent(work, 10, 200).AddStat(plane.StatId("_a"), int64_t{1});
  line.AddEvent(work, 20, 5);
  const Opened opened = Prepare(space);
  // The long asynchronous event does not end the step for what follows.
  EXPECT_EQ(opened.Groups(0, 0), (std::vector<int64_t>{0, kNoGroup, 0}));
}

TEST(PreparedHostTest, KernelsBelongToTheLaunchOfTheirCorrelation) {
  XSpaceBuilder space;
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  const int64_t train = host.AddEventMetadata("train");
  const int64_t launch = host.AddEventMetadata("launch");
  LineBuilder& thread = host.AddLine(1, "a", 0);
  thread.AddEvent(train, 0, 100 * kNanosecond).AddStat(host.StatId("_r"), int64_t{1});
  thread.AddEvent(launch, 10, 5)
      .AddStat(host.StatId("correlation_id"), uint64_t{5})
      .AddStat(host.StatId("device_id"), uint64_t{0});
  PlaneBuilder& gpu = space.AddPlane("/device:GPU:0");
  const int64_t kernel = gpu.AddEventMetadata("gemm");
  LineBuilder& stream = gpu.AddLine(16, "Stream #16(Compute)", 0);
  stream.AddEvent(kernel, 50 * kNanosecond, 10 * kNanosecond)
      .AddStat(gpu.StatId("correlation_id"), uint64_t{9});
  stream.AddEvent(kernel, 200 * kNanosecond, 10 * kNanosecond)
      .AddStat(gpu.StatId("correlation_id"), uint64_t{5});
  stream.AddEvent(kernel, 300 * kNanosecond, 10 * kNanosecond)
      .AddStat(gpu.StatId("correlation_id"), uint64_t{6});
  const Opened opened = Prepare(space);
  // The one before any grouped kernel has none; the one behind belongs to the latest step.
  EXPECT_EQ(opened.Groups(1, 0), (std::vector<int64_t>{kNoGroup, 0, 0}));
  const PreparedLine* steps = opened.Find(1, "Steps");
  ASSERT_NE(steps, nullptr);
  ASSERT_EQ(steps->events.size(), 1U);
  EXPECT_EQ(steps->events[0].name, "0");
  EXPECT_EQ(steps->events[0].start_ps, 200 * kNanosecond);
  EXPECT_EQ(steps->events[0].duration_ps, 110 * kNanosecond);
  const PreparedLine* launches = opened.Find(1, "Launch Stats");
  ASSERT_NE(launches, nullptr);
  EXPECT_EQ(launches->events[0].name, "Launch Stats for train 0");
  EXPECT_EQ(opened.Line(1, 0).is_eager, (std::vector<int8_t>{0, 0, 0}));
}

TEST(PreparedHostTest, StepsOfTensorCoresCountInLockStep) {
  XSpaceBuilder space;
  for (const char* name : {"/device:TPU:0", "/device:TPU:1"}) {
    PlaneBuilder& plane = space.AddPlane(name);
    const int64_t step = plane.AddEventMetadata("5");
    const int64_t op = plane.AddEventMetadata("fusion");
    LineBuilder& steps = plane.AddLine(1, "Steps", 0);
    steps.AddEvent(step, 0, 100).AddStat(plane.StatId("step_idle_time_ps"), uint64_t{3});
    steps.AddEvent(step, 100, 100);
    LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
    ops.AddEvent(op, 10, 10);
    ops.AddEvent(op, 100, 10);  // touches the first: belongs to it
    ops.AddEvent(op, 150, 10);
    ops.AddEvent(op, 250, 10);
  }
  const Opened opened = Prepare(space);
  for (const size_t plane : {0, 1}) {
    EXPECT_EQ(opened.Groups(plane, 1), (std::vector<int64_t>{0, 0, 1, kNoGroup}));
    const PreparedLine& steps = opened.Line(plane, 0);
    EXPECT_FALSE(steps.from_file);
    ASSERT_EQ(steps.events.size(), 2U);
    EXPECT_EQ(steps.events[1].group, 1);
    // The second says no idle time of its own: XProf carries the first one's on.
    EXPECT_EQ(steps.events[1].stats[0].name, "step_idle_time_ps");
    EXPECT_EQ(steps.events[1].stats[0].integer, 3);
  }
  EXPECT_EQ(opened.host->groups().size(), 2U);
}

TEST(PreparedHostTest, StepsOfOneHostStepAreMerged) {
  XSpaceBuilder space;
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  const int64_t train = host.AddEventMetadata("train");
  const int64_t enqueue = host.AddEventMetadata("DoEnqueueProgram");
  LineBuilder& thread = host.AddLine(1, "a", 0);
  thread.AddEvent(train, 0, 100).AddStat(host.StatId("_r"), int64_t{1});
  for (const uint64_t run : {1, 2}) {
    thread.AddEvent(enqueue, static_cast<int64_t>(10 * run), 5)
        .AddStat(host.StatId("device_ordinal"), uint64_t{0})
        .AddStat(host.StatId("queue_id"), uint64_t{4})
        .AddStat(host.StatId("run_id"), run);
  }
  PlaneBuilder& tpu = space.AddPlane("/device:TPU:0");
  const int64_t module = tpu.AddEventMetadata("jit_f");
  const int64_t step = tpu.AddEventMetadata("0");
  LineBuilder& steps = tpu.AddLine(1, "Steps", 0);
  LineBuilder& modules = tpu.AddLine(2, "XLA Modules", 0);
  for (const int64_t run : {1, 2, 3}) {
    steps.AddEvent(step, 1000 * run, 500).AddStat(tpu.StatId("step_idle_time_ps"), uint64_t{10});
    modules.AddEvent(module, 1000 * run + 10, 400)
        .AddStat(tpu.StatId("queue_id"), uint64_t{4})
        .AddStat(tpu.StatId("run_id"), static_cast<uint64_t>(run));
  }
  const Opened opened = Prepare(space);
  // Two programs of the host's step; the third came from elsewhere and is dropped.
  const PreparedLine& merged = opened.Line(1, 0);
  ASSERT_FALSE(merged.from_file);
  ASSERT_EQ(merged.events.size(), 1U);
  EXPECT_EQ(merged.events[0].start_ps, 1000);
  EXPECT_EQ(merged.events[0].duration_ps, 1500);
  EXPECT_EQ(merged.events[0].stats[0].integer, 20);
  EXPECT_EQ(merged.events[0].stats.back().text, "train 0");
  EXPECT_EQ(opened.Groups(1, 1), (std::vector<int64_t>{0, 0, kNoGroup}));
}

TEST(PreparedHostTest, LoopOpsOfTensorFlowLeaveEverythingUngrouped) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  plane.AddEventMetadata("WhileOp-StartBody");
  const int64_t train = plane.AddEventMetadata("train");
  plane.AddLine(1, "a", 0).AddEvent(train, 0, 100).AddStat(plane.StatId("_r"), int64_t{1});
  const Opened opened = Prepare(space);
  EXPECT_EQ(opened.Groups(0, 0), (std::vector<int64_t>{kNoGroup}));
  EXPECT_TRUE(opened.host->groups().empty());
}

TEST(PreparedHostTest, FirstExecutorEventOfEachIterationIsARoot) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t process = plane.AddEventMetadata("ExecutorState::Process");
  LineBuilder& a = plane.AddLine(1, "a", 0);
  LineBuilder& b = plane.AddLine(2, "b", 0);
  for (const int64_t iteration : {0, 1}) {
    for (LineBuilder* line : {&a, &b}) {
      line->AddEvent(process, 1000 * iteration + (line == &b ? 50 : 0), 10)
          .AddStat(plane.StatId("id"), int64_t{3})
          .AddStat(plane.StatId("iter_num"), iteration);
    }
  }
  const Opened opened = Prepare(space);
  EXPECT_EQ(opened.Groups(0, 0), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(opened.Groups(0, 1), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(opened.host->groups().at(1).name, "1");
}

TEST(PreparedHostTest, PoolRegionsRunFromStartToStop) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t start = plane.AddEventMetadata("ThreadpoolListener::StartRegion");
  const int64_t stop = plane.AddEventMetadata("ThreadpoolListener::StopRegion");
  LineBuilder& line = plane.AddLine(1, "pool", 0);
  line.AddEvent(start, 100, 0).AddStat(plane.StatId("_c"), uint64_t{9});
  line.AddEvent(stop, 400, 0);
  const Opened opened = Prepare(space);
  ASSERT_EQ(opened.Line(0, 0).events.size(), 1U);
  const AddedEvent& region = opened.Line(0, 0).events[0];
  EXPECT_EQ(region.name, "ThreadpoolListener::Region");
  EXPECT_EQ(region.start_ps, 100);
  EXPECT_EQ(region.duration_ps, 300);
  EXPECT_EQ(region.group, kNoGroup) << "the start is linked, the region is not";
  for (const FlowEnd& flow : opened.Line(0, 0).flows) EXPECT_LT(flow.event, 2U);
}

TEST(PreparedHostTest, AGroupedProfileIsTakenAsItIs) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t train = plane.AddEventMetadata("train");
  plane.AddLine(1, "a", 0)
      .AddEvent(train, 0, 100)
      .AddStat(plane.StatId("_r"), int64_t{1})
      .AddStat(plane.StatId("group_id"), int64_t{42});
  const Opened opened = Prepare(space);
  EXPECT_TRUE(opened.host->grouped_before());
  EXPECT_EQ(opened.Groups(0, 0), (std::vector<int64_t>{42}));
  EXPECT_TRUE(opened.host->groups().empty());
}

TEST(PreparedHostTest, TooManyGroupsIsAnError) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/host:CPU");
  const int64_t train = plane.AddEventMetadata("train");
  LineBuilder& line = plane.AddLine(1, "a", 0);
  for (int64_t i = 0; i < 3; ++i) {
    line.AddEvent(train, 100 * i, 50).AddStat(plane.StatId("_r"), int64_t{1});
  }
  auto file = xplane::ProfileFile::Open(storage::OwnBytes(space.Serialize()), {});
  ASSERT_TRUE(file.ok());
  const auto host = PreparedHost::Prepare(*file, **file, {.max_groups = 2}, {});
  ASSERT_FALSE(host.ok());
  EXPECT_EQ(host.status().name(), "PREPARE_LIMIT_GROUPS");
}

TEST(PreparedHostTest, FrameworkOpsOfATensorCoreAreDerived) {
  XSpaceBuilder space;
  PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  const int64_t a = plane.AddEventMetadata("%fusion.1 = f32[]", "fusion.1");
  plane.EventMetadataStats(a)
      .AddStat(plane.StatId("tf_op"), std::string_view("jit(f)/layer/dot_general:"))
      .AddStat(plane.StatId("source"), std::string_view("model.py:3"));
  LineBuilder& ops = plane.AddLine(3, "XLA Ops", 0);
  ops.AddEvent(a, 0, 100 * kNanosecond);
  ops.AddEvent(a, 150 * kNanosecond, 100 * kNanosecond);   // near: the same
  ops.AddEvent(a, 2000 * kNanosecond, 100 * kNanosecond);  // far and without a step: another
  const Opened opened = Prepare(space);
  const PreparedLine* framework = opened.Find(0, "Framework Ops");
  ASSERT_NE(framework, nullptr);
  const auto name = [](const PreparedLine* line, size_t i) -> const DerivedName& {
    return (*line->derived_names)[line->derived_events[i].name];
  };
  ASSERT_EQ(framework->derived_events.size(), 2U);
  EXPECT_EQ(name(framework, 0).text, "jit(f)/layer/dot_general:");
  EXPECT_EQ(name(framework, 0).display, "dot_general");
  EXPECT_EQ(framework->derived_events[0].duration_ps, 250 * kNanosecond);
  const PreparedLine* scopes = opened.Find(0, "Framework Name Scope");
  ASSERT_NE(scopes, nullptr);
  // Two levels; the inner one is a nanosecond shorter so that it lies inside.
  ASSERT_EQ(scopes->derived_events.size(), 4U);
  EXPECT_EQ(name(scopes, 0).text, "jit(f)");
  EXPECT_EQ(name(scopes, 1).text, "layer");
  EXPECT_EQ(scopes->derived_events[1].duration_ps, 249 * kNanosecond);
  ASSERT_NE(opened.Find(0, "Source code"), nullptr);
}

}  // namespace
}  // namespace strobe::analysis
