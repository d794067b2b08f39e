#include "src/hlo/hlo_text_parser.h"

#include <gtest/gtest.h>

#include <iostream>
#include <unordered_set>

#include "src/hlo/corpus_for_test.h"
#include "src/hlo/hlo_printer.h"

namespace strobe::hlo {
namespace {

constexpr std::string_view kSmall = R"(HloModule jit_f, is_scheduled=true, num_partitions=4

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %main (x: f32[4,8], y: f32[]) -> f32[4] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = f32[] parameter(1)
  ROOT %r = f32[4]{0} reduce(%x, %y), dimensions={1}, to_apply=%sum, metadata={op_name="f/sum" source_file="a.py" source_line=3}
}

)";

std::string LongText(const HloModule& module) {
  PrintOptions options = PrintOptions::Long();
  options.metadata = true;
  return ModuleText(module, options);
}

TEST(HloTextParserTest, ReadsWhatIsThere) {
  const Result<HloModule> module = ParseHloText(kSmall);
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->name(), "jit_f");
  ASSERT_EQ(module->computations().size(), 2u);
  EXPECT_EQ(module->computation(module->entry()).name, "main");
  const uint32_t reduce = module->FindInstruction("r");
  ASSERT_NE(reduce, kNone);
  EXPECT_EQ(module->operands(reduce).size(), 2u);
  EXPECT_EQ(module->computation(module->calls(reduce)[0]).name, "sum");
  EXPECT_EQ(module->computation(module->entry()).root, reduce);
  EXPECT_EQ(DecodeMetadata(module->instruction(reduce).metadata).source_line, 3);
  EXPECT_EQ(LongText(*module), kSmall);
}

struct Damaged {
  std::string_view from;
  std::string_view to;
  std::string_view name;
  std::string_view where;
};

TEST(HloTextParserTest, DamageSaysWhere) {
  const Damaged cases[] = {
      {"add(%a, %b)", "add(%a, %z)", "HLO_TEXT_UNKNOWN_NAME", "line 6, column 27"},
      {"to_apply=%sum", "to_apply=%som", "HLO_TEXT_UNKNOWN_NAME", "line 12, column 64"},
      {"%b = f32[]", "%a = f32[]", "HLO_TEXT_DUPLICATE", "line 5, column 3"},
      {"f32[] parameter(1)\n  ROOT %c", "g32[] parameter(1)\n  ROOT %c", "HLO_TEXT_SYNTAX",
       "line 5, column 8"},
      {"dimensions={1}", "dimensions={1", "HLO_TEXT_SYNTAX", "line 12, column 54"},
      {"add(%a, %b)", "add(%a, %b", "HLO_TEXT_SYNTAX", "line 9, column 7"},
      {"HloModule", "HloModel", "HLO_TEXT_SYNTAX", "line 1, column 1"},
  };
  for (const Damaged& damaged : cases) {
    std::string text(kSmall);
    text.replace(text.find(damaged.from), damaged.from.size(), damaged.to);
    const Result<HloModule> module = ParseHloText(text);
    ASSERT_FALSE(module.ok()) << damaged.to;
    EXPECT_EQ(module.status().name(), damaged.name) << module.status().ToString();
    EXPECT_EQ(module.status().where(), damaged.where) << module.status().ToString();
  }
  EXPECT_EQ(ParseHloText("  \n").status().name(), "HLO_TEXT_EMPTY");
  EXPECT_EQ(ParseHloText("HloModule x\n").status().name(), "HLO_TEXT_SYNTAX");
}

TEST(HloTextParserTest, EachLabelOfADimensionStandsOnce) {
  const auto with_labels = [](std::string_view labels) {
    return "HloModule m\n\nENTRY %e {\n  %p = f32[1,8,8,4]{3,2,1,0} parameter(0)\n"
           "  %k = f32[3,3,4,2]{3,2,1,0} parameter(1)\n  ROOT %c = f32[1,8,8,2]{3,2,1,0} "
           "convolution(%p, %k), window={size=3x3 pad=1_1x1_1}, dim_labels=" +
           std::string(labels) + "\n}\n";
  };
  const Result<HloModule> good = ParseHloText(with_labels("b01f_01io->b01f"));
  ASSERT_TRUE(good.ok()) << good.status().ToString();
  EXPECT_NE(LongText(*good).find("dim_labels=b01f_01io->b01f"), std::string::npos);
  for (const std::string_view labels :
       {"b01f_01io->b00f", "bb1f_01io->b01f", "b01f_01io->?01f", "b02f_01io->b01f",
        "b01f_01iO->b01f", "b01f_01io", "b01f_11io->b01f"}) {
    const Result<HloModule> bad = ParseHloText(with_labels(labels));
    ASSERT_FALSE(bad.ok()) << labels;
    EXPECT_EQ(bad.status().name(), "HLO_TEXT_SYNTAX") << bad.status().ToString();
  }
}

TEST(HloTextParserTest, LimitsAreNamed) {
  TextLimits limits;
  limits.max_instructions = 2;
  EXPECT_EQ(ParseHloText(kSmall, limits).status().name(), "HLO_TEXT_LIMIT");
  limits = {};
  limits.max_text_bytes = 10;
  EXPECT_EQ(ParseHloText(kSmall, limits).status().name(), "HLO_TEXT_LIMIT");
  std::string deep = "HloModule x\n\nENTRY %m {\n  ROOT %p = ";
  for (int i = 0; i < 10'000; ++i) deep.push_back('(');
  EXPECT_EQ(ParseHloText(deep).status().name(), "HLO_TEXT_LIMIT");
}

TEST(HloTextParserTest, UnknownAttributesAreNamed) {
  std::string text(kSmall);
  const std::string_view at = "dimensions={1}";
  text.replace(text.find(at), at.size(), "dimensions={1}, sparkle={a=[1,2], b=\"}\"}");
  const Result<HloText> parsed = HloProtoFromText(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  ASSERT_EQ(parsed->unknown_attributes.size(), 1u);
  EXPECT_EQ(parsed->unknown_attributes[0], "sparkle");
}

// Without the numbers of frames, which count in the order of the messages, and their tables.
std::string WithoutFrames(const std::string& text) {
  std::string out;
  bool in_table = false;
  for (std::string line : SplitText(text, '\n')) {
    if (line == "FileNames") in_table = true;
    const bool entry = !line.empty() && line[0] >= '0' && line[0] <= '9';
    const bool title = line == "FunctionNames" || line == "FileLocations" || line == "StackFrames";
    if (in_table && (entry || title || line.empty() || line == "FileNames")) continue;
    in_table = false;
    constexpr std::string_view kId = " stack_frame_id=";
    for (size_t at = line.find(kId); at != std::string::npos; at = line.find(kId)) {
      const size_t end = line.find_first_not_of("0123456789", at + kId.size());
      line.erase(at, std::min(end, line.size()) - at);
    }
    out += line + "\n";
  }
  return out;
}

// The first line that differs, for a message.
std::string Difference(const std::string& ours, const std::string& theirs) {
  const std::vector<std::string> left = SplitText(ours, '\n');
  const std::vector<std::string> right = SplitText(theirs, '\n');
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::string a = i < left.size() ? left[i] : "(end)";
    const std::string b = i < right.size() ? right[i] : "(end)";
    if (a != b) return "line " + std::to_string(i + 1) + "\n" + a + "\n" + b;
  }
  return "";
}

TEST(HloTextParserCorpusTest, TextsOfTheReferenceReadBackTheSame) {
  STROBE_NEED_CORPUS(CorpusDirectory());
  std::unordered_set<std::string> seen;
  int read = 0;
  int different = 0;
  for (const Golden& golden : GoldensOf("graph_viewer")) {
    const std::string type = golden.Of("type");
    if (golden.status != 200 ||
        (type != "short_txt" && type != "long_txt" && type != "custom_call")) {
      continue;
    }
    const std::string text = UnpackedFile(golden.file);
    if (text.empty() || !seen.insert(text).second) continue;
    const Result<HloModule> module = ParseHloText(text);
    ++read;
    std::string difference;
    if (!module.ok()) {
      difference = module.status().ToString();
    } else {
      PrintOptions options = type == "short_txt" ? PrintOptions::Short() : PrintOptions::Long();
      options.metadata = type == "custom_call" || golden.Of("show_metadata") == "true";
      options.operand_numbers = text.find("/*index=5*/%") != std::string::npos;
      options.large_constants = false;
      difference = Difference(WithoutFrames(ModuleText(*module, options)), WithoutFrames(text));
    }
    if (!difference.empty() && ++different <= 5) {
      ADD_FAILURE() << golden.session << " " << golden.request << "\n"
                    << difference.substr(0, 1500);
    }
  }
  EXPECT_EQ(different, 0);
  EXPECT_GT(read, 200);
  std::cout << "read " << read << " texts\n";
}

}  // namespace
}  // namespace strobe::hlo
