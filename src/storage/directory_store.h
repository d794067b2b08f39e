// A directory as an ObjectStore: keys are paths below it.
//
//   DirectoryStore store("/srv/profiles");
//
// Writing is by temporary file and rename; `version` is made of size, times and inode. Links to
// files and directories are followed in reading, never out of the directory in writing; names that
// begin with ".strobe-tmp-" are not listed. "Written if absent" holds among all processes; "written
// if this version" only among the threads of one. A listing walks in the order of keys and reads
// each directory whole (at most kMaxEntries). No checksums. Thread-safe.
#pragma once

#include <mutex>
#include <string>

#include "src/storage/object_store.h"

namespace strobe::storage {

class DirectoryStore : public ObjectStore {
 public:
  // Of one directory; beyond it the listing fails (OBJECT_STORE_FAILED).
  static constexpr size_t kMaxEntries = 1'000'000;

  explicit DirectoryStore(std::string directory);

  std::string name() const override { return directory_; }
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

 private:
  Result<std::string> PathOf(const std::string& key) const;
  Status CheckCondition(const std::string& key, const Condition& condition);

  const std::string directory_;
  std::mutex write_mutex_;
};

}  // namespace strobe::storage
