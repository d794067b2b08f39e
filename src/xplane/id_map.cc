#include "src/xplane/id_map.h"

#include <algorithm>

#include "src/base/ids.h"

namespace strobe::xplane {

namespace {

uint64_t HashKey(uint64_t key) {
  static const uint64_t kSecret = SystemRandom().Next();
  const auto product = static_cast<unsigned __int128>(key ^ kSecret) * 0x9e3779b97f4a7c15ULL;
  const uint64_t mixed = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  return mixed ^ (mixed >> 32);
}

}  // namespace

void IdMap::Insert(int64_t id, uint32_t index) {
  const auto key = static_cast<uint64_t>(id);
  if (key >= flat_limit_) {
    InsertHashed(key, index);
    return;
  }
  if (key >= flat_.size()) {
    if (key >= flat_.capacity()) {
      flat_.reserve(std::min<uint64_t>(flat_limit_, std::max<uint64_t>(key + 1, 2 * flat_.size())));
    }
    flat_.resize(key + 1, kAbsent);
  }
  flat_[key] = index;
}

IdMap::Slot* IdMap::SlotOf(uint64_t key) {
  const size_t mask = slots_.size() - 1;
  for (size_t at = HashKey(key) & mask;; at = (at + 1) & mask) {
    if (slots_[at].index == kAbsent || slots_[at].key == key) return &slots_[at];
  }
}

void IdMap::InsertHashed(uint64_t key, uint32_t index) {
  if (2 * (hashed_count_ + 1) > slots_.size()) Grow();
  Slot* slot = SlotOf(key);
  if (slot->index == kAbsent) ++hashed_count_;
  *slot = {key, index};
}

void IdMap::Grow() {
  std::vector<Slot> old(std::max<size_t>(16, 2 * slots_.size()));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.index != kAbsent) *SlotOf(slot.key) = slot;
  }
}

uint32_t IdMap::FindHashed(uint64_t key) const {
  if (slots_.empty()) return kAbsent;
  const size_t mask = slots_.size() - 1;
  for (size_t at = HashKey(key) & mask; slots_[at].index != kAbsent; at = (at + 1) & mask) {
    if (slots_[at].key == key) return slots_[at].index;
  }
  return kAbsent;
}

}  // namespace strobe::xplane
