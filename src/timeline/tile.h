// Tiles of the timeline: what a screen can show of some lines over a power-of-two span, encoded as
// docs/formats/tiles.md says.
//
//   RowPyramid pyramid = RowPyramid::Build(line, row);              // once per row
//   std::string bytes = EncodeTile(request, lines);                 // p50 below 10 ms for 150
//   lines out of 32 M events
//
// Nothing is left out: short events are merged, and every rectangle says for how many events it
// stands. Cost: O(cells x log events) a row; the pyramid takes 0.27 B an event. Pure functions: no
// file, no socket.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/analysis/line_kind.h"
#include "src/xplane/profile_file.h"

namespace strobe::timeline {

inline constexpr int kMinTileLevel = 10;
inline constexpr int kMaxTileLevel = 62;
inline constexpr int kTileCells = 1024;
// Lines of one chunk; keeps a tile below about 1 MB.
inline constexpr size_t kLinesPerChunk = 64;

// Longest event and summed duration of every block of events of one row, level by level.
class RowPyramid {
 public:
  static constexpr uint32_t kFanout = 64;
  static RowPyramid Build(const xplane::LineColumns& line, const xplane::LineColumns::Row& row);

  // Index of the longest event in [first, last) (absolute event indices of the row, first < last).
  uint32_t LongestIn(const xplane::LineColumns& line, uint32_t first, uint32_t last) const;
  // First event at or after `first` whose duration is at least `duration_ps`; `end` if none.
  uint32_t FirstAtLeast(const xplane::LineColumns& line, uint32_t first, uint32_t end,
                        int64_t duration_ps) const;
  // Sum of durations in [first, last).
  int64_t SumIn(const xplane::LineColumns& line, uint32_t first, uint32_t last) const;
  uint64_t resident_bytes() const;

 private:
  struct Level {
    std::vector<uint32_t> longest;  // event index of the longest in each block
    std::vector<int64_t> sum_ps;
  };
  uint32_t row_first_ = 0;
  uint32_t row_count_ = 0;
  std::vector<Level> levels_;
};

struct TileLine {
  uint32_t line_index = 0;  // within its plane
  const xplane::LineColumns* columns = nullptr;
  std::span<const RowPyramid> pyramids;  // one per row
  const std::vector<xplane::EventMetadata>* metadata = nullptr;
  std::span<const uint8_t> category_of_metadata;  // OpCategory by metadata index
};

struct TileRequest {
  int level = kMinTileLevel;
  int64_t index = 0;
  int64_t shift_ps = 0;  // added to file time to get session time
};

// INVALID_ARGUMENT (TILE_LEVEL, TILE_INDEX) for an address outside the format.
Result<std::string> EncodeTile(const TileRequest& request, std::span<const TileLine> lines);

}  // namespace strobe::timeline
