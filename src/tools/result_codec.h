// The stored form of a tool's answer: compact binary with a checksum.
//
//   STROBE_ASSIGN_OR_RETURN(std::string bytes, EncodeResult(result));
//   STROBE_ASSIGN_OR_RETURN(ToolResult again, DecodeResult(bytes));   // equal to `result`
//
// Texts are kept once however often they occur; numbers take 8 bytes, counts one or a few. The
// order: magic, format version, length, XXH3 of the body, body. Anything that is not exactly what
// EncodeResult wrote is RESULT_DAMAGED, another version RESULT_OTHER_VERSION; decoding never reads
// beyond the bytes and never reserves more than they can hold. Trace views cannot be kept
// (RESULT_NOT_STORABLE), nor trees deeper than kMaxValueDepth.
//
// Cost: about 100 MB/s either way.
#pragma once

#include <string>
#include <string_view>

#include "src/base/status.h"
#include "src/tools/tool.h"

namespace strobe::tools {

// Counts up whenever the bytes change their meaning.
inline constexpr uint32_t kResultFormatVersion = 2;
// Op profiles nest some ten deep; graphs of fusions not much deeper.
inline constexpr int kMaxValueDepth = 256;

Result<std::string> EncodeResult(const ToolResult& result);
Result<ToolResult> DecodeResult(std::string_view bytes);

}  // namespace strobe::tools
