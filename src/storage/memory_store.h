// An ObjectStore in memory, for tests and as the model that others are compared with.
//
//   MemoryStore store(clock);
//
// Checksums, versions, conditions and uploads in parts as the real ones. Thread-safe. Limit:
// memory.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "src/base/clock.h"
#include "src/storage/object_store.h"

namespace strobe::storage {

class MemoryStore : public ObjectStore {
 public:
  explicit MemoryStore(const Clock& clock, std::string name = "memory://test")
      : clock_(clock), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  Result<ListPage> List(const ListQuery& query, const CallOptions& call) override;
  Result<ObjectInfo> Stat(const std::string& key, const CallOptions& call) override;
  Result<ReadAnswer> Read(const std::string& key, const ReadQuery& query,
                          const CallOptions& call) override;
  Result<ObjectInfo> Put(const std::string& key, std::string_view bytes,
                         const WriteOptions& options, const CallOptions& call) override;
  Status Delete(const std::string& key, const CallOptions& call) override;
  Result<Upload> StartUpload(const std::string& key, const WriteOptions& options,
                             const CallOptions& call) override;
  Status SendPart(Upload* upload, std::string_view bytes, const CallOptions& call) override;
  Result<ObjectInfo> FinishUpload(const Upload& upload, std::string_view last_bytes,
                                  const CallOptions& call) override;
  Status AbortUpload(const Upload& upload, const CallOptions& call) override;

  size_t open_uploads() const;

 private:
  struct Object {
    ObjectInfo info;
    std::string bytes;
  };
  std::string Where(const std::string& key) const { return name_ + "/" + key; }

  const Clock& clock_;
  const std::string name_;
  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::map<std::string, std::map<size_t, std::string>> uploads_;  // id -> part -> bytes
  uint64_t last_version_ = 0;
};

// One page of sorted objects: what the stores that list by themselves share.
class PageMaker {
 public:
  explicit PageMaker(const ListQuery& query);
  // The first key that may be taken: the walk begins there.
  const std::string& first() const { return first_; }
  // False when the page is full.
  bool Take(const ObjectInfo& object);
  // Where the walk may go on behind a common prefix; empty: at the next key.
  const std::string& skip_to() const { return skip_to_; }
  ListPage Finish() && { return std::move(page_); }

 private:
  const ListQuery query_;
  const uint32_t limit_;
  std::string first_;
  std::string skip_to_;
  ListPage page_;
};

}  // namespace strobe::storage
