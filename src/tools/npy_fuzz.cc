// Any bytes as a tensor, compared with itself: a judgement or a named error; every element that the
// header promises is there.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/tools/npy.h"
#include "src/tools/numeric_parity.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe::tools;  // NOLINT: one short function
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const NumberFormat& format : AllNumberFormats()) {
    const strobe::Result<NpyTensor> tensor = ReadNpy(bytes, &format);
    if (!tensor.ok()) {
      STROBE_CHECK(!tensor.status().name().empty());
      continue;
    }
    STROBE_CHECK(tensor->data.size() == tensor->count * tensor->format->size_bytes);
    const strobe::Result<ParityContract> contract =
        ParityContract::Make(*tensor->format, tensor->format->ceiling_ulp, 0);
    STROBE_CHECK(contract.ok());
    const strobe::Result<ParityBatch> batch = CompareTensors(*contract, "1_x", *tensor, *tensor);
    STROBE_CHECK(batch.ok() && batch->passed != batch->has_nan_or_infinity);
  }
  return 0;
}
