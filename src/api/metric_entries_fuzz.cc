// Whatever a job sends, reading it ends in records or a named error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/api/metric_entries.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  using strobe::api::OtlpSignal;
  (void)strobe::api::LogEntriesToJson(body);
  if (data[0] % 5 == 0) {
    (void)strobe::api::ReadLogEntries(body, 1);
  } else {
    const OtlpSignal signal = data[0] % 2 == 0 ? OtlpSignal::kMetrics : OtlpSignal::kLogs;
    (void)strobe::api::ReadOtlp(body, signal, data[0] % 5 > 2, 1);
  }
  return 0;
}
