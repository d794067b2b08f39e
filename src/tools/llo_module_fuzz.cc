// Any bytes as the schedule of a TPU kernel: a module whose indices are good, or LLO_DAMAGED or
// LLO_LIMIT; and every analysis of what was read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/tools/llo_module.h"
#include "src/tools/llo_static.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe::tools;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const strobe::Result<LloModule> module = LloModule::Parse(bytes);
  if (!module.ok()) {
    STROBE_CHECK(module.status().name() == "LLO_DAMAGED" || module.status().name() == "LLO_LIMIT");
    return 0;
  }
  STROBE_CHECK(!module->regions.empty());
  for (const LloInstruction& instruction : module->instructions) {
    STROBE_CHECK(instruction.region < module->regions.size());
    STROBE_CHECK(instruction.first_operand + size_t{instruction.operand_count} <=
                 module->operands.size());
    STROBE_CHECK(!LloOpcodeName(instruction.opcode).empty());
  }
  int64_t bundle = 0;
  if (!module->instructions.empty()) bundle = module->instructions.back().bundle;
  for (const bool as_xprof : {false, true}) (void)RegisterPressureData(*module, as_xprof);
  for (const Value& value : {RegionTreeData(*module), OpcodesData(*module),
                             BundleData(*module, 100), SpillsData(*module), BdiStallsData(*module),
                             TargetData(*module), SourceData(*module, bundle)}) {
    STROBE_CHECK(value.Find("hlo_instruction_name") != nullptr);
  }
  return 0;
}
