// Tools of an opened session, with tools made for the test: what is computed when, what is kept,
// what is dropped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "src/engine/engine.h"
#include "src/hlo/hlo_text_parser.h"
#include "src/storage/test_directory.h"
#include "src/tools/session_input.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::engine {
namespace {

namespace fs = std::filesystem;
using tools::Table;
using tools::ToolDescriptor;
using tools::ToolInput;
using tools::ToolQuestion;
using tools::ToolResult;
using xplane::LineBuilder;
using xplane::PlaneBuilder;
using xplane::XSpaceBuilder;

// Two launches of fusion.3 of program 7, one of program 8, and a thread.
std::string Profile(int64_t second_duration_ps = 30) {
  XSpaceBuilder space;
  PlaneBuilder& device = space.AddPlane("/device:TPU:0");
  const int64_t program = device.StatId("program_id");
  const int64_t framework = device.StatId("tf_op");
  const int64_t seven = device.AddEventMetadata("%fusion.3 = f32[] fusion()", "fusion.3");
  device.EventMetadataStats(seven).AddStat(program, uint64_t{7}).AddStat(framework, "jit(f)/dot:");
  const int64_t eight = device.AddEventMetadata("%fusion.3 = f32[8] fusion()", "fusion.3");
  device.EventMetadataStats(eight).AddStat(program, uint64_t{8});
  LineBuilder& ops = device.AddLine(3, "XLA Ops", 0);
  ops.AddEvent(seven, 100, 10);
  ops.AddEvent(seven, 200, second_duration_ps);
  ops.AddEvent(eight, 300, 40);
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  LineBuilder& thread = host.AddLine(5, "thunks", 0);
  const int64_t op = host.StatId("hlo_op");
  thread.AddEvent(host.AddEventMetadata("Execute"), 400, 5).AddStat(op, "dot.1");
  thread.AddEvent(host.AddEventMetadata("Execute"), 500, 6).AddStat(op, "graph::dot.1");
  return space.Serialize();
}

class SessionToolsTest : public ::testing::Test {
 protected:
  void Write(const std::string& host, const std::string& bytes) {
    directory_.Write("logs/run/plugins/profile/s1/" + host, bytes);
  }
  void Start(bool with_cache, uint64_t memory_budget_bytes = 1ULL << 30) {
    session_.reset();
    engine_.reset();
    engine_ = Engine::Create({.roots = {directory_.path() + "/logs"},
                              .cache_directory = with_cache ? directory_.path() + "/cache" : "",
                              .memory_budget_bytes = memory_budget_bytes,
                              .rescan_interval_ms = 0,
                              .settle_ms = 0},
                             SystemClock());
    ASSERT_TRUE(engine_->Refresh().ok());
    ASSERT_EQ(engine_->Sessions().size(), 1u);
    auto opened = engine_->OpenForTools(engine_->Sessions()[0].entry.id);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    session_ = *opened;
  }
  // Counts how often it runs; answers with the number of hosts asked and an option.
  ToolDescriptor Counting() {
    return {.id = "counting",
            .options = {{.name = "text"}},
            .run = [this](const ToolQuestion& question, ToolInput& input,
                          const CancelToken& cancel) -> Result<ToolResult> {
              ++runs_;
              while (wait_ && !cancel.cancelled()) std::this_thread::yield();
              STROBE_RETURN_IF_ERROR(cancel.Check());
              Table table("t", "T");
              table.AddColumn({.id = "hosts"});
              table.AddColumn({.id = "text", .type = tools::ColumnType::kString});
              table.AddRow({question.hosts.size(), question.options.Text("text")});
              table.AddRow({input.Modules()->entries().size(), "modules"});
              ToolResult result;
              result.tables.push_back(std::move(table));
              result.partial = partial_;
              return result;
            }};
  }
  static ToolQuestion Question(const ToolDescriptor& tool, std::vector<size_t> hosts,
                               const std::string& text = "") {
    ToolQuestion question;
    question.hosts = std::move(hosts);
    question.options = tools::ToolOptions::Parse(tool.options, {{"text", text}},
                                                 tools::ToolOptions::Policy::kStrict)
                           .value();
    return question;
  }
  std::shared_ptr<const ToolResult> Ask(const ToolDescriptor& tool, const ToolQuestion& question) {
    auto result = session_->RunTool(tool, question, CancelToken());
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? *result : nullptr;
  }

  storage::TestDirectory directory_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<OpenedSession> session_;
  std::atomic<int> runs_{0};
  std::atomic<bool> wait_{false};
  bool partial_ = false;
};

TEST_F(SessionToolsTest, ComputesAnAnswerOnce) {
  Write("h0.xplane.pb", Profile());
  Write("h1.xplane.pb", Profile(31));
  Start(/*with_cache=*/false);
  const ToolDescriptor tool = Counting();
  const auto both = Ask(tool, Question(tool, {0, 1}));
  EXPECT_EQ(both->tables[0].rows()[0][0], tools::Cell(2.0));
  EXPECT_EQ(Ask(tool, Question(tool, {0, 1})), both);
  EXPECT_EQ(runs_, 1);
  // Other hosts, another order, other options: other answers.
  Ask(tool, Question(tool, {0}));
  Ask(tool, Question(tool, {1, 0}));
  Ask(tool, Question(tool, {0, 1}, "x"));
  EXPECT_EQ(runs_, 4);
  ToolQuestion as_xprof = Question(tool, {0, 1});
  as_xprof.as_xprof = true;
  Ask(tool, as_xprof);
  ToolDescriptor newer = Counting();
  newer.version = 2;
  Ask(newer, Question(tool, {0, 1}));
  EXPECT_EQ(runs_, 6);
  EXPECT_EQ(engine_->stats().tool_results_computed, 6u);
  EXPECT_EQ(engine_->stats().tool_result_memory_hits, 1u);
}

TEST_F(SessionToolsTest, ManyAskersOneComputation) {
  Write("h0.xplane.pb", Profile());
  Start(/*with_cache=*/false);
  const ToolDescriptor tool = Counting();
  std::vector<std::thread> askers;
  std::atomic<int> answered{0};
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([&] {
      if (Ask(tool, Question(tool, {0})) != nullptr) ++answered;
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(answered, 8);
  EXPECT_EQ(runs_, 1);
}

TEST_F(SessionToolsTest, EveryAnswerOfADamagedHostIsMarked) {
  const std::string whole = Profile();
  Write("h0.xplane.pb", whole);
  Write("h1.xplane.pb", whole.substr(0, whole.size() - 5));
  Start(/*with_cache=*/false);
  const ToolDescriptor tool = Counting();
  const auto of_whole = Ask(tool, Question(tool, {0}));
  EXPECT_FALSE(of_whole->partial);
  EXPECT_TRUE(of_whole->notices.empty());
  const auto of_both = Ask(tool, Question(tool, {0, 1}));
  EXPECT_TRUE(of_both->partial);
  ASSERT_EQ(of_both->notices.size(), 1u);
  EXPECT_EQ(of_both->notices[0].name, "HOST_DAMAGED");
  EXPECT_THAT(of_both->notices[0].message, testing::HasSubstr("Host h1 is damaged: "));
}

// The stats of its events are read in the background, once everything is loaded.
TEST_F(SessionToolsTest, OpsOfAGpuAreSummedUpBeforeAnybodyAsks) {
  XSpaceBuilder space;
  PlaneBuilder& device = space.AddPlane("/device:GPU:0");
  LineBuilder& stream = device.AddLine(7, "Stream #7(Compute)", 0);
  stream.AddEvent(device.AddEventMetadata("gemm"), 1'000, 9'000'000)
      .AddStat(device.StatId("kernel_details"), std::string_view("regs:8 grid:1,1,1 block:1,1,1"));
  Write("h0.xplane.pb", space.Serialize());
  Start(/*with_cache=*/false);
  const std::string id = engine_->Sessions()[0].entry.id;
  ASSERT_TRUE(engine_->Open(id).ok());
  // Who has given up can be given what is there already, and nothing else.
  CancelSource given_up;
  given_up.Cancel();
  ToolDescriptor tool = Counting();
  tool.run = [&](const ToolQuestion&, ToolInput& input, const CancelToken&) -> Result<ToolResult> {
    constexpr size_t kHosts[] = {0};
    STROBE_ASSIGN_OR_RETURN(const auto ops, input.CombinedOps(kHosts, given_up.token()));
    EXPECT_EQ(ops->kernels.size(), 1u);
    ToolResult result;
    result.partial = true;  // not kept
    return result;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  bool summed_up = false;
  while (!summed_up && std::chrono::steady_clock::now() < deadline) {
    session_ = engine_->Open(id).value();
    summed_up = session_->RunTool(tool, Question(tool, {0}), CancelToken()).ok();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(summed_up);
}

TEST_F(SessionToolsTest, ATimeLimitStopsATool) {
  constexpr int64_t kLimitSeconds = 5;
  Write("h0.xplane.pb", Profile());
  FakeClock clock(SystemClock().NowUnixNanos());
  engine_ = Engine::Create({.roots = {directory_.path() + "/logs"},
                            .tool_max_seconds = kLimitSeconds,
                            .rescan_interval_ms = 0,
                            .settle_ms = 0},
                           clock);
  ASSERT_TRUE(engine_->Refresh().ok());
  session_ = engine_->OpenForTools(engine_->Sessions()[0].entry.id).value();
  const ToolDescriptor tool = Counting();
  wait_ = true;
  std::thread asker([&] {
    const auto late = session_->RunTool(tool, Question(tool, {0}), CancelToken());
    EXPECT_EQ(late.status().name(), "TOOL_LIMIT_TIME");
    EXPECT_NE(late.status().hint().find("--tool-timeout"), std::string::npos);
  });
  while (runs_ == 0) std::this_thread::yield();
  clock.AdvanceNanos((kLimitSeconds + 1) * 1'000'000'000);
  asker.join();
  wait_ = false;
  EXPECT_NE(Ask(tool, Question(tool, {0})), nullptr);  // the failure is not kept
  session_.reset();
  engine_.reset();  // before the clock
}

TEST_F(SessionToolsTest, AMemoryLimitStopsATool) {
  Write("h0.xplane.pb", Profile());
  engine_ = Engine::Create({.roots = {directory_.path() + "/logs"},
                            .tool_max_bytes = int64_t{64} << 20,
                            .rescan_interval_ms = 0,
                            .settle_ms = 0},
                           SystemClock());
  ASSERT_TRUE(engine_->Refresh().ok());
  session_ = engine_->OpenForTools(engine_->Sessions()[0].entry.id).value();
  ToolDescriptor greedy = Counting();
  size_t most_pieces = 0;
  greedy.run = [&](const ToolQuestion&, tools::ToolInput&,
                   const CancelToken& cancel) -> Result<ToolResult> {
    std::vector<std::string> pieces;
    // Ends by itself at 100 times the limit.
    while (pieces.size() < 6'400 && !cancel.cancelled()) {
      pieces.emplace_back(1 << 20, 'x');
      if (pieces.size() > 64) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      most_pieces = pieces.size();
    }
    STROBE_RETURN_IF_ERROR(cancel.Check());
    return ToolResult{};
  };
  const auto result = session_->RunTool(greedy, Question(greedy, {0}), CancelToken());
  EXPECT_EQ(result.status().name(), "TOOL_LIMIT_MEMORY");
  EXPECT_NE(result.status().hint().find("--tool-memory"), std::string::npos);
  EXPECT_GT(most_pieces, 60U);
  EXPECT_LT(most_pieces, 6'400U);
  const ToolDescriptor modest = Counting();
  EXPECT_NE(Ask(modest, Question(modest, {0})), nullptr);
  session_.reset();
  engine_.reset();
}

TEST_F(SessionToolsTest, AnAbandonedQuestionStops) {
  Write("h0.xplane.pb", Profile());
  Start(/*with_cache=*/true);
  const ToolDescriptor tool = Counting();
  wait_ = true;
  CancelSource source;
  std::thread asker([&] {
    const auto result = session_->RunTool(tool, Question(tool, {0}), source.token());
    EXPECT_EQ(result.status().code(), StatusCode::kCancelled);
  });
  while (runs_ == 0) std::this_thread::yield();
  source.Cancel();
  asker.join();
  // What was given up is not kept.
  wait_ = false;
  Ask(tool, Question(tool, {0}));
  EXPECT_EQ(runs_, 2);
}

TEST_F(SessionToolsTest, KeepsAnswersOnDiskByContent) {
  Write("h0.xplane.pb", Profile());
  Start(/*with_cache=*/true);
  const ToolDescriptor tool = Counting();
  const auto first = Ask(tool, Question(tool, {0}, "kept"));
  Start(/*with_cache=*/true);  // as after a restart
  const auto again = Ask(tool, Question(tool, {0}, "kept"));
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(again->tables[0].rows(), first->tables[0].rows());
  EXPECT_EQ(engine_->stats().tool_result_disk_hits, 1u);
  // Damage of the store is nobody's trouble.
  for (const auto& file : fs::directory_iterator(directory_.path() + "/cache/results")) {
    std::ofstream(file.path(), std::ios::binary | std::ios::in | std::ios::ate) << "x";
  }
  Start(/*with_cache=*/true);
  Ask(tool, Question(tool, {0}, "kept"));
  EXPECT_EQ(runs_, 2);
  // Another content is another answer.
  Write("h0.xplane.pb", Profile(99));
  Start(/*with_cache=*/true);
  Ask(tool, Question(tool, {0}, "kept"));
  EXPECT_EQ(runs_, 3);
}

TEST_F(SessionToolsTest, DoesNotStorePartialAnswersOrWindows) {
  Write("h0.xplane.pb", Profile());
  Start(/*with_cache=*/true);
  ToolDescriptor tool = Counting();
  partial_ = true;
  Ask(tool, Question(tool, {0}));
  EXPECT_FALSE(fs::exists(directory_.path() + "/cache/results"));
  Ask(tool, Question(tool, {0}));
  EXPECT_EQ(runs_, 1);  // in memory all the same
  tool.stored = false;
  tool.id = "window";
  Ask(tool, Question(tool, {0}));
  Ask(tool, Question(tool, {0}));
  EXPECT_EQ(runs_, 3);
}

TEST_F(SessionToolsTest, OneHostMeansOne) {
  Write("h0.xplane.pb", Profile());
  Write("h1.xplane.pb", Profile());
  Start(/*with_cache=*/false);
  ToolDescriptor tool = Counting();
  tool.scope = tools::HostScope::kOneHost;
  EXPECT_EQ(session_->RunTool(tool, Question(tool, {0, 1}), CancelToken()).status().name(),
            "TOOL_NEEDS_ONE_HOST");
  EXPECT_EQ(session_->Tool("nosuch", Question(tool, {0}), CancelToken()).status().name(),
            "TOOL_UNKNOWN");
}

TEST_F(SessionToolsTest, FindsModulesBesideTheProfile) {
  // HloProto{hlo_module{name: "jit_f", id: 3}}
  const std::string module = std::string("\x0a\x09\x0a\x05jit_f\x28\x03", 11);
  Write("h0.xplane.pb", Profile());
  Write("jit_f(3).hlo_proto.pb", module);
  Write("NO_MODULE.hlo_proto.pb", "");
  directory_.Write("dump/module_0003.jit_g.cpu_after_optimizations.hlo.pb", module);
  directory_.Write("dump/module_0003.jit_g.before_optimizations.hlo.pb", module);
  Start(/*with_cache=*/false);
  const auto modules = session_->Input()->Modules();
  ASSERT_EQ(modules->entries().size(), 1u);
  EXPECT_EQ(modules->entries()[0].key, "jit_f(3)");
  EXPECT_EQ(modules->entries()[0].name, "jit_f");
  EXPECT_TRUE(session_->Input()->facts().has_sidecar_modules);

  fs::remove(directory_.path() + "/logs/run/plugins/profile/s1/jit_f(3).hlo_proto.pb");
  engine_ = Engine::Create({.roots = {directory_.path() + "/logs"},
                            .rescan_interval_ms = 0,
                            .settle_ms = 0,
                            .xla_dump_directories = {directory_.path() + "/dump"}},
                           SystemClock());
  ASSERT_TRUE(engine_->Refresh().ok());
  session_ = engine_->Open(engine_->Sessions()[0].entry.id).value();
  const auto dumped = session_->Input()->Modules();
  ASSERT_EQ(dumped->entries().size(), 1u);
  EXPECT_EQ(dumped->entries()[0].key, "jit_f(3)");
}

TEST_F(SessionToolsTest, AnEmptyFileIsAProfileOfNothingToTools) {
  Write("h0.xplane.pb", "");
  Write("jit_f(3).hlo_proto.pb", std::string("\x0a\x07\x0a\x05jit_f", 9));
  Start(/*with_cache=*/false);
  EXPECT_EQ(engine_->Open(engine_->Sessions()[0].entry.id).status().name(), "XPLANE_EMPTY");
  const ToolDescriptor tool = Counting();
  EXPECT_EQ(Ask(tool, Question(tool, {0}))->tables[0].rows()[1][0], tools::Cell(1.0));
  EXPECT_FALSE(session_->Input()->facts().has_host_plane);
  EXPECT_TRUE(session_->Input()->hosts()[0].file->planes().empty());
}

TEST_F(SessionToolsTest, DropsWhatItCanMakeAgain) {
  Write("h0.xplane.pb", Profile());
  Start(/*with_cache=*/false);
  auto input = std::dynamic_pointer_cast<tools::SessionInput>(session_->Input());
  ASSERT_NE(input, nullptr);
  const auto prepared = input->Prepared(0, CancelToken());
  ASSERT_TRUE(prepared.ok()) << prepared.status().ToString();
  const uint64_t before = input->resident_bytes();
  EXPECT_EQ(input->Prepared(0, CancelToken()).value(), *prepared);
  input->DropComputed();
  EXPECT_LT(input->resident_bytes(), before);
  EXPECT_NE(input->Prepared(0, CancelToken()).value(), *prepared);
}

TEST_F(SessionToolsTest, DecodedModulesCountAndAreLetGo) {
  Write("h0.xplane.pb", Profile());
  const auto program = hlo::HloProtoFromText(
      "HloModule jit_f\n\nENTRY e {\n  a = f32[8]{0} parameter(0)\n  ROOT b = f32[8]{0} "
      "negate(a)\n}\n");
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  Write("jit_f(3).hlo_proto.pb", program->hlo_proto);
  Start(/*with_cache=*/false);
  auto input = std::dynamic_pointer_cast<tools::SessionInput>(session_->Input());
  ASSERT_NE(input, nullptr);
  const std::shared_ptr<const hlo::ModuleSet> modules = input->Modules();
  const uint64_t before = input->resident_bytes();
  const auto module = modules->Module(0);
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(input->resident_bytes(), before + (*module)->resident_bytes());
  EXPECT_EQ(session_->Input()->Modules()->Module(0).value(), *module);
  input->DropComputed();
  EXPECT_EQ(modules->resident_bytes(), 0u);
  EXPECT_EQ((*module)->name(), "jit_f");  // whoever holds it keeps it
  EXPECT_NE(modules->Module(0).value(), *module);
}

TEST_F(SessionToolsTest, FindsSchedulesOfKernels) {
  Write("h0.xplane.pb", Profile());
  Write("copy.1.llo_module.pb", "\x0a\x01k");
  Start(/*with_cache=*/false);
  const auto modules = session_->Input()->Modules();
  EXPECT_TRUE(modules->empty());
  ASSERT_EQ(modules->llo_files().size(), 1u);
  EXPECT_EQ(modules->llo_files()[0].name, "copy.1");
  EXPECT_EQ(modules->llo_files()[0].bytes, "\x0a\x01k");
}

// ---- events of a row

class SubjectTest : public SessionToolsTest {
 protected:
  SubjectEvents Find(const tools::RowSubject& subject, size_t limit = 10, bool longest = false) {
    auto found = session_->EventsOfSubject(
        subject, {.hosts = {0}, .limit = limit, .longest_first = longest}, CancelToken());
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return found.ok() ? *found : SubjectEvents();
  }
};

TEST_F(SubjectTest, OpsAreFoundByNameAndProgram) {
  Write("h0.xplane.pb", Profile());
  Start(/*with_cache=*/false);
  const SubjectEvents all = Find({.op_name = "fusion.3"});
  EXPECT_EQ(all.total, 3u);
  EXPECT_EQ(all.total_duration_ps, 80);
  ASSERT_EQ(all.events.size(), 3u);
  EXPECT_EQ(all.events[0].start_ps, 100);
  EXPECT_EQ(all.events[0].name, "fusion.3");
  EXPECT_EQ(Find({.hlo_module_id = 7, .op_name = "fusion.3"}).total_duration_ps, 40);
  EXPECT_EQ(Find({.hlo_module_id = 8, .op_name = "fusion.3"}).total, 1u);
  EXPECT_EQ(Find({.framework_op = "jit(f)/dot"}).total_duration_ps, 40);
  // An op without one is known by its own name.
  EXPECT_EQ(Find({.framework_op = "fusion.3"}).total_duration_ps, 40);
  const SubjectEvents longest = Find({.op_name = "fusion.3"}, 1, /*longest=*/true);
  EXPECT_TRUE(longest.truncated);
  ASSERT_EQ(longest.events.size(), 1u);
  EXPECT_EQ(longest.events[0].duration_ps, 40);
}

TEST_F(SubjectTest, RowsTakeEventsOfTheirSideOnly) {
  XSpaceBuilder space;
  PlaneBuilder& device = space.AddPlane("/device:TPU:0");
  const int64_t offset = device.StatId("device_offset_ps");
  const int64_t duration = device.StatId("device_duration_ps");
  LineBuilder& ops = device.AddLine(3, "XLA Ops", 0);
  ops.AddEvent(device.AddEventMetadata("dot.1"), 100, 10)
      .AddStat(offset, uint64_t{90})
      .AddStat(duration, uint64_t{7});
  ops.AddEvent(device.AddEventMetadata("dot.1"), 200, 20);
  PlaneBuilder& host = space.AddPlane("/host:CPU");
  LineBuilder& thread = host.AddLine(5, "thunks", 0);
  thread.AddEvent(host.AddEventMetadata("dot.1"), 400, 5);
  const int64_t framework = host.StatId("tf_op");
  thread.AddEvent(host.AddEventMetadata("Execute"), 500, 6).AddStat(framework, "dot.1:Dot");
  Write("h0.xplane.pb", space.Serialize());
  Start(/*with_cache=*/false);
  EXPECT_EQ(Find({.op_name = "dot.1"}).total, 3u);
  const SubjectEvents on_device =
      Find({.op_name = "dot.1", .side = tools::RowSubject::Side::kDevice});
  EXPECT_EQ(on_device.total_duration_ps, 30);
  EXPECT_TRUE(on_device.has_device_times);
  EXPECT_EQ(on_device.total_device_duration_ps, 27);
  ASSERT_EQ(on_device.events.size(), 2u);
  EXPECT_EQ(on_device.events[0].device_duration_ps, 7);
  EXPECT_EQ(on_device.events[1].device_duration_ps, std::nullopt);
  const SubjectEvents on_host = Find({.op_name = "dot.1", .side = tools::RowSubject::Side::kHost});
  EXPECT_EQ(on_host.total_duration_ps, 11);
  EXPECT_FALSE(on_host.has_device_times);
}

TEST_F(SubjectTest, KernelsOfOneNameDifferByLaunchAndOp) {
  XSpaceBuilder space;
  PlaneBuilder& device = space.AddPlane("/device:GPU:0");
  const int64_t details = device.StatId("kernel_details");
  const int64_t framework = device.StatId("tf_op");
  const int64_t kernel = device.AddEventMetadata("gemm");
  LineBuilder& stream = device.AddLine(3, "Stream #1", 0);
  stream.AddEvent(kernel, 10'000, 5'000).AddStat(details, "regs:8 grid:3,1,1 block:128,1,1");
  stream.AddEvent(kernel, 20'000, 6'000).AddStat(details, "regs:8 grid:6,1,1 block:128,1,1");
  stream.AddEvent(kernel, 30'000, 7'000)
      .AddStat(details, "regs:8 grid:3,1,1 block:128,1,1 occ_pct:50")
      .AddStat(framework, "layer/MatMul:MatMul");
  // Too short for any row.
  stream.AddEvent(kernel, 40'000, 999).AddStat(details, "regs:8 grid:3,1,1 block:128,1,1");
  Write("h0.xplane.pb", space.Serialize());
  Start(/*with_cache=*/false);
  const auto launched = [&](const std::string& grid, const std::string& op) {
    return Find({.op_name = "gemm",
                 .framework_op = op,
                 .side = tools::RowSubject::Side::kDevice,
                 .launch =
                     "regs:8 static_shared:0 dynamic_shared:0 grid:" + grid + " block:128,1,1"})
        .total_duration_ps;
  };
  EXPECT_EQ(launched("3,1,1", ""), 5'000);
  EXPECT_EQ(launched("6,1,1", ""), 6'000);
  EXPECT_EQ(launched("3,1,1", "layer/MatMul"), 7'000);
  EXPECT_EQ(launched("9,1,1", ""), 0);
  EXPECT_EQ(Find({.framework_op = "layer/MatMul", .side = tools::RowSubject::Side::kDevice}).total,
            1u);
  EXPECT_EQ(Find({.op_name = "layer/MatMul/gemm", .side = tools::RowSubject::Side::kDevice}).total,
            1u);
}

TEST_F(SubjectTest, KernelsAreFoundByTheirOwnStats) {
  Write("h0.xplane.pb", Profile());
  Start(/*with_cache=*/false);
  const SubjectEvents found = Find({.op_name = "dot.1"});
  EXPECT_EQ(found.total, 2u);
  EXPECT_EQ(found.total_duration_ps, 11);
  EXPECT_EQ(Find({.op_name = "ot.1"}).total, 0u);
  EXPECT_FALSE(Find({.op_name = "nosuch"}).reason.empty());
  EXPECT_FALSE(Find({.host = "h0"}).reason.empty());
  EXPECT_EQ(Find({.op_name = "dot.1", .host = "other"}).total, 0u);
}

}  // namespace
}  // namespace strobe::engine
