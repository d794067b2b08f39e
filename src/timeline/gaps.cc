#include "src/timeline/gaps.h"

#include <algorithm>

#include "src/timeline/rows.h"

namespace strobe::timeline {
namespace {

using xplane::LineColumns;

// Events looked at between two looks at the cancel flag: about a millisecond.
constexpr uint32_t kCancelStride = 1 << 16;

struct Cursor {
  const LineColumns* columns = nullptr;
  uint32_t line = 0;
  uint32_t event = 0;
  uint32_t last = 0;
  int64_t start_ps() const { return columns->start_ps[event]; }
};

// The earliest on top.
bool Later(const Cursor& a, const Cursor& b) { return a.start_ps() > b.start_ps(); }

bool Longer(const Gap& a, const Gap& b) {
  if (a.duration_ps() != b.duration_ps()) return a.duration_ps() > b.duration_ps();
  return a.start_ps < b.start_ps;
}

class Collector {
 public:
  explicit Collector(size_t limit) : limit_(limit) {}

  void Add(const Gap& gap) {
    ++list_.count;
    list_.total_ps = SaturatingAdd(list_.total_ps, gap.duration_ps());
    if (limit_ == 0) return;
    std::vector<Gap>& heap = list_.longest;
    if (heap.size() == limit_) {
      if (!Longer(gap, heap.front())) return;
      std::pop_heap(heap.begin(), heap.end(), Longer);
      heap.pop_back();
    }
    heap.push_back(gap);
    std::push_heap(heap.begin(), heap.end(), Longer);
  }
  GapList Finish() {
    std::sort_heap(list_.longest.begin(), list_.longest.end(), Longer);
    return std::move(list_);
  }

 private:
  const size_t limit_;
  GapList list_;
};

// Past every event that ends within what is covered already.
void SkipCovered(Cursor* cursor, int64_t covered_to_ps) {
  ++cursor->event;
  if (cursor->event >= cursor->last || EndOf(*cursor->columns, cursor->event) > covered_to_ps) {
    return;
  }
  const uint32_t first =
      FirstStartingAt(*cursor->columns, cursor->event, cursor->last, covered_to_ps);
  // The one before may reach out of it.
  cursor->event = first > cursor->event && EndOf(*cursor->columns, first - 1) > covered_to_ps
                      ? first - 1
                      : first;
}

std::vector<Cursor> CursorsOf(std::span<const GapLine> lines, const GapOptions& options) {
  std::vector<Cursor> cursors;
  for (const GapLine& line : lines) {
    for (const LineColumns::Row& row : line.columns->timed_rows()) {
      const EventRange range = EventsTouching(*line.columns, row, options.from_ps, options.to_ps);
      if (range.count() == 0) continue;
      cursors.push_back({line.columns, line.line, range.first, range.last});
    }
  }
  return cursors;
}

}  // namespace

Result<GapList> FindGaps(std::span<const GapLine> lines, const GapOptions& options,
                         const CancelToken& cancel) {
  Collector collector(options.limit);
  std::vector<Cursor> cursors = CursorsOf(lines, options);
  std::make_heap(cursors.begin(), cursors.end(), Later);
  int64_t covered_to_ps = options.from_ps;
  std::optional<GapEdge> before;
  uint32_t until_check = kCancelStride;
  while (!cursors.empty()) {
    if (--until_check == 0) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      until_check = kCancelStride;
    }
    std::pop_heap(cursors.begin(), cursors.end(), Later);
    Cursor& cursor = cursors.back();
    const GapEdge edge{cursor.line, cursor.event};
    if (cursor.start_ps() > covered_to_ps) {
      collector.Add({covered_to_ps, cursor.start_ps(), before, edge});
    }
    const int64_t end_ps = EndOf(*cursor.columns, cursor.event);
    if (end_ps >= covered_to_ps) {
      covered_to_ps = end_ps;
      before = edge;
    }
    SkipCovered(&cursor, covered_to_ps);
    if (cursor.event >= cursor.last) {
      cursors.pop_back();
    } else {
      std::push_heap(cursors.begin(), cursors.end(), Later);
    }
  }
  if (covered_to_ps < options.to_ps) {
    collector.Add({covered_to_ps, options.to_ps, before, std::nullopt});
  }
  return collector.Finish();
}

}  // namespace strobe::timeline
