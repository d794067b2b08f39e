// Input time of steps: made threads whose numbers are worked out by hand, and the planted stalls of
// the samples.
#include "src/tools/host_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

constexpr int64_t kUs = 1'000'000;

// Thread: train 0 [0,100) with load_batch [10,40) (inside it get_next [20,30)), train 1 [100,200)
// with load_batch [100,130); load_batch [300,400) is in no step. Device: busy [30,60) and
// [150,190).
std::shared_ptr<SessionInput> Made(const std::string& input_name,
                                   const std::string& inner_name = "IteratorGetNext") {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& host = space.AddPlane("/host:CPU");
  xplane::LineBuilder& thread = host.AddLine(1, "python", 0);
  const int64_t train = host.AddEventMetadata("train");
  const int64_t load = host.AddEventMetadata(input_name);
  const int64_t number = host.StatId("step_num");
  thread.AddEvent(train, 0, 100 * kUs).AddStat(number, int64_t{0});
  thread.AddEvent(load, 10 * kUs, 30 * kUs);
  thread.AddEvent(host.AddEventMetadata(inner_name), 20 * kUs, 10 * kUs);
  thread.AddEvent(train, 100 * kUs, 100 * kUs).AddStat(number, int64_t{1});
  thread.AddEvent(load, 100 * kUs, 30 * kUs);
  thread.AddEvent(load, 300 * kUs, 100 * kUs);
  host.AddLine(2, "other", 0).AddEvent(load, 40 * kUs, 50 * kUs);
  xplane::PlaneBuilder& gpu = space.AddPlane("/device:GPU:0");
  xplane::LineBuilder& stream = gpu.AddLine(7, "Stream #7(Compute)", 0);
  stream.AddEvent(gpu.AddEventMetadata("kernel"), 30 * kUs, 30 * kUs);
  stream.AddEvent(gpu.AddEventMetadata("kernel"), 150 * kUs, 40 * kUs);
  return SessionForTest({{"h", space.Serialize()}});
}

HostInput Look(SessionInput& session, std::string_view pattern = {}) {
  ToolQuestion question;
  question.hosts = {0};
  Result<HostInput> found = HostInputOf(question, session, pattern, CancelToken());
  EXPECT_TRUE(found.ok()) << found.status().ToString();
  return found.ok() ? *std::move(found) : HostInput();
}

TEST(HostInputTest, CountsEachMomentOnceAndOnlyInsideSteps) {
  const auto session = Made("load_batch");
  const HostInput input = Look(*session);
  ASSERT_EQ(input.steps.size(), 2U);
  EXPECT_EQ(input.steps[0].duration_ps, 100 * kUs);
  EXPECT_EQ(input.steps[0].input_ps, 30 * kUs);
  EXPECT_EQ(input.steps[0].waited_ps, 20 * kUs);  // the device began 10 us before its end
  EXPECT_EQ(input.steps[1].input_ps, 30 * kUs);
  EXPECT_EQ(input.steps[1].waited_ps, 30 * kUs);
  ASSERT_EQ(input.events.size(), 2U);
  EXPECT_EQ(input.events[0].name, "load_batch");
  EXPECT_EQ(input.events[0].count, 2U);
}

TEST(HostInputTest, NamesAreThoseOfInputOrThoseAskedFor) {
  for (const char* name : {"next_batch", "tokenize", "DataLoader.__next__", "data_loader",
                           "$input.py:3 get_batch", "shard_batch", "input_fn", "Load next batch"}) {
    EXPECT_EQ(Look(*Made(name)).steps[1].input_ps, 30 * kUs) << name;
  }
  for (const char* name : {"compute", "PjitFunction(train_step)", "backward", "dispatch"}) {
    EXPECT_EQ(Look(*Made(name)).steps[1].input_ps, 0) << name;
  }
  EXPECT_EQ(Look(*Made("refill"), "^refill$").steps[1].input_ps, 30 * kUs);
  ToolQuestion question;
  question.hosts = {0};
  EXPECT_EQ(HostInputOf(question, *Made("x"), "(", CancelToken()).status().name(),
            "PATTERN_INVALID");
}

TEST(HostInputTest, WithoutInputItSaysWhatWouldMakeItKnown) {
  const ToolResult result = MustAnswer("input_pipeline_analyzer", *Made("compute", "dispatch"));
  EXPECT_TRUE(std::any_of(result.notices.begin(), result.notices.end(), [](const Notice& notice) {
    return notice.name == "NO_INPUT_EVENTS";
  }));
}

const Table* TableOf(const ToolResult& result, std::string_view id) {
  for (const Table& table : result.tables) {
    if (table.id() == id) return &table;
  }
  return nullptr;
}

double NumberAt(const Table& table, size_t row, std::string_view column) {
  for (size_t c = 0; c < table.columns().size(); ++c) {
    if (table.columns()[c].id == column) return std::get<double>(table.rows()[row][c].value);
  }
  ADD_FAILURE() << "no column " << column;
  return 0;
}

std::shared_ptr<SessionInput> OpenDirectory(const std::filesystem::path& directory) {
  const auto entries = xplane::ListSessions(directory, {});
  EXPECT_TRUE(entries.ok() && !entries->empty()) << directory;
  return OpenSessionForTest(entries->at(0));
}

// Each step of the sample waits as long as TRUTH.json says that it was made to wait; making the
// batch itself takes up to some ms more.
TEST(HostInputSampleTest, PlantedStallsAreFound) {
  constexpr double kBatchMs = 5;
  const std::filesystem::path sample = "samples/input-stall";
  const nlohmann::json truth = nlohmann::json::parse(xplane::ReadWholeFile(sample / "TRUTH.json"));
  const auto session = OpenDirectory(sample);
  const ToolResult result = MustAnswer("input_pipeline_analyzer", *session);
  const Table* const table = TableOf(result, "host_input");
  ASSERT_NE(table, nullptr);
  const nlohmann::json& steps = truth["hosts"][0]["steps"]["items"];
  ASSERT_EQ(table->rows().size(), steps.size());
  double planted_ms = 0;
  double step_ms = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double wait_ms = steps[i]["planted_wait_ms"];
    planted_ms += wait_ms;
    step_ms += static_cast<double>(steps[i]["duration_us"]) / 1000;
    EXPECT_EQ(NumberAt(*table, i, "step"), static_cast<double>(steps[i]["number"]));
    EXPECT_GE(NumberAt(*table, i, "inputMs"), wait_ms);
    EXPECT_LT(NumberAt(*table, i, "inputMs"), wait_ms + kBatchMs);
    EXPECT_GE(NumberAt(*table, i, "waitedMs"), 0.9 * wait_ms);
  }
  // The steps' own table and the verdict say so too.
  const Table* const breakdown = TableOf(result, "steps");
  ASSERT_NE(breakdown, nullptr);
  ASSERT_EQ(breakdown->rows().size(), steps.size());
  double input_ms = 0;
  for (size_t i = 0; i < steps.size(); ++i) input_ms += NumberAt(*breakdown, i, "infeedTimeMs");
  EXPECT_GT(input_ms, 0.9 * planted_ms);
  EXPECT_LT(input_ms, step_ms);
  EXPECT_NEAR(NumberAt(*breakdown, 20, "infeedTimeMs"), 83, kBatchMs);
  // XProf sees none of it.
  const ToolResult theirs = MustAnswer("input_pipeline_analyzer", *session, {}, true);
  EXPECT_EQ(TableOf(theirs, "host_input"), nullptr);
  const Table* const their_steps = TableOf(theirs, "steps");
  ASSERT_NE(their_steps, nullptr);
  for (size_t i = 0; i < their_steps->rows().size(); ++i) {
    EXPECT_LT(NumberAt(*their_steps, i, "infeedTimeMs"), 1);
  }
}

// More than 85 % of a median step lies inside load_batch, says its TRUTH.
TEST(HostInputRealTest, AnInputBoundJobIsToldAsOne) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  const auto session = OpenDirectory(xplane::CorpusDirectory() / "sessions" / "cpu-jax-mlp-stall");
  const ToolResult result = MustAnswer("input_pipeline_analyzer", *session);
  const Table* const table = TableOf(result, "host_input");
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->rows().size(), 40U);
  double total_ms = 0;
  size_t mostly_input = 0;
  for (size_t i = 0; i < 40; ++i) {
    total_ms += NumberAt(*table, i, "inputMs");
    mostly_input += NumberAt(*table, i, "inputMs") > 0.8 * NumberAt(*table, i, "stepTimeMs");
  }
  EXPECT_GT(total_ms, 1140);
  EXPECT_LT(total_ms, 1240);
  EXPECT_GE(mostly_input, 36U);  // all but the one that compiles, and a few
}

}  // namespace
}  // namespace strobe::tools
