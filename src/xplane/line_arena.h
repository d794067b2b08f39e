// Memory of the columns of a file's small and middle lines: cut from large pieces, so that it lies
// in huge pages however many lines there are, and freed with the file.
//
//   LineArena arena;
//   int64_t* starts = arena.Allocate<int64_t>(count);   // nullptr: the system has no memory
//
// Thread-safe; a lock and an addition each time. Pieces grow from 64 KiB to 32 MiB; what was never
// written costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "src/xplane/column_memory.h"

namespace strobe::xplane {

class LineArena {
 public:
  static constexpr size_t kFirstPieceBytes = 64 * 1024;
  static constexpr size_t kMaxPieceBytes = 32 * 1024 * 1024;

  template <typename T>
  [[nodiscard]] T* Allocate(size_t count) {
    return static_cast<T*>(AllocateBytes(count * sizeof(T)));
  }

 private:
  void* AllocateBytes(size_t bytes);

  std::mutex mutex_;
  std::vector<ColumnMemory> pieces_;
  size_t used_in_last_ = 0;
};

}  // namespace strobe::xplane
