#include "src/hlo/hlo_module.h"

#include <gtest/gtest.h>

#include "src/hlo/buffer_assignment.h"
#include "src/hlo/corpus_for_test.h"
#include "src/hlo/hlo_graph.h"
#include "src/hlo/hlo_order.h"
#include "src/hlo/hlo_printer.h"
#include "src/hlo/hlo_text_parser.h"
#include "src/hlo/module_set.h"
#include "src/wire/wire_writer.h"

namespace strobe::hlo {
namespace {

using wire::AppendBytesField;
using wire::AppendVarintField;

std::string InstructionBytes(std::string_view name, std::string_view opcode, uint64_t id,
                             const std::vector<uint64_t>& operands) {
  std::string bytes;
  AppendBytesField(1, name, &bytes);
  AppendBytesField(2, opcode, &bytes);
  AppendVarintField(35, id, &bytes);
  for (const uint64_t operand : operands) AppendVarintField(36, operand, &bytes);
  return bytes;
}

std::string ProtoOf(const std::vector<std::string>& instructions) {
  std::string computation;
  AppendBytesField(1, "main", &computation);
  for (const std::string& bytes : instructions) AppendBytesField(2, bytes, &computation);
  AppendVarintField(5, 1, &computation);
  std::string module;
  AppendBytesField(1, "m", &module);
  AppendBytesField(3, computation, &module);
  AppendVarintField(6, 1, &module);
  std::string proto;
  AppendBytesField(1, module, &proto);
  return proto;
}

TEST(HloModuleTest, LinksOperandsAndUsers) {
  const std::string bytes = ProtoOf({InstructionBytes("p", "parameter", 10, {}),
                                     InstructionBytes("n", "negate", 12, {10}),
                                     InstructionBytes("a", "add", 14, {10, 10}),
                                     InstructionBytes("m", "multiply", 15, {12, 14})});
  const Result<HloModule> module = HloModule::Read(bytes, {});
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->name(), "m");
  ASSERT_EQ(module->instructions().size(), 4u);
  EXPECT_EQ(module->FindInstruction("%a"), 2u);
  EXPECT_EQ(module->FindInstruction("none"), kNone);
  const auto operands = module->operands(3);
  EXPECT_EQ(std::vector<uint32_t>(operands.begin(), operands.end()), (std::vector<uint32_t>{1, 2}));
  const auto users = module->users(0);  // add takes it twice and counts once
  EXPECT_EQ(std::vector<uint32_t>(users.begin(), users.end()), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(module->computation(0).root, 3u);
  EXPECT_EQ(InstructionPostOrder(*module, 0), (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(HloModuleTest, NamesWhatIsWrong) {
  const auto name = [](std::string_view bytes, const ReadLimits& limits = {}) {
    const Result<HloModule> module = HloModule::Read(bytes, limits);
    return module.ok() ? std::string("ok") : std::string(module.status().name());
  };
  EXPECT_EQ(name(""), "HLO_EMPTY");
  EXPECT_EQ(name("\x1a\x00"), "HLO_DAMAGED");
  EXPECT_EQ(name(std::string("\x1a\x00", 2)), "HLO_NO_MODULE");
  EXPECT_EQ(name(std::string("\x0a\x00", 2)), "HLO_NO_COMPUTATION");
  EXPECT_EQ(name(ProtoOf({})), "HLO_EMPTY_COMPUTATION");
  EXPECT_EQ(name(ProtoOf({InstructionBytes("n", "negate", 1, {99})})), "HLO_UNKNOWN_OPERAND");
  std::string calling = InstructionBytes("c", "call", 1, {});
  AppendVarintField(38, 77, &calling);
  EXPECT_EQ(name(ProtoOf({calling})), "HLO_UNKNOWN_COMPUTATION");
  const std::string two =
      ProtoOf({InstructionBytes("p", "parameter", 1, {}), InstructionBytes("n", "negate", 2, {1})});
  EXPECT_EQ(name(two, {.max_instructions = 1}), "HLO_LIMIT_INSTRUCTIONS");
  EXPECT_EQ(name(two, {.max_links = 1}), "HLO_LIMIT_LINKS");
  for (size_t cut = 1; cut < two.size(); ++cut) {
    const xplane::ExactBytes part(std::string_view(two).substr(0, cut));
    EXPECT_NE(name(part.bytes()), "ok") << cut;
  }
}

TEST(HloModuleTest, ACircleOfOperandsEnds) {
  const std::string bytes =
      ProtoOf({InstructionBytes("a", "add", 1, {2, 2}), InstructionBytes("b", "add", 2, {1, 1})});
  const Result<HloModule> module = HloModule::Read(bytes, {});
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(InstructionPostOrder(*module, 0).size(), 2u);
}

// Damage anywhere in a real module: refused by name, or read and then usable.
TEST(HloModuleCorpusTest, ChangedBytesNeverBreakAnything) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const std::string bytes =
      UnpackedFile(corpus / "hlo" / "tpu_aot" / "v6e" / "all_reduce.after_optimizations.hlo.pb.xz");
  const ReadLimits limits{.max_instructions = 10'000, .max_shapes = 10'000, .max_links = 100'000};
  uint64_t state = 42;
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string changed = bytes;
    for (int change = 0; change <= round % 3; ++change) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      changed[(state >> 33) % changed.size()] = static_cast<char>(state >> 20);
    }
    const xplane::ExactBytes exact(changed);
    const Result<HloModule> module = HloModule::Read(exact.bytes(), limits);
    if (!module.ok()) {
      EXPECT_TRUE(module.status().name().starts_with("HLO_")) << module.status().ToString();
      continue;
    }
    ++read;
    PrintOptions options;
    options.metadata = true;
    EXPECT_FALSE(ModuleText(*module, options).empty());
    const Result<HloGraph> graph =
        MakeGraph(*module, module->computation(module->entry()).name, {.max_nodes = 1'000});
    if (graph.ok()) EXPECT_FALSE(DotText(*graph).empty());
    const Result<MemoryUse> use = ReplayMemory(*module, {.max_records = 10'000});
    if (!use.ok()) EXPECT_TRUE(use.status().name().starts_with("HLO_"));
  }
  EXPECT_GT(read, 500);
}

TEST(HloModuleCorpusTest, TheLargestModuleOpensWithinItsMemory) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const std::string bytes =
      UnpackedFile(corpus / "hlo" /
                   "module_0040.pjit__wrapped_step_fn.sm_8.0_gpu_after_optimizations.hlo.pb.xz");
  const Result<HloModule> module = HloModule::Read(bytes, {});
  ASSERT_TRUE(module.ok());
  // 37,026 instructions with those of the fusions' computations counted apart.
  EXPECT_GE(module->instructions().size(), 30'000u);
  EXPECT_LT(module->resident_bytes(), 4 * bytes.size());
}

TEST(ModuleSourceTest, ReadsTheProgramIdOfAName) {
  uint64_t id = 0;
  EXPECT_TRUE(ProgramIdOfName("jit_f(12190760917235803885)", &id));
  EXPECT_EQ(id, 12190760917235803885u);
  EXPECT_FALSE(ProgramIdOfName("jit_f", &id));
  EXPECT_FALSE(ProgramIdOfName("jit_f()", &id));
  EXPECT_FALSE(ProgramIdOfName("jit_f(1x)", &id));
  EXPECT_FALSE(ProgramIdOfName("jit_f(99999999999999999999)", &id));
}

TEST(ModuleSourceCorpusTest, SidecarsHoldTheEmbeddedModules) {
  const std::filesystem::path corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  const auto run =
      corpus / "sessions" / "gpu-mi300-conv-legacy" / "plugins" / "profile" / "2025_05_01_00_00_00";
  const auto profile = xplane::MustOpen(UnpackedFile(run / "node0.example.com.xplane.pb"));
  ASSERT_NE(profile, nullptr);
  const std::vector<ModuleEntry> modules = ModulesOf(*profile);
  EXPECT_EQ(modules.size(), 8u);
  for (const ModuleEntry& entry : modules) {
    const std::string sidecar = xplane::ReadWholeFile(run / (entry.Key() + ".hlo_proto.pb"));
    const Result<HloModule> a = HloModule::Read(entry.hlo_proto, {});
    const Result<HloModule> b = HloModule::Read(sidecar, {});
    ASSERT_TRUE(a.ok() && b.ok()) << entry.Key();
    EXPECT_EQ(a->instructions().size(), b->instructions().size()) << entry.Key();
  }
  EXPECT_EQ(MergeModules({modules, modules}).size(), modules.size());
}

TEST(ModuleSetTest, KeepsWhatFitsAndLetsGoOfTheOldest) {
  constexpr std::string_view kText =
      "HloModule m\n\nENTRY e {\n  a = f32[8]{0} parameter(0)\n  ROOT b = f32[8]{0} negate(a)\n}\n";
  const Result<HloText> program = HloProtoFromText(kText);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  ModuleSet set;
  for (const char* name : {"a(1)", "b(2)", "c(3)"}) set.AddFile(name, program->hlo_proto, nullptr);
  set.Finish();
  EXPECT_EQ(set.resident_bytes(), 0u);
  const auto first = set.Module(0).value();
  const uint64_t one = set.resident_bytes();
  EXPECT_EQ(one, first->resident_bytes());
  EXPECT_EQ(set.Module(0).value(), first);
  set.set_max_decoded_bytes(2 * one);
  const auto second = set.Module(1).value();
  EXPECT_EQ(set.Module(0).value(), first);  // now the second is the oldest
  const auto third = set.Module(2).value();
  EXPECT_EQ(set.resident_bytes(), 2 * one);
  EXPECT_EQ(set.Module(0).value(), first);
  EXPECT_NE(set.Module(1).value(), second);
  EXPECT_EQ(second->name(), "m");
  set.DropDecoded();
  EXPECT_EQ(set.resident_bytes(), 0u);
  // One that alone is over the limit is kept while it is the one in use.
  set.set_max_decoded_bytes(1);
  EXPECT_EQ(set.Module(2).value(), set.Module(2).value());
}

TEST(ModuleSetTest, ErrorsStayTheSame) {
  ModuleSet set;
  set.AddFile("bad(1)", "\x0a\x7f", nullptr);
  set.Finish();
  const auto first = set.Module(0);
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(set.Module(0).status().name(), first.status().name());
  EXPECT_EQ(set.resident_bytes(), 0u);
}

}  // namespace
}  // namespace strobe::hlo
