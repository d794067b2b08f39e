#include "src/engine/tile_cache.h"

namespace strobe::engine {

std::shared_ptr<const std::string> TileCache::Find(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->tile;
}

void TileCache::Insert(const std::string& key, std::shared_ptr<const std::string> tile) {
  const uint64_t size = tile->size() + kEntryBytes;
  if (size > max_bytes_ / 4) return;
  std::lock_guard lock(mutex_);
  if (index_.contains(key)) return;
  entries_.push_front({key, std::move(tile)});
  index_[key] = entries_.begin();
  bytes_ += size;
  while (bytes_ > max_bytes_) {
    const Entry& oldest = entries_.back();
    bytes_ -= oldest.tile->size() + kEntryBytes;
    index_.erase(oldest.key);
    entries_.pop_back();
  }
}

uint64_t TileCache::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace strobe::engine
