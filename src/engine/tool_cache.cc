#include "src/engine/tool_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/storage/atomic_file.h"
#include "src/storage/byte_source.h"
#include "src/tools/result_codec.h"

namespace strobe::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".res";
// Temporaries of a process that died.
constexpr int64_t kStaleTemporaryNs = int64_t{3600} * 1'000'000'000;
// Eviction makes this much room at once, so that it is not needed at every store.
constexpr double kEvictTo = 0.9;

struct StoredFile {
  std::string path;
  uint64_t size_bytes = 0;
  fs::file_time_type used;
};

// Oldest first.
std::vector<StoredFile> FilesOf(const std::string& folder) {
  std::vector<StoredFile> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (!at->path().string().ends_with(kEnding)) continue;
    const uint64_t size_bytes = at->file_size(gone);
    const fs::file_time_type used = at->last_write_time(gone);
    if (!gone) files.push_back({at->path().string(), size_bytes, used});
  }
  std::ranges::sort(files, {}, &StoredFile::used);
  return files;
}

}  // namespace

ToolCache::ToolCache(Options options, const Clock& clock)
    : options_(std::move(options)),
      folder_(options_.directory.empty() ? "" : options_.directory + "/results"),
      clock_(clock) {}

std::string ToolCache::PathOf(const std::string& key) const {
  return folder_ + "/" + Hash128Of(key).ToHex() + ".v" +
         std::to_string(tools::kResultFormatVersion) + std::string(kEnding);
}

std::shared_ptr<const tools::ToolResult> ToolCache::Find(const std::string& key) {
  if (auto result = Remembered(key)) {
    ++memory_hits_;
    return result;
  }
  if (auto result = folder_.empty() ? nullptr : Read(key)) {
    ++disk_hits_;
    Remember(key, result);
    return result;
  }
  ++misses_;
  return nullptr;
}

void ToolCache::Insert(const std::string& key, std::shared_ptr<const tools::ToolResult> result,
                       Keep keep) {
  if (keep == Keep::kOnDisk && !folder_.empty()) {
    if (const Status written = Write(key, *result); !written.ok()) {
      LogWarning("engine.result_not_stored", {{"error", written.ToString()}});
    }
  }
  Remember(key, std::move(result));
}

std::shared_ptr<const tools::ToolResult> ToolCache::Remembered(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->result;
}

void ToolCache::Remember(const std::string& key, std::shared_ptr<const tools::ToolResult> result) {
  const uint64_t bytes = result->ApproximateBytes() + key.size() + kEntryBytes;
  if (bytes > options_.memory_max_bytes / 4) return;
  std::list<Entry> dropped;  // freed after the lock
  const std::lock_guard lock(mutex_);
  if (const auto known = index_.find(key); known != index_.end()) {
    bytes_ -= known->second->bytes;
    dropped.splice(dropped.end(), entries_, known->second);
    index_.erase(known);
  }
  entries_.push_front({key, std::move(result), bytes});
  index_[key] = entries_.begin();
  bytes_ += bytes;
  while (bytes_ > options_.memory_max_bytes) {
    bytes_ -= entries_.back().bytes;
    index_.erase(entries_.back().key);
    dropped.splice(dropped.end(), entries_, std::prev(entries_.end()));
  }
}

void ToolCache::Clear() {
  std::list<Entry> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(entries_);
  index_.clear();
  bytes_ = 0;
}

std::shared_ptr<const tools::ToolResult> ToolCache::Read(const std::string& key) {
  const std::string path = PathOf(key);
  if (access(path.c_str(), R_OK) != 0) return nullptr;
  const auto opened = storage::OpenMappedFile(path);
  if (!opened.ok()) return nullptr;
  if ((*opened)->bytes().size() > kMaxStoredBytes) return nullptr;
  Result<tools::ToolResult> decoded = tools::DecodeResult((*opened)->bytes());
  if (!decoded.ok()) {
    ++rejected_;
    LogWarning("engine.result_ignored", {{"file", path}, {"error", decoded.status().ToString()}});
    return nullptr;
  }
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return std::make_shared<const tools::ToolResult>(std::move(*decoded));
}

Status ToolCache::Write(const std::string& key, const tools::ToolResult& result) {
  if (result.ApproximateBytes() > kMaxStoredBytes) return OkStatus();
  STROBE_ASSIGN_OR_RETURN(const std::string bytes, tools::EncodeResult(result));
  if (bytes.size() > kMaxStoredBytes || bytes.size() > options_.disk_max_bytes / 4) {
    return OkStatus();
  }
  STROBE_RETURN_IF_ERROR(storage::MakeDirectories(folder_));
  STROBE_RETURN_IF_ERROR(storage::WriteFileAtomically(
      PathOf(key), bytes, {.permissions = 0600, .replace = true, .durable = false}));
  ++stored_;
  const std::lock_guard lock(disk_mutex_);
  disk_bytes_ += bytes.size();
  ++disk_files_;
  const bool full = disk_bytes_ > options_.disk_max_bytes || disk_files_ > kMaxFiles;
  if (!counted_ || full) EvictFiles();
  return OkStatus();
}

void ToolCache::EvictFiles() {
  const std::vector<StoredFile> files = FilesOf(folder_);
  disk_bytes_ = 0;
  disk_files_ = files.size();
  for (const StoredFile& file : files) disk_bytes_ += file.size_bytes;
  counted_ = true;
  if (disk_bytes_ > options_.disk_max_bytes || disk_files_ > kMaxFiles) {
    const auto bytes_left =
        static_cast<uint64_t>(static_cast<double>(options_.disk_max_bytes) * kEvictTo);
    const auto files_left = static_cast<size_t>(static_cast<double>(kMaxFiles) * kEvictTo);
    for (const StoredFile& file : files) {
      if (disk_bytes_ <= bytes_left && disk_files_ <= files_left) break;
      if (unlink(file.path.c_str()) != 0) continue;
      disk_bytes_ -= file.size_bytes;
      --disk_files_;
      ++evicted_files_;
    }
  }
  storage::RemoveStaleTemporaries(folder_, clock_.NowUnixNanos(), kStaleTemporaryNs);
}

uint64_t ToolCache::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

ToolCache::Stats ToolCache::stats() const {
  return {.memory_hits = memory_hits_,
          .disk_hits = disk_hits_,
          .misses = misses_,
          .rejected = rejected_,
          .stored = stored_,
          .evicted_files = evicted_files_};
}

}  // namespace strobe::engine
