// The memory of one column: grows without copying, and large ones lie in huge pages.
//
//   Column<int64_t> starts;
//   if (!starts.Resize(estimate)) return OutOfMemory();
//   starts.data()[i] = ...;
//   starts.Resize(actual);       // gives the rest back
//
// Small columns come from malloc; from kMapBytes on they are mappings of their own, which mremap
// moves by their page tables. Reserved memory that was never written costs nothing. Contents are
// uninitialised. Resize returns false when the system has no memory; the old contents stay.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace strobe::xplane {

class ColumnMemory {
 public:
  // Below this a mapping's page granularity wastes more than malloc.
  static constexpr size_t kMapBytes = 256 * 1024;
  // One huge page. A first write to small pages costs up to as much as decoding what is written.
  // The rest behind the last whole huge page stays in small ones, so nothing unused is held.
  static constexpr size_t kHugePageFromBytes = 2 * 1024 * 1024;

  ColumnMemory() = default;
  ~ColumnMemory() { Free(); }
  ColumnMemory(ColumnMemory&& other) noexcept { *this = std::move(other); }
  ColumnMemory& operator=(ColumnMemory&& other) noexcept;

  [[nodiscard]] bool Resize(size_t bytes);
  void* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }

 private:
  void Free();
  bool Map(size_t bytes);
  bool Remap(size_t bytes);

  void* data_ = nullptr;
  size_t size_bytes_ = 0;
  size_t mapped_bytes_ = 0;  // 0: from malloc
};

template <typename T>
class Column {
 public:
  [[nodiscard]] bool Resize(size_t count) {
    if (!memory_.Resize(count * sizeof(T))) return false;
    count_ = count;
    return true;
  }
  T* data() { return static_cast<T*>(memory_.data()); }
  const T* data() const { return static_cast<const T*>(memory_.data()); }
  size_t size() const { return count_; }
  size_t size_bytes() const { return memory_.size_bytes(); }
  std::span<const T> view() const { return {data(), count_}; }

 private:
  ColumnMemory memory_;
  size_t count_ = 0;
};

}  // namespace strobe::xplane
