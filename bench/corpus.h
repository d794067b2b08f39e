// Makes XSpace files of any size that look like what accelerators write: the benchmarks' input,
// from a seed.
//
//   CorpusOptions options{.shape = Shape::kTpu, .size_bytes = 1'000'000'000, .seed = 7};
//   Result<CorpusFile> made = WriteCorpusFile(options, "host0.xplane.pb");   // made->checksum
//   tells it from any other
//
// The same options give the same bytes on any machine. Shapes follow what real files show: TPU
// about 29 bytes and 1.4 stats an event on four device planes with metadata that carries HLO text
// and costs; GPU about 80 bytes and 4.3 stats an event on stream lines; host threads with nested
// events. Cost: about 300 MB/s; holds one plane in memory (a quarter or an eighth of the file).
#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"

namespace strobe::bench {

enum class Shape : uint8_t { kTpu, kGpu, kHost };

struct CorpusOptions {
  Shape shape = Shape::kTpu;
  uint64_t size_bytes = 100'000'000;  // reached within one event
  uint64_t seed = 1;
  uint32_t host = 0;  // varies the events a little and sets the host's name
};

struct CorpusFile {
  uint64_t size_bytes = 0;
  uint64_t events = 0;
  uint64_t lines = 0;
  std::string checksum;  // xxh3, 32 hex digits
};

Result<CorpusFile> WriteCorpusFile(const CorpusOptions& options, const std::string& path);

}  // namespace strobe::bench
