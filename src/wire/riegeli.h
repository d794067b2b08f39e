// Reads Riegeli/records files: what JAX's continuous profiling writes (<host>.xplane.riegeli).
//
//   STROBE_ASSIGN_OR_RETURN(const RiegeliSummary summary,
//       ReadRiegeli(file_bytes, RiegeliLimits{}, [&](std::string_view record) {
//         return merger.Add(record);
//       }, cancel));
//
// The format: blocks of 64 KiB, each with a header of 24 bytes that interrupts whatever chunk lies
// there; chunks with a header of 40 bytes. Chunk kinds: file signature, file metadata and padding
// (passed over), simple records (compressed by nothing, brotli, zstd or snappy). Transposed records
// are not read: RIEGELI_CHUNK_KIND with the offset. Every header and every chunk carries a
// HighwayHash-64, which is checked; what does not match is left out and told, and reading goes on
// at the next chunk that a block header leads to.
//
// Errors: RIEGELI_NOT_A_FILE, and, when not one record could be read, the first damage:
// RIEGELI_TRUNCATED, RIEGELI_CHECKSUM, RIEGELI_CORRUPT, RIEGELI_CHUNK_KIND, RIEGELI_TOO_LARGE.
// Cost: that of the decompressor; memory one chunk at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::wire {

struct RiegeliLimits {
  // A writer's chunk holds 1 MiB by default; a record of a profile at most 2 GiB.
  uint64_t max_chunk_bytes = uint64_t{2} << 30;
  uint64_t max_total_bytes = uint64_t{64} << 30;
  // As for other compressed data (compress.h).
  uint64_t max_ratio = 500;
  uint64_t ratio_floor_bytes = uint64_t{64} << 20;
  size_t max_damage = 100;  // entries kept; reading goes on
};

struct RiegeliDamage {
  Status status;
  uint64_t offset_bytes = 0;  // in the file
};

struct RiegeliSummary {
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  uint64_t chunks = 0;
  std::vector<RiegeliDamage> damage;
};

// A record is valid during the call only.
using RecordSink = std::function<Status(std::string_view)>;

bool LooksLikeRiegeli(std::string_view head);

Result<RiegeliSummary> ReadRiegeli(std::string_view file, const RiegeliLimits& limits,
                                   const RecordSink& sink, const CancelToken& cancel);

// The hash of Riegeli's headers and chunks.
uint64_t RiegeliHash(std::string_view bytes);

}  // namespace strobe::wire
