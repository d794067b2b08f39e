#include "src/storage/object_store.h"

#include <algorithm>

#include "src/base/log.h"
#include "src/base/utf8.h"
#include "src/storage/checksum.h"

namespace strobe::storage {
namespace {

// Parts grow eightfold behind this many, so that 10,000 of them hold any object the stores take.
constexpr size_t kSmallParts = 1000;

Status BadKey(std::string_view key, const std::string& why) {
  return InvalidArgumentError("OBJECT_KEY_INVALID", "The object's key " + why + ".")
      .Where(ToValidUtf8(key.substr(0, 200)))
      .Hint("A key has 1 to 1,024 bytes of UTF-8 without control characters.");
}

}  // namespace

Status CheckKey(std::string_view key) {
  if (key.empty()) return BadKey(key, "is empty");
  if (key.size() > kMaxKeyBytes) return BadKey(key, "is too long");
  for (size_t i = 0; i < key.size();) {
    if (static_cast<unsigned char>(key[i]) < 0x20 || key[i] == 0x7f) {
      return BadKey(key, "holds a control character");
    }
    const size_t step = ValidUtf8Length(key.substr(i));
    if (step == 0) return BadKey(key, "is not UTF-8");
    i += step;
  }
  return OkStatus();
}

bool IsRetryable(const Status& status) {
  const std::string_view name = status.name();
  return name == "OBJECT_STORE_BUSY" || name == "OBJECT_STORE_THROTTLED" ||
         name == "OBJECT_STORE_TIMEOUT" || name == "OBJECT_STORE_UNREACHABLE" ||
         name == "OBJECT_BODY_SHORT" || name == "OBJECT_CORRUPT" || name == "CREDENTIALS_EXPIRED" ||
         name == "CLOCK_SKEWED" || name == "OBJECT_STORE_FAILED";
}

Status ObjectNotFound(std::string where) {
  return NotFoundError("OBJECT_NOT_FOUND", "There is no such object.")
      .Where(std::move(where))
      .Hint("It may have been deleted since it was listed; list again.");
}

Status ObjectExists(std::string where) {
  return AlreadyExistsError("OBJECT_EXISTS", "There is already an object of this name.")
      .Where(std::move(where))
      .Hint("Nothing was overwritten; take another name.");
}

Status ObjectChanged(std::string where) {
  return Status(StatusCode::kAborted, "OBJECT_CHANGED",
                "The object is no longer the one that was listed.")
      .Where(std::move(where))
      .Hint("It was replaced meanwhile; open it again.");
}

Status ObjectCorrupt(std::string where) {
  return DataLossError("OBJECT_CORRUPT", "The bytes that came are not those that were stored.")
      .Where(std::move(where))
      .Hint("Read it again; if this goes on, look at the network or a proxy on the way.");
}

Status CheckRange(const ReadQuery& query, uint64_t size_bytes, const std::string& where) {
  if (query.offset < size_bytes || (query.offset == 0 && size_bytes == 0)) return OkStatus();
  return OutOfRangeError("OBJECT_RANGE", "The object has " + std::to_string(size_bytes) +
                                             " bytes; byte " + std::to_string(query.offset) +
                                             " was asked for.")
      .Where(where);
}

ObjectWriter::ObjectWriter(ObjectStore& store, std::string key, WriteOptions options,
                           CallOptions call)
    : store_(store), key_(std::move(key)), options_(std::move(options)), call_(std::move(call)) {}

ObjectWriter::~ObjectWriter() {
  if (done_ || !upload_) return;
  // Also after a cancel: what was sent costs money until it is taken away.
  const Status aborted = store_.AbortUpload(*upload_, {});
  if (!aborted.ok()) LogWarning("store.abort_failed", {{"reason", aborted.ToString()}});
}

uint64_t ObjectWriter::PartBytes() const {
  const size_t sent = upload_ ? upload_->part_tags.size() : 0;
  return sent < kSmallParts ? kUploadPartBytes : 8 * kUploadPartBytes;
}

Status ObjectWriter::SendBuffer() {
  if (!upload_) {
    STROBE_ASSIGN_OR_RETURN(upload_, store_.StartUpload(key_, options_, call_));
  }
  STROBE_RETURN_IF_ERROR(store_.SendPart(&*upload_, buffer_, call_));
  sent_bytes_ += buffer_.size();
  buffer_.clear();
  return OkStatus();
}

Status ObjectWriter::Append(std::string_view bytes) {
  STROBE_CHECK(!done_);
  while (!bytes.empty()) {
    // A full buffer is sent only when more follows: the last part goes with the finish.
    if (buffer_.size() >= PartBytes()) STROBE_RETURN_IF_ERROR(SendBuffer());
    const size_t taken = std::min<size_t>(bytes.size(), PartBytes() - buffer_.size());
    buffer_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
  }
  return OkStatus();
}

Result<ObjectInfo> ObjectWriter::Commit() {
  STROBE_CHECK(!done_);
  Result<ObjectInfo> written = upload_ ? store_.FinishUpload(*upload_, buffer_, call_)
                                       : store_.Put(key_, buffer_, options_, call_);
  if (written.ok()) {
    done_ = true;
    sent_bytes_ += buffer_.size();
    buffer_.clear();
  }
  return written;
}

Result<ReadAnswer> ReadWhole(ObjectStore& store, const std::string& key, uint64_t max_bytes,
                             const CallOptions& call) {
  // Checksums stand in the answer of Stat; that of a read need not have them.
  STROBE_ASSIGN_OR_RETURN(ObjectInfo info, store.Stat(key, call));
  const std::string where = store.name() + "/" + key;
  if (info.size_bytes > max_bytes) {
    return OutOfRangeError("OBJECT_RANGE", "The object has " + std::to_string(info.size_bytes) +
                                               " bytes, more than the " +
                                               std::to_string(max_bytes) + " that are taken here.")
        .Where(where);
  }
  ReadAnswer whole;
  while (whole.bytes.size() < info.size_bytes) {
    STROBE_ASSIGN_OR_RETURN(
        ReadAnswer part,
        store.Read(key, {.offset = whole.bytes.size(), .if_version = info.version}, call));
    if (part.bytes.empty()) return ObjectCorrupt(where);
    whole.bytes += part.bytes;
  }
  whole.info = std::move(info);
  if (whole.info.crc32c && *whole.info.crc32c != Crc32c(whole.bytes)) return ObjectCorrupt(where);
  if (!whole.info.md5_hex.empty()) {
    Md5 md5;
    md5.Add(whole.bytes);
    if (md5.Hex() != whole.info.md5_hex) return ObjectCorrupt(where);
  }
  return whole;
}

Status ForEachObject(ObjectStore& store, const std::string& prefix, const CallOptions& call,
                     const std::function<bool(const ObjectInfo&)>& take) {
  ListQuery query;
  query.prefix = prefix;
  while (true) {
    STROBE_ASSIGN_OR_RETURN(const ListPage page, store.List(query, call));
    for (const ObjectInfo& object : page.objects) {
      if (!take(object)) return OkStatus();
    }
    if (page.next_page_token.empty()) return OkStatus();
    query.page_token = page.next_page_token;
  }
}

}  // namespace strobe::storage
