#include "src/xplane/row_layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace strobe::xplane {

namespace {

constexpr size_t kMaxTimedRows = LineColumns::kMaxRows;
constexpr uint16_t kUntimedRow = kMaxTimedRows;

// Where each row is busy until, and which row an event may take.
class RowEnds {
 public:
  // The row for [start, end), or kUntimedRow. Starts must not decrease.
  uint16_t Place(int64_t start, int64_t end) {
    while (top_ >= 0 && ends_[static_cast<size_t>(top_)] <= start) --top_;
    size_t row = static_cast<size_t>(top_ + 1);
    if (top_ >= 0 && end > ends_[static_cast<size_t>(top_)]) {
      ++overlapping_;
      row = FirstFree(start);
    }
    if (row >= kMaxTimedRows) return kUntimedRow;
    if (row >= ends_.size()) ends_.resize(row + 1, kFree);
    ends_[row] = end;
    if (!tree_.empty()) SetInTree(row, end);
    top_ = std::max(top_, static_cast<ptrdiff_t>(row));
    return static_cast<uint16_t>(row);
  }
  uint64_t overlapping() const { return overlapping_; }

 private:
  static constexpr int64_t kFree = std::numeric_limits<int64_t>::min();

  // A tree of minima over kMaxTimedRows leaves, built when the first overlap is met.
  void BuildTree() {
    tree_.assign(2 * kMaxTimedRows, kFree);
    std::copy(ends_.begin(), ends_.end(), tree_.begin() + kMaxTimedRows);
    for (size_t node = kMaxTimedRows - 1; node > 0; --node) {
      tree_[node] = std::min(tree_[2 * node], tree_[2 * node + 1]);
    }
  }
  void SetInTree(size_t row, int64_t end) {
    size_t node = kMaxTimedRows + row;
    tree_[node] = end;
    for (node /= 2; node > 0; node /= 2) {
      tree_[node] = std::min(tree_[2 * node], tree_[2 * node + 1]);
    }
  }
  size_t FirstFree(int64_t start) {
    if (tree_.empty()) BuildTree();
    if (tree_[1] > start) return kMaxTimedRows;
    size_t node = 1;
    while (node < kMaxTimedRows) node = tree_[2 * node] <= start ? 2 * node : 2 * node + 1;
    return node - kMaxTimedRows;
  }

  ptrdiff_t top_ = -1;  // the deepest row that may still be busy
  uint64_t overlapping_ = 0;
  std::vector<int64_t> ends_;
  std::vector<int64_t> tree_;
};

bool MakeOrder(std::span<const int64_t> start_ps, std::span<const int64_t> duration_ps,
               Column<uint32_t>* order) {
  if (!order->Resize(start_ps.size())) return false;
  uint32_t* begin = order->data();
  std::iota(begin, begin + order->size(), 0u);
  const int64_t* start = start_ps.data();
  const int64_t* duration = duration_ps.data();
  std::sort(begin, begin + order->size(), [start, duration](uint32_t a, uint32_t b) {
    if (start[a] != start[b]) return start[a] < start[b];
    if (duration[a] != duration[b]) return duration[a] > duration[b];
    return a < b;
  });
  return true;
}

}  // namespace

bool LayOutRows(std::span<const int64_t> start_ps, std::span<const int64_t> duration_ps,
                bool already_sorted, std::span<const uint32_t> untimed, RowLayout* layout) {
  const size_t count = start_ps.size();
  if (!layout->row_of.Resize(count)) return false;
  if (!already_sorted && !MakeOrder(start_ps, duration_ps, &layout->order)) return false;
  uint16_t* row = layout->row_of.data();
  if (!untimed.empty()) std::fill(row, row + count, uint16_t{0});
  for (const uint32_t event : untimed) row[event] = kUntimedRow;

  std::vector<uint32_t> counts(kMaxTimedRows + 1);
  RowEnds ends;
  const uint32_t* sorted = layout->order.data();
  for (size_t i = 0; i < count; ++i) {
    const size_t event = sorted == nullptr ? i : sorted[i];
    if (untimed.empty() || row[event] != kUntimedRow) {
      row[event] = ends.Place(start_ps[event], start_ps[event] + duration_ps[event]);
    }
    ++counts[row[event]];
  }
  layout->overlapping = ends.overlapping();
  layout->crowded = counts[kUntimedRow] - untimed.size();

  layout->first_of_row.assign(kMaxTimedRows + 1, 0);
  uint32_t first = 0;
  for (size_t r = 0; r <= kMaxTimedRows; ++r) {
    layout->first_of_row[r] = first;
    if (counts[r] > 0) layout->rows.push_back({first, counts[r]});
    first += counts[r];
  }
  return true;
}

}  // namespace strobe::xplane
