// The layout of a column file, shared by writer and reader; docs/formats/columns.md says it in
// words.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "src/xplane/profile_file.h"

namespace strobe::xplane::column_format {

static_assert(std::endian::native == std::endian::little, "columns are mapped as they are stored");

inline constexpr char kMagic[8] = {'S', 'T', 'R', 'O', 'B', 'C', 'O', 'L'};
inline constexpr uint64_t kBlockAlignment = 64;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t file_bytes;
  uint64_t content_hash_high;
  uint64_t content_hash_low;
  uint64_t source_bytes;
  uint64_t skeleton_hash;
  uint64_t line_count;
  uint64_t directory_offset;
  uint64_t directory_hash;
  uint64_t header_hash;  // XXH3-64 of all before
};
static_assert(sizeof(Header) == 88);

struct Entry {
  uint32_t plane;
  uint32_t line;
  uint64_t block_offset;
  uint64_t block_bytes;
  uint64_t block_hash_high;
  uint64_t block_hash_low;
  uint64_t line_bytes;      // of the line in the profile: bounds the event offsets
  uint64_t metadata_count;  // of the plane: bounds the names
  uint64_t event_count;
  uint32_t row_count;
  uint32_t display_name_bytes;
  uint64_t has_high_offsets;
  int64_t first_start_ps;
  int64_t last_end_ps;
  uint64_t out_of_order;
  uint64_t overlapping;
  uint64_t negative;
  uint64_t saturated;
  uint64_t aggregated;
  uint64_t crowded;
  uint64_t missing_metadata;
  int64_t display_id;
  uint64_t stat_ids[2];  // StatIdFilter
};
static_assert(sizeof(Entry) == 176);

inline uint64_t Padded(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

// Where the arrays lie in a block. Counts must be below 2^32.
struct BlockLayout {
  uint64_t start = 0;
  uint64_t duration = 0;
  uint64_t name = 0;
  uint64_t offset = 0;
  uint64_t offset_high = 0;
  uint64_t rows = 0;
  uint64_t display_name = 0;
  uint64_t size_bytes = 0;

  BlockLayout(uint64_t events, bool high_offsets, uint64_t row_count, uint64_t display_name_bytes) {
    duration = start + events * sizeof(int64_t);
    name = duration + events * sizeof(int64_t);
    offset = name + Padded(events * sizeof(uint32_t));
    offset_high = offset + Padded(events * sizeof(uint32_t));
    rows = offset_high + (high_offsets ? Padded(events) : 0);
    display_name = rows + row_count * sizeof(LineColumns::Row);
    size_bytes = display_name + Padded(display_name_bytes);
  }
};
static_assert(sizeof(LineColumns::Row) == 8);

template <typename T>
T Load(std::string_view bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

// Fingerprint of everything in the skeleton that the columns lean on.
uint64_t SkeletonHash(const ProfileFile& profile);

}  // namespace strobe::xplane::column_format
