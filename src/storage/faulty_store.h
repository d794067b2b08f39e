// An ObjectStore that fails in twelve ways, as drawn from a seed: for tests of what stands on it.
//
//   FaultyStore store(std::make_shared<MemoryStore>(clock), {.seed = 7, .per_mille = 200}, waiter);
//
// The same seed and the same calls give the same faults. Thread-safe (then the order of calls
// counts). `counts()` tells how often each kind was given, so that a test can say that none was
// left out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "src/base/ids.h"
#include "src/storage/object_store.h"
#include "src/storage/retry.h"

namespace strobe::storage {

enum class Fault : uint8_t {
  kBusy,               // 503
  kThrottled,          // 429
  kTimeout,            // before or after the work was done
  kReset,              // likewise
  kSlow,               // late
  kShortBody,          // fewer bytes than announced
  kCorruptBody,        // one byte is another
  kStaleVersion,       // a listing or stat that is behind
  kNotFoundAfterList,  // not there yet, for this reader
  kDuplicateDelivery,  // a write arrives twice, and the second answer is seen
  kClockSkew,          // refused for the time of the request
  kCredentialExpiry,   // refused for the age of the credentials
};
inline constexpr size_t kFaultKinds = 12;
std::string_view FaultName(Fault fault);

struct FaultyOptions {
  uint64_t seed = 1;
  uint32_t per_mille = 200;                  // how many calls of a thousand fail
  uint32_t kinds = (1U << kFaultKinds) - 1;  // bit i: Fault i
  int64_t slow_ms = 5000;
};

class FaultyStore : public ObjectStore {
 public:
  FaultyStore(std::shared_ptr<ObjectStore> store, const FaultyOptions& options, Waiter& waiter)
      : store_(std::move(store)), options_(options), random_(options.seed), waiter_(waiter) {}

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

  std::array<uint64_t, kFaultKinds> counts() const;
  void set_per_mille(uint32_t per_mille) { options_.per_mille = per_mille; }

 private:
  // What happens to a call: drawn once for each.
  struct Draw {
    bool faulty = false;
    Fault fault = Fault::kBusy;
    uint64_t value = 0;  // for what else is left to chance
    bool Is(Fault kind) const { return faulty && fault == kind; }
    bool after() const { return (value & 1) != 0; }
  };
  enum Use : uint8_t { kRead = 1, kList = 2, kWrite = 4, kAll = 7 };
  Draw Next(Use use, const CallOptions& call);
  // The faults that refuse a call before anything is done.
  Status Before(const Draw& draw, const std::string& where) const;
  Status After(const Draw& draw, const std::string& where) const;
  void MakeStale(const Draw& draw, ObjectInfo* info) const;

  const std::shared_ptr<ObjectStore> store_;
  FaultyOptions options_;
  mutable std::mutex mutex_;
  SeededRandom random_;
  Waiter& waiter_;
  std::array<uint64_t, kFaultKinds> counts_{};
};

}  // namespace strobe::storage
