// An HloProto as protobuf text, field by field, as the compiler's tools write and read it.
//
//   STROBE_ASSIGN_OR_RETURN(const std::string text, HloProtoText(module.hlo_proto()));
//   // hlo_module {
//   //   name: "jit_f"
//   //   computations { ...
//
// Fields are in the order of their numbers, entries of maps in the order of their keys; fields that
// other versions of the compiler have are written by number, or left out, as the reference does.
// Cost: about 60 MB/s of text; 12 MB of module give about 70 MB. Limits: messages nested
// kMaxProtoTextDepth deep, kMaxProtoTextBytes of text. Errors: HLO_DAMAGED (with the offset within
// the message), HLO_TEXT_TOO_DEEP, HLO_TEXT_TOO_LARGE.
#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"

namespace strobe::hlo {

// What protobuf's own readers accept.
inline constexpr int kMaxProtoTextDepth = 100;
// No reader of such a text holds more.
inline constexpr size_t kMaxProtoTextBytes = size_t{1} << 30;

Result<std::string> HloProtoText(std::string_view hlo_proto, bool unknown_fields = true);

}  // namespace strobe::hlo
