// Encoded tiles, least recently used first out, within a number of bytes.
//
//   TileCache cache(256 << 20);
//   if (auto tile = cache.Find(key)) return tile;
//   cache.Insert(key, tile);
//
// Keys hold the session's version, so nothing is ever invalidated: what is out of date is no longer
// asked for and leaves by age. Thread-safe. Cost: a hash probe under a lock. Larger tiles than
// a quarter of the cache are not kept.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace strobe::engine {

class TileCache {
 public:
  explicit TileCache(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  std::shared_ptr<const std::string> Find(const std::string& key);
  void Insert(const std::string& key, std::shared_ptr<const std::string> tile);
  uint64_t bytes() const;

 private:
  // What an entry takes beside its bytes.
  static constexpr uint64_t kEntryBytes = 256;
  struct Entry {
    std::string key;
    std::shared_ptr<const std::string> tile;
  };
  const uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> index_;
  uint64_t bytes_ = 0;
};

}  // namespace strobe::engine
