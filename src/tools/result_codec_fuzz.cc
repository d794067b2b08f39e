// Stored answers of tools: damaged bytes are refused by the checksum; this hands the decoder bodies
// whose checksum is right and whose content is anything.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/hash.h"
#include "src/tools/result_codec.h"

namespace {

void AppendFixed(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  (void)strobe::tools::DecodeResult(body).ok();  // as it is

  std::string bytes = "STRRES\r\n";
  AppendFixed(strobe::tools::kResultFormatVersion, 4, &bytes);
  AppendFixed(body.size(), 8, &bytes);
  AppendFixed(strobe::Hash64(body), 8, &bytes);
  bytes += body;
  const strobe::Result<strobe::tools::ToolResult> decoded = strobe::tools::DecodeResult(bytes);
  if (!decoded.ok()) return 0;
  // What could be read can be written, and reads the same again.
  const strobe::Result<std::string> again = strobe::tools::EncodeResult(*decoded);
  STROBE_CHECK(again.ok());
  const strobe::Result<strobe::tools::ToolResult> twice = strobe::tools::DecodeResult(*again);
  STROBE_CHECK(twice.ok());
  STROBE_CHECK(twice->tables.size() == decoded->tables.size());
  STROBE_CHECK(strobe::tools::EncodeResult(*twice).value() == *again);
  return 0;
}
