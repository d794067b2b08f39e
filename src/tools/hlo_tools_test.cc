// hlo_graph and hlo_modules over a module written as text.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "src/hlo/corpus_for_test.h"
#include "src/hlo/hlo_text_parser.h"
#include "src/tools/hlo_graph.h"
#include "src/tools/hlo_modules.h"
#include "src/tools/input_for_test.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kModule = R"(HloModule jit_f

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%p)
}

ENTRY %main (x: f32[8], y: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %f = f32[8]{0} fusion(%x), kind=kLoop, calls=%fused, metadata={op_name="f/neg" source_file="a.py" source_line=12}
  ROOT %r = f32[8]{0} add(%f, %y)
}
)";

std::string ModuleBytes() {
  const auto text = hlo::HloProtoFromText(kModule);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  return text.ok() ? text->hlo_proto : "";
}

const Value* NodeNamed(const Value& document, std::string_view name) {
  for (const Value& node : document.Find("nodes")->items()) {
    const Value* found = node.Find("name");
    if (found != nullptr && found->string_value() == name) return &node;
  }
  return nullptr;
}

TEST(HloGraphTest, NodesSayWhatTheyAreAndWhereTheyComeFrom) {
  const std::string bytes = ModuleBytes();
  TestSession session;
  session.AddModule("jit_f(3)", bytes);
  const auto result = session.Ask(MakeHloGraphTool(), {{"program_id", "3"}});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  const Value& document = result->document;
  EXPECT_EQ(document.Find("node")->string_value(), "r");
  EXPECT_EQ(document.Find("module")->Find("programId")->string_value(), "3");
  const Value* add = NodeNamed(document, "r");
  ASSERT_NE(add, nullptr);
  EXPECT_TRUE(add->Find("centre")->bool_value());
  EXPECT_EQ(add->Find("opcode")->string_value(), "add");
  EXPECT_EQ(add->Find("shapeBytes")->int_value(), 32);
  EXPECT_EQ(add->Find("cost")->Find("flops")->AsNumber(), 8);
  const Value* negate = NodeNamed(document, "n");
  ASSERT_NE(negate, nullptr);
  EXPECT_EQ(negate->Find("computation")->string_value(), "fused");
  EXPECT_FALSE(document.Find("edges")->items().empty());
  EXPECT_EQ(session.Ask(MakeHloGraphTool(), {{"node_name", "nosuch"}}).status().name(),
            "HLO_MODULE_UNKNOWN");
  const auto merged =
      session.Ask(MakeHloGraphTool(), {{"node_name", "%r"}, {"merge_fusion", "true"}});
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  const Value* fusion = NodeNamed(merged->document, "f");
  ASSERT_NE(fusion, nullptr);
  EXPECT_EQ(fusion->Find("fusedComputation")->string_value(), "fused");
  EXPECT_EQ(fusion->Find("category")->string_value(), "loop fusion");
  EXPECT_EQ(fusion->Find("source")->Find("file")->string_value(), "a.py");
  EXPECT_EQ(fusion->Find("source")->Find("line")->int_value(), 12);
}

TEST(HloModulesTest, ARowAModule) {
  const std::string bytes = ModuleBytes();
  TestSession session;
  session.AddModule("jit_f(3)", bytes);
  session.AddModule("zz_broken(4)", "\x0a\xff");
  const auto result = session.Ask(MakeHloModulesTool(), {});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  const Table& table = result->tables[0];
  ASSERT_EQ(table.rows().size(), 2u);
  const auto cell = [&](size_t row, std::string_view column) {
    return table.rows()[row][table.ColumnIndex(column)];
  };
  EXPECT_EQ(cell(0, "module"), Cell("jit_f(3)"));
  EXPECT_EQ(cell(0, "instructions"), Cell(6));
  EXPECT_EQ(cell(0, "computations"), Cell(2));
  EXPECT_EQ(cell(0, "entry_parameters"), Cell(2));
  EXPECT_EQ(cell(0, "peak_main_bytes"), Cell());
  EXPECT_EQ(table.subjects()[0].hlo_module_id, 3u);
  EXPECT_NE(cell(1, "error"), Cell());
  EXPECT_TRUE(result->partial);
}

// The largest module at hand has 37,026 instructions.
TEST(HloGraphCorpusTest, ANeighbourhoodOfTheLargestModuleIsThereAtOnce) {
  const std::filesystem::path corpus = xplane::CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  std::string largest;
  for (const auto& file : std::filesystem::recursive_directory_iterator(corpus / "hlo")) {
    if (!file.path().string().ends_with(".hlo.pb.xz")) continue;
    std::string bytes = hlo::UnpackedFile(file.path());
    if (bytes.size() > largest.size()) largest = std::move(bytes);
  }
  TestSession session;
  session.AddModule("big(1)", largest);
  const auto result = session.Ask(MakeHloGraphTool(),
                                  {{"program_id", "1"}, {"radius", "3"}, {"max_nodes", "200000"}});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_GT(result->document.Find("nodes")->items().size(), 3u);
  std::cout << "drew " << result->document.Find("nodes")->items().size() << " nodes of a module of "
            << largest.size() << " bytes\n";
}

// One profile carries its modules, the other has them beside it: the graphs are the same.
TEST(HloGraphCorpusTest, EmbeddedAndSidecarModulesGiveTheSameGraph) {
  const std::filesystem::path corpus = xplane::CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const std::filesystem::path run =
      corpus / "sessions" / "gpu-mi300-conv-legacy" / "plugins" / "profile" / "2025_05_01_00_00_00";
  std::map<std::string, std::string> sidecars;
  std::map<std::string, std::string> embedded;
  constexpr std::string_view kEnding = ".hlo_proto.pb";
  for (const auto& file : std::filesystem::directory_iterator(run)) {
    const std::string name = file.path().filename().string();
    if (name.ends_with(kEnding)) {
      sidecars[name.substr(0, name.size() - kEnding.size())] = xplane::ReadWholeFile(file.path());
    } else if (name.find(".xplane.pb") != std::string::npos) {
      const auto profile = xplane::MustOpen(hlo::UnpackedFile(file.path()));
      for (const hlo::ModuleEntry& entry : hlo::ModulesOf(*profile)) {
        embedded.try_emplace(entry.Key(), entry.hlo_proto);
      }
    }
  }
  ASSERT_FALSE(sidecars.empty());
  int compared = 0;
  for (const auto& [key, bytes] : sidecars) {
    const auto other = embedded.find(key);
    if (other == embedded.end()) continue;
    TestSession left;
    left.AddModule(key, bytes);
    TestSession right;
    right.AddModule(key, other->second);
    const auto ours = left.Ask(MakeHloGraphTool(), {{"module_name", key}});
    const auto theirs = right.Ask(MakeHloGraphTool(), {{"module_name", key}});
    ASSERT_TRUE(ours.ok() && theirs.ok()) << key;
    EXPECT_EQ(ours->document, theirs->document) << key;
    ++compared;
  }
  std::cout << "compared " << compared << " of " << sidecars.size() << " modules\n";
}

}  // namespace
}  // namespace strobe::tools
