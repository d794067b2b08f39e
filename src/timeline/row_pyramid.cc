#include <algorithm>
#include <bit>

#include "src/timeline/tile.h"

namespace strobe::timeline {
namespace {

// A 16-bit number that never decreases as the duration grows: 6 bits of exponent, 10 of mantissa.
// Exact below 2048 ps; equal keys are settled by the durations themselves.
uint16_t DurationKey(int64_t duration_ps) {
  const uint64_t value = static_cast<uint64_t>(std::max<int64_t>(duration_ps, 0));
  const int width = std::bit_width(value);
  if (width <= 10) return static_cast<uint16_t>(value);
  const int shift = width - 11;
  return static_cast<uint16_t>(((shift + 1) << 10) | ((value >> shift) & 1023));
}

}  // namespace

RowPyramid RowPyramid::Build(const xplane::LineColumns& line, const xplane::LineColumns::Row& row,
                             int64_t shift_ps) {
  RowPyramid pyramid;
  pyramid.row_first_ = row.first;
  const uint32_t whole_blocks = row.count / kFanout;
  if (whole_blocks == 0) return pyramid;
  pyramid.buckets_ = RowBuckets::Build(line, row, shift_ps);

  pyramid.block_start_ps_.reserve(whole_blocks + 1);
  for (uint32_t e = 0; e < row.count; e += kFanout) {
    pyramid.block_start_ps_.push_back(line.start_ps[row.first + e]);
  }
  const size_t blocks_with_rest = pyramid.block_start_ps_.size();
  if (blocks_with_rest > kFanout) {
    pyramid.group_start_ps_.reserve((blocks_with_rest + kFanout - 1) / kFanout);
    for (size_t block = 0; block < blocks_with_rest; block += kFanout) {
      pyramid.group_start_ps_.push_back(pyramid.block_start_ps_[block]);
    }
  }
  pyramid.busy_before_ps_.resize(whole_blocks + 1);
  Level& base = pyramid.levels_.emplace_back();
  base.key.resize(whole_blocks);
  base.child.resize(whole_blocks);
  uint64_t busy = 0;  // wraps instead of overflowing on rows that lie about not overlapping
  for (uint32_t block = 0; block < whole_blocks; ++block) {
    const int64_t* duration = &line.duration_ps[row.first + block * kFanout];
    uint32_t longest = 0;
    pyramid.busy_before_ps_[block] = static_cast<int64_t>(busy);
    for (uint32_t i = 0; i < kFanout; ++i) {
      busy += static_cast<uint64_t>(duration[i]);
      if (duration[i] > duration[longest]) longest = i;
    }
    base.key[block] = DurationKey(duration[longest]);
    base.child[block] = static_cast<uint8_t>(longest);
  }
  pyramid.busy_before_ps_[whole_blocks] = static_cast<int64_t>(busy);

  while (pyramid.levels_.back().key.size() >= kFanout) {
    const size_t below = pyramid.levels_.size() - 1;
    const uint32_t blocks = static_cast<uint32_t>(pyramid.levels_[below].key.size() / kFanout);
    Level level;
    level.key.resize(blocks);
    level.child.resize(blocks);
    for (uint32_t block = 0; block < blocks; ++block) {
      const uint16_t* key = &pyramid.levels_[below].key[block * kFanout];
      uint32_t longest = 0;
      int64_t longest_ps = line.duration_ps[pyramid.Resolve(below, block * kFanout)];
      for (uint32_t i = 1; i < kFanout; ++i) {
        if (key[i] < key[longest]) continue;
        const int64_t duration_ps = line.duration_ps[pyramid.Resolve(below, block * kFanout + i)];
        if (duration_ps > longest_ps) {
          longest = i;
          longest_ps = duration_ps;
        }
      }
      level.key[block] = key[longest];
      level.child[block] = static_cast<uint8_t>(longest);
    }
    pyramid.levels_.push_back(std::move(level));
  }
  return pyramid;
}

uint32_t RowPyramid::Resolve(size_t level, uint32_t block) const {
  for (size_t l = level + 1; l-- > 0;) block = block * kFanout + levels_[l].child[block];
  return row_first_ + block;
}

RowPyramid::Range RowPyramid::Summarize(const xplane::LineColumns& line, uint32_t first,
                                        uint32_t last) const {
  const int64_t* durations = line.duration_ps.data();
  uint64_t busy = 0;
  uint32_t longest = first;
  int64_t longest_ps = durations[first];
  const auto scan = [&](uint32_t from, uint32_t to) {
    for (uint32_t e = from; e < to; ++e) {
      const int64_t duration_ps = durations[e];
      busy += static_cast<uint64_t>(duration_ps);
      if (duration_ps > longest_ps) {
        longest_ps = duration_ps;
        longest = e;
      }
    }
  };

  const uint32_t first_block = (first - row_first_ + kFanout - 1) / kFanout;
  const uint32_t last_block = std::min<uint32_t>((last - row_first_) / kFanout,
                                                 levels_.empty() ? 0 : levels_[0].key.size());
  if (first_block >= last_block) {
    scan(first, last);
    return {.longest = longest, .busy_ps = static_cast<int64_t>(busy)};
  }

  scan(first, row_first_ + first_block * kFanout);
  busy += static_cast<uint64_t>(busy_before_ps_[last_block]) -
          static_cast<uint64_t>(busy_before_ps_[first_block]);
  // A block leads by its key alone; its durations are looked at only when keys are equal.
  bool is_block = false;
  size_t lead_level = 0;
  uint32_t lead_block = 0;
  uint16_t lead_key = DurationKey(longest_ps);
  const auto settle = [&] {
    if (!is_block) return;
    longest = Resolve(lead_level, lead_block);
    longest_ps = durations[longest];
    is_block = false;
  };
  for (uint32_t block = first_block; block < last_block;) {
    // The largest aligned block that lies within the rest, so events are met in order.
    size_t level = 0;
    uint32_t size = 1;  // in level 0 blocks
    while (level + 1 < levels_.size() && block % (size * kFanout) == 0 &&
           block + size * kFanout <= last_block) {
      size *= kFanout;
      ++level;
    }
    const uint32_t index = block / size;
    const uint16_t key = levels_[level].key[index];
    bool leads = key > lead_key;
    if (key == lead_key) {
      settle();
      leads = durations[Resolve(level, index)] > longest_ps;
    }
    if (leads) {
      is_block = true;
      lead_level = level;
      lead_block = index;
      lead_key = key;
    }
    block += size;
  }
  const uint32_t tail = row_first_ + last_block * kFanout;
  int64_t tail_ps = -1;
  for (uint32_t e = tail; e < last; ++e) tail_ps = std::max(tail_ps, durations[e]);
  if (tail < last && DurationKey(tail_ps) >= lead_key) settle();
  if (is_block) {
    longest = Resolve(lead_level, lead_block);
    longest_ps = INT64_MAX;  // nothing in the tail is longer
  }
  scan(tail, last);
  return {.longest = longest, .busy_ps = static_cast<int64_t>(busy)};
}

uint64_t RowPyramid::resident_bytes() const {
  uint64_t bytes =
      (block_start_ps_.capacity() + group_start_ps_.capacity() + busy_before_ps_.capacity()) *
      sizeof(int64_t);
  for (const Level& level : levels_) {
    bytes += level.key.capacity() * sizeof(uint16_t) + level.child.capacity();
  }
  return bytes + buckets_.resident_bytes();
}

}  // namespace strobe::timeline
