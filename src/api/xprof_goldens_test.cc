// XProf's routes against answers recorded from XProf 2.24.2, over the real engine and real
// profiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/api/app.h"
#include "src/api/xprof_answers.h"
#include "src/base/log.h"
#include "src/wire/compress.h"
#include "src/xplane/test_bytes.h"

namespace strobe::api {
namespace {

namespace fs = std::filesystem;

std::string ReadGolden(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  std::string text;
  const auto inflated = wire::Inflate(
      wire::Compression::kGzip, packed, {},
      [&text](std::string_view part) {
        text += part;
        return OkStatus();
      },
      CancelToken());
  EXPECT_TRUE(inflated.ok() && !inflated->partial) << path;
  return text;
}

// One recorded session directory, served by us.
class GoldenServer {
 public:
  explicit GoldenServer(const std::string& root) : console_("") {
    engine::EngineOptions options;
    options.roots = {root};
    engine_ = engine::Engine::Create(std::move(options), SystemClock());
    EXPECT_TRUE(engine_->Refresh().ok());
    context_->engine = engine_.get();
    context_->clock = &SystemClock();
    context_->console = &console_;
    // What is offered is judged by names and facts alone, so that it is the same test while tools
    // are still being written.
    for (const std::string_view name :
         {"overview_page", "trace_viewer@", "graph_viewer", "op_profile", "input_pipeline_analyzer",
          "kernel_stats", "memory_profile", "memory_viewer", "roofline_model", "perf_counters",
          "framework_op_stats", "hlo_stats", "megascale_stats", "kernel_utilization",
          "utilization_viewer"}) {
      tools_.push_back({.id = std::string(name)});
    }
    context_->tools = &tools_;
    router_ = std::make_unique<Router>(MakeRoutes(context_));
  }
  std::string Get(std::string_view target) {
    Request request = MakeRequest("GET", target).value();
    return *router_->Run(router_->Find(request), request).body;
  }

 private:
  StaticFiles console_;
  std::vector<tools::ToolDescriptor> tools_;
  std::unique_ptr<engine::Engine> engine_;
  std::shared_ptr<AppContext> context_ = std::make_shared<AppContext>();
  std::unique_ptr<Router> router_;
};

TEST(XprofGoldensTest, RunsHostsAndToolsAreThoseOfXprof) {
  const fs::path corpus = xplane::CorpusDirectory();
  const fs::path goldens = corpus / "xprof_goldens/2.24.2";
  if (corpus.empty() || !fs::exists(goldens)) {
    GTEST_SKIP() << "NOT TESTED: no recorded answers at ../shared/data from the repository root, "
                    "or at $STROBE_CORPUS.";
  }
  SetLogLevel("off");
  size_t compared = 0;
  for (const fs::directory_entry& session : fs::directory_iterator(corpus / "sessions")) {
    const fs::path recorded = goldens / session.path().filename();
    if (!fs::exists(recorded / "runs.json.gz")) continue;
    GoldenServer server(session.path().string());
    EXPECT_EQ(server.Get("/runs"), ReadGolden(recorded / "runs.json.gz")) << session.path();
    ++compared;
    for (const fs::directory_entry& run : fs::directory_iterator(recorded)) {
      if (!run.is_directory()) continue;
      const std::string name = run.path().filename().string();
      for (const fs::directory_entry& answer : fs::directory_iterator(run.path())) {
        // hosts.<tool>.json.gz
        const std::string file = answer.path().filename().string();
        if (!file.starts_with("hosts.") || !file.ends_with(".json.gz")) continue;
        const std::string tool = file.substr(6, file.size() - 6 - 8);
        EXPECT_EQ(server.Get("/hosts?run=" + name + "&tag=" + tool), ReadGolden(answer.path()))
            << answer.path();
        ++compared;
      }
      EXPECT_EQ(server.Get("/run_tools?run=" + name), ReadGolden(run.path() / "run_tools.json.gz"))
          << run.path();
      ++compared;
    }
  }
  SetLogLevel("info");
  EXPECT_GE(compared, 40u);
}

TEST(XprofAnswersTest, SpellsTextAsPython) {
  EXPECT_EQ(PythonJsonString("a\"\\\n\t\x01\x7f"), "\"a\\\"\\\\\\n\\t\\u0001\x7f\"");
  EXPECT_EQ(PythonJsonString("gr\xc3\xbc\xf0\x9f\x98\x80"), "\"gr\\u00fc\\ud83d\\ude00\"");
  EXPECT_EQ(PythonJsonStrings({}), "[]");
  EXPECT_EQ(PythonJsonHosts({"a", "b"}), R"([{"hostname": "a"}, {"hostname": "b"}])");
}

}  // namespace
}  // namespace strobe::api
