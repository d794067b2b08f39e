#include "src/tools/llo_module.h"

#include <gtest/gtest.h>

#include "src/tools/session_for_test.h"
#include "src/xplane/xspace_builder.h"

namespace strobe::tools {
namespace {

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Number(uint32_t field, uint64_t value) { return Varint(field << 3) + Varint(value); }
std::string Message(uint32_t field, std::string_view bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}
// An entry that is an instruction; bundles are signed, alternating.
std::string Instruction(uint32_t opcode, int32_t bundle, uint32_t register_id) {
  const uint32_t coded =
      bundle < 0 ? static_cast<uint32_t>(-2 * bundle - 1) : static_cast<uint32_t>(2 * bundle);
  return Message(1, Message(1, Number(2, opcode) + Number(4, coded) + Number(7, register_id)));
}
std::string Range(uint64_t start, uint64_t limit) { return Number(5, start) + Number(6, limit); }

// top [0,9): a load, a loop with header (compare) and body (add, load), a sub region (unknown
// opcode).
std::string Made() {
  const std::string header = Message(2, Instruction(50, 2, 7) + Range(2, 3));
  const std::string body = Message(4, Instruction(50, 3, 8) + Instruction(9, -1, 0) + Range(3, 6));
  const std::string loop = Message(1, Message(2, header + body));
  const std::string inner = Message(1, Message(4, Instruction(4000, 7, 8) + Range(7, 9)));
  const std::string top = Instruction(50, 0, 7) + loop + inner + Range(0, 9);
  const std::string unit = Message(1, std::string("\x00\x01\x02", 3)) + Number(2, 2);
  return Message(1, "fusion.1") + Message(2, top) + Message(6, Message(1, unit)) +
         Message(10, "jit_f") + Number(11, 8);
}

TEST(LloModuleTest, ReadsRegionsAndInstructions) {
  const Result<LloModule> module = LloModule::Parse(Made());
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->hlo_instruction_name, "fusion.1");
  EXPECT_EQ(module->hlo_module_name, "jit_f");
  EXPECT_EQ(module->hlo_module_id, 8);
  std::vector<std::string_view> names;
  for (const LloRegion& region : module->regions) names.push_back(region.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"top", "loop", "header", "body", "sub_region"}));
  EXPECT_EQ(module->regions[0].children, (std::vector<uint32_t>{1, 4}));
  EXPECT_EQ(module->regions[3].start_bundle, 3);
  EXPECT_EQ(module->regions[3].instruction_count, 2);
  EXPECT_TRUE(module->regions[2].control);
  EXPECT_FALSE(module->regions[3].control);
  ASSERT_EQ(module->instructions.size(), 5U);
  EXPECT_EQ(module->instructions[3].bundle, -1);
  EXPECT_EQ(module->units[0].used, (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_EQ(module->units[0].available, 2);
}

TEST(LloModuleTest, NamesOpcodesByNumber) {
  EXPECT_EQ(LloOpcodeName(50), "OPCODE_VECTOR_LOAD");
  EXPECT_EQ(LloOpcodeName(159), "OPCODE_SCALAR_BRANCH_REL");
  EXPECT_EQ(LloOpcodeName(4000), "OPCODE_4000");
  EXPECT_EQ(LloCategory("OPCODE_VECTOR_LOAD"), "load_store");
  EXPECT_EQ(LloUnitOf("OPCODE_VECTOR_TO_SCALAR_PUSH"), "VALU");
  EXPECT_EQ(LloUnitOf("OPCODE_SCALAR_TO_VECTOR"), "SALU");
}

// Whatever part of the bytes is there, it is read or an error, and never more than was there.
TEST(LloModuleTest, DamageIsAnErrorWithAName) {
  const std::string whole = Made();
  size_t errors = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const Result<LloModule> module = LloModule::Parse(whole.substr(0, size));
    if (module.ok()) {
      EXPECT_LE(module->instructions.size(), 5U);
    } else {
      EXPECT_EQ(module.status().name(), "LLO_DAMAGED");
      ++errors;
    }
  }
  EXPECT_GT(errors, whole.size() / 2);
}

TEST(LloModuleTest, DepthIsBounded) {
  std::string region = Range(0, 1);
  for (int i = 0; i < 2 * kMaxLloDepth; ++i) region = Message(1, Message(4, region));
  const Result<LloModule> module = LloModule::Parse(Message(2, region));
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().name(), "LLO_LIMIT");
}

TEST(LloToolsTest, AnswerFromTheMetadataPlane) {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& plane = space.AddPlane("/host:metadata");
  plane.EventMetadataStats(plane.AddEventMetadata("k/fusion.1"))
      .AddBytesStat(plane.StatId("llo_proto"), Made());
  const auto session = SessionForTest({{"h", space.Serialize()}});
  const Value ours = MustAnswer("get_llo_analysis", *session).document;
  EXPECT_EQ(ours.Find("total_instructions")->int_value(), 5);
  EXPECT_EQ(ours.Find("unique_registers")->int_value(), 2);
  // Without the header of the loop.
  const Value theirs = MustAnswer("get_llo_analysis", *session, {}, true).document;
  EXPECT_EQ(theirs.Find("total_instructions")->int_value(), 4);
  const Value bundles =
      MustAnswer("get_llo_static_analysis", *session, {{"mode", "bundle_util"}}).document;
  const Value& data = *bundles.Find("data");
  EXPECT_EQ(data.Find("total_bundles")->int_value(), 3);
  EXPECT_EQ(data.Find("bundles")->items()[2].Find("util_pct")->int_value(), 100);
  EXPECT_DOUBLE_EQ(data.Find("whole_schedule")->Find("mxu_percent")->double_value(), 50);
}

}  // namespace
}  // namespace strobe::tools
