#include "src/xplane/line_arena.h"

#include <algorithm>

namespace strobe::xplane {

namespace {
constexpr size_t kAlignment = 16;  // what malloc gives, and enough for any column
}  // namespace

void* LineArena::AllocateBytes(size_t bytes) {
  bytes = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex_);
  if (pieces_.empty() || pieces_.back().size_bytes() - used_in_last_ < bytes) {
    const size_t grown = pieces_.empty() ? kFirstPieceBytes : 2 * pieces_.back().size_bytes();
    ColumnMemory piece;
    if (!piece.Resize(std::max(bytes, std::min(grown, kMaxPieceBytes)))) return nullptr;
    pieces_.push_back(std::move(piece));
    used_in_last_ = 0;
  }
  void* at = static_cast<char*>(pieces_.back().data()) + used_in_last_;
  used_in_last_ += bytes;
  return at;
}

}  // namespace strobe::xplane
