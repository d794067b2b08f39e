// The step tools over real profiles of which it is known how many steps they have and where these
// wait: our own samples, and the captures of the corpus.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "src/tools/input_pipeline_analyzer.h"
#include "src/tools/overview_page.h"
#include "src/tools/pod_viewer.h"
#include "src/tools/session_input.h"
#include "src/tools/step_tools_input_for_test.h"
#include "src/xplane/host_source.h"
#include "src/xplane/session.h"

namespace strobe::tools {
namespace {

namespace fs = std::filesystem;

class RealSession {
 public:
  explicit RealSession(const fs::path& root) {
    const auto entries = xplane::ListSessions(root.string(), {});
    EXPECT_TRUE(entries.ok() && !entries->empty()) << root;
    if (!entries.ok() || entries->empty()) return;
    SessionInput::Parts parts;
    parts.name = root.filename().string();
    auto modules = std::make_shared<hlo::ModuleSet>();
    for (const xplane::SessionFile& file : entries->front().files) {
      const auto source = xplane::OpenHostSource(file, fs::temp_directory_path().string(), {});
      EXPECT_TRUE(source.ok()) << file.path;
      if (!source.ok()) continue;
      auto opened = xplane::ProfileFile::Open(source->source, {});
      EXPECT_TRUE(opened.ok()) << file.path;
      if (!opened.ok()) continue;
      modules->AddEmbedded(**opened, *opened);
      parts.hosts.push_back({.name = file.host, .file = opened->get()});
      parts.owners.push_back(*opened);
    }
    modules->Finish();
    parts.modules = std::move(modules);
    input_ = std::make_unique<SessionInput>(std::move(parts));
  }
  bool ok() const { return input_ != nullptr; }
  ToolInput& input() { return *input_; }

 private:
  std::unique_ptr<SessionInput> input_;
};

fs::path Corpus(const std::string& session) {
  const fs::path corpus = xplane::CorpusDirectory();
  if (corpus.empty()) {
    std::cerr << "NOT TESTED: the real profiles are not at ../shared/data or $STROBE_CORPUS\n";
    return {};
  }
  return corpus / "sessions" / session;
}

// Step times in milliseconds, in order, with the names of the steps.
std::vector<std::pair<std::string, double>> StepTimes(const Table& table) {
  std::vector<std::pair<std::string, double>> times;
  for (size_t row = 0; row < table.rows().size(); ++row) {
    times.emplace_back(TextAt(table, row, "stepnum"), NumberAt(table, row, "stepTimeMs"));
  }
  return times;
}

double MedianOf(const std::vector<std::pair<std::string, double>>& times) {
  std::vector<double> values;
  for (const auto& [name, ms] : times) values.push_back(ms);
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

// Parts of each step sum to the step.
void ExpectPartsSumToSteps(const Table& table) {
  for (size_t row = 0; row < table.rows().size(); ++row) {
    double sum = 0;
    for (const std::string_view id :
         {"deviceComputeTimeMs", "deviceToDeviceTimeMs", "deviceCollectivesTimeMs",
          "hostComputeTimeMs", "kernelLaunchTimeMs", "infeedTimeMs", "outfeedTimeMs",
          "compileTimeMs", "otherTimeMs"}) {
      sum += NumberAt(table, row, id);
    }
    EXPECT_NEAR(sum, NumberAt(table, row, "stepTimeMs"), 1e-6) << "row " << row;
  }
}

TEST(RealSteps, InputStallOfOurOwnSample) {
  RealSession session("samples/input-stall");
  ASSERT_TRUE(session.ok());
  const Table table = Ask(MakeInputPipelineAnalyzerTool(), session.input(), false).tables[1];
  const auto times = StepTimes(table);
  ASSERT_EQ(times.size(), 24u);
  EXPECT_EQ(times[0].first, "train 0");
  const double median = MedianOf(times);
  EXPECT_GT(median, 3) << "each step waits 3 ms";
  for (const auto& [step, more_ms] : {std::pair{6, 40}, std::pair{13, 60}, std::pair{20, 80}}) {
    EXPECT_GT(times[static_cast<size_t>(step)].second, median + more_ms - 3) << "step " << step;
    EXPECT_LT(times[static_cast<size_t>(step)].second, median + more_ms + 10) << "step " << step;
  }
  ExpectPartsSumToSteps(table);
}

TEST(RealSteps, TwoHostsOfOurOwnSampleHaveTheSameSteps) {
  RealSession session("samples/two-hosts");
  ASSERT_TRUE(session.ok());
  const Table table = Ask(MakePodViewerTool(), session.input(), false).tables[0];
  std::map<double, std::vector<std::string>> hosts_of_step;
  for (size_t row = 0; row < table.rows().size(); ++row) {
    hosts_of_step[NumberAt(table, row, "stepNum")].push_back(TextAt(table, row, "hostName"));
  }
  EXPECT_FALSE(hosts_of_step.empty());
  for (const auto& [step, hosts] : hosts_of_step) EXPECT_EQ(hosts.size(), 2u) << step;
}

TEST(RealSteps, IdleSampleSaysWhatGivesSteps) {
  RealSession session("samples/idle");
  ASSERT_TRUE(session.ok());
  const ToolResult result = Ask(MakeOverviewPageTool(), session.input(), false);
  const Notice* notice = FindNotice(result, "NO_STEPS");
  ASSERT_NE(notice, nullptr);
  EXPECT_NE(notice->hint.find("StepTraceAnnotation"), std::string::npos);
}

TEST(RealSteps, PlantedStallsOfTheMlp) {
  const fs::path root = Corpus("cpu-jax-mlp-stall");
  if (root.empty()) GTEST_SKIP();
  RealSession session(root);
  ASSERT_TRUE(session.ok());
  const auto times =
      StepTimes(Ask(MakeInputPipelineAnalyzerTool(), session.input(), false).tables[1]);
  ASSERT_EQ(times.size(), 40u);
  const double median = MedianOf(times);
  for (const size_t hiccup : {10u, 20u, 30u}) {
    EXPECT_NEAR(times[hiccup].second, median + 60, 12) << "60 ms more than the others";
  }
  double most = 0;
  size_t slowest = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].second > most) slowest = i;
    most = std::max(most, times[i].second);
  }
  EXPECT_EQ(slowest, 25u) << "it was compiled anew in step 25";
}

TEST(RealSteps, CountsOfTheOtherCaptures) {
  if (Corpus("cpu-jax-ring").empty()) GTEST_SKIP();
  for (const auto& [name, steps] :
       {std::pair{"cpu-jax-ring", 300u}, std::pair{"cpu-jax-transformer-4dev", 20u}}) {
    RealSession session(Corpus(name));
    ASSERT_TRUE(session.ok());
    const Table table = Ask(MakeInputPipelineAnalyzerTool(), session.input(), false).tables[1];
    EXPECT_EQ(table.rows().size(), steps) << name;
    ExpectPartsSumToSteps(table);
  }
}

TEST(RealSteps, BothProcessesHaveFifteenSteps) {
  const fs::path root = Corpus("cpu-jax-two-process");
  if (root.empty()) GTEST_SKIP();
  RealSession session(root);
  ASSERT_TRUE(session.ok());
  const Table table = Ask(MakePodViewerTool(), session.input(), false).tables[0];
  ASSERT_EQ(table.rows().size(), 30u);
  std::map<std::string, int> steps_of_host;
  for (size_t row = 0; row < table.rows().size(); ++row) {
    ++steps_of_host[TextAt(table, row, "hostName")];
    EXPECT_GT(NumberAt(table, row, "totalDurationUs"), 30'000) << "the late one sleeps 30 ms";
  }
  EXPECT_EQ(steps_of_host["strobe-host-0"], 15);
  EXPECT_EQ(steps_of_host["strobe-host-1"], 15);
}

}  // namespace
}  // namespace strobe::tools
