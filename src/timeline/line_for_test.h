// A line made by hand, for tests and benchmarks: rows of (start, duration, name), with their
// pyramids.
//
//   LineForTest line;
//   line.AddRow({{.start_ps = 0, .duration_ps = 10, .name = 2}});
//   EncodeTile(request, {line.AsTileLine(metadata)});
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "src/timeline/rows.h"
#include "src/timeline/tile.h"

namespace strobe::timeline {

struct EventForTest {
  int64_t start_ps = 0;
  int64_t duration_ps = 0;
  uint32_t name = 0;
};

class LineForTest {
 public:
  LineForTest() = default;
  LineForTest(const LineForTest&) = delete;
  LineForTest& operator=(const LineForTest&) = delete;

  void Reserve(size_t events) {
    start_.reserve(events);
    duration_.reserve(events);
    name_.reserve(events);
    UseHugePages(start_.data(), events * sizeof(int64_t));
    UseHugePages(duration_.data(), events * sizeof(int64_t));
    UseHugePages(name_.data(), events * sizeof(uint32_t));
  }
  void AddRow(const std::vector<EventForTest>& events) {
    rows_.push_back({.first = static_cast<uint32_t>(start_.size()),
                     .count = static_cast<uint32_t>(events.size())});
    for (const EventForTest& event : events) {
      start_.push_back(event.start_ps);
      duration_.push_back(event.duration_ps);
      name_.push_back(event.name);
    }
    Refresh();
  }

  const xplane::LineColumns& columns() const { return columns_; }
  xplane::LineColumns& columns() { return columns_; }

  TileLine AsTileLine(const std::vector<xplane::EventMetadata>& metadata,
                      std::span<const uint8_t> categories = {}, uint32_t line_index = 0,
                      int64_t shift_ps = 0) {
    while (pyramids_.size() < rows_.size()) {
      pyramids_.push_back(RowPyramid::Build(columns_, rows_[pyramids_.size()], shift_ps));
    }
    return {.line_index = line_index,
            .columns = &columns_,
            .pyramids = pyramids_,
            .metadata = &metadata,
            .category_of_metadata = categories};
  }
  uint64_t PyramidBytes() const {
    uint64_t bytes = 0;
    for (const RowPyramid& pyramid : pyramids_) bytes += pyramid.resident_bytes();
    return bytes;
  }

 private:
  // As the decoder's columns have them; without, benchmarks measure page tables.
  static void UseHugePages(void* begin, size_t bytes) {
    constexpr uintptr_t kHugePage = 2 << 20;
    const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + kHugePage - 1) & ~(kHugePage - 1);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(begin) + bytes) & ~(kHugePage - 1);
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  }

  void Refresh() {
    columns_.rows = rows_;
    columns_.start_ps = start_;
    columns_.duration_ps = duration_;
    columns_.name = name_;
    for (; measured_ < start_.size(); ++measured_) {
      const int64_t end_ps = SaturatingAdd(start_[measured_], duration_[measured_]);
      const bool first = measured_ == 0;
      columns_.first_start_ps =
          first ? start_[0] : std::min(columns_.first_start_ps, start_[measured_]);
      columns_.last_end_ps = first ? end_ps : std::max(columns_.last_end_ps, end_ps);
    }
  }

  std::vector<xplane::LineColumns::Row> rows_;
  std::vector<int64_t> start_;
  std::vector<int64_t> duration_;
  std::vector<uint32_t> name_;
  std::vector<RowPyramid> pyramids_;
  xplane::LineColumns columns_;
  size_t measured_ = 0;  // events that first and last time know of
};

}  // namespace strobe::timeline
