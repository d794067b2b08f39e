#include "src/hlo/hlo_printer.h"

#include <gtest/gtest.h>

#include <iostream>

#include "src/hlo/corpus_for_test.h"

namespace strobe::hlo {
namespace {

// The first line in which two texts differ, for a message that can be read.
std::string FirstDifference(std::string_view ours, std::string_view theirs) {
  const auto our_lines = SplitText(ours, '\n');
  const auto their_lines = SplitText(theirs, '\n');
  for (size_t i = 0; i < std::max(our_lines.size(), their_lines.size()); ++i) {
    const std::string a = i < our_lines.size() ? our_lines[i] : "<end>";
    const std::string b = i < their_lines.size() ? their_lines[i] : "<end>";
    if (a == b) continue;
    size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
    const size_t from = at > 60 ? at - 60 : 0;
    return "line " + std::to_string(i + 1) + "\n  ours:   ..." + a.substr(from, 260) +
           "\n  theirs: ..." + b.substr(from, 260);
  }
  return "none";
}

PrintOptions OptionsOf(const Golden& golden) {
  PrintOptions options =
      golden.Of("type") == "short_txt" ? PrintOptions::Short() : PrintOptions::Long();
  options.metadata = golden.Of("show_metadata") == "true" || golden.Of("type") == "custom_call";
  options.groups_as_reference = true;
  return options;
}

TEST(HloPrinterCorpusTest, TextsEqualThoseOfTheReference) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  CorpusModules modules;
  int compared = 0;
  int different = 0;
  for (const Golden& golden : GoldensOf("graph_viewer")) {
    const std::string type = golden.Of("type");
    if (type != "short_txt" && type != "long_txt" && type != "custom_call") continue;
    if (golden.status != 200) continue;
    const std::string_view bytes = modules.BytesFor(golden);
    const std::string expected = UnpackedFile(golden.file);
    if (bytes.empty()) {
      // The marker of a session without modules prints as a module without name.
      EXPECT_EQ(golden.Of("module_name"), "NO_MODULE") << golden.session << golden.request;
      continue;
    }
    const Result<HloModule> module = HloModule::Read(bytes, {});
    ASSERT_TRUE(module.ok()) << golden.request << module.status().ToString();
    const std::string text = ModuleText(*module, OptionsOf(golden));
    ++compared;
    if (text == expected) continue;
    if (++different <= 20) {
      ADD_FAILURE() << golden.session << " " << golden.request << "\n"
                    << FirstDifference(text, expected);
    }
  }
  EXPECT_EQ(different, 0);
  EXPECT_GT(compared, 400);
  std::cout << "compared " << compared << " texts, " << different << " differ\n";
}

}  // namespace
}  // namespace strobe::hlo
