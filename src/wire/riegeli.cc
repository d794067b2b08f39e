#include "src/wire/riegeli.h"

#include <brotli/decode.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "src/wire/highway_hash.h"
#include "src/wire/wire_reader.h"

namespace strobe::wire {
namespace {

constexpr uint64_t kBlockBytes = 65536;
constexpr uint64_t kBlockHeaderBytes = 24;
constexpr uint64_t kUsableBytes = kBlockBytes - kBlockHeaderBytes;
constexpr uint64_t kChunkHeaderBytes = 40;
// "Riegeli/" and "records\n", twice.
constexpr std::array<uint64_t, 4> kKey = {0x2f696c6567656952ULL, 0x0a7364726f636572ULL,
                                          0x2f696c6567656952ULL, 0x0a7364726f636572ULL};

uint64_t Load(std::string_view bytes, size_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

struct ChunkHeader {
  uint64_t data_size = 0;
  uint64_t data_hash = 0;
  char kind = 0;
  uint64_t num_records = 0;
  uint64_t decoded_data_size = 0;
};

// How far `size` bytes from `at` reach when block headers lie between.
uint64_t SkipHeaders(uint64_t at, uint64_t size) {
  const uint64_t blocks = (size + (at + kUsableBytes - 1) % kBlockBytes) / kUsableBytes;
  return at + size + blocks * kBlockHeaderBytes;
}

// The next place from `at` where a chunk may begin (not inside or right behind a block header).
uint64_t ChunkBoundary(uint64_t at) {
  const uint64_t left = (kBlockBytes - at % kBlockBytes) % kBlockBytes;
  return at + (left >= kUsableBytes ? left - (kUsableBytes - 1) : 0);
}

uint64_t ChunkEnd(uint64_t begin, const ChunkHeader& header) {
  return std::max(SkipHeaders(begin, kChunkHeaderBytes + header.data_size),
                  ChunkBoundary(begin + header.num_records));
}

std::string KindName(char kind) {
  if (kind == 't') return "transposed records ('t')";
  const auto code = static_cast<unsigned>(static_cast<unsigned char>(kind));
  return "kind " + std::to_string(code);
}

// Bytes that need not be initialised before they are written.
struct Buffer {
  std::unique_ptr<char[]> data;
  size_t size = 0;
  std::string_view view() const { return {data.get(), size}; }
};

bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes->data());
  WireError error = WireError::kNone;
  const uint8_t* const next = DecodeVarintBounded(begin, begin + bytes->size(), value, &error);
  if (next == nullptr) return false;
  bytes->remove_prefix(static_cast<size_t>(next - begin));
  return true;
}

class Reader {
 public:
  Reader(std::string_view file, const RiegeliLimits& limits, const RecordSink& sink,
         const CancelToken& cancel)
      : file_(file), limits_(limits), sink_(sink), cancel_(cancel) {}

  Result<RiegeliSummary> Run() {
    if (!LooksLikeRiegeli(file_)) {
      return InvalidArgumentError("RIEGELI_NOT_A_FILE",
                                  "Expected a Riegeli file, found other bytes at its beginning.")
          .Where("offset 0")
          .Hint("Check that the file is a whole <host>.xplane.riegeli.");
    }
    uint64_t at = 0;
    while (at < file_.size()) {
      STROBE_RETURN_IF_ERROR(cancel_.Check());
      const std::optional<uint64_t> next = ReadChunk(at);
      STROBE_RETURN_IF_ERROR(sink_status_);
      if (!next) break;
      STROBE_CHECK(*next > at);
      at = *next;
    }
    if (summary_.records == 0 && !summary_.damage.empty()) return summary_.damage.front().status;
    return std::move(summary_);
  }

 private:
  // Reads the chunk at `at`; the place of the next one, or nullopt at the end.
  std::optional<uint64_t> ReadChunk(uint64_t at) {
    Buffer raw;
    if (!Gather(at, kChunkHeaderBytes, &raw)) {
      Truncated(at);
      return std::nullopt;
    }
    if (Load(raw.view(), 0) != RiegeliHash(raw.view().substr(8))) {
      Damage(at, DataLossError("RIEGELI_CHECKSUM", "The checksum of a chunk header differs."));
      return NextByBlocks(at);
    }
    ChunkHeader header;
    header.data_size = Load(raw.view(), 8);
    header.data_hash = Load(raw.view(), 16);
    const uint64_t kind_and_count = Load(raw.view(), 24);
    header.kind = static_cast<char>(kind_and_count & 0xff);
    header.num_records = kind_and_count >> 8;
    header.decoded_data_size = Load(raw.view(), 32);
    // Sizes beyond the file would overflow the sums below.
    if (header.data_size > file_.size() || header.num_records > file_.size()) {
      Truncated(at);
      return std::nullopt;
    }
    const uint64_t end = ChunkEnd(at, header);
    ++summary_.chunks;
    if (header.kind == 's' || header.kind == 'm' || header.kind == 'p') return end;
    if (header.kind != 'r') {
      Damage(at, UnimplementedError("RIEGELI_CHUNK_KIND",
                                    "Expected simple records ('r'), found a chunk of " +
                                        KindName(header.kind) + ", which is not read."));
      return end;
    }
    const uint64_t data_begin = SkipHeaders(at, kChunkHeaderBytes);
    Buffer data;
    if (!Gather(data_begin, header.data_size, &data)) {
      Truncated(at);
      return std::nullopt;
    }
    if (RiegeliHash(data.view()) != header.data_hash) {
      Damage(at, DataLossError("RIEGELI_CHECKSUM", "The checksum of a chunk differs; its " +
                                                       std::to_string(header.num_records) +
                                                       " records are left out."));
      return end;
    }
    Status status = ReadRecords(header, data.view());
    if (!status.ok()) Damage(at, std::move(status));
    return end;
  }

  // `size` bytes from `at` with the block headers between them taken out.
  bool Gather(uint64_t at, uint64_t size, Buffer* out) const {
    if (size > file_.size()) return false;
    out->data.reset(new char[size]);
    out->size = size;
    uint64_t done = 0;
    while (done < size) {
      if (at % kBlockBytes == 0) at += kBlockHeaderBytes;
      const uint64_t step = std::min(size - done, kBlockBytes - at % kBlockBytes);
      if (at > file_.size() || step > file_.size() - at) return false;
      std::memcpy(out->data.get() + done, file_.data() + at, step);
      done += step;
      at += step;
    }
    return true;
  }

  // The first chunk behind `at` that an intact block header leads to.
  std::optional<uint64_t> NextByBlocks(uint64_t at) const {
    for (uint64_t block = (at / kBlockBytes + 1) * kBlockBytes;
         block + kBlockHeaderBytes <= file_.size(); block += kBlockBytes) {
      const std::string_view header = file_.substr(block, kBlockHeaderBytes);
      if (Load(header, 0) != RiegeliHash(header.substr(8))) continue;
      const uint64_t previous_chunk = Load(header, 8);
      const uint64_t next_chunk = Load(header, 16);
      if (previous_chunk == 0) return block;
      if (next_chunk == 0 || next_chunk > file_.size() - block) return std::nullopt;
      return block + next_chunk;
    }
    return std::nullopt;
  }

  void Damage(uint64_t at, Status status) {
    if (summary_.damage.size() >= limits_.max_damage) return;
    summary_.damage.push_back(
        {.status = std::move(status)
                       .Where("offset " + std::to_string(at))
                       .Hint("What lies before and behind is shown; capture again if the rest "
                             "matters."),
         .offset_bytes = at});
  }
  void Truncated(uint64_t at) {
    Damage(at, DataLossError("RIEGELI_TRUNCATED", "The file of " + std::to_string(file_.size()) +
                                                      " bytes ends inside a chunk."));
  }
  static Status Corrupt(std::string_view what) {
    return DataLossError("RIEGELI_CORRUPT",
                         "A chunk of records makes no sense: " + std::string(what) + ".");
  }

  Status ReadRecords(const ChunkHeader& header, std::string_view data) {
    if (header.decoded_data_size > limits_.max_chunk_bytes ||
        header.decoded_data_size > limits_.max_total_bytes - summary_.record_bytes) {
      return TooLarge(header.decoded_data_size);
    }
    if (data.empty()) return Corrupt("it is empty");
    const char compression = data[0];
    data.remove_prefix(1);
    uint64_t sizes_bytes = 0;
    if (!TakeVarint(&data, &sizes_bytes) || sizes_bytes > data.size()) {
      return Corrupt("the list of sizes is longer than the chunk");
    }
    Buffer sizes;
    Buffer values;
    STROBE_RETURN_IF_ERROR(Decompress(compression, data.substr(0, sizes_bytes),
                                      header.num_records * kMaxVarintBytes, &sizes));
    STROBE_RETURN_IF_ERROR(
        Decompress(compression, data.substr(sizes_bytes), header.decoded_data_size, &values));
    if (values.size != header.decoded_data_size) {
      return Corrupt("the records are not as long as the header says");
    }
    std::string_view sizes_left = sizes.view();
    std::string_view left = values.view();
    for (uint64_t i = 0; i < header.num_records; ++i) {
      uint64_t size = 0;
      if (!TakeVarint(&sizes_left, &size) || size > left.size()) {
        return Corrupt("a record is longer than the chunk");
      }
      sink_status_ = sink_(left.substr(0, size));
      if (!sink_status_.ok()) return OkStatus();
      ++summary_.records;
      summary_.record_bytes += size;
      left.remove_prefix(size);
    }
    return left.empty() ? OkStatus() : Corrupt("bytes remain behind the last record");
  }

  static Status TooLarge(uint64_t size) {
    return ResourceExhaustedError(
        "RIEGELI_TOO_LARGE",
        "A chunk says it holds " + std::to_string(size) + " bytes, more than the limits allow.");
  }

  // At most `max_size` bytes are made.
  Status Decompress(char compression, std::string_view data, uint64_t max_size, Buffer* out) {
    uint64_t size = data.size();
    if (compression != 0 && !TakeVarint(&data, &size)) return Corrupt("a size is missing");
    if (size > max_size) return Corrupt("a part is longer than the header says");
    if (size > limits_.ratio_floor_bytes && size / limits_.max_ratio > data.size()) {
      return TooLarge(size);
    }
    out->data.reset(new char[size]);
    out->size = size;
    bool good = false;
    switch (compression) {
      case 0:
        if (size > 0) std::memcpy(out->data.get(), data.data(), size);
        good = true;
        break;
      case 'b': {
        size_t made = size;
        good = BrotliDecoderDecompress(data.size(), reinterpret_cast<const uint8_t*>(data.data()),
                                       &made, reinterpret_cast<uint8_t*>(out->data.get())) ==
                   BROTLI_DECODER_RESULT_SUCCESS &&
               made == size;
        break;
      }
      case 'z':
        good = ZSTD_decompress(out->data.get(), size, data.data(), data.size()) == size;
        break;
      case 's': {
        size_t length = 0;
        good = snappy::GetUncompressedLength(data.data(), data.size(), &length) && length == size &&
               snappy::RawUncompress(data.data(), data.size(), out->data.get());
        break;
      }
      default:
        return UnimplementedError(
            "RIEGELI_CHUNK_KIND",
            "Expected compression by nothing, brotli, zstd or snappy; found " +
                KindName(compression) + ".");
    }
    return good ? OkStatus() : Corrupt("it cannot be decompressed");
  }

  const std::string_view file_;
  const RiegeliLimits& limits_;
  const RecordSink& sink_;
  const CancelToken& cancel_;
  RiegeliSummary summary_;
  Status sink_status_;
};

}  // namespace

uint64_t RiegeliHash(std::string_view bytes) { return HighwayHash64(kKey, bytes); }

bool LooksLikeRiegeli(std::string_view head) {
  // The block header and the chunk header of the signature are the same in every file, but for a
  // first block that a longer first chunk fills: only the chunk header is fixed.
  if (head.size() < kBlockHeaderBytes + kChunkHeaderBytes) return false;
  const std::string_view header = head.substr(kBlockHeaderBytes, kChunkHeaderBytes);
  return header[24] == 's' && Load(header, 8) == 0 &&
         Load(header, 0) == RiegeliHash(header.substr(8));
}

Result<RiegeliSummary> ReadRiegeli(std::string_view file, const RiegeliLimits& limits,
                                   const RecordSink& sink, const CancelToken& cancel) {
  return Reader(file, limits, sink, cancel).Run();
}

}  // namespace strobe::wire
