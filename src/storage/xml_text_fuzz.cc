// Any bytes as the XML of a store's answer.
#include <cstdint>
#include <string_view>

#include "src/storage/xml_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto xml =
      strobe::storage::ParseXml(std::string_view(reinterpret_cast<const char*>(data), size));
  if (xml) (void)xml->All("Contents");
  return 0;
}
