// Objects by key: the one face of a directory, an S3 or GCS bucket, and the stores of tests.
//
//   STROBE_ASSIGN_OR_RETURN(Place place, OpenPlace("s3://profiles/team-a", context));   // place.h
//   STROBE_ASSIGN_OR_RETURN(ListPage page, place.store->List({.prefix = place.prefix}, {}));
//   STROBE_ASSIGN_OR_RETURN(ReadAnswer part, place.store->Read(page.objects[0].key,
//       {.offset = 0, .length = 4096, .if_version = page.objects[0].version}, {}));
//   ObjectWriter writer(*place.store, "run/host.xplane.pb", {.condition = Condition::Absent()});
//   STROBE_RETURN_IF_ERROR(writer.Append(bytes));
//   STROBE_ASSIGN_OR_RETURN(ObjectInfo written, writer.Commit());
//
// An object is there whole or not at all, and never changes without changing its `version` (S3's
// ETag, GCS's generation). A read with `if_version` gives bytes of that version or OBJECT_CHANGED.
// Listing is by pages, each object once, in the order of keys (some servers: folder by folder). All
// calls block, are thread-safe and can be cancelled. Cost: one request a call (a store behind
// RetryingStore: more when it fails). Limits: the constants.
//
// Errors: OBJECT_NOT_FOUND, OBJECT_EXISTS (written only if absent), OBJECT_CHANGED (another
// version), OBJECT_KEY_INVALID, OBJECT_RANGE, OBJECT_ACCESS_DENIED, BUCKET_NOT_FOUND,
// CREDENTIALS_MISSING, CREDENTIALS_REJECTED, CREDENTIALS_EXPIRED, CLOCK_SKEWED, OBJECT_STORE_BUSY,
// OBJECT_STORE_THROTTLED, OBJECT_STORE_TIMEOUT, OBJECT_STORE_UNREACHABLE, OBJECT_BODY_SHORT,
// OBJECT_CORRUPT, OBJECT_ANSWER_MALFORMED, OBJECT_STORE_FAILED, CANCELLED. None ever holds a
// secret.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::storage {

// S3's and GCS's own limit.
inline constexpr size_t kMaxKeyBytes = 1024;
// What S3 gives at most; GCS would give 5,000 by other means.
inline constexpr uint32_t kMaxPageKeys = 1000;
// One read is held in memory; larger ones are made of several.
inline constexpr uint64_t kMaxReadBytes = uint64_t{64} << 20;
// A multiple of 256 KiB (GCS) and above 5 MiB (S3).
inline constexpr uint64_t kUploadPartBytes = uint64_t{8} << 20;
// S3 takes 10,000 parts; beyond the first thousand they grow, so that 5 TB fit.
inline constexpr uint32_t kMaxUploadParts = 10'000;

struct ObjectInfo {
  std::string key;
  uint64_t size_bytes = 0;
  int64_t modified_unix_ns = 0;
  std::string version;             // changes whenever the content does; opaque
  std::string md5_hex;             // empty: the store does not say
  std::optional<uint32_t> crc32c;  // likewise
  std::string write_id;            // of the write that made it; only Stat tells it
};

struct ListQuery {
  std::string prefix = {};
  std::string start_after = {};  // keys behind this one
  std::string page_token = {};   // of the page before
  std::string delimiter = {};    // "" or "/": keys with it behind the prefix are put together
  uint32_t max_keys = kMaxPageKeys;
};

struct ListPage {
  std::vector<ObjectInfo> objects;
  std::vector<std::string> prefixes;  // with a delimiter
  std::string next_page_token;        // empty: that was all
};

struct ReadQuery {
  uint64_t offset = 0;
  uint64_t length = kMaxReadBytes;  // cut at the end of the object
  std::string if_version = {};      // empty: whatever is there
};

struct ReadAnswer {
  std::string bytes;
  ObjectInfo info;  // size_bytes of the whole object
};

struct Condition {
  enum class Kind : uint8_t { kNone, kAbsent, kVersion };
  Kind kind = Kind::kNone;
  std::string version;
  static Condition None() { return {}; }
  static Condition Absent() { return {.kind = Kind::kAbsent, .version = {}}; }
  static Condition Version(std::string version) {
    return {.kind = Kind::kVersion, .version = std::move(version)};
  }
};

struct WriteOptions {
  Condition condition = {};
  std::string content_type = "application/octet-stream";
  // Told by Stat afterwards, so that a writer whose answer was lost knows its own object again.
  // Letters, digits and "-"; empty: none.
  std::string write_id = {};
};

struct CallOptions {
  CancelToken cancel = {};
  // For the whole call, retries included; 0: the store's own.
  int64_t timeout_ms = 0;
};

// An upload in parts that goes on.
struct Upload {
  std::string key;
  std::string id;  // the store's
  WriteOptions options;
  std::vector<std::string> part_tags;
  uint64_t sent_bytes = 0;
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // "s3://bucket", for people.
  virtual std::string name() const = 0;

  virtual Result<ListPage> List(const ListQuery& query, const CallOptions& call) = 0;
  virtual Result<ObjectInfo> Stat(const std::string& key, const CallOptions& call) = 0;
  virtual Result<ReadAnswer> Read(const std::string& key, const ReadQuery& query,
                                  const CallOptions& call) = 0;
  virtual Result<ObjectInfo> Put(const std::string& key, std::string_view bytes,
                                 const WriteOptions& options, const CallOptions& call) = 0;
  // Deleting what is not there is no error.
  virtual Status Delete(const std::string& key, const CallOptions& call) = 0;

  // Writing in parts; ObjectWriter does it. Every part but the last has a multiple of 256 KiB and
  // at least 5 MiB. `SendPart` adds to part_tags and sent_bytes only when it succeeds.
  virtual Result<Upload> StartUpload(const std::string& key, const WriteOptions& options,
                                     const CallOptions& call) = 0;
  virtual Status SendPart(Upload* upload, std::string_view bytes, const CallOptions& call) = 0;
  virtual Result<ObjectInfo> FinishUpload(const Upload& upload, std::string_view last_bytes,
                                          const CallOptions& call) = 0;
  virtual Status AbortUpload(const Upload& upload, const CallOptions& call) = 0;
};

// Writes one object of any size with bounded memory (a part). Not thread-safe.
class ObjectWriter {
 public:
  ObjectWriter(ObjectStore& store, std::string key, WriteOptions options, CallOptions call = {});
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;
  ~ObjectWriter();  // without Commit nothing is left behind

  Status Append(std::string_view bytes);
  Result<ObjectInfo> Commit();
  uint64_t size_bytes() const { return sent_bytes_ + buffer_.size(); }

 private:
  uint64_t PartBytes() const;
  Status SendBuffer();

  ObjectStore& store_;
  const std::string key_;
  const WriteOptions options_;
  const CallOptions call_;
  std::string buffer_;
  uint64_t sent_bytes_ = 0;
  std::optional<Upload> upload_;
  bool done_ = false;
};

// All of an object, compared with the store's checksum where it gives one (OBJECT_CORRUPT).
// OBJECT_RANGE when it is larger than `max_bytes`.
Result<ReadAnswer> ReadWhole(ObjectStore& store, const std::string& key, uint64_t max_bytes,
                             const CallOptions& call);
// Every object below a prefix, page by page; `take` returning false ends it.
Status ForEachObject(ObjectStore& store, const std::string& prefix, const CallOptions& call,
                     const std::function<bool(const ObjectInfo&)>& take);

// OBJECT_KEY_INVALID: empty, too long, control characters, not UTF-8.
Status CheckKey(std::string_view key);
// Worth another try: busy, throttled, lost, cut short, expired.
bool IsRetryable(const Status& status);

// The named errors that several stores give. `where` is "s3://bucket/key".
Status ObjectNotFound(std::string where);
Status ObjectExists(std::string where);
Status ObjectChanged(std::string where);
Status ObjectCorrupt(std::string where);
// OBJECT_RANGE when the query begins behind the end.
Status CheckRange(const ReadQuery& query, uint64_t size_bytes, const std::string& where);

}  // namespace strobe::storage
