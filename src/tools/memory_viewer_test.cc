#include "src/tools/memory_viewer.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <iostream>

#include "src/hlo/corpus_for_test.h"
#include "src/tools/document_for_test.h"
#include "src/tools/input_for_test.h"

namespace strobe::tools {
namespace {

using hlo::Golden;

TEST(MemoryViewerCorpusTest, DocumentsEqualThoseOfTheReference) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  hlo::CorpusModules modules;
  const ToolDescriptor tool = MakeMemoryViewerTool();
  int compared = 0;
  for (const Golden& golden : hlo::GoldensOf("memory_viewer")) {
    const std::string_view bytes = modules.BytesFor(golden);
    if (golden.status != 200 || bytes.empty()) continue;
    SCOPED_TRACE(golden.session + " " + golden.request);
    TestSession session;
    session.AddModule("m(1)", bytes);
    std::map<std::string, std::string> options = golden.parameters;
    options["module_name"] = "m(1)";
    const Result<ToolResult> result = session.Ask(tool, options);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    const std::string theirs = hlo::UnpackedFile(golden.file);
    ++compared;
    if (result->shape == ToolResult::Shape::kText) {
      const size_t from = theirs.find("graph G {");
      if (from == std::string::npos) {
        EXPECT_EQ(result->text, theirs);
        continue;
      }
      // The description, line by line; layout of the page and blanks are ours.
      const std::string dot = theirs.substr(from, theirs.find('`', from) - from);
      const size_t ours = result->text.find("graph G {");
      ASSERT_NE(ours, std::string::npos);
      const auto plain = [](std::string text) {
        std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
        return text;
      };
      EXPECT_EQ(plain(result->text.substr(ours, result->text.find('`', ours) - ours)), plain(dot));
    } else {
      const std::string difference = DocumentDifference(result->document, theirs);
      EXPECT_EQ(difference, "");
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(compared, 250);
  std::cout << "compared " << compared << " answers\n";
}

}  // namespace
}  // namespace strobe::tools
