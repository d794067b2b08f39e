#include "src/hlo/opcode.h"

#include <array>
#include <unordered_map>

namespace strobe::hlo {
namespace {

constexpr std::array kNames = {std::string_view(""),
#define STROBE_HLO_OPCODE_NAME(name, text) std::string_view(text),
                               STROBE_HLO_OPCODES(STROBE_HLO_OPCODE_NAME)
#undef STROBE_HLO_OPCODE_NAME
};

}  // namespace

Opcode OpcodeOf(std::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new std::unordered_map<std::string_view, Opcode>();
    for (size_t i = 1; i < kNames.size(); ++i) map->emplace(kNames[i], static_cast<Opcode>(i));
    return map;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? Opcode::kUnknown : found->second;
}

std::string_view OpcodeName(Opcode opcode) { return kNames[static_cast<size_t>(opcode)]; }

bool IsAsync(Opcode opcode) {
  return opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate ||
         opcode == Opcode::kAsyncDone;
}

}  // namespace strobe::hlo
