// Inflates gzip, zstd and xz piece by piece into a sink, and makes gzip for HTTP bodies.
//
//   const Compression kind = DetectCompression(bytes);
//   STROBE_ASSIGN_OR_RETURN(const Inflated done,
//       Inflate(kind, bytes, InflateLimits{}, [&](std::string_view part) { return
//       scratch.Append(part); }, cancel));
//   if (done.partial) Report(done.problem);      // what came before the damage is in the sink
//
// Several members (frames, streams) in a row are one text, as the command line tools have it. Input
// that ends early or is damaged after something was inflated gives `partial` and says so in
// `problem`; with nothing inflated it is an error. Errors: COMPRESS_TRUNCATED, COMPRESS_CORRUPT
// (both DATA_LOSS, with the offset), COMPRESS_TOO_LARGE (a bomb; limits below), CANCELLED, and
// whatever the sink returns.
//
// Cost: gzip 0.5-1 GB/s of output a core (ISA-L), zstd 1 GB/s, xz 0.1 GB/s; one buffer of 256 KiB
// and the format's own window. Compressing: about 0.4 GB/s at level 1.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::wire {

enum class Compression : uint8_t { kNone, kGzip, kZstd, kXz };
std::string_view CompressionName(Compression compression);  // "gzip" ...

// By the first bytes; kNone when they are none of ours.
Compression DetectCompression(std::string_view head);

struct InflateLimits {
  // Larger than any profile seen (the largest producers write has 2 GiB); bounds the scratch disk.
  uint64_t max_output_bytes = uint64_t{64} << 30;
  // Real profiles shrink 5 to 60 times. The floor lets small files of zeros pass.
  uint64_t max_ratio = 500;
  uint64_t ratio_floor_bytes = uint64_t{64} << 20;
};

// Takes the next part of the text; it is valid during the call only.
using ByteSink = std::function<Status(std::string_view)>;

struct Inflated {
  uint64_t output_bytes = 0;
  uint64_t input_bytes = 0;  // read before the end or the damage
  bool partial = false;
  Status problem;  // not OK when partial
};

// `read_bytes`, when given, grows by what was read of the input while it goes on.
Result<Inflated> Inflate(Compression compression, std::string_view input,
                         const InflateLimits& limits, const ByteSink& sink,
                         const CancelToken& cancel, std::atomic<uint64_t>* read_bytes = nullptr);

// One gzip member, level 1, without time stamp: equal input gives equal output on one machine.
std::string GzipCompress(std::string_view bytes);

// One zstd frame, level 1. COMPRESS_OUT_OF_MEMORY when the compressor has none.
Result<std::string> ZstdCompress(std::string_view bytes);

}  // namespace strobe::wire
