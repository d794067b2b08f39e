#include "src/storage/memory_store.h"

#include <algorithm>

#include "src/storage/checksum.h"

namespace strobe::storage {

PageMaker::PageMaker(const ListQuery& query)
    : query_(query), limit_(std::clamp<uint32_t>(query.max_keys, 1, kMaxPageKeys)) {
  first_ = std::max(query.prefix, std::max(query.start_after, query.page_token));
}

bool PageMaker::Take(const ObjectInfo& object) {
  skip_to_.clear();
  const std::string& key = object.key;
  if (!key.starts_with(query_.prefix)) return key < query_.prefix;
  if (key <= query_.start_after || key <= query_.page_token) return true;
  std::string common;
  if (!query_.delimiter.empty()) {
    const size_t at = key.find(query_.delimiter, query_.prefix.size());
    if (at != std::string::npos) common = key.substr(0, at + query_.delimiter.size());
  }
  // A page token names the last key or common prefix given.
  if (!common.empty() &&
      (query_.page_token.starts_with(common) || query_.start_after.starts_with(common))) {
    return true;
  }
  if (!common.empty() && !page_.prefixes.empty() && page_.prefixes.back() == common) return true;
  if (page_.objects.size() + page_.prefixes.size() >= limit_) {
    const std::string last_key = page_.objects.empty() ? "" : page_.objects.back().key;
    const std::string last_prefix = page_.prefixes.empty() ? "" : page_.prefixes.back();
    page_.next_page_token = std::max(last_key, last_prefix);
    return false;
  }
  if (common.empty()) {
    page_.objects.push_back(object);
  } else {
    page_.prefixes.push_back(common);
    skip_to_ = common + "\xff";
  }
  return true;
}

Result<ListPage> MemoryStore::List(const ListQuery& query, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  PageMaker page(query);
  std::lock_guard lock(mutex_);
  for (auto at = objects_.lower_bound(page.first()); at != objects_.end();) {
    ObjectInfo info = at->second.info;
    info.write_id.clear();
    if (!page.Take(info)) break;
    if (page.skip_to().empty()) {
      ++at;
    } else {
      at = objects_.lower_bound(page.skip_to());
    }
  }
  return std::move(page).Finish();
}

Result<ObjectInfo> MemoryStore::Stat(const std::string& key, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return ObjectNotFound(Where(key));
  return found->second.info;
}

Result<ReadAnswer> MemoryStore::Read(const std::string& key, const ReadQuery& query,
                                     const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return ObjectNotFound(Where(key));
  const Object& object = found->second;
  if (!query.if_version.empty() && query.if_version != object.info.version) {
    return ObjectChanged(Where(key));
  }
  STROBE_RETURN_IF_ERROR(CheckRange(query, object.bytes.size(), Where(key)));
  ReadAnswer answer;
  answer.info = object.info;
  answer.bytes = object.bytes.substr(query.offset, std::min(query.length, kMaxReadBytes));
  return answer;
}

Result<ObjectInfo> MemoryStore::Put(const std::string& key, std::string_view bytes,
                                    const WriteOptions& options, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  Object object;
  object.bytes = bytes;
  Md5 md5;
  md5.Add(bytes);
  std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  const Condition& condition = options.condition;
  if (condition.kind == Condition::Kind::kAbsent && found != objects_.end()) {
    return ObjectExists(Where(key));
  }
  if (condition.kind == Condition::Kind::kVersion &&
      (found == objects_.end() || found->second.info.version != condition.version)) {
    return ObjectChanged(Where(key));
  }
  object.info = {.key = key,
                 .size_bytes = bytes.size(),
                 .modified_unix_ns = clock_.NowUnixNanos(),
                 .version = std::to_string(++last_version_),
                 .md5_hex = md5.Hex(),
                 .crc32c = Crc32c(bytes),
                 .write_id = options.write_id};
  const ObjectInfo info = object.info;
  objects_[key] = std::move(object);
  return info;
}

Status MemoryStore::Delete(const std::string& key, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  std::lock_guard lock(mutex_);
  objects_.erase(key);
  return OkStatus();
}

Result<Upload> MemoryStore::StartUpload(const std::string& key, const WriteOptions& options,
                                        const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  std::lock_guard lock(mutex_);
  Upload upload;
  upload.key = key;
  upload.options = options;
  upload.id = "upload-" + std::to_string(++last_version_);
  uploads_[upload.id];
  return upload;
}

Status MemoryStore::SendPart(Upload* upload, std::string_view bytes, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(call.cancel.Check());
  std::lock_guard lock(mutex_);
  const auto found = uploads_.find(upload->id);
  if (found == uploads_.end()) return ObjectNotFound(Where(upload->key));
  const size_t number = upload->part_tags.size() + 1;
  found->second[number] = bytes;
  upload->part_tags.push_back(std::to_string(number));
  upload->sent_bytes += bytes.size();
  return OkStatus();
}

Result<ObjectInfo> MemoryStore::FinishUpload(const Upload& upload, std::string_view last_bytes,
                                             const CallOptions& call) {
  std::string whole;
  {
    std::lock_guard lock(mutex_);
    const auto found = uploads_.find(upload.id);
    if (found == uploads_.end()) return ObjectNotFound(Where(upload.key));
    for (const auto& [number, part] : found->second) {
      if (number <= upload.part_tags.size()) whole += part;
    }
  }
  whole += last_bytes;
  STROBE_ASSIGN_OR_RETURN(ObjectInfo info, Put(upload.key, whole, upload.options, call));
  std::lock_guard lock(mutex_);
  uploads_.erase(upload.id);
  return info;
}

Status MemoryStore::AbortUpload(const Upload& upload, const CallOptions& call) {
  std::lock_guard lock(mutex_);
  uploads_.erase(upload.id);
  return OkStatus();
}

size_t MemoryStore::open_uploads() const {
  std::lock_guard lock(mutex_);
  return uploads_.size();
}

}  // namespace strobe::storage
