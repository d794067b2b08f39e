// An ObjectStore that tries again: whatever the store behind it gives that is worth another try
// (IsRetryable) is asked again with back-off, within the policy, the budget and the deadline.
//
//   auto store = std::make_shared<RetryingStore>(raw, RetryPolicy(), clock, random,
//   SystemWaiter());
//
// Writes carry a mark of their own, so that one whose answer was lost and that then meets itself
// ("exists already", "changed", "no such upload") is known as done. A read or stat of an object
// that a listing named (`if_version`) is asked again when it says 404 (kListedAttempts): the
// listing may be ahead. Answers that are shorter than they should be count as lost. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/storage/object_store.h"
#include "src/storage/retry.h"

namespace strobe::storage {

class RetryingStore : public ObjectStore {
 public:
  // How often a listed object is looked for before its absence is believed.
  static constexpr int kListedAttempts = 3;

  RetryingStore(std::shared_ptr<ObjectStore> store, const RetryPolicy& policy, const Clock& clock,
                Random& random, Waiter& waiter);

  std::string name() const override { return store_->name(); }
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

  uint64_t retries() const { return retries_.load(); }
  RetryBudget& budget() { return budget_; }

 private:
  // `attempt` is run until it gives OK or something not worth another try.
  Status Run(const CallOptions& call, const std::function<Status()>& attempt,
             int not_found_attempts = 1);
  // OK with the info when the object there is the one that this very write made.
  Result<ObjectInfo> FindOwn(const std::string& key, const std::string& write_id,
                             const CallOptions& call, const Status& otherwise);
  WriteOptions Marked(const WriteOptions& options);

  const std::shared_ptr<ObjectStore> store_;
  const RetryPolicy policy_;
  const Clock& clock_;
  Random& random_;
  Waiter& waiter_;
  RetryBudget budget_;
  std::mutex random_mutex_;  // a seeded source is not thread-safe
  std::atomic<uint64_t> retries_{0};
};

}  // namespace strobe::storage
