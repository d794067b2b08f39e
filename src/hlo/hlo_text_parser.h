// Reads HLO text, the form in which compilers dump programs and graph viewers show them.
//
//   STROBE_ASSIGN_OR_RETURN(const HloModule module, ParseHloText(text));
//   HloProtoFromText(text)        // the same module as the bytes of an HloProto
//
// Both forms of the text are read (with % and signatures or without), with metadata and its tables
// of frames or without. What hlo_printer writes reads back to a module that is written the same:
// ids and the numbers of source frames are new, what a text leaves out (large constants, buffer
// assignment) is not there. A constant whose value is not in the text, or is of a kind that is only
// shown, keeps its text.
//
// Attributes that are not known are left out and named in `unknown_attributes`. Damaged text is an
// error with the line and the column in where(): HLO_TEXT_SYNTAX (what was expected and what was
// found), HLO_TEXT_UNKNOWN_NAME (an operand or a computation that is not there),
// HLO_TEXT_DUPLICATE, HLO_TEXT_EMPTY, HLO_TEXT_LIMIT.
//
// Cost: about 50 MB/s of text. Limits: TextLimits, and those of HloModule::Read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

struct TextLimits {
  size_t max_text_bytes = size_t{1} << 30;  // the largest dumps are some 200 MB
  uint32_t max_instructions = ReadLimits{}.max_instructions;
  uint32_t max_computations = ReadLimits{}.max_computations;
  int max_depth = 64;  // of tuples, shardings and braces; real ones nest some ten deep
};

struct HloText {
  std::string hlo_proto;
  // Each once, at most kMaxUnknownAttributes.
  static constexpr size_t kMaxUnknownAttributes = 100;
  std::vector<std::string> unknown_attributes;
};

Result<HloText> HloProtoFromText(std::string_view text, const TextLimits& limits = {});
Result<HloModule> ParseHloText(std::string_view text, const TextLimits& limits = {});

}  // namespace strobe::hlo
