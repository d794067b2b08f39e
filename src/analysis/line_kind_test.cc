#include "src/analysis/line_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/analysis/natural_order.h"

namespace strobe::analysis {
namespace {

using ::testing::ElementsAre;

xplane::Line MakeLine(std::string_view name, int64_t id) {
  xplane::Line line;
  line.name = name;
  line.id = id;
  return line;
}

xplane::Plane MakePlane(std::string_view name,
                        std::initializer_list<std::pair<std::string_view, int64_t>> lines = {}) {
  xplane::Plane plane;
  plane.name = name;
  for (const auto& [line_name, id] : lines) plane.lines.push_back(MakeLine(line_name, id));
  return plane;
}

TEST(PlaneKindTest, FollowsTheNamesThatTracersWrite) {
  EXPECT_EQ(ClassifyPlane("/device:TPU:0"), PlaneKind::kDevice);
  EXPECT_EQ(ClassifyPlane("/device:TPU:0 SparseCore 1"), PlaneKind::kDevice);
  EXPECT_EQ(ClassifyPlane("/device:GPU:7"), PlaneKind::kDevice);
  EXPECT_EQ(ClassifyPlane("#Chip TPU Non-Core HBM"), PlaneKind::kDevice);
  EXPECT_EQ(ClassifyPlane("/device:CUSTOM:Megascale Trace"), PlaneKind::kDevice);
  EXPECT_EQ(ClassifyPlane("/custom:old"), PlaneKind::kDevice);
  EXPECT_EQ(ClassifyPlane("/host:CPU"), PlaneKind::kHost);
  EXPECT_EQ(ClassifyPlane("/host:CPU [4711]"), PlaneKind::kHost);
  EXPECT_EQ(ClassifyPlane("/host:TPU-runtime"), PlaneKind::kHost);
  EXPECT_EQ(ClassifyPlane("Syscalls"), PlaneKind::kHost);
  EXPECT_EQ(ClassifyPlane("/host:metadata"), PlaneKind::kMetadata);
  EXPECT_EQ(ClassifyPlane("Task Environment"), PlaneKind::kMetadata);
  EXPECT_EQ(ClassifyPlane("/host:__ScopeRangeCallStack__"), PlaneKind::kMetadata);
  EXPECT_EQ(ClassifyPlane(""), PlaneKind::kOther);
  EXPECT_EQ(ClassifyPlane("something else"), PlaneKind::kOther);
}

TEST(LineKindTest, FollowsTheNamesThatTracersWrite) {
  const PlaneKind device = PlaneKind::kDevice;
  EXPECT_EQ(ClassifyLine(device, "Steps"), LineKind::kSteps);
  EXPECT_EQ(ClassifyLine(device, "Sparse Core Steps"), LineKind::kSteps);
  EXPECT_EQ(ClassifyLine(device, "XLA Modules"), LineKind::kModules);
  EXPECT_EQ(ClassifyLine(device, "XLA Ops"), LineKind::kOps);
  EXPECT_EQ(ClassifyLine(device, "XLA Ops - from #20"), LineKind::kOps);
  EXPECT_EQ(ClassifyLine(device, "TensorFlow Ops"), LineKind::kOps);
  EXPECT_EQ(ClassifyLine(device, "Async XLA Ops"), LineKind::kAsync);
  EXPECT_EQ(ClassifyLine(device, "Framework Name Scope"), LineKind::kScope);
  EXPECT_EQ(ClassifyLine(device, "Source code"), LineKind::kSource);
  EXPECT_EQ(ClassifyLine(device, "Stream #123(MemcpyH2D)"), LineKind::kStream);
  EXPECT_EQ(ClassifyLine(device, "_counters_"), LineKind::kCounter);
  EXPECT_EQ(ClassifyLine(device, "XLA TraceMe"), LineKind::kOther);
  EXPECT_EQ(ClassifyLine(PlaneKind::kHost, "python"), LineKind::kThread);
  EXPECT_EQ(ClassifyLine(PlaneKind::kHost, "Steps"), LineKind::kThread)
      << "a thread may be called anything";
}

TEST(DerivedLineTest, IdsAndNamesOfPostProcessing) {
  const xplane::Plane tpu = MakePlane("/device:TPU:0");
  const xplane::Plane gpu = MakePlane("/device:GPU:0");
  const xplane::Plane host = MakePlane("/host:CPU");
  constexpr int64_t kBase = -559038737;
  EXPECT_TRUE(IsDerivedLine(gpu, MakeLine("whatever", kBase)));
  EXPECT_TRUE(IsDerivedLine(gpu, MakeLine("whatever", kBase + 289)));
  EXPECT_FALSE(IsDerivedLine(gpu, MakeLine("whatever", kBase + 290)));
  EXPECT_FALSE(IsDerivedLine(gpu, MakeLine("whatever", kBase - 1)));
  EXPECT_TRUE(IsDerivedLine(gpu, MakeLine("whatever", int64_t{0xdeadbeef})));
  EXPECT_FALSE(IsDerivedLine(gpu, MakeLine("whatever", int64_t{0x1deadbeef})));
  EXPECT_FALSE(IsDerivedLine(host, MakeLine("thread", kBase)))
      << "a thread id that happens to be there";
  EXPECT_FALSE(IsDerivedLine(tpu, MakeLine("XLA Ops", 3)));
  EXPECT_FALSE(IsDerivedLine(tpu, MakeLine("Steps", 1)));
  EXPECT_TRUE(IsDerivedLine(tpu, MakeLine("Framework Ops", 3)));
  EXPECT_TRUE(IsDerivedLine(gpu, MakeLine("XLA Ops", 3)));
  EXPECT_FALSE(IsDerivedLine(gpu, MakeLine("Stream #16(Kernel)", 16)));
}

TEST(DisplayOrderTest, PlanesByKindThenNumber) {
  const std::vector<xplane::Plane> planes = {MakePlane("/host:metadata"),
                                             MakePlane("/host:CPU"),
                                             MakePlane("/device:TPU:10"),
                                             MakePlane("/device:TPU:2"),
                                             MakePlane("Task Environment"),
                                             MakePlane("#Chip TPU"),
                                             MakePlane("/device:TPU:2 SparseCore 0"),
                                             MakePlane("strange"),
                                             MakePlane("/host:TPU-runtime")};
  EXPECT_THAT(DisplayPlanes(planes), ElementsAre(3, 6, 2, 5, 1, 8, 7));
}

TEST(DisplayOrderTest, LinesByKindAndDerivedLast) {
  const xplane::Plane gpu = MakePlane("/device:GPU:0", {{"XLA Ops", -559038731},
                                                        {"Stream #20(Compute)", 20},
                                                        {"Stream #3(MemcpyH2D)", 3},
                                                        {"Steps", -559038737}});
  EXPECT_THAT(DisplayLines(gpu), ElementsAre(2, 1, 3, 0));
  const xplane::Plane tpu = MakePlane(
      "/device:TPU:0",
      {{"XLA Ops", 3}, {"XLA TraceMe", 6}, {"XLA Modules", 2}, {"Async XLA Ops", 4}, {"Steps", 1}});
  EXPECT_THAT(DisplayLines(tpu), ElementsAre(4, 2, 0, 3, 1));
}

TEST(NaturalOrderTest, NumbersByValueAndATotalOrder) {
  EXPECT_TRUE(NaturalLess("a2", "a10"));
  EXPECT_FALSE(NaturalLess("a10", "a2"));
  EXPECT_TRUE(NaturalLess("a", "a1"));
  EXPECT_TRUE(NaturalLess("a01", "a1") != NaturalLess("a1", "a01"));
  EXPECT_FALSE(NaturalLess("x7y", "x7y"));
  EXPECT_TRUE(NaturalLess("99999999999999999999999998", "99999999999999999999999999"));
}

TEST(CategoryTest, HloCategoryWinsOverTheName) {
  const auto device = [](std::string_view name, std::string_view category) {
    return CategorizeOp(PlaneKind::kDevice, LineKind::kOps, name, category);
  };
  EXPECT_EQ(device("fusion.3", "convolution fusion"), OpCategory::kMatmul);
  EXPECT_EQ(device("fusion.3", "loop fusion"), OpCategory::kFusion);
  EXPECT_EQ(device("x", "non-fusion elementwise"), OpCategory::kFusion);
  EXPECT_EQ(device("x", "custom-call"), OpCategory::kCustomKernel);
  EXPECT_EQ(device("x", "all-reduce"), OpCategory::kCollective);
  EXPECT_EQ(device("x", "reduce"), OpCategory::kReduce);
  EXPECT_EQ(device("x", "reduce-scatter"), OpCategory::kCollective);
  EXPECT_EQ(device("x", "copy-done"), OpCategory::kDataMovement);
  EXPECT_EQ(device("x", "data formatting"), OpCategory::kDataMovement);
  EXPECT_EQ(device("x", "infeed"), OpCategory::kHostTransfer);
  EXPECT_EQ(device("%all-gather.1 = f32[8] all-gather(%p)", ""), OpCategory::kCollective);
  EXPECT_EQ(device("%dot.1 = f32[8] dot(%a, %b)", ""), OpCategory::kMatmul);
  EXPECT_EQ(device("unheard of", "unheard of"), OpCategory::kOther);
}

TEST(CategoryTest, KernelsByTheHabitsOfTheirLibraries) {
  const auto kernel = [](std::string_view name) {
    return CategorizeOp(PlaneKind::kDevice, LineKind::kStream, name, "");
  };
  EXPECT_EQ(kernel("Cijk_Ailk_Bljk_BBS_BH_MT256x128x32"), OpCategory::kMatmul);
  EXPECT_EQ(kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), OpCategory::kCollective);
  EXPECT_EQ(kernel("MemcpyH2D"), OpCategory::kHostTransfer);
  EXPECT_EQ(kernel("MemcpyD2D"), OpCategory::kDataMovement);
  EXPECT_EQ(kernel("loop_convert_fusion"), OpCategory::kFusion);
  EXPECT_EQ(kernel("input_reduce_fusion_1"), OpCategory::kReduce);
  EXPECT_EQ(kernel("void cudnn::winograd::generate"), OpCategory::kMatmul);
}

TEST(CategoryTest, HostNames) {
  const auto host = [](std::string_view name) {
    return CategorizeOp(PlaneKind::kHost, LineKind::kThread, name, "");
  };
  EXPECT_EQ(host("$contextlib.py:136 __enter__"), OpCategory::kHostCode);
  EXPECT_EQ(host("$numpy.py:1 dot"), OpCategory::kHostCode);
  EXPECT_EQ(host("train"), OpCategory::kHostCode);
  EXPECT_EQ(host("dot.4"), OpCategory::kMatmul);
  EXPECT_EQ(host("end: dot.4"), OpCategory::kMatmul);
  EXPECT_EQ(host("all-reduce.8"), OpCategory::kCollective);
  EXPECT_EQ(host("all-reduce"), OpCategory::kCollective);  // the first one has no number
  EXPECT_EQ(host("end: collective-permute"), OpCategory::kCollective);
  EXPECT_EQ(host("reduce"), OpCategory::kHostCode);  // may be anybody's function
  EXPECT_EQ(host("broadcast_multiply_fusion"), OpCategory::kFusion);
  EXPECT_EQ(host("tpu::System::TransferToDevice=>IssueEvent"), OpCategory::kHostTransfer);
  EXPECT_EQ(host(""), OpCategory::kHostCode);
}

TEST(CategoryTest, MarkersAndNames) {
  EXPECT_EQ(CategorizeOp(PlaneKind::kDevice, LineKind::kSteps, "12", ""), OpCategory::kMarker);
  EXPECT_EQ(CategorizeOp(PlaneKind::kDevice, LineKind::kModules, "jit_f(1)", ""),
            OpCategory::kMarker);
  for (int c = 0; c <= static_cast<int>(OpCategory::kMarker); ++c) {
    EXPECT_FALSE(OpCategoryName(static_cast<OpCategory>(c)).empty());
  }
  EXPECT_EQ(PlaneKindName(PlaneKind::kHost), "host");
  EXPECT_EQ(LineKindName(LineKind::kAsync), "async");
}

}  // namespace
}  // namespace strobe::analysis
