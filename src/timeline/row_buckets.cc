#include "src/timeline/row_buckets.h"

#include <bit>
#include <limits>

#include "src/timeline/tile.h"

namespace strobe::timeline {
namespace {

using xplane::LineColumns;

static_assert(RowBuckets::kMaxCellShift == kMaxTileLevel - kMinTileLevel);
constexpr uint64_t kCellMask = kTileCells - 1;

// How many neighbours of a row lie in different cells, by the size of the cell.
class Borders {
 public:
  // False when the row does not keep its promises or its session time does not fit.
  bool Count(const LineColumns& line, const LineColumns::Row& row, int64_t shift_ps) {
    const int64_t* starts = line.start_ps.data() + row.first;
    const int64_t* durations = line.duration_ps.data() + row.first;
    int64_t end_ps = starts[0];
    uint64_t before = static_cast<uint64_t>(starts[0]) + static_cast<uint64_t>(shift_ps);
    bool is_right = true;
    for (uint32_t e = 0; e < row.count; ++e) {
      is_right &= starts[e] >= end_ps && durations[e] >= 0;
      is_right &= !__builtin_add_overflow(starts[e], durations[e], &end_ps);
      const uint64_t at = static_cast<uint64_t>(starts[e]) + static_cast<uint64_t>(shift_ps);
      ++differ_in_[e % 2][std::bit_width(at ^ before)];
      before = at;
    }
    int64_t session_ps = 0;
    return is_right && end_ps < std::numeric_limits<int64_t>::max() &&
           !__builtin_add_overflow(starts[0], shift_ps, &session_ps) &&
           !__builtin_add_overflow(end_ps, shift_ps, &session_ps);
  }

  // Cells in which an event begins.
  uint64_t CellsOf(int cell_shift) const {
    uint64_t cells = 1;
    for (int width = cell_shift + 1; width <= 64; ++width) {
      cells += differ_in_[0][width] + differ_in_[1][width];
    }
    return cells;
  }

 private:
  // Neighbours that differ in so many low bits; of even and odd events, as adding to one counter
  // again and again is slow.
  std::array<std::array<uint32_t, 65>, 2> differ_in_{};
};

}  // namespace

// Passes over the events once. Of each cell size one cell is open; when it is over, it becomes a
// bucket and is added to the open cell of twice its size.
class RowBuckets::Builder {
 public:
  Builder(const LineColumns& line, const LineColumns::Row& row, RowBuckets* out)
      : line_(line), row_(row), out_(*out), shift_(static_cast<uint64_t>(out->shift_ps_)) {
    for (int c = out_.finest_; c <= out_.coarsest_; ++c) {
      next_[c] = out_.buckets_.data() + out_.begin_[static_cast<size_t>(c - out_.finest_)];
    }
  }

  void Run() {
    const uint32_t row_end = row_.first + row_.count;
    for (uint32_t e = row_.first; e < row_end;) {
      e = TakeFinestCell(e, row_end);
      CloseBelow(e == row_end
                     ? kMaxCellShift + 1
                     : std::bit_width(Session(line_.start_ps[e - 1]) ^ Session(line_.start_ps[e])));
    }
    for (int c = out_.finest_; c <= out_.coarsest_; ++c) {
      *next_[c] = Bucket{};
      next_[c]++->first = row_end;
      STROBE_CHECK(next_[c] ==
                   out_.buckets_.data() + out_.begin_[static_cast<size_t>(c - out_.finest_) + 1]);
    }
  }

 private:
  static constexpr uint32_t kNoEvent = UINT32_MAX;

  struct Longest {
    uint32_t event = kNoEvent;
    uint32_t name = 0;
    int64_t duration_ps = -1;
  };
  struct OpenCell {
    uint32_t first = kNoEvent;
    uint32_t shorts = 0;
    int64_t start_ps = 0;  // of the first event
    int64_t end_ps = 0;    // of the last short one
    uint64_t busy_ps = 0;  // of the short ones
    Longest longest;       // of the short ones
    Longest long_last;
  };

  uint64_t Session(int64_t file_ps) const { return static_cast<uint64_t>(file_ps) + shift_; }

  // The events from `first` on that begin in the same of the smallest cells; returns the next one.
  uint32_t TakeFinestCell(uint32_t first, uint32_t row_end) {
    const int64_t* starts = line_.start_ps.data();
    const int64_t* durations = line_.duration_ps.data();
    const int64_t cell_ps = int64_t{1} << out_.finest_;
    const uint64_t place = Session(starts[first]) >> out_.finest_;
    uint64_t busy_ps = 0;
    uint32_t longest = first;
    int64_t longest_ps = -1;
    uint32_t e = first;
    bool has_long = false;
    do {
      const int64_t duration_ps = durations[e];
      has_long = duration_ps >= cell_ps;
      if (has_long) break;
      busy_ps += static_cast<uint64_t>(duration_ps);
      longest = duration_ps > longest_ps ? e : longest;
      longest_ps = std::max(longest_ps, duration_ps);
      ++e;
    } while (e < row_end && Session(starts[e]) >> out_.finest_ == place);
    OpenCell& cell = open_[out_.finest_];
    cell = OpenCell();
    cell.first = first;
    cell.start_ps = starts[first];
    cell.shorts = e - first;
    cell.busy_ps = busy_ps;
    if (e > first) {
      cell.end_ps = starts[e - 1] + durations[e - 1];
      cell.longest = {.event = longest, .name = line_.name[longest], .duration_ps = longest_ps};
    }
    if (has_long) {
      cell.long_last = {.event = e, .name = line_.name[e], .duration_ps = durations[e]};
      ++e;
    }
    return e;
  }

  void CloseBelow(int width) {
    const int end = std::min(width, out_.coarsest_ + 1);
    for (int c = out_.finest_; c < end; ++c) {
      *next_[c]++ = BucketOf(open_[c], c);
      if (c < out_.coarsest_) AddCell(open_[c], &open_[c + 1], int64_t{2} << c);
      open_[c].first = kNoEvent;
    }
  }

  // A cell's long event can be a short one of the cell of twice the size.
  void AddCell(const OpenCell& half, OpenCell* cell, int64_t cell_ps) const {
    if (cell->first == kNoEvent) {
      *cell = half;
      cell->long_last = Longest();
    } else if (half.shorts > 0) {
      cell->shorts += half.shorts;
      cell->end_ps = half.end_ps;
      cell->busy_ps += half.busy_ps;
      if (half.longest.duration_ps > cell->longest.duration_ps) cell->longest = half.longest;
    }
    if (half.long_last.event == kNoEvent) return;
    if (half.long_last.duration_ps >= cell_ps) {
      cell->long_last = half.long_last;
      return;
    }
    ++cell->shorts;
    cell->end_ps = line_.start_ps[half.long_last.event] + half.long_last.duration_ps;
    cell->busy_ps += static_cast<uint64_t>(half.long_last.duration_ps);
    if (half.long_last.duration_ps > cell->longest.duration_ps) cell->longest = half.long_last;
  }

  Bucket BucketOf(const OpenCell& cell, int cell_shift) const {
    const uint64_t start = Session(cell.start_ps);
    const uint64_t cell_start = start >> cell_shift << cell_shift;
    const bool has_long = cell.long_last.event != kNoEvent;
    const Longest& longest = cell.shorts > 0 ? cell.longest : cell.long_last;
    Bucket bucket = {.first = cell.first,
                     .longest = longest.event,
                     .name = longest.name,
                     .cell = static_cast<uint32_t>((start >> cell_shift) & kCellMask),
                     .start = 0,
                     .long_last = has_long,
                     .end = 0,
                     .fill = 255,
                     .unused = 0};
    if (cell.shorts == 0) return bucket;
    const int unit_shift = std::max(0, cell_shift - kUnitBits);
    constexpr uint32_t kStartMask = (uint32_t{1} << kUnitBits) - 1;
    bucket.start = static_cast<uint32_t>((start - cell_start) >> unit_shift) & kStartMask;
    bucket.end = static_cast<uint32_t>((Session(cell.end_ps) - cell_start) >> unit_shift) &
                 (2 * kStartMask + 1);
    if (cell.shorts > 1) {
      bucket.fill = FillOf(cell.busy_ps, static_cast<uint64_t>(cell.end_ps - cell.start_ps));
    }
    return bucket;
  }

  const LineColumns& line_;
  const LineColumns::Row& row_;
  RowBuckets& out_;
  const uint64_t shift_;
  std::array<OpenCell, kMaxCellShift + 1> open_;
  std::array<Bucket*, kMaxCellShift + 1> next_{};
};

RowBuckets RowBuckets::Build(const LineColumns& line, const LineColumns::Row& row,
                             int64_t shift_ps) {
  RowBuckets result;
  if (row.count < kMinEvents) return result;
  Borders borders;
  if (!borders.Count(line, row, shift_ps)) return result;

  int coarsest = 0;
  while (coarsest < kMaxCellShift && borders.CellsOf(coarsest) > 2) ++coarsest;
  // Every size has about half the cells of the one before; when a row's events lie so that it has
  // not, the finest sizes are left out: their few cells in a tile are found as quickly by search.
  const uint64_t max_buckets = row.count / kEventsPerBucket;
  uint64_t total = 0;
  int finest = coarsest + 1;
  while (finest > 0) {
    const uint64_t cells = borders.CellsOf(finest - 1);
    if (cells > max_buckets || total + cells + 1 > 2 * max_buckets) break;
    total += cells + 1;
    --finest;
  }
  if (finest > coarsest) return result;
  result.shift_ps_ = shift_ps;
  result.finest_ = finest;
  result.coarsest_ = coarsest;
  result.buckets_.resize(total);
  result.begin_.reserve(static_cast<size_t>(coarsest - finest) + 2);
  result.begin_.push_back(0);
  for (int c = finest; c <= coarsest; ++c) {
    result.begin_.push_back(result.begin_.back() + static_cast<uint32_t>(borders.CellsOf(c)) + 1);
  }
  Builder(line, row, &result).Run();
  return result;
}

std::span<const RowBuckets::Bucket> RowBuckets::Of(int cell_shift) const {
  const size_t at = static_cast<size_t>(cell_shift - finest_);
  return {buckets_.data() + begin_[at], begin_[at + 1] - begin_[at]};
}

}  // namespace strobe::timeline
