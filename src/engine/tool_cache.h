// Answers of tools that were computed once: in memory, least recently used first out, and on disk.
//
//   ToolCache cache({.memory_max_bytes = 256 << 20, .directory = "/var/cache/strobe"}, clock);
//   if (std::shared_ptr<const tools::ToolResult> result = cache.Find(key)) return result;
//   cache.Insert(key, result, ToolCache::Keep::kOnDisk);
//
// A key holds everything the answer depends on (content of the profiles, tool, its version, its
// options), so nothing is ever invalidated: what is out of date is no longer asked for and leaves
// by age. On disk: `results/<hash of the key>.v1.res`, see tools/result_codec.h; several processes
// may share the directory. Anything wrong with the disk is logged and counts as absent. Thread-safe.
// Cost of a hit: a probe under a lock; on disk one read and decoding.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "src/base/clock.h"
#include "src/tools/tool.h"

namespace strobe::engine {

class ToolCache {
 public:
  struct Options {
    uint64_t memory_max_bytes = uint64_t{256} << 20;
    std::string directory;  // made when missing; empty: memory only
    uint64_t disk_max_bytes = uint64_t{2} << 30;
  };
  enum class Keep : uint8_t { kInMemory, kOnDisk };
  // A larger answer is not stored: it costs as much to read as to compute.
  static constexpr uint64_t kMaxStoredBytes = uint64_t{256} << 20;
  // Files of the directory; each is some kilobytes and takes a directory entry.
  static constexpr size_t kMaxFiles = 100'000;

  ToolCache(Options options, const Clock& clock);

  std::shared_ptr<const tools::ToolResult> Find(const std::string& key);
  void Insert(const std::string& key, std::shared_ptr<const tools::ToolResult> result, Keep keep);
  // Forgets what is in memory; what is on disk stays.
  void Clear();
  uint64_t memory_bytes() const;

  struct Stats {
    uint64_t memory_hits = 0;
    uint64_t disk_hits = 0;
    uint64_t misses = 0;
    uint64_t rejected = 0;  // files that were there and not usable
    uint64_t stored = 0;
    uint64_t evicted_files = 0;
  };
  Stats stats() const;
  std::string PathOf(const std::string& key) const;

 private:
  // What an entry takes beside its answer.
  static constexpr uint64_t kEntryBytes = 512;
  struct Entry {
    std::string key;
    std::shared_ptr<const tools::ToolResult> result;
    uint64_t bytes = 0;
  };
  std::shared_ptr<const tools::ToolResult> Remembered(const std::string& key);
  void Remember(const std::string& key, std::shared_ptr<const tools::ToolResult> result);
  std::shared_ptr<const tools::ToolResult> Read(const std::string& key);
  Status Write(const std::string& key, const tools::ToolResult& result);
  void EvictFiles();

  const Options options_;
  const std::string folder_;  // empty: memory only
  const Clock& clock_;
  mutable std::mutex mutex_;  // guards entries_, index_, bytes_
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> index_;
  uint64_t bytes_ = 0;
  std::mutex disk_mutex_;  // one counts and evicts at a time
  bool counted_ = false;   // guarded by disk_mutex_, as the next two
  uint64_t disk_bytes_ = 0;
  size_t disk_files_ = 0;
  std::atomic<uint64_t> memory_hits_ = 0;
  std::atomic<uint64_t> disk_hits_ = 0;
  std::atomic<uint64_t> misses_ = 0;
  std::atomic<uint64_t> rejected_ = 0;
  std::atomic<uint64_t> stored_ = 0;
  std::atomic<uint64_t> evicted_files_ = 0;
};

}  // namespace strobe::engine
