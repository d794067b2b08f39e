// Any bytes, as any of the formats: ends, keeps to its limits and says what is wrong.
#include <cstddef>
#include <cstdint>

#include "src/wire/compress.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe::wire;
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const InflateLimits limits = {
      .max_output_bytes = 4 << 20, .max_ratio = 200, .ratio_floor_bytes = 1 << 20};
  uint64_t received = 0;
  const ByteSink sink = [&](std::string_view part) {
    received += part.size();
    return strobe::OkStatus();
  };
  const auto result =
      Inflate(static_cast<Compression>(data[0] % 4), input, limits, sink, strobe::CancelToken());
  STROBE_CHECK(received <= limits.max_output_bytes);
  if (result.ok()) {
    STROBE_CHECK(result->output_bytes == received && result->input_bytes <= input.size());
    STROBE_CHECK(result->partial == !result->problem.ok());
  }
  return 0;
}
