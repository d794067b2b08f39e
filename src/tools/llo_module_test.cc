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
  const std::string bytes = Made();
  const Result<LloModule> module = LloModule::Parse(bytes);
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
  EXPECT_EQ(LloOpcodeName(4000), "OPCODE_UNKNOWN_4000");
  EXPECT_EQ(LloOpcodeName(510), "OPCODE_SCALAR_SHLA_WITH_OVERFLOW_CHECK");
  EXPECT_EQ(LloCategory(50), "load_store");
  EXPECT_EQ(LloCategory(UINT32_MAX), "other");
  EXPECT_EQ(LloUnitOf(11), "VALU");  // a push from vector to scalar
  EXPECT_EQ(LloUnitOf(10), "SALU");  // scalar to vector
}

// Whatever part of the bytes is there, it is read or an error, and never more than was there.
TEST(LloModuleTest, DamageIsAnErrorWithAName) {
  const std::string whole = Made();
  size_t errors = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    const Result<LloModule> module = LloModule::Parse(cut);
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

// What a schedule may say of an instruction.
struct Said {
  uint64_t ordinal;
  uint64_t opcode;
  uint32_t bundle;
  uint64_t register_type;  // 0: it makes nothing
  std::vector<uint64_t> operands;
  std::string more;
};

std::string InstructionOf(const Said& said) {
  std::string bytes = Number(1, said.ordinal) + Number(2, said.opcode);
  for (const uint64_t operand : said.operands) bytes += Message(3, Number(2, operand));
  bytes += Number(4, 2 * said.bundle);
  if (said.register_type != 0) bytes += Number(7, 2) + Number(8, said.register_type);
  return Message(1, Message(1, bytes + said.more));
}

std::string Packer(std::initializer_list<uint64_t> parts) {
  std::string bytes;
  uint32_t field = 0;
  for (const uint64_t part : parts) bytes += Number(++field, part);
  return Message(33, bytes);
}

// top "root" [0,12): 1 makes a vector in bundle 0, 2 another in 1 of the first, 3 another kind in 4
// of both, 4 spills it in 6, 5 fills in 7, 6 is not scheduled; a sub region [9,12) uses 1 and 5
// in 9.
std::string Rich() {
  std::string top =
      InstructionOf({1, 50, 0, 4, {}, ""}) +
      InstructionOf({2, 50, 1, 4, {1}, Number(9, 0) + Packer({4, 9, 20, 1, 2, 3, 5, 22, 3, 1})}) +
      InstructionOf({3, 321, 4, 5, {1, 2}, Number(9, 1) + Packer({5, 7, 0, 0, 0, 0, 0, 7})}) +
      InstructionOf({4, 66, 6, 0, {3}, Number(29, 3)}) +
      InstructionOf({5, 50, 7, 6, {}, Number(29, 4)});
  top += Message(
      1, Message(1, Number(1, 6) + Number(2, 417) + Number(4, 1) + Number(7, 4) + Number(8, 2)));
  top += Message(1, Message(4, InstructionOf({9, 50, 9, 2, {5, 1}, ""}) + Range(9, 12)));
  top += Range(0, 12) + Message(2, "root");
  const std::string spill = Number(1, 3) + Number(4, 1024) + Number(5, 50) + Number(10, 1);
  const std::string bounds = Number(1, 2) + Number(2, 2) + Number(3, 1);
  const std::string topology =
      Message(2, "lite") + Number(3, 2) + Message(4, "chip") + Message(5, bounds) + Number(9, 1);
  const std::string outer = Message(1, Number(1, 0) + Number(2, 10) + Number(6, 1));
  const std::string inner = Message(1, Number(1, 2) + Number(2, 20) + Number(6, 3));
  const std::string place =
      outer + inner + Number(2, 4) + Number(3, 5) + Number(4, 2) + Message(4, "\x03\x63");
  std::string map = Message(1, place);
  for (const char* text : {"a.py", "outer", "b.py", "inner", "dot", "scope"})
    map += Message(2, text);
  return Message(1, "fusion.1") + Message(2, top) +
         Message(6, Message(8, std::string("\x00\x02\x01", 3)) + Message(9, "\x01")) +
         Message(7, Number(3, 4) + Number(4, 4096) + Message(6, topology)) +
         Message(8, Number(1, 45) + Message(5, spill)) + Message(8, Number(1, 249) + Number(3, 7)) +
         Message(9, "bdi:R:3,O:1,Z:9 scope") + Message(9, "x bdi:F:1") + Message(12, map);
}

Value Asked(const std::string& mode, bool as_xprof = false, const std::string& bundle = "0") {
  xplane::XSpaceBuilder space;
  xplane::PlaneBuilder& plane = space.AddPlane("/host:metadata");
  plane.EventMetadataStats(plane.AddEventMetadata("k"))
      .AddBytesStat(plane.StatId("llo_proto"), Rich());
  const auto session = SessionForTest({{"h", space.Serialize()}});
  return *MustAnswer("get_llo_static_analysis", *session, {{"mode", mode}, {"bundle", bundle}},
                     as_xprof)
              .document.Find("data");
}

TEST(LloStaticTest, ValuesLiveFromTheirMakerToTheirLastUser) {
  const Value data = Asked("register_pressure");
  EXPECT_EQ(data.Find("total_live_ranges")->int_value(), 5);
  EXPECT_EQ(data.Find("unscheduled_values")->int_value(), 1);
  const Value& peaks = *data.Find("peak_by_register_type");
  EXPECT_EQ(peaks.names(), (std::vector<std::string>{"SREG", "VREG", "RPREG", "DREG"}));
  EXPECT_EQ(peaks.Find("VREG")->int_value(), 2);
  // Bundle 4: 1 and 2 are used there, and 3 is made; then 9: 1, 5 and what 9 makes.
  const Value& hottest = *data.Find("hottest_bundles");
  EXPECT_EQ(hottest.items()[0].Find("bundle")->int_value(), 4);
  EXPECT_EQ(hottest.items()[0].Find("total_live")->int_value(), 3);
  EXPECT_EQ(hottest.items()[1].Find("bundle")->int_value(), 9);
  EXPECT_EQ(hottest.items()[1].Find("region")->string_value(), "root/region");
  // XProf puts what is not scheduled into bundle 0.
  EXPECT_EQ(Asked("register_pressure", true).Find("total_live_ranges")->int_value(), 6);
}

TEST(LloStaticTest, SpillsAreAllocationsBundlesAndInstructions) {
  const Value data = Asked("spills");
  const Value& summary = *data.Find("summary");
  EXPECT_EQ(summary.Find("num_allocations")->int_value(), 1);
  EXPECT_EQ(summary.Find("total_spill_bytes")->int_value(), 1024);
  EXPECT_EQ(summary.Find("static_spill_bundles")->int_value(), 3);
  EXPECT_EQ(summary.Find("bundles_with_spills")->int_value(), 2);
  EXPECT_EQ(summary.Find("num_spill_fill_instructions")->int_value(), 2);
  const Value& moves = *data.Find("spill_fill_instructions");
  EXPECT_EQ(moves.items()[0].Find("kind")->string_value(), "SPILL_TO_MEMORY");
  EXPECT_EQ(moves.items()[1].Find("kind")->string_value(), "FILL_FROM_MEMORY");
}

TEST(LloStaticTest, StallsAreLettersAndWhatTheBindingOneCost) {
  const Value data = Asked("bdi_stalls");
  EXPECT_EQ(data.Find("total_annotated_instructions")->int_value(), 2);
  EXPECT_EQ(data.Find("code_histogram")->names(), (std::vector<std::string>{"F", "O", "R"}));
  const Value& analysis = *data.Find("stall_analysis");
  EXPECT_EQ(analysis.Find("total_stall_bundles")->int_value(), (20 - 4) + (7 - 5));
  EXPECT_EQ(analysis.Find("total_packing_slack_bundles")->int_value(), 22 - 20);
  const Value& first = data.Find("top_stalls")->items()[0];
  EXPECT_EQ(first.Find("binding_code")->string_value(), "F");
  EXPECT_EQ(first.Find("stall_bundles")->int_value(), 16);
}

TEST(LloStaticTest, TargetAndSourceLines) {
  const Value fields = *Asked("target_info").Find("key_fields");
  EXPECT_EQ(fields.Find("variant")->string_value(), "lite");
  EXPECT_EQ(fields.Find("chips_per_host_bounds")->string_value(), "x=2, y=2, z=1");
  EXPECT_EQ(fields.Find("host_bounds"), nullptr);
  const Value data = Asked("source_for_bundle", false, "4");
  ASSERT_EQ(data.Find("sources")->items().size(), 1U);
  EXPECT_EQ(data.Find("sources")->items()[0].string_value(), "b.py:20");
  const Value& stack = data.Find("stacks")->items()[0];
  EXPECT_EQ(stack.Find("frames")->items()[0].Find("function")->string_value(), "outer");
  EXPECT_EQ(stack.Find("scopes")->items()[0].string_value(), "scope");
  EXPECT_TRUE(Asked("source_for_bundle", false, "0").Find("sources")->items().empty());
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
