#include "src/xplane/column_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace strobe::xplane {

namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kHugePageBytes = 2 * 1024 * 1024;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void* MapAnonymous(size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

// Starts at a multiple of the huge page, so that the kernel can use them from the first byte on.
void* MapAligned(size_t bytes) {
  auto* whole = static_cast<char*>(MapAnonymous(bytes + kHugePageBytes));
  if (whole == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(whole);
  const size_t before = RoundUp(address, kHugePageBytes) - address;
  if (before > 0) munmap(whole, before);
  munmap(whole + before + bytes, kHugePageBytes - before);
  madvise(whole + before, bytes, MADV_HUGEPAGE);
  return whole + before;
}

}  // namespace

ColumnMemory& ColumnMemory::operator=(ColumnMemory&& other) noexcept {
  if (this == &other) return *this;
  Free();
  data_ = std::exchange(other.data_, nullptr);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  mapped_bytes_ = std::exchange(other.mapped_bytes_, 0);
  return *this;
}

void ColumnMemory::Free() {
  if (mapped_bytes_ > 0) {
    munmap(data_, mapped_bytes_);
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  size_bytes_ = 0;
  mapped_bytes_ = 0;
}

bool ColumnMemory::Map(size_t bytes) {
  const size_t rounded = RoundUp(bytes, kPageBytes);
  void* fresh = rounded >= kHugePageFromBytes ? MapAligned(rounded) : MapAnonymous(rounded);
  if (fresh == nullptr) return false;
  if (size_bytes_ > 0) std::memcpy(fresh, data_, std::min(bytes, size_bytes_));
  Free();
  data_ = fresh;
  mapped_bytes_ = rounded;
  size_bytes_ = bytes;
  return true;
}

bool ColumnMemory::Remap(size_t bytes) {
  const size_t rounded = RoundUp(bytes, kPageBytes);
  if (rounded != mapped_bytes_) {
    void* moved = mremap(data_, mapped_bytes_, rounded, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) return false;
    if (rounded > mapped_bytes_ && rounded >= kHugePageFromBytes) {
      madvise(moved, rounded, MADV_HUGEPAGE);
    }
    data_ = moved;
    mapped_bytes_ = rounded;
  }
  size_bytes_ = bytes;
  return true;
}

bool ColumnMemory::Resize(size_t bytes) {
  if (bytes == size_bytes_) return true;
  if (bytes == 0) {
    Free();
    return true;
  }
  if (mapped_bytes_ > 0) return Remap(bytes);
  if (bytes >= kMapBytes) return Map(bytes);
  void* moved = std::realloc(data_, bytes);
  if (moved == nullptr) return false;
  data_ = moved;
  size_bytes_ = bytes;
  return true;
}

}  // namespace strobe::xplane
