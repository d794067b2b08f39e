// Any bytes as a Riegeli file: ends, keeps to its limits. The checksums of headers and chunks are
// put right first, so that the fuzzer gets behind them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "src/wire/riegeli.h"

namespace {

// Walks chunk headers as they would be read and gives each its right hash.
void FixHashes(std::string* file) {
  constexpr size_t kHeaderBytes = 40;
  size_t at = 24;
  while (at + kHeaderBytes <= file->size() && at < 65536 - kHeaderBytes) {
    const std::string_view view(*file);
    uint64_t data_size = 0;
    std::memcpy(&data_size, file->data() + at + 8, 8);
    data_size %= 4096;
    std::memcpy(file->data() + at + 8, &data_size, 8);
    const uint64_t data_hash = strobe::wire::RiegeliHash(view.substr(at + kHeaderBytes, data_size));
    std::memcpy(file->data() + at + 16, &data_hash, 8);
    const uint64_t header_hash = strobe::wire::RiegeliHash(view.substr(at + 8, 32));
    std::memcpy(file->data() + at, &header_hash, 8);
    at += kHeaderBytes + data_size;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe::wire;
  if (size < 64) return 0;
  std::string file(reinterpret_cast<const char*>(data), size);
  if ((data[0] & 1) != 0) {
    std::memset(file.data() + 32, 0, 8);
    file[48] = 's';
    FixHashes(&file);
  }
  const RiegeliLimits limits = {.max_chunk_bytes = 4 << 20,
                                .max_total_bytes = 16 << 20,
                                .max_ratio = 200,
                                .ratio_floor_bytes = 1 << 20};
  uint64_t received = 0;
  const RecordSink sink = [&](std::string_view record) {
    received += record.size();
    return strobe::OkStatus();
  };
  const auto result = ReadRiegeli(file, limits, sink, strobe::CancelToken());
  STROBE_CHECK(received <= limits.max_total_bytes);
  if (result.ok()) STROBE_CHECK(result->record_bytes == received);
  return 0;
}
