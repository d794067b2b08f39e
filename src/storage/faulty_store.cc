#include "src/storage/faulty_store.h"

#include <vector>

namespace strobe::storage {
namespace {

constexpr int64_t kNanosPerMilli = 1'000'000;
constexpr uint32_t kMille = 1000;

// Whom a kind of fault can meet: reads, listings, writes.
uint32_t UsesOf(Fault fault) {
  constexpr uint32_t kReads = 1;
  constexpr uint32_t kLists = 2;
  constexpr uint32_t kWrites = 4;
  switch (fault) {
    case Fault::kShortBody:
    case Fault::kCorruptBody:
    case Fault::kNotFoundAfterList:
      return kReads;
    case Fault::kStaleVersion:
      return kLists;
    case Fault::kDuplicateDelivery:
      return kWrites;
    default:
      return kReads | kLists | kWrites;
  }
}

Status Lost(std::string_view name, StatusCode code, const std::string& where) {
  return Status(code, name, "The store's answer was lost on purpose.").Where(where);
}

}  // namespace

std::string_view FaultName(Fault fault) {
  constexpr std::array<std::string_view, kFaultKinds> kNames = {
      "busy",           "throttled",          "timeout",      "reset",
      "slow",           "short body",         "corrupt body", "stale version",
      "404 after list", "duplicate delivery", "clock skew",   "credential expiry"};
  return kNames[static_cast<size_t>(fault)];
}

FaultyStore::Draw FaultyStore::Next(Use use, const CallOptions& call) {
  Draw draw;
  {
    std::lock_guard lock(mutex_);
    const bool faulty = random_.Next() % kMille < options_.per_mille;
    const uint64_t pick = random_.Next();
    draw.value = random_.Next();
    std::vector<Fault> fitting;
    for (size_t i = 0; i < kFaultKinds; ++i) {
      const auto fault = static_cast<Fault>(i);
      if ((options_.kinds >> i & 1U) != 0 && (UsesOf(fault) & use) != 0) fitting.push_back(fault);
    }
    if (!faulty || fitting.empty()) return draw;
    draw.faulty = true;
    draw.fault = fitting[pick % fitting.size()];
    ++counts_[static_cast<size_t>(draw.fault)];
  }
  if (draw.Is(Fault::kSlow)) (void)waiter_.Wait(options_.slow_ms * kNanosPerMilli, call.cancel);
  return draw;
}

Status FaultyStore::Before(const Draw& draw, const std::string& where) const {
  if (draw.Is(Fault::kBusy)) {
    return Lost("OBJECT_STORE_BUSY", StatusCode::kUnavailable, where);
  }
  if (draw.Is(Fault::kThrottled)) {
    return Lost("OBJECT_STORE_THROTTLED", StatusCode::kResourceExhausted, where);
  }
  if (draw.Is(Fault::kClockSkew)) {
    return Lost("CLOCK_SKEWED", StatusCode::kUnauthenticated, where);
  }
  if (draw.Is(Fault::kCredentialExpiry)) {
    return Lost("CREDENTIALS_EXPIRED", StatusCode::kUnauthenticated, where);
  }
  return draw.after() ? OkStatus() : After(draw, where);
}

Status FaultyStore::After(const Draw& draw, const std::string& where) const {
  if (draw.Is(Fault::kTimeout)) {
    return Lost("OBJECT_STORE_TIMEOUT", StatusCode::kDeadlineExceeded, where);
  }
  if (draw.Is(Fault::kReset)) {
    return Lost("OBJECT_STORE_UNREACHABLE", StatusCode::kUnavailable, where);
  }
  return OkStatus();
}

void FaultyStore::MakeStale(const Draw& draw, ObjectInfo* info) const {
  if (draw.Is(Fault::kStaleVersion)) info->version = "stale-" + info->version;
}

Result<ListPage> FaultyStore::List(const ListQuery& query, const CallOptions& call) {
  const Draw draw = Next(kList, call);
  STROBE_RETURN_IF_ERROR(Before(draw, name()));
  STROBE_ASSIGN_OR_RETURN(ListPage page, store_->List(query, call));
  STROBE_RETURN_IF_ERROR(After(draw, name()));
  if (!page.objects.empty()) MakeStale(draw, &page.objects[draw.value % page.objects.size()]);
  return page;
}

Result<ObjectInfo> FaultyStore::Stat(const std::string& key, const CallOptions& call) {
  const Draw draw = Next(static_cast<Use>(kList | kRead), call);
  STROBE_RETURN_IF_ERROR(Before(draw, name() + "/" + key));
  if (draw.Is(Fault::kNotFoundAfterList)) return ObjectNotFound(name() + "/" + key);
  STROBE_ASSIGN_OR_RETURN(ObjectInfo info, store_->Stat(key, call));
  STROBE_RETURN_IF_ERROR(After(draw, name() + "/" + key));
  MakeStale(draw, &info);
  return info;
}

Result<ReadAnswer> FaultyStore::Read(const std::string& key, const ReadQuery& query,
                                     const CallOptions& call) {
  const Draw draw = Next(kRead, call);
  STROBE_RETURN_IF_ERROR(Before(draw, name() + "/" + key));
  if (draw.Is(Fault::kNotFoundAfterList)) return ObjectNotFound(name() + "/" + key);
  STROBE_ASSIGN_OR_RETURN(ReadAnswer answer, store_->Read(key, query, call));
  STROBE_RETURN_IF_ERROR(After(draw, name() + "/" + key));
  std::string& bytes = answer.bytes;
  if (draw.Is(Fault::kShortBody)) bytes.resize(bytes.empty() ? 0 : draw.value % bytes.size());
  if (draw.Is(Fault::kCorruptBody) && !bytes.empty()) {
    bytes[draw.value % bytes.size()] = static_cast<char>(bytes[draw.value % bytes.size()] ^ 0x40);
  }
  return answer;
}

Result<ObjectInfo> FaultyStore::Put(const std::string& key, std::string_view bytes,
                                    const WriteOptions& options, const CallOptions& call) {
  const Draw draw = Next(kWrite, call);
  STROBE_RETURN_IF_ERROR(Before(draw, name() + "/" + key));
  if (draw.Is(Fault::kDuplicateDelivery)) (void)store_->Put(key, bytes, options, call);
  Result<ObjectInfo> info = store_->Put(key, bytes, options, call);
  STROBE_RETURN_IF_ERROR(After(draw, name() + "/" + key));
  return info;
}

Status FaultyStore::Delete(const std::string& key, const CallOptions& call) {
  const Draw draw = Next(kWrite, call);
  STROBE_RETURN_IF_ERROR(Before(draw, name() + "/" + key));
  if (draw.Is(Fault::kDuplicateDelivery)) (void)store_->Delete(key, call);
  const Status status = store_->Delete(key, call);
  STROBE_RETURN_IF_ERROR(After(draw, name() + "/" + key));
  return status;
}

Result<Upload> FaultyStore::StartUpload(const std::string& key, const WriteOptions& options,
                                        const CallOptions& call) {
  const Draw draw = Next(kWrite, call);
  STROBE_RETURN_IF_ERROR(Before(draw, name() + "/" + key));
  Result<Upload> upload = store_->StartUpload(key, options, call);
  const Status after = After(draw, name() + "/" + key);
  if (!after.ok() && upload.ok()) (void)store_->AbortUpload(*upload, call);
  STROBE_RETURN_IF_ERROR(after);
  return upload;
}

Status FaultyStore::SendPart(Upload* upload, std::string_view bytes, const CallOptions& call) {
  const Draw draw = Next(kWrite, call);
  const std::string where = name() + "/" + upload->key;
  STROBE_RETURN_IF_ERROR(Before(draw, where));
  Upload lost = *upload;
  if (draw.Is(Fault::kDuplicateDelivery)) (void)store_->SendPart(&lost, bytes, call);
  const Status after = After(draw, where);
  if (!after.ok()) {
    (void)store_->SendPart(&lost, bytes, call);
    return after;
  }
  return store_->SendPart(upload, bytes, call);
}

Result<ObjectInfo> FaultyStore::FinishUpload(const Upload& upload, std::string_view last_bytes,
                                             const CallOptions& call) {
  const Draw draw = Next(kWrite, call);
  const std::string where = name() + "/" + upload.key;
  STROBE_RETURN_IF_ERROR(Before(draw, where));
  if (draw.Is(Fault::kDuplicateDelivery)) (void)store_->FinishUpload(upload, last_bytes, call);
  Result<ObjectInfo> info = store_->FinishUpload(upload, last_bytes, call);
  STROBE_RETURN_IF_ERROR(After(draw, where));
  return info;
}

Status FaultyStore::AbortUpload(const Upload& upload, const CallOptions& call) {
  const Draw draw = Next(kWrite, call);
  STROBE_RETURN_IF_ERROR(Before(draw, name() + "/" + upload.key));
  const Status status = store_->AbortUpload(upload, call);
  STROBE_RETURN_IF_ERROR(After(draw, name() + "/" + upload.key));
  return status;
}

std::array<uint64_t, kFaultKinds> FaultyStore::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace strobe::storage
