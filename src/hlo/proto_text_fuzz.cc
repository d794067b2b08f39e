// Any bytes: a text, or a named error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/base/status.h"
#include "src/hlo/proto_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto text =
      strobe::hlo::HloProtoText(std::string_view(reinterpret_cast<const char*>(data), size));
  STROBE_CHECK(text.ok() || !text.status().name().empty());
  return 0;
}
