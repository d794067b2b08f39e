#include "src/hlo/cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/hlo/category.h"
#include "src/hlo/corpus_for_test.h"
#include "src/hlo/module_for_test.h"

namespace strobe::hlo {
namespace {

HloModule Read(const ModuleForTest& made, int64_t entry) {
  Result<HloModule> module = HloModule::ReadOwned(made.Serialize(entry), ReadLimits{});
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return std::move(*module);
}

InstructionCost CostOfNamed(const HloModule& module, CostModel model, std::string_view name) {
  const uint32_t index = module.FindInstruction(name);
  EXPECT_NE(index, kNone) << name;
  return CostOf(module, model).instructions[index];
}

TEST(CostTest, ElementwiseCountsElementsOrCycles) {
  ModuleForTest made("m");
  const int64_t entry = made.AddComputation("main");
  const int64_t p = made.Add(entry, {.name = "p", .opcode = "parameter", .shape = F32({10})});
  const int64_t sum =
      made.Add(entry, {.name = "sum", .opcode = "add", .shape = F32({10}), .operands = {p, p}});
  made.Add(entry, {.name = "e", .opcode = "exponential", .shape = F32({10}), .operands = {sum}});
  const HloModule module = Read(made, entry);
  const InstructionCost generic = CostOfNamed(module, CostModel::kGeneric, "sum");
  EXPECT_EQ(generic.flops, 10);
  EXPECT_EQ(generic.bytes_accessed, 120);  // two operands and a result of 40 bytes
  EXPECT_EQ(generic.bytes_read, 80);
  EXPECT_EQ(generic.bytes_written, 40);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "e").flops, 0);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "e").transcendentals, 10);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGpu, "sum").flops, 30);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGpu, "e").flops, 860);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGpu, "p").bytes_accessed, 0);
  EXPECT_EQ(HloCategoryOf(module, module.FindInstruction("sum")), "non-fusion elementwise");
}

TEST(CostTest, EightBitOperandsHalveWhatTheDeviceDoes) {
  ModuleForTest made("m");
  const int64_t entry = made.AddComputation("main");
  const ShapeForTest s8 = {ElementType::kS8, {10}, {}};
  const int64_t p = made.Add(entry, {.name = "p", .opcode = "parameter", .shape = s8});
  made.Add(entry, {.name = "sum", .opcode = "add", .shape = s8, .operands = {p, p}});
  const InstructionCost cost = CostOfNamed(Read(made, entry), CostModel::kGpu, "sum");
  EXPECT_EQ(cost.flops, 30);
  EXPECT_EQ(cost.device_flops, 15);
}

TEST(CostTest, ProductsCountMultiplyAddsTwice) {
  ModuleForTest made("m");
  const int64_t entry = made.AddComputation("main");
  const int64_t a = made.Add(entry, {.name = "a", .opcode = "parameter", .shape = F32({4, 8})});
  const int64_t b =
      made.Add(entry, {.name = "b", .opcode = "parameter", .shape = F32({8, 16}), .number = 1});
  std::string numbers;
  wire::AppendSignedField(1, 1, &numbers);  // of the left
  wire::AppendSignedField(2, 0, &numbers);  // of the right
  std::string record;
  wire::AppendBytesField(30, numbers, &record);
  const int64_t dot = made.Add(entry, {.name = "dot",
                                       .opcode = "dot",
                                       .shape = F32({4, 16}),
                                       .operands = {a, b},
                                       .record = record});
  // The same by a library, which also returns scratch memory.
  const ShapeForTest with_scratch = {
      ElementType::kTuple, {}, {F32({4, 16}), {ElementType::kS8, {100}, {}}}};
  const int64_t call =
      made.Add(entry, {.name = "gemm",
                       .opcode = "custom-call",
                       .shape = with_scratch,
                       .operands = {a, b},
                       .target = "__cublas$gemm",
                       .backend_config = R"({"gemm_backend_config":{"dot_dimension_numbers":)"
                                         R"({"lhs_contracting_dimensions":["1"]}}})"});
  const int64_t other = made.Add(entry, {.name = "other",
                                         .opcode = "custom-call",
                                         .shape = F32({4, 16}),
                                         .operands = {a},
                                         .target = "mine"});
  made.Add(entry, {.name = "all",
                   .opcode = "tuple",
                   .shape = {ElementType::kTuple, {}, {F32({4, 16}), with_scratch, F32({4, 16})}},
                   .operands = {dot, call, other}});
  const HloModule module = Read(made, entry);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGpu, "dot").flops, 2 * 4 * 16 * 8);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGpu, "gemm").flops, 2 * 4 * 16 * 8);
  EXPECT_FALSE(CostOf(module, CostModel::kGpu).reference_fails);
  EXPECT_FALSE(CostOfNamed(module, CostModel::kGpu, "other").known);
  EXPECT_FALSE(CostOfNamed(module, CostModel::kGeneric, "gemm").known);
}

TEST(CostTest, ConvolutionsCountPositionsInsideTheInput) {
  ModuleForTest made("m");
  const int64_t entry = made.AddComputation("main");
  const int64_t x = made.Add(entry, {.name = "x", .opcode = "parameter", .shape = F32({1, 1, 5})});
  const int64_t k =
      made.Add(entry, {.name = "k", .opcode = "parameter", .shape = F32({1, 1, 3}), .number = 1});
  const auto convolution = [&](std::string_view name, int64_t out, int64_t stride, int64_t low,
                               int64_t base_dilation) {
    std::string dimension;
    for (const auto& [field, value] :
         {std::pair<uint32_t, int64_t>{1, 3}, {2, stride}, {3, low}, {5, 1}, {6, base_dilation}}) {
      wire::AppendSignedField(field, value, &dimension);
    }
    std::string window;
    wire::AppendBytesField(1, dimension, &window);
    std::string numbers;  // batch 0, feature 1, spatial 2 everywhere
    for (const auto& [field, value] : {std::pair<uint32_t, int64_t>{3, 1},
                                       {4, 0},
                                       {6, 2},
                                       {7, 0},
                                       {8, 1},
                                       {9, 0},
                                       {10, 1},
                                       {11, 2},
                                       {12, 2}}) {
      wire::AppendSignedField(field, value, &numbers);
    }
    std::string record;
    wire::AppendBytesField(15, window, &record);
    wire::AppendBytesField(16, numbers, &record);
    return made.Add(entry, {.name = name,
                            .opcode = "convolution",
                            .shape = F32({1, 1, out}),
                            .operands = {x, k},
                            .record = record});
  };
  const int64_t plain = convolution("plain", 3, 1, 0, 1);
  const int64_t padded = convolution("padded", 5, 1, 1, 1);
  const int64_t strided = convolution("strided", 2, 2, 0, 1);
  const int64_t dilated = convolution("dilated", 7, 1, 0, 2);
  made.Add(entry, {.name = "all",
                   .opcode = "tuple",
                   .shape = {ElementType::kTuple,
                             {},
                             {F32({1, 1, 3}), F32({1, 1, 5}), F32({1, 1, 2}), F32({1, 1, 7})}},
                   .operands = {plain, padded, strided, dilated}});
  const HloModule module = Read(made, entry);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "plain").flops, 2 * 9);
  // Two of the fifteen pairs of kernel and output fall into the padding.
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "padded").flops, 2 * 13);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "strided").flops, 2 * 6);
  // The input is x.x.x.x.x: offsets 0 to 8, of which the even ones hold values.
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "dilated").flops, 2 * 11);
  EXPECT_EQ(HloCategoryOf(module, module.FindInstruction("dilated")), "convolution base-dilated");
}

TEST(CostTest, FusionsCostWhatIsInsideAndTheBytesAtTheirEdges) {
  ModuleForTest made("m");
  const int64_t inside = made.AddComputation("fused");
  const int64_t p0 = made.Add(inside, {.name = "p0", .opcode = "parameter", .shape = F32({100})});
  const int64_t p1 =
      made.Add(inside, {.name = "p1", .opcode = "parameter", .shape = F32({10}), .number = 1});
  const int64_t slice =
      made.Add(inside, {.name = "slice", .opcode = "slice", .shape = F32({10}), .operands = {p0}});
  const int64_t sum = made.Add(
      inside, {.name = "sum", .opcode = "add", .shape = F32({10}), .operands = {slice, p1}});
  made.Add(inside, {.name = "tanh", .opcode = "tanh", .shape = F32({10}), .operands = {sum}});
  const int64_t entry = made.AddComputation("main");
  const int64_t a = made.Add(entry, {.name = "a", .opcode = "parameter", .shape = F32({100})});
  const int64_t b =
      made.Add(entry, {.name = "b", .opcode = "parameter", .shape = F32({10}), .number = 1});
  made.Add(entry, {.name = "fusion",
                   .opcode = "fusion",
                   .shape = F32({10}),
                   .operands = {a, b},
                   .calls = {inside},
                   .fusion_kind = "kLoop"});
  const HloModule module = Read(made, entry);
  for (const CostModel model : {CostModel::kGeneric, CostModel::kGpu}) {
    const InstructionCost fusion = CostOfNamed(module, model, "fusion");
    // Of the 400 bytes of `a` a tenth is read.
    EXPECT_EQ(fusion.bytes_accessed, 40 + 40 + 40);
    EXPECT_EQ(fusion.bytes_read, 80);
    EXPECT_EQ(fusion.bytes_written, 40);
  }
  EXPECT_EQ(CostOfNamed(module, CostModel::kGpu, "fusion").flops, 10 * (3 + 190));
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "fusion").flops, 10);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "fusion").transcendentals, 10);
  EXPECT_EQ(HloCategoryOf(module, module.FindInstruction("fusion")), "loop fusion");
}

TEST(CostTest, ReductionsApplyTheirFunctionAndReadTheInitialValueOnceAResult) {
  ModuleForTest made("m");
  const int64_t add = made.AddComputation("add");
  const int64_t l = made.Add(add, {.name = "l", .opcode = "parameter", .shape = F32({})});
  const int64_t r =
      made.Add(add, {.name = "r", .opcode = "parameter", .shape = F32({}), .number = 1});
  made.Add(add, {.name = "s", .opcode = "add", .shape = F32({}), .operands = {l, r}});
  const int64_t entry = made.AddComputation("main");
  const int64_t x = made.Add(entry, {.name = "x", .opcode = "parameter", .shape = F32({4, 8})});
  const int64_t zero = made.Add(entry, {.name = "zero", .opcode = "constant", .shape = F32({})});
  made.Add(entry, {.name = "reduce",
                   .opcode = "reduce",
                   .shape = F32({4}),
                   .operands = {x, zero},
                   .calls = {add}});
  const HloModule module = Read(made, entry);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "reduce").flops, 32 - 4);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGeneric, "reduce").bytes_accessed, 128 + 4 + 16);
  EXPECT_EQ(CostOfNamed(module, CostModel::kGpu, "reduce").flops, 3 * (32 - 4));
  EXPECT_EQ(CostOfNamed(module, CostModel::kGpu, "reduce").bytes_accessed, 128 + 4 * 4 + 16);
}

TEST(CostTest, LoopsCountOneIterationAndCirclesEnd) {
  ModuleForTest made("m");
  const int64_t body = made.AddComputation("body");
  const int64_t p = made.Add(body, {.name = "p", .opcode = "parameter", .shape = F32({10})});
  const int64_t again = made.Add(
      body,
      {.name = "again", .opcode = "call", .shape = F32({10}), .operands = {p}, .calls = {body}});
  made.Add(body, {.name = "n", .opcode = "negate", .shape = F32({10}), .operands = {again}});
  const int64_t condition = made.AddComputation("condition");
  made.Add(condition, {.name = "q", .opcode = "parameter", .shape = F32({10})});
  const int64_t entry = made.AddComputation("main");
  const int64_t x = made.Add(entry, {.name = "x", .opcode = "parameter", .shape = F32({10})});
  made.Add(entry, {.name = "loop",
                   .opcode = "while",
                   .shape = F32({10}),
                   .operands = {x},
                   .calls = {body, condition}});
  Result<HloModule> module = HloModule::ReadOwned(made.Serialize(entry), ReadLimits{});
  // A module that calls itself may be refused; one that is read must have a cost.
  if (!module.ok()) return;
  EXPECT_EQ(CostOfNamed(*module, CostModel::kGeneric, "loop").flops, 10);
}

// Every instruction of every real module has a cost that is a number.
TEST(CostTest, RealModulesHaveSaneCosts) {
  const auto corpus = CorpusDirectory();
  STROBE_NEED_CORPUS(corpus);
  CorpusModules modules;
  size_t instructions = 0;
  for (const auto& [key, bytes] : modules.Of("derived-hlo", "modules")) {
    const Result<HloModule> module = HloModule::Read(bytes, ReadLimits{});
    ASSERT_TRUE(module.ok()) << key;
    for (const CostModel model : {CostModel::kGeneric, CostModel::kGpu}) {
      const ModuleCost cost = CostOf(*module, model);
      ASSERT_EQ(cost.instructions.size(), module->instructions().size());
      for (uint32_t i = 0; i < cost.instructions.size(); ++i) {
        const InstructionCost& one = cost.instructions[i];
        ASSERT_TRUE(std::isfinite(one.flops) && std::isfinite(one.bytes_accessed)) << key;
        ASSERT_TRUE(!one.known || (one.flops >= 0 && one.bytes_accessed >= 0))
            << key << " " << module->instruction(i).name << " " << one.flops << " "
            << one.bytes_accessed;
        ASSERT_LE(one.device_flops, one.flops) << key;
        ASSERT_FALSE(HloCategoryOf(*module, i).empty());
      }
      instructions += cost.instructions.size();
    }
  }
  EXPECT_GT(instructions, 50'000u);
}

}  // namespace
}  // namespace strobe::hlo
