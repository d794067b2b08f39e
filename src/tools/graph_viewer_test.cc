#include "src/tools/graph_viewer.h"

#include <gtest/gtest.h>

#include <iostream>

#include "src/hlo/corpus_for_test.h"
#include "src/hlo/proto_text.h"
#include "src/tools/input_for_test.h"

namespace strobe::tools {
namespace {

using hlo::CorpusModules;
using hlo::Golden;
using hlo::UnpackedFile;

// Requests of the recorded answers are URL-encoded in part.
std::string Decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out.push_back(static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)));
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

class Sessions {
 public:
  TestSession& Of(const Golden& golden) {
    auto& session = sessions_[{golden.session, golden.run}];
    if (session == nullptr) {
      session = std::make_unique<TestSession>();
      for (const auto& [key, bytes] : modules_.Of(golden.session, golden.run)) {
        session->AddModule(key, bytes);
      }
    }
    return *session;
  }
  bool Has(const Golden& golden) {
    return !modules_.Of(golden.session, golden.run).empty() ||
           golden.Of("module_name") == "NO_MODULE";
  }

 private:
  CorpusModules modules_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<TestSession>> sessions_;
};

std::string_view Trimmed(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// The text of an answer; lists of neighbours as the reference writes them.
std::string TextOf(const ToolResult& result) {
  if (result.shape != ToolResult::Shape::kDocument) return result.text;
  std::string text;
  for (const std::string& member : result.document.names()) {
    std::string names;
    for (const Value& name : result.document.Find(member)->items()) {
      names += (names.empty() ? "\"" : ",\"") + name.string_value() + "\"";
    }
    text += (text.empty() ? "{\"" : ",\"") + member + "\":[" + names + "]";
  }
  return text + "}";
}

// Everything but drawings, whose content is compared in the tests of hlo.
TEST(GraphViewerCorpusTest, TextsAndErrorsEqualThoseOfTheReference) {
  STROBE_NEED_CORPUS(xplane::CorpusDirectory());
  Sessions sessions;
  const ToolDescriptor tool = MakeGraphViewerTool();
  int compared = 0;
  int different = 0;
  for (const Golden& golden : hlo::GoldensOf("graph_viewer")) {
    if (!sessions.Has(golden) || golden.status == 404) continue;
    const std::string type = golden.Of("type");
    if (golden.status == 200 && type == "graph") continue;
    std::map<std::string, std::string> options;
    for (const auto& [name, value] : golden.parameters) options[name] = Decoded(value);
    const Result<ToolResult> result = sessions.Of(golden).Ask(tool, options);
    const std::string theirs = UnpackedFile(golden.file);
    ++compared;
    bool same = result.ok() == (golden.status == 200);
    if (same && result.ok()) {
      same = type == "pb"
                 ? hlo::HloProtoText(result->text).value() == hlo::HloProtoText(theirs).value()
                 : Trimmed(TextOf(*result)) == Trimmed(theirs);
    } else if (same && result.status().name() != "HLO_MODULE_UNKNOWN") {
      same = result.status().message() == theirs;
    }
    if (!same && ++different <= 5) {
      ADD_FAILURE() << golden.session << " " << golden.request << "\nours: "
                    << (result.ok() ? TextOf(*result).substr(0, 500) : result.status().ToString())
                    << "\ntheirs: " << theirs.substr(0, 500);
    }
  }
  EXPECT_EQ(different, 0);
  EXPECT_GT(compared, 900);
  std::cout << "compared " << compared << " answers\n";
}

TEST(GraphViewerTest, ASessionWithoutModulesHasTheMarkerOnly) {
  TestSession session;
  const ToolDescriptor tool = MakeGraphViewerTool();
  const auto bytes = session.Ask(tool, {{"module_name", "NO_MODULE"}, {"type", "pb"}});
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->text, "");
  const auto text = session.Ask(tool, {{"module_name", "NO_MODULE"}, {"type", "short_txt"}});
  EXPECT_EQ(text.status().name(), "GRAPH_NO_MODULE");
  EXPECT_EQ(session.Ask(tool, {{"module_name", "x"}, {"type", "pb"}}).status().name(),
            "HLO_MODULE_UNKNOWN");
  EXPECT_EQ(session.Ask(tool, {{"type", "pb"}}).status().name(), "HLO_MODULE_NOT_NAMED");
  EXPECT_FALSE(tool.applies(session.input().facts()).applies);
}

}  // namespace
}  // namespace strobe::tools
