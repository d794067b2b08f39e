// Tiles of the timeline: what a screen can show of some lines over a power-of-two span, encoded as
// docs/formats/tiles.md says.
//
//   RowPyramid pyramid = RowPyramid::Build(line, row, shift_ps);    // once per row
//   STROBE_ASSIGN_OR_RETURN(std::string bytes, EncodeTile(request, lines));
//
// Nothing is left out: short events are merged, and every rectangle says for how many events it
// stands. Cost: a row's cells of more than about 12 events are read from its buckets
// (row_buckets.h), 20 B a cell; smaller cells are walked over, event by event. A row the buckets
// are not made for is searched, O(cells x log events). The pyramid takes 0.61 B an event, the
// buckets at most 3.4. Pure functions: no file, no socket. Limits: kMaxTileRects, kMaxTileNames,
// kMaxTileRow. Events without a place in time (aggregated ones) are not drawn.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/analysis/line_kind.h"
#include "src/timeline/row_buckets.h"
#include "src/xplane/profile_file.h"

namespace strobe::timeline {

inline constexpr int kMinTileLevel = 10;
inline constexpr int kMaxTileLevel = 62;
inline constexpr int kTileCells = 1024;
// Lines of one chunk; keeps a tile below about 1 MB.
inline constexpr size_t kLinesPerChunk = 64;
// 2 a cell for 2,000 full rows, 90 MB encoded: far beyond any screen, small enough for memory.
inline constexpr size_t kMaxTileRects = 4'000'000;
// The name index has 16 bits; the last name is "…" for all that do not fit.
inline constexpr size_t kMaxTileNames = 65'535;
// The row index has 16 bits; deeper rows are drawn in this one.
inline constexpr uint32_t kMaxTileRow = 65'535;

// Longest event, summed duration and places in time of any range of events of one row, and its
// cells summed up. Rows below kFanout events hold no memory.
class RowPyramid {
 public:
  static constexpr uint32_t kFanout = 32;
  struct Range {
    uint32_t longest = 0;  // absolute event index; the first of equally long ones
    int64_t busy_ps = 0;   // sum of durations
  };

  // `shift_ps` of the tiles that will be asked for; others are right, but slower.
  static RowPyramid Build(const xplane::LineColumns& line, const xplane::LineColumns::Row& row,
                          int64_t shift_ps = 0);

  // Of the events [first, last): absolute indices within the row, first < last.
  Range Summarize(const xplane::LineColumns& line, uint32_t first, uint32_t last) const;
  // Start of every kFanout-th event of the row: a small array to search before the large one.
  std::span<const int64_t> block_start_ps() const { return block_start_ps_; }
  // Start of every kFanout-th block, for the same reason; empty up to kFanout blocks.
  std::span<const int64_t> group_start_ps() const { return group_start_ps_; }
  const RowBuckets& buckets() const { return buckets_; }
  uint64_t resident_bytes() const;

 private:
  friend class PyramidCodec;
  // Longest of each block of kFanout entries of the level below (of events at level 0).
  struct Level {
    std::vector<uint16_t> key;   // of the longest's duration, see DurationKey
    std::vector<uint8_t> child;  // which entry of the block it is
  };
  uint32_t Resolve(size_t level, uint32_t block) const;

  uint32_t row_first_ = 0;
  std::vector<int64_t> block_start_ps_;
  std::vector<int64_t> group_start_ps_;
  std::vector<int64_t> busy_before_ps_;  // sum of the durations before each level 0 block
  std::vector<Level> levels_;
  RowBuckets buckets_;
};

struct TileLine {
  uint32_t line_index = 0;  // within its plane
  const xplane::LineColumns* columns = nullptr;
  std::span<const RowPyramid> pyramids;  // one per row
  // All lines of one tile are of one plane and share these two.
  const std::vector<xplane::EventMetadata>* metadata = nullptr;
  std::span<const uint8_t> category_of_metadata;  // OpCategory by metadata index
};

struct TileRequest {
  int level = kMinTileLevel;
  int64_t index = 0;
  int64_t shift_ps = 0;  // added to file time to get session time
};

// INVALID_ARGUMENT (TILE_LEVEL, TILE_INDEX) for an address outside the format; RESOURCE_EXHAUSTED
// (TILE_TOO_LARGE) beyond kMaxTileRects.
Result<std::string> EncodeTile(const TileRequest& request, std::span<const TileLine> lines);

}  // namespace strobe::timeline
