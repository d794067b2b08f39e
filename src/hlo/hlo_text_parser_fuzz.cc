// Any text: a module that is written and read again, or a named error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/hlo/hlo_printer.h"
#include "src/hlo/hlo_text_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using strobe::hlo::ParseHloText;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  strobe::hlo::TextLimits limits;
  limits.max_instructions = 10'000;
  limits.max_computations = 1'000;
  const auto module = ParseHloText(text, limits);
  if (!module.ok()) {
    STROBE_CHECK(!module.status().name().empty());
    return 0;
  }
  const std::string once = strobe::hlo::ModuleText(*module, strobe::hlo::PrintOptions::Long());
  const auto again = ParseHloText(once);
  // What was read is written the same from then on.
  if (again.ok()) {
    STROBE_CHECK(strobe::hlo::ModuleText(*again, strobe::hlo::PrintOptions::Long()) == once);
  }
  return 0;
}
