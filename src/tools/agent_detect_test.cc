// Detectors on programs in which the pattern was planted, and on their harmless neighbours.
#include "src/tools/agent_detect.h"

#include <gtest/gtest.h>

#include "src/analysis/op_profile_for_test.h"
#include "src/hlo/hlo_text_parser.h"
#include "src/storage/byte_source.h"
#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

// The answer for a session that is nothing but this program.
Value Look(std::string_view detector, const std::string& text,
           const std::map<std::string, std::string>& options = {}) {
  const Result<hlo::HloText> program = hlo::HloProtoFromText(text);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  if (!program.ok()) return Value::Object();
  SessionInput::Parts parts;
  parts.name = "made";
  auto modules = std::make_shared<hlo::ModuleSet>();
  modules->AddFile("m(1).hlo_proto.pb", program->hlo_proto, nullptr);
  modules->Finish();
  parts.modules = std::move(modules);
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(std::string("\x22\x00", 2));
  parts.hosts.push_back({.name = "h", .file = file.get(), .error = {}});
  parts.owners.push_back(file);
  SessionInput session(std::move(parts));
  return MustAnswer(detector, session, options).document;
}

size_t Found(const Value& document) { return document.Find("inefficient_ops")->items().size(); }

constexpr std::string_view kMax =
    "HloModule m\n\nmx {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] "
    "maximum(a, b)\n}\n\nmx16 {\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n  ROOT r = "
    "bf16[] maximum(a, b)\n}\n\n";

constexpr std::string_view kScale = "detect_unnecessary_convert_dynamic_scale";

// x is raised for its maximum and again for the division; `second` is what is divided, `lowered`
// what the quotient becomes.
std::string Quantisation(const std::string& second, const std::string& lowered) {
  return std::string(kMax) +
         "ENTRY e {\n  x = bf16[64,128]{1,0} parameter(0)\n  c1 = f32[64,128]{1,0} convert(x)\n"
         "  ab = f32[64,128]{1,0} abs(c1)\n  z = f32[] constant(0)\n"
         "  s = f32[] reduce(ab, z), dimensions={0,1}, to_apply=mx\n  k = f32[] constant(448)\n"
         "  f = f32[] divide(s, k)\n  fb = f32[64,128]{1,0} broadcast(f), dimensions={}\n"
         "  c2 = f32[64,128]{1,0} convert(x)\n  q = f32[64,128]{1,0} divide(" +
         second + ", fb)\n  ROOT o = " + lowered + "[64,128]{1,0} convert(q)\n}\n";
}

TEST(DynamicScaleTest, TwoConvertsOfOneSourceAreFound) {
  const Value document = Look(kScale, Quantisation("c2", "f8e4m3fn"));
  EXPECT_EQ(document.Find("detection_state")->string_value(), "DETECTED");
  ASSERT_EQ(Found(document), 1U);
  const Value& op = document.Find("inefficient_ops")->items()[0];
  const auto text = [&](const char* name) { return op.Find(name)->string_value(); };
  EXPECT_EQ(text("instruction"), "c1");
  EXPECT_EQ(text("quant_instruction"), "c2");
  EXPECT_EQ(text("source"), "x");
  EXPECT_EQ(text("scale_reduce"), "s");
  EXPECT_EQ(text("lowered"), "o");
  EXPECT_EQ(text("name"), "by_program/m(1)/c1");
}

TEST(DynamicScaleTest, OneConvertOrAnotherTypeIsNone) {
  EXPECT_EQ(Found(Look(kScale, Quantisation("c1", "f8e4m3fn"))), 0U);
  EXPECT_EQ(Found(Look(kScale, Quantisation("c2", "bf16"))), 0U);
  // What is divided is the scale itself.
  EXPECT_EQ(Found(Look(kScale, Quantisation("fb", "f8e4m3fn"))), 0U);
}

TEST(DynamicScaleTest, AScaleOfOtherValuesIsNone) {
  std::string text = Quantisation("c2", "f8e4m3fn");
  text.replace(text.find("f = f32[] divide(s, k)"), 22, "f = f32[] divide(k, k)");
  EXPECT_EQ(Found(Look(kScale, text)), 0U);
}

TEST(DynamicScaleTest, FusionsAreLookedInto) {
  const std::string text =
      std::string(kMax) +
      "amax {\n  p = bf16[64,128]{1,0} parameter(0)\n  c1 = f32[64,128]{1,0} convert(p)\n"
      "  ab = f32[64,128]{1,0} abs(c1)\n  z = f32[] constant(0)\n"
      "  ROOT s = f32[] reduce(ab, z), dimensions={0,1}, to_apply=mx\n}\n\n"
      "quant {\n  p = bf16[64,128]{1,0} parameter(0)\n  t = f32[] parameter(1)\n"
      "  c2 = f32[64,128]{1,0} convert(p)\n  r = f32[] constant(448)\n  i = f32[] divide(r, t)\n"
      "  b = f32[64,128]{1,0} broadcast(i), dimensions={}\n  q = f32[64,128]{1,0} multiply(b, c2)\n"
      "  lo = f32[64,128]{1,0} broadcast(r), dimensions={}\n"
      "  m = f32[64,128]{1,0} minimum(q, lo)\n  ROOT o = f8e5m2[64,128]{1,0} convert(m)\n}\n\n"
      "ENTRY e {\n  x = bf16[64,128]{1,0} parameter(0)\n"
      "  fa = f32[] fusion(x), kind=kLoop, calls=amax\n"
      "  ROOT fq = f8e5m2[64,128]{1,0} fusion(x, fa), kind=kLoop, calls=quant\n}\n";
  const Value document = Look(kScale, text);
  ASSERT_EQ(Found(document), 1U);
  const Value& op = document.Find("inefficient_ops")->items()[0];
  EXPECT_EQ(op.Find("fusion_name")->string_value(), "fa");
  EXPECT_EQ(op.Find("quant_fusion_name")->string_value(), "fq");
  EXPECT_EQ(op.Find("source")->string_value(), "x");
}

TEST(ConvertReduceTest, ASumOfSquaresInF32ThatIsLoweredIsFound) {
  const auto text = [](const std::string& summand, const std::string& end) {
    return "HloModule m\n\nad {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = "
           "f32[] add(a, b)\n}\n\nENTRY e {\n  x = bf16[64,128]{1,0} parameter(0)\n"
           "  c = f32[64,128]{1,0} convert(x)\n  s = f32[64,128]{1,0} multiply(c, " +
           summand +
           ")\n  z = f32[] constant(0)\n  r = f32[64]{0} reduce(s, z), dimensions={1}, "
           "to_apply=ad\n  ROOT o = " +
           end + "\n}\n";
  };
  const char* const kDetector = "detect_unnecessary_convert_reduce";
  EXPECT_EQ(Found(Look(kDetector, text("c", "bf16[64]{0} convert(r)"))), 1U);
  // The sum leaves the program in f32.
  EXPECT_EQ(Found(Look(kDetector, text("c", "f32[64]{0} negate(r)"))), 0U);
}

TEST(LayoutCopyTest, ACopyBetweenTwoProductsIsFound) {
  const auto text = [](const std::string& layout) {
    return "HloModule m\n\nENTRY e {\n  x = f32[128,128]{1,0} parameter(0)\n"
           "  a = f32[128,128]{1,0} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
           "  c = f32[128,128]" +
           layout +
           " copy(a)\n  ROOT b = f32[128,128]{1,0} dot(c, x), lhs_contracting_dims={1}, "
           "rhs_contracting_dims={0}\n}\n";
  };
  EXPECT_EQ(Found(Look("detect_layout_mismatch_copies", text("{0,1}"))), 1U);
  EXPECT_EQ(Found(Look("detect_layout_mismatch_copies", text("{1,0}"))), 0U);
}

TEST(ReshapeTest, ALargeTransposeBeforeAProductIsFound) {
  const std::string text =
      "HloModule m\n\nENTRY e {\n  x = f32[2048,2048]{1,0} parameter(0)\n"
      "  t = f32[2048,2048]{1,0} transpose(x), dimensions={1,0}\n"
      "  ROOT b = f32[2048,2048]{1,0} dot(t, x), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}\n}\n";
  EXPECT_EQ(Found(Look("detect_unfused_reshapes", text)), 1U);
  EXPECT_EQ(Found(Look("detect_unfused_reshapes", text, {{"min_bytes_accessed", "100000000"}})),
            0U);
}

// A session of programs 1, 2 ... with the ops of each, all of `duration_ps` and run `runs` times.
struct Program {
  std::string text;
  std::vector<std::string> ops;
  int runs = 1;
};
Value LookAtPrograms(const std::vector<Program>& programs, int64_t duration_ps = 5'000'000) {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& plane = space.AddPlane("/device:TPU:0");
  plane.PlaneStats().AddStat(plane.StatId("device_type_string"), std::string_view("TPU v6 Lite"));
  xplane::LineBuilder& line = plane.AddLine(3, "XLA Ops", 0);
  auto modules = std::make_shared<hlo::ModuleSet>();
  int64_t at_ps = 0;
  for (size_t p = 0; p < programs.size(); ++p) {
    const Result<hlo::HloText> program = hlo::HloProtoFromText(programs[p].text);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    const auto owner = std::make_shared<const hlo::HloText>(*program);
    modules->AddFile("m(" + std::to_string(p + 1) + ").hlo_proto.pb", owner->hlo_proto, owner);
    uint64_t symbol = 0;
    for (const std::string& op : programs[p].ops) {
      const int64_t id = analysis::AddTpuOp(
          &plane, {.name = op, .category = "elementwise", .symbol = ++symbol, .program = p + 1});
      for (int run = 0; run < programs[p].runs; ++run, at_ps += 2 * duration_ps) {
        line.AddEvent(id, at_ps, duration_ps);
      }
    }
  }
  modules->Finish();
  SessionInput::Parts parts;
  parts.name = "made";
  parts.modules = std::move(modules);
  const std::shared_ptr<xplane::ProfileFile> file = xplane::MustOpen(space.Serialize());
  parts.hosts.push_back({.name = "h", .file = file.get(), .error = {}});
  parts.owners.push_back(file);
  SessionInput session(std::move(parts));
  return MustAnswer("detect_unfused_updates", session).document;
}

std::vector<std::string> Members(const Value& finding) {
  std::vector<std::string> names;
  for (const Value& name : finding.Find("group_members")->items()) {
    names.push_back(name.string_value());
  }
  return names;
}

std::string Entry(const std::string& lines) {
  return "HloModule m\n\nENTRY e {\n  x = f32[64]{0} parameter(0)\n  y = f32[64]{0} "
         "parameter(1)\n" +
         lines + "}\n";
}

TEST(UnfusedUpdatesTest, AChainIsFoundThroughWhatOnlyRenames) {
  const Value document = LookAtPrograms(
      {{Entry("  a = f32[64]{0} add(x, y)\n  b = f32[64]{0} bitcast(a)\n  ROOT c = f32[64]{0} "
              "multiply(b, b)\n"),
        {"a", "c"}}});
  ASSERT_EQ(Found(document), 1U);
  const Value& finding = document.Find("inefficient_ops")->items()[0];
  EXPECT_EQ(finding.Find("unfused_type")->string_value(), "topological_chain");
  EXPECT_EQ(Members(finding), (std::vector<std::string>{"a", "c"}));
  EXPECT_DOUBLE_EQ(finding.Find("total_self_time_ms")->double_value(), 0.01);
}

TEST(UnfusedUpdatesTest, ABranchMakesItACluster) {
  const Value document = LookAtPrograms(
      {{Entry("  a = f32[64]{0} add(x, y)\n  b = f32[64]{0} negate(a)\n  c = f32[64]{0} "
              "abs(a)\n  ROOT d = f32[64]{0} multiply(b, c)\n"),
        {"a", "b", "c", "d"}}});
  ASSERT_EQ(Found(document), 1U);
  EXPECT_EQ(document.Find("inefficient_ops")->items()[0].Find("unfused_type")->string_value(),
            "unfused_cluster");
}

constexpr std::string_view kTwoApart =
    "  a = f32[64]{0} add(x, y)\n  b = f32[64]{0} subtract(x, y)\n"
    "  p = f32[] constant(0)\n  ROOT t = (f32[64]{0}, f32[64]{0}) tuple(a, b)\n";

TEST(UnfusedUpdatesTest, UnconnectedOpsOfOneShapeAreAGroup) {
  const Value document = LookAtPrograms({{Entry(std::string(kTwoApart)), {"a", "b"}}});
  ASSERT_EQ(Found(document), 1U);
  EXPECT_EQ(document.Find("inefficient_ops")->items()[0].Find("unfused_type")->string_value(),
            "parallel_group");
}

TEST(UnfusedUpdatesTest, ProgramsOfOneOpEachAreAnEagerGroup) {
  const std::string add = Entry("  ROOT add.1 = f32[64]{0} add(x, y)\n");
  const std::string negate = Entry("  ROOT negate.1 = f32[64]{0} negate(x)\n");
  const Value document = LookAtPrograms({{add, {"add.1"}, 5}, {negate, {"negate.1"}, 5}});
  ASSERT_EQ(Found(document), 1U);
  const Value& finding = document.Find("inefficient_ops")->items()[0];
  EXPECT_EQ(finding.Find("unfused_type")->string_value(), "eager_unfused_group");
  EXPECT_EQ(Members(finding), (std::vector<std::string>{"m(1)/add.1", "m(2)/negate.1"}));
  // One of them runs twice as often: they are not called together.
  EXPECT_EQ(Found(LookAtPrograms({{add, {"add.1"}, 5}, {negate, {"negate.1"}, 10}})), 0U);
}

TEST(UnfusedUpdatesTest, ShortAndLargeOpsAreLeftAlone) {
  // Below a thousandth of a millisecond.
  EXPECT_EQ(Found(LookAtPrograms({{Entry(std::string(kTwoApart)), {"a", "b"}}}, 100'000)), 0U);
  const Value product = LookAtPrograms(
      {{"HloModule m\n\nENTRY e {\n  x = f32[8,8]{1,0} parameter(0)\n  a = f32[8,8]{1,0} dot(x, "
        "x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  ROOT b = f32[8,8]{1,0} dot(a, "
        "x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        {"a", "b"}}});
  EXPECT_EQ(Found(product), 0U);
}

}  // namespace
}  // namespace strobe::tools
