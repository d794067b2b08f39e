// The cells of one row, summed up beforehand: for every cell size from one that holds about
// kEventsPerBucket events on, each cell in which an event begins, as a tile draws it.
//
//   RowBuckets buckets = RowBuckets::Build(line, row, shift_ps);
//   if (buckets.Has(cell_shift, shift_ps)) Read(buckets.Of(cell_shift));
//
// A tile whose cells are that large reads its at most 1,024 buckets one after the other and never
// looks for the border of a cell among the events. Cells without events take no memory, so neither
// bursts nor long silence cost any. Events of a row do not overlap, therefore only the last event
// that begins in a cell can be as long as the cell; it is left out of the sums and drawn alone.
//
// Cost: two passes over the events, 20 B a bucket, at most 3.4 B an event over all cell sizes.
// Limits: only for one shift, for rows of kMinEvents and more whose events keep the promises of
// xplane and whose session time fits into int64. For all others Has() is false.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "src/xplane/profile_file.h"

namespace strobe::timeline {

// Share of a rectangle that is busy, as tiles say it: 255 only without any gap, 0 only when idle.
inline uint8_t FillOf(uint64_t busy_ps, uint64_t extent_ps) {
  if (busy_ps >= extent_ps) return 255;
  const double share = static_cast<double>(busy_ps) / static_cast<double>(extent_ps);
  const int fill = static_cast<int>(share * 255 + 0.5);
  return static_cast<uint8_t>(std::clamp(fill, busy_ps > 0 ? 1 : 0, 254));
}

class RowBuckets {
 public:
  // Fewer are walked over as fast as their bucket is fetched; more memory for nothing.
  static constexpr uint32_t kEventsPerBucket = 12;
  // Below, a tile walks over the events.
  static constexpr uint32_t kMinEvents = 64;
  // A cell is 2^cell_shift ps; that of the largest tile is the largest.
  static constexpr int kMaxCellShift = 52;
  // A cell has 2^min(cell_shift, kUnitBits) units; one unit of a tile is never finer.
  static constexpr int kUnitBits = 21;

  // The short events that begin in one cell and whether a long one (of at least a cell) follows.
  // `start` and `end` are units from the beginning of the cell. The bucket's events end where the
  // next one's begin.
  struct Bucket {
    uint32_t first;      // event, absolute
    uint32_t longest;    // of the short ones, the first of equal ones; the long one if it is alone
    uint32_t name;       // of `longest`
    uint32_t cell : 10;  // within the tile
    uint32_t start : kUnitBits;
    uint32_t long_last : 1;
    uint32_t end : kUnitBits + 1;
    uint32_t fill : 8;
    uint32_t unused : 2;
  };
  static_assert(sizeof(Bucket) == 20);

  RowBuckets() = default;
  static RowBuckets Build(const xplane::LineColumns& line, const xplane::LineColumns::Row& row,
                          int64_t shift_ps);

  bool Has(int cell_shift, int64_t shift_ps) const {
    return !buckets_.empty() && cell_shift >= finest_ && cell_shift <= coarsest_ &&
           shift_ps == shift_ps_;
  }
  // In order of time; behind them lies one more, whose `first` is the end of the row.
  std::span<const Bucket> Of(int cell_shift) const;
  uint64_t resident_bytes() const { return buckets_.capacity() * sizeof(Bucket); }

 private:
  class Builder;
  friend class PyramidCodec;

  int64_t shift_ps_ = 0;
  int finest_ = 0;
  int coarsest_ = -1;
  std::vector<uint32_t> begin_;  // of each cell size in buckets_, finest first; one more at the end
  std::vector<Bucket> buckets_;  // each cell size ends with a bucket that is none
};

}  // namespace strobe::timeline
