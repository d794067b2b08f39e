#include "src/timeline/tile.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "src/timeline/row_ranges.h"
#include "src/timeline/rows.h"
#include "src/timeline/tile_names.h"

namespace strobe::timeline {
namespace {

using xplane::LineColumns;
using Int128 = __int128;

constexpr uint8_t kFlagMerged = 1;
constexpr uint8_t kFlagBeginsBefore = 2;
constexpr uint8_t kFlagEndsAfter = 4;
// Up to this level one unit is 1 ps.
constexpr int kExactLevel = 31;
constexpr size_t kHeaderBytes = 32;

struct Rect {
  uint32_t start;
  uint32_t end;
  uint32_t event;
  uint16_t name;
  uint8_t fill;
  uint8_t flags;
};
static_assert(sizeof(Rect) == 16);

struct LineEntry {
  uint32_t line;
  uint32_t row_count;
  uint32_t first_rect;
  uint32_t rect_total;
};
static_assert(sizeof(LineEntry) == 16);

// Buffers of one tile in the making.
struct Sections {
  std::vector<LineEntry> lines;
  std::vector<Rect> rects;
  std::vector<uint16_t> rows;
  std::vector<uint32_t> merged;

  void Clear() {
    if (rects.capacity() > kMaxKeptRects) *this = Sections();
    lines.clear();
    rects.clear();
    rows.clear();
    merged.clear();
  }
  // A thread keeps its buffers between tiles, up to 6 MB.
  static constexpr size_t kMaxKeptRects = 256 * 1024;
};

// The tile's span in file time. Positions are differences modulo 2^64, so that a tile whose own
// borders lie outside of int64 still places the events inside it exactly.
struct Span {
  int64_t from_ps = 0;  // saturated, for comparisons
  int64_t to_ps = 0;
  uint64_t origin = 0;  // modulo 2^64, for differences
  uint64_t length_ps = 0;
  int cell_shift = 0;
  int unit_shift = 0;

  uint64_t Offset(int64_t time_ps) const { return static_cast<uint64_t>(time_ps) - origin; }
};

int64_t Saturate(Int128 value) {
  constexpr Int128 kMin = std::numeric_limits<int64_t>::min();
  constexpr Int128 kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(value, kMin, kMax));
}

Result<Span> SpanOf(const TileRequest& request) {
  if (request.level < kMinTileLevel || request.level > kMaxTileLevel) {
    return InvalidArgumentError("TILE_LEVEL", "The tile level " + std::to_string(request.level) +
                                                  " is not in 10..62.")
        .Hint("A tile of level L spans 2^L picoseconds.");
  }
  // Beyond this no int64 time can lie in the tile.
  const int64_t max_index = std::numeric_limits<int64_t>::max() >> request.level;
  if (request.index > max_index || request.index < -max_index - 1) {
    return InvalidArgumentError("TILE_INDEX", "The tile index " + std::to_string(request.index) +
                                                  " lies outside of time at level " +
                                                  std::to_string(request.level) + ".")
        .Hint("The index is floor(time_ps / 2^level).");
  }
  const Int128 length = Int128{1} << request.level;
  const Int128 from = static_cast<Int128>(request.index) * length - request.shift_ps;
  Span span;
  span.from_ps = Saturate(from);
  span.to_ps = Saturate(from + length);
  span.origin = static_cast<uint64_t>(from);
  span.length_ps = static_cast<uint64_t>(length);
  span.cell_shift = request.level - kMinTileLevel;
  span.unit_shift = std::max(0, request.level - kExactLevel);
  return span;
}

// Writes the rectangles of the rows of one line.
class RowEncoder {
 public:
  RowEncoder(const Span& span, int64_t shift_ps, const TileLine& line, TileNames* names,
             Sections* out)
      : span_(span),
        shift_ps_(shift_ps),
        cell_ps_(int64_t{1} << span.cell_shift),
        line_(line),
        columns_(*line.columns),
        names_(names),
        out_(out) {}

  // `range`: of the row, what touches the tile.
  void Encode(size_t row_index, EventRange range) {
    row_ = static_cast<uint16_t>(std::min<size_t>(row_index, kMaxTileRow));
    pyramid_ = &line_.pyramids[row_index];
    row_first_ = columns_.rows[row_index].first;
    const size_t first_rect = out_->rects.size();
    if (range.count() > 0 && columns_.start_ps[range.first] < span_.from_ps) {
      EmitOne(range.first++);
    }
    if (range.count() >= RowBuckets::kMinEvents &&
        pyramid_->buckets().Has(span_.cell_shift, shift_ps_)) {
      NameFrom(first_rect);
      EncodeBuckets(range);
    } else {
      if (range.count() >= kDenseEvents) {
        EncodeDense(range);
      } else {
        EncodeSparse(range);
      }
      NameFrom(first_rect);  // by now the lines that Push asked for are there
    }
    out_->rows.resize(out_->rects.size(), row_);
  }

 private:
  // From so many events in a row's tile on, cells are found by search instead of by walking.
  static constexpr uint32_t kDenseEvents = 32 * kTileCells;

  uint16_t NameOf(uint32_t metadata_index) {
    const std::span<const uint8_t> categories = line_.category_of_metadata;
    return names_->IndexOf(metadata_index,
                           metadata_index < categories.size() ? categories[metadata_index] : 0);
  }

  void NameFrom(size_t rect) {
    for (; rect < out_->rects.size(); ++rect) {
      out_->rects[rect].name = NameOf(columns_.name[out_->rects[rect].event]);
    }
  }

  // Cells that were summed up beforehand; the tile's border is one between buckets.
  void EncodeBuckets(EventRange range) {
    // Buckets further on whose long event is asked for, so that it is there when it is drawn.
    constexpr ptrdiff_t kAhead = 16;
    const std::span<const RowBuckets::Bucket> all = pyramid_->buckets().Of(span_.cell_shift);
    const RowBuckets::Bucket* bucket = &*std::lower_bound(
        all.begin(), all.end(), range.first,
        [](const RowBuckets::Bucket& b, uint32_t event) { return b.first < event; });
    const RowBuckets::Bucket* const end = &all.back();
    const int cell_units_shift = std::min(span_.cell_shift, RowBuckets::kUnitBits);
    for (; bucket->first < range.last; ++bucket) {
      __builtin_prefetch(bucket + std::min(end - bucket, 4 * kAhead));
      if (end - bucket > kAhead && bucket[kAhead].long_last) PrefetchEvent(&bucket[kAhead]);
      const uint32_t long_last = bucket->long_last;
      const uint32_t shorts = bucket[1].first - bucket->first - long_last;
      if (bucket->cell == kTileCells - 1 && (bucket->end >> cell_units_shift) != 0) {
        // May end after the tile, where busy time is not known beforehand.
        const size_t first_rect = out_->rects.size();
        EmitCell(bucket->first, bucket[1].first);
        NameFrom(first_rect);
        continue;
      }
      if (shorts > 0) {
        const uint32_t cell_start = bucket->cell << cell_units_shift;
        out_->rects.push_back({.start = cell_start + bucket->start,
                               .end = cell_start + bucket->end,
                               .event = bucket->longest,
                               .name = NameOf(bucket->name),
                               .fill = static_cast<uint8_t>(bucket->fill),
                               .flags = shorts > 1 ? kFlagMerged : uint8_t{0}});
        if (shorts > 1) out_->merged.push_back(shorts);
      }
      if (long_last != 0) {
        EmitOne(bucket[1].first - 1);
        out_->rects.back().name = NameOf(columns_.name[bucket[1].first - 1]);
      }
    }
  }

  void PrefetchEvent(const RowBuckets::Bucket* bucket) const {
    const uint32_t event = bucket[1].first - 1;
    __builtin_prefetch(&columns_.start_ps[event]);
    __builtin_prefetch(&columns_.duration_ps[event]);
    __builtin_prefetch(&columns_.name[event]);
  }

  uint64_t CellOf(uint32_t event) const {
    return span_.Offset(columns_.start_ps[event]) >> span_.cell_shift;
  }

  // Few events a cell: walk over them.
  void EncodeSparse(EventRange range) {
    constexpr uint32_t kAhead = 64;  // events; the processor does not look beyond a page by itself
    const int64_t* start = columns_.start_ps.data();
    const int64_t* duration = columns_.duration_ps.data();
    uint32_t e = range.first;
    while (e < range.last) {
      __builtin_prefetch(start + std::min(e + kAhead, range.last));
      __builtin_prefetch(duration + std::min(e + kAhead, range.last));
      const uint64_t cell_end = (CellOf(e) + 1) << span_.cell_shift;
      uint64_t busy = 0;
      uint32_t longest = e;
      int64_t longest_ps = -1;
      uint32_t next = e;
      // Only the last event that begins in a cell can be long.
      do {
        const int64_t duration_ps = duration[next];
        if (duration_ps >= cell_ps_) break;
        busy += static_cast<uint64_t>(duration_ps);
        longest = duration_ps > longest_ps ? next : longest;
        longest_ps = std::max(longest_ps, duration_ps);
        ++next;
      } while (next < range.last && span_.Offset(start[next]) < cell_end);
      if (next - e == 1) {
        EmitOne(e);
      } else if (next > e) {
        EmitMerged(e, next, {.longest = longest, .busy_ps = static_cast<int64_t>(busy)});
      } else {
        EmitOne(next++);
      }
      e = next;
    }
  }

  // Many events a cell: find where every cell begins in three passes over the cells, each of which
  // asks the memory for what the next one needs, instead of waiting for it cell by cell.
  void EncodeDense(EventRange range) {
    const uint64_t first_cell = CellOf(range.first);
    const uint64_t last_cell = CellOf(range.last - 1);
    // Only a row that is not in time order gets here with other cells than the tile has.
    if (first_cell > last_cell || last_cell >= kTileCells) return EncodeSparse(range);
    const uint32_t cells = static_cast<uint32_t>(last_cell - first_cell) + 1;
    FindBlocks(range, first_cell, cells);
    FindCells(range, first_cell, cells);
    for (uint32_t c = 0; c < cells; ++c) {
      if (bound_[c] < bound_[c + 1]) EmitCell(bound_[c], bound_[c + 1]);
    }
  }

  // bound_[c]: the last block that begins before cell c, as the index of its first event.
  void FindBlocks(EventRange range, uint64_t first_cell, uint32_t cells) {
    const std::span<const int64_t> blocks = pyramid_->block_start_ps();
    const uint32_t last_block = (range.last - 1 - row_first_) / RowPyramid::kFanout;
    uint32_t block = (range.first - row_first_) / RowPyramid::kFanout;
    uint32_t step = 1;
    for (uint32_t c = 1; c < cells; ++c) {
      const uint64_t cell_start = (first_cell + c) << span_.cell_shift;
      const auto before = [&](uint32_t b) { return span_.Offset(blocks[b]) < cell_start; };
      const uint32_t from = block;
      // `block` begins before the cell; gallop with the stride of the last cell.
      uint32_t high = last_block + 1;
      uint32_t jump = step;
      while (block + jump < high) {
        if (!before(block + jump)) {
          high = block + jump;
          break;
        }
        block += jump;
        jump *= 2;
      }
      while (high - block > 1) {
        const uint32_t middle = block + (high - block) / 2;
        (before(middle) ? block : high) = middle;
      }
      step = std::max<uint32_t>(1, block - from);
      bound_[c] = row_first_ + block * RowPyramid::kFanout;
      Prefetch(&columns_.start_ps[bound_[c]], RowPyramid::kFanout);
    }
  }

  // bound_[c]: the first event of cell c or later.
  void FindCells(EventRange range, uint64_t first_cell, uint32_t cells) {
    const int64_t* start = columns_.start_ps.data();
    for (uint32_t c = 1; c < cells; ++c) {
      const uint64_t cell_start = (first_cell + c) << span_.cell_shift;
      const uint32_t block = bound_[c];
      uint32_t low = std::max(block, range.first);
      uint32_t size = std::min(block + RowPyramid::kFanout, range.last) - low;
      while (size > 0) {
        const uint32_t half = size / 2;
        const bool before = span_.Offset(start[low + half]) < cell_start;
        low = before ? low + half + 1 : low;
        size = before ? size - half - 1 : half;
      }
      bound_[c] = low;
      Prefetch(&columns_.duration_ps[block], RowPyramid::kFanout);
    }
    bound_[0] = range.first;
    bound_[cells] = range.last;
  }

  static void Prefetch(const int64_t* first, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 8) __builtin_prefetch(first + i);
  }

  // The events that begin in one cell: only the last of them can be as long as a cell.
  void EmitCell(uint32_t first, uint32_t last) {
    const bool long_last = columns_.duration_ps[last - 1] >= cell_ps_;
    const uint32_t group_end = long_last ? last - 1 : last;
    if (group_end - first == 1) {
      EmitOne(first);
    } else if (group_end > first) {
      EmitMerged(first, group_end, pyramid_->Summarize(columns_, first, group_end));
    }
    if (long_last) EmitOne(group_end);
  }

  // Clips to the tile and notes what was cut off.
  void Place(int64_t start_ps, int64_t end_ps, uint64_t* from, uint64_t* to, uint8_t* flags) {
    *from = 0;
    if (start_ps < span_.from_ps) {
      *flags |= kFlagBeginsBefore;
    } else {
      *from = span_.Offset(start_ps);
    }
    *to = span_.Offset(end_ps);
    if (end_ps > span_.to_ps) {
      *flags |= kFlagEndsAfter;
      *to = span_.length_ps;
    }
  }

  void EmitOne(uint32_t event) {
    uint64_t from = 0;
    uint64_t to = 0;
    uint8_t flags = 0;
    Place(columns_.start_ps[event], EndOf(columns_, event), &from, &to, &flags);
    Push(from, to, event, 255, flags);
  }

  void EmitMerged(uint32_t first, uint32_t last, const RowPyramid::Range& range) {
    uint64_t from = 0;
    uint64_t to = 0;
    uint8_t flags = kFlagMerged;
    Place(columns_.start_ps[first], EndOf(columns_, last - 1), &from, &to, &flags);
    // What the last event lasts beyond the tile is not busy inside it.
    uint64_t busy = static_cast<uint64_t>(range.busy_ps);
    if ((flags & kFlagEndsAfter) != 0) {
      busy -= span_.Offset(EndOf(columns_, last - 1)) - span_.length_ps;
    }
    Push(from, to, range.longest, FillOf(busy, to - from), flags);
    out_->merged.push_back(last - first);
  }

  void Push(uint64_t from, uint64_t to, uint32_t event, uint8_t fill, uint8_t flags) {
    __builtin_prefetch(&columns_.name[event]);
    out_->rects.push_back({.start = static_cast<uint32_t>(from >> span_.unit_shift),
                           .end = static_cast<uint32_t>(to >> span_.unit_shift),
                           .event = event,
                           .name = 0,
                           .fill = fill,
                           .flags = flags});
  }

  const Span& span_;
  const int64_t shift_ps_;
  const int64_t cell_ps_;
  const TileLine& line_;
  const LineColumns& columns_;
  TileNames* names_;
  Sections* out_;
  const RowPyramid* pyramid_ = nullptr;
  uint32_t row_first_ = 0;
  uint16_t row_ = 0;
  uint32_t bound_[kTileCells + 1];
};

void Append(std::string* out, const void* bytes, size_t size) {
  out->append(static_cast<const char*>(bytes), size);
}

template <typename T>
void AppendSection(std::string* out, const std::vector<T>& values) {
  Append(out, values.data(), values.size() * sizeof(T));
  out->append((4 - out->size() % 4) % 4, '\0');
}

std::string Assemble(const TileRequest& request, const Sections& sections, const TileNames& names) {
  std::string out;
  out.reserve(kHeaderBytes + sections.lines.size() * sizeof(LineEntry) +
              sections.rects.size() * (sizeof(Rect) + sizeof(uint16_t)) + 4 +
              sections.merged.size() * sizeof(uint32_t) + names.entries().size() * 8 +
              names.text().size());
  const uint8_t version_and_level[2] = {1, static_cast<uint8_t>(request.level)};
  const uint16_t line_count = static_cast<uint16_t>(sections.lines.size());
  const uint32_t counts[4] = {
      static_cast<uint32_t>(sections.rects.size()), static_cast<uint32_t>(names.entries().size()),
      static_cast<uint32_t>(names.text().size()), static_cast<uint32_t>(sections.merged.size())};
  out.append("STL1");
  Append(&out, version_and_level, sizeof(version_and_level));
  Append(&out, &line_count, sizeof(line_count));
  Append(&out, &request.index, sizeof(request.index));
  Append(&out, counts, sizeof(counts));
  AppendSection(&out, sections.lines);
  AppendSection(&out, sections.rects);
  AppendSection(&out, sections.rows);
  AppendSection(&out, sections.merged);
  AppendSection(&out, names.entries());
  out.append(names.text());
  return out;
}

}  // namespace

Result<std::string> EncodeTile(const TileRequest& request, std::span<const TileLine> lines) {
  STROBE_CHECK(lines.size() <= std::numeric_limits<uint16_t>::max());
  STROBE_ASSIGN_OR_RETURN(const Span span, SpanOf(request));
  thread_local Sections sections;
  sections.Clear();
  TileNames names;
  for (const TileLine& line : lines) {
    STROBE_CHECK(line.pyramids.size() >= line.columns->timed_rows().size());
    STROBE_CHECK(line.metadata == lines[0].metadata);
  }
  thread_local std::vector<EventRange> ranges;
  FindTouching(lines, span.from_ps, span.to_ps, &ranges);
  size_t next_range = 0;
  for (const TileLine& line : lines) {
    const size_t rows = line.columns->timed_rows().size();
    const uint32_t first_rect = static_cast<uint32_t>(sections.rects.size());
    RowEncoder encoder(span, request.shift_ps, line, &names, &sections);
    for (size_t row = 0; row < rows; ++row) {
      encoder.Encode(row, ranges[next_range++]);
      if (sections.rects.size() > kMaxTileRects) {
        return ResourceExhaustedError("TILE_TOO_LARGE",
                                      "More than 4,000,000 rectangles would be needed.")
            .Where("line " + std::to_string(line.line_index) + ", row " + std::to_string(row))
            .Hint("Ask for a shorter span.");
      }
    }
    sections.lines.push_back(
        {.line = line.line_index,
         .row_count = static_cast<uint32_t>(std::min<size_t>(rows, size_t{kMaxTileRow} + 1)),
         .first_rect = first_rect,
         .rect_total = static_cast<uint32_t>(sections.rects.size()) - first_rect});
  }
  if (!lines.empty()) names.Finish(*lines[0].metadata);
  return Assemble(request, sections, names);
}

}  // namespace strobe::timeline
