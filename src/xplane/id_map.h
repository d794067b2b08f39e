// From a metadata id of the file to a dense index: a flat table for small ids, open addressing for
// the rest.
//
//   IdMap map(expected_count);
//   map.Insert(id, index);
//   const uint32_t index = map.Find(id);   // IdMap::kAbsent when there is none
//
// Cost: one bounded load for ids below 4 x expected_count + 1024 (what profilers write), else a
// hash probe of about 10 ns. Memory: at most 16 B an id for the flat part, 24-48 B for hashed ids.
// The hash is keyed at random per process, so that a file cannot be made to collide. Reading is
// thread-safe once filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strobe::xplane {

class IdMap {
 public:
  static constexpr uint32_t kAbsent = 0xffffffff;

  explicit IdMap(uint64_t expected_count = 0) : flat_limit_(4 * expected_count + 1024) {}

  // Replaces an earlier index of the same id.
  void Insert(int64_t id, uint32_t index);
  uint32_t Find(int64_t id) const {
    // A negative id becomes a large one and misses the flat table.
    const auto key = static_cast<uint64_t>(id);
    return key < flat_.size() ? flat_[key] : FindHashed(key);
  }
  uint64_t heap_bytes() const {
    return flat_.capacity() * sizeof(uint32_t) + slots_.capacity() * sizeof(Slot);
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t index = kAbsent;  // kAbsent: free
  };
  uint32_t FindHashed(uint64_t key) const;
  void InsertHashed(uint64_t key, uint32_t index);
  Slot* SlotOf(uint64_t key);
  void Grow();

  uint64_t flat_limit_;
  std::vector<uint32_t> flat_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t hashed_count_ = 0;
};

}  // namespace strobe::xplane
