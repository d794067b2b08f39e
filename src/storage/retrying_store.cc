#include "src/storage/retrying_store.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "src/base/hash.h"
#include "src/base/log.h"

namespace strobe::storage {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr int64_t kLookNs = 20 * kNanosPerMilli;

class RealWaiter : public Waiter {
 public:
  Status Wait(int64_t wait_ns, const CancelToken& cancel) override {
    while (wait_ns > 0) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      const int64_t step = std::min(wait_ns, kLookNs);
      std::this_thread::sleep_for(std::chrono::nanoseconds(step));
      wait_ns -= step;
    }
    return cancel.Check();
  }
};

// What a write that went through without our knowing meets when it is sent again.
bool MayBeOwn(const Status& status) {
  const std::string_view name = status.name();
  return name == "OBJECT_EXISTS" || name == "OBJECT_CHANGED" || name == "OBJECT_NOT_FOUND";
}

}  // namespace

Waiter& SystemWaiter() {
  static RealWaiter waiter;
  return waiter;
}

Backoff::Backoff(const RetryPolicy& policy, Random& random, const Clock& clock, int64_t timeout_ms)
    : policy_(policy),
      random_(random),
      clock_(clock),
      deadline_ns_(clock.MonotonicNanos() +
                   (timeout_ms > 0 ? timeout_ms : policy.total_timeout_ms) * kNanosPerMilli) {}

bool Backoff::Next(RetryBudget& budget, int64_t* wait_ns) {
  if (attempts_ >= policy_.max_attempts) return false;
  const int64_t widest_ms =
      std::min(policy_.max_wait_ms, policy_.base_wait_ms << std::min(attempts_ - 1, 20));
  const auto widest_ns = static_cast<uint64_t>(std::max<int64_t>(widest_ms, 1) * kNanosPerMilli);
  *wait_ns = static_cast<int64_t>(random_.Next() % widest_ns);
  if (clock_.MonotonicNanos() + *wait_ns >= deadline_ns_) return false;
  if (!budget.Take()) return false;
  ++attempts_;
  return true;
}

RetryingStore::RetryingStore(std::shared_ptr<ObjectStore> store, const RetryPolicy& policy,
                             const Clock& clock, Random& random, Waiter& waiter)
    : store_(std::move(store)), policy_(policy), clock_(clock), random_(random), waiter_(waiter) {}

Status RetryingStore::Run(const CallOptions& call, const std::function<Status()>& attempt,
                          int not_found_attempts) {
  Backoff backoff(policy_, random_, clock_, call.timeout_ms);
  while (true) {
    STROBE_RETURN_IF_ERROR(call.cancel.Check());
    Status status = attempt();
    if (status.ok()) {
      budget_.GiveBack();
      return status;
    }
    const bool not_yet_there =
        status.name() == "OBJECT_NOT_FOUND" && backoff.attempts() < not_found_attempts;
    if (!IsRetryable(status) && !not_yet_there) return status;
    int64_t wait_ns = 0;
    {
      std::lock_guard lock(random_mutex_);
      if (!backoff.Next(budget_, &wait_ns)) {
        if (backoff.attempts() == 1) return status;
        return Status(status.code(), status.name(),
                      std::string(status.message()) + " (" + std::to_string(backoff.attempts()) +
                          " attempts)")
            .Where(std::string(status.where()))
            .Hint(std::string(status.hint()));
      }
    }
    ++retries_;
    LogDebug("store.retry", {{"store", store_->name()}, {"reason", status.ToString()}});
    STROBE_RETURN_IF_ERROR(waiter_.Wait(wait_ns, call.cancel));
  }
}

WriteOptions RetryingStore::Marked(const WriteOptions& options) {
  WriteOptions marked = options;
  if (marked.write_id.empty()) {
    std::lock_guard lock(random_mutex_);
    marked.write_id = ToHex64(random_.Next()) + ToHex64(random_.Next());
  }
  return marked;
}

Result<ListPage> RetryingStore::List(const ListQuery& query, const CallOptions& call) {
  ListPage page;
  STROBE_RETURN_IF_ERROR(Run(call, [&]() -> Status {
    STROBE_ASSIGN_OR_RETURN(page, store_->List(query, call));
    return OkStatus();
  }));
  return page;
}

Result<ObjectInfo> RetryingStore::Stat(const std::string& key, const CallOptions& call) {
  ObjectInfo info;
  STROBE_RETURN_IF_ERROR(Run(call, [&]() -> Status {
    STROBE_ASSIGN_OR_RETURN(info, store_->Stat(key, call));
    return OkStatus();
  }));
  return info;
}

Result<ReadAnswer> RetryingStore::Read(const std::string& key, const ReadQuery& query,
                                       const CallOptions& call) {
  ReadAnswer answer;
  const auto attempt = [&]() -> Status {
    STROBE_ASSIGN_OR_RETURN(answer, store_->Read(key, query, call));
    const uint64_t there = answer.info.size_bytes - std::min(query.offset, answer.info.size_bytes);
    const uint64_t expected = std::min({query.length, there, kMaxReadBytes});
    if (answer.bytes.size() == expected) return OkStatus();
    return DataLossError("OBJECT_BODY_SHORT", "The answer has " +
                                                  std::to_string(answer.bytes.size()) + " of " +
                                                  std::to_string(expected) + " bytes.")
        .Where(store_->name() + "/" + key)
        .Hint("The connection was cut; try again.");
  };
  STROBE_RETURN_IF_ERROR(Run(call, attempt, query.if_version.empty() ? 1 : kListedAttempts));
  return answer;
}

Result<ObjectInfo> RetryingStore::FindOwn(const std::string& key, const std::string& write_id,
                                          const CallOptions& call, const Status& otherwise) {
  ObjectInfo there;
  // After "it exists" an absence is believed no sooner than after a listing.
  const bool said_there = otherwise.name() == "OBJECT_EXISTS";
  const Status looked = Run(
      call,
      [&]() -> Status {
        STROBE_ASSIGN_OR_RETURN(there, store_->Stat(key, call));
        return OkStatus();
      },
      said_there ? kListedAttempts : 1);
  if (looked.ok()) return there.write_id == write_id ? Result<ObjectInfo>(there) : otherwise;
  // Whose it is stays unknown: that is not to be told as another's.
  return said_there ? looked : otherwise;
}

Result<ObjectInfo> RetryingStore::Put(const std::string& key, std::string_view bytes,
                                      const WriteOptions& options, const CallOptions& call) {
  const WriteOptions marked = Marked(options);
  ObjectInfo info;
  const Status status = Run(call, [&]() -> Status {
    STROBE_ASSIGN_OR_RETURN(info, store_->Put(key, bytes, marked, call));
    return OkStatus();
  });
  if (status.ok()) return info;
  // What was answered with 503 or not at all may have been done.
  if (MayBeOwn(status) || IsRetryable(status)) return FindOwn(key, marked.write_id, call, status);
  return status;
}

Status RetryingStore::Delete(const std::string& key, const CallOptions& call) {
  const Status status = Run(call, [&] { return store_->Delete(key, call); });
  return status.name() == "OBJECT_NOT_FOUND" ? OkStatus() : status;
}

Result<Upload> RetryingStore::StartUpload(const std::string& key, const WriteOptions& options,
                                          const CallOptions& call) {
  const WriteOptions marked = Marked(options);
  Upload upload;
  STROBE_RETURN_IF_ERROR(Run(call, [&]() -> Status {
    STROBE_ASSIGN_OR_RETURN(upload, store_->StartUpload(key, marked, call));
    return OkStatus();
  }));
  return upload;
}

Status RetryingStore::SendPart(Upload* upload, std::string_view bytes, const CallOptions& call) {
  return Run(call, [&] { return store_->SendPart(upload, bytes, call); });
}

Result<ObjectInfo> RetryingStore::FinishUpload(const Upload& upload, std::string_view last_bytes,
                                               const CallOptions& call) {
  ObjectInfo info;
  const Status status = Run(call, [&]() -> Status {
    STROBE_ASSIGN_OR_RETURN(info, store_->FinishUpload(upload, last_bytes, call));
    return OkStatus();
  });
  if (status.ok()) return info;
  if (MayBeOwn(status) || IsRetryable(status)) {
    return FindOwn(upload.key, upload.options.write_id, call, status);
  }
  return status;
}

Status RetryingStore::AbortUpload(const Upload& upload, const CallOptions& call) {
  const Status status = Run(call, [&] { return store_->AbortUpload(upload, call); });
  return status.name() == "OBJECT_NOT_FOUND" ? OkStatus() : status;
}

}  // namespace strobe::storage
