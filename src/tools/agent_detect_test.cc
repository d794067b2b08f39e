// Detectors on programs in which the pattern was planted, and on their harmless neighbours.
#include "src/tools/agent_detect.h"

#include <gtest/gtest.h>

#include "src/hlo/hlo_text_parser.h"
#include "src/storage/byte_source.h"
#include "src/tools/session_for_test.h"

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

}  // namespace
}  // namespace strobe::tools
