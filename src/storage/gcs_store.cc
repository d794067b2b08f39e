#include "src/storage/gcs_store.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "src/base/hash.h"
#include "src/storage/checksum.h"
#include "src/storage/sigv4.h"

namespace strobe::storage {
namespace {

using Json = nlohmann::json;

constexpr const char* kWriteMark = "strobe-write";
constexpr int64_t kBodyTimeoutMs = 600'000;
constexpr int64_t kAnswerTimeoutMs = 60'000;
constexpr int kMoreExpected = 308;
constexpr int kCalledOff = 499;

uint64_t ToNumber(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_unsigned() ? std::to_string(found->get<uint64_t>()) : "";
}

std::optional<uint32_t> CrcOf(const std::string& base64) {
  const std::optional<std::string> bytes = FromBase64(base64);
  if (!bytes || bytes->size() != sizeof(uint32_t)) return std::nullopt;
  uint32_t crc = 0;
  for (const char c : *bytes) crc = crc << 8 | static_cast<unsigned char>(c);
  return crc;
}

ObjectInfo InfoOf(const Json& json) {
  ObjectInfo info;
  info.key = TextOf(json, "name");
  info.size_bytes = ToNumber(TextOf(json, "size"));
  info.version = TextOf(json, "generation");
  info.modified_unix_ns = ParseTimeNs(TextOf(json, "updated"));
  info.crc32c = CrcOf(TextOf(json, "crc32c"));
  const std::optional<std::string> md5 = FromBase64(TextOf(json, "md5Hash"));
  if (md5 && md5->size() == 16) info.md5_hex = HexOf(*md5);
  if (const auto metadata = json.find("metadata");
      metadata != json.end() && metadata->is_object()) {
    info.write_id = TextOf(*metadata, kWriteMark);
  }
  return info;
}

Json MetadataOf(const std::string& key, const WriteOptions& options) {
  Json metadata = {{"name", key}, {"contentType", options.content_type}};
  if (!options.write_id.empty()) metadata["metadata"] = {{kWriteMark, options.write_id}};
  return metadata;
}

Status Malformed(const std::string& where) {
  return DataLossError("OBJECT_ANSWER_MALFORMED", "The store's answer is not what GCS answers.")
      .Where(where)
      .Hint("Check that the address (STORAGE_EMULATOR_HOST) is a GCS server's.");
}

Result<ObjectInfo> ReadInfo(const HttpAnswer& answer, const std::string& where) {
  const Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || TextOf(json, "name").empty()) return Malformed(where);
  return InfoOf(json);
}

std::string ConditionQuery(const Condition& condition) {
  if (condition.kind == Condition::Kind::kAbsent) return "&ifGenerationMatch=0";
  if (condition.kind == Condition::Kind::kNone) return "";
  return "&ifGenerationMatch=" + PercentEncode(condition.version, false);
}

}  // namespace

std::string GcsStore::ObjectUrl(const std::string& key) const {
  return options_.endpoint + "/storage/v1/b/" + PercentEncode(options_.bucket, false) + "/o/" +
         PercentEncode(key, false);
}

std::string GcsStore::UploadUrl(const std::string& type, const WriteOptions& options) const {
  return options_.endpoint + "/upload/storage/v1/b/" + PercentEncode(options_.bucket, false) +
         "/o?uploadType=" + type + ConditionQuery(options.condition);
}

Result<HttpAnswer> GcsStore::Send(HttpRequest request, const std::string& key,
                                  Condition::Kind condition, const CallOptions& call) {
  std::string token;
  if (request.url.starts_with(options_.endpoint + "/")) {
    STROBE_ASSIGN_OR_RETURN(token, tokens_->Get(call.cancel));
    if (!token.empty()) request.headers.emplace_back("authorization", "Bearer " + token);
  }
  if (call.timeout_ms > 0) request.timeout_ms = std::min(request.timeout_ms, call.timeout_ms);
  STROBE_ASSIGN_OR_RETURN(HttpAnswer answer, context_.http->Send(request, call.cancel));
  const bool fine = (answer.status >= 200 && answer.status < 300) ||
                    answer.status == kMoreExpected || answer.status == kCalledOff;
  if (fine) return answer;
  if (answer.status == 401 && !token.empty()) tokens_->Forget(token);
  return ErrorOf(answer, key, condition);
}

Status GcsStore::ErrorOf(const HttpAnswer& answer, const std::string& key,
                         Condition::Kind condition) const {
  const std::string where = Where(key);
  const std::string said = " (HTTP " + std::to_string(answer.status) + ")";
  switch (answer.status) {
    case 304:
    case 412:
      return condition == Condition::Kind::kAbsent ? ObjectExists(where) : ObjectChanged(where);
    case 401:
      return Status(StatusCode::kUnauthenticated, "CREDENTIALS_EXPIRED",
                    "The store does not accept the access token" + said + ".")
          .Where(where)
          .Hint("It is fetched again by itself; if this goes on, renew the login or key.");
    case 403:
      return PermissionDeniedError("OBJECT_ACCESS_DENIED", "The store refuses this" + said + ".")
          .Where(where)
          .Hint(
              "The service account needs roles/storage.objectViewer to read, objectUser to write.");
    case 404:
      if (!key.empty()) return ObjectNotFound(where);
      return NotFoundError("BUCKET_NOT_FOUND", "There is no such bucket.")
          .Where(name())
          .Hint("Check the name and the endpoint.");
    case 410:
      return ObjectNotFound(where);
    case 416:
      return OutOfRangeError("OBJECT_RANGE", "The object is shorter than the place asked for.")
          .Where(where);
    case 429:
      return ResourceExhaustedError("OBJECT_STORE_THROTTLED",
                                    "The store asks for fewer requests" + said + ".")
          .Where(where)
          .Hint("Try again later.");
    case 408:
    case 500:
    case 502:
    case 503:
    case 504:
      return UnavailableError("OBJECT_STORE_BUSY", "The store cannot answer now" + said + ".")
          .Where(where)
          .Hint("Try again later.");
    default:
      return FailedPreconditionError("OBJECT_STORE_REFUSED",
                                     "The store refuses the request" + said + ".")
          .Where(where)
          .Hint("Check the bucket's name and the endpoint.");
  }
}

Result<ListPage> GcsStore::List(const ListQuery& query, const CallOptions& call) {
  HttpRequest request;
  request.timeout_ms = kAnswerTimeoutMs;
  request.url =
      options_.endpoint + "/storage/v1/b/" + PercentEncode(options_.bucket, false) +
      "/o?maxResults=" + std::to_string(std::clamp<uint32_t>(query.max_keys, 1, kMaxPageKeys)) +
      "&fields=" +
      PercentEncode(
          "nextPageToken,prefixes,items(name,size,generation,updated,crc32c,"
          "md5Hash)",
          false);
  if (!query.prefix.empty()) request.url += "&prefix=" + PercentEncode(query.prefix, false);
  if (!query.delimiter.empty())
    request.url += "&delimiter=" + PercentEncode(query.delimiter, false);
  // GCS begins at a key, we behind it.
  if (!query.start_after.empty()) {
    request.url += "&startOffset=" + PercentEncode(query.start_after, false);
  }
  if (!query.page_token.empty()) {
    request.url += "&pageToken=" + PercentEncode(query.page_token, false);
  }
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer,
                          Send(std::move(request), "", Condition::Kind::kNone, call));
  const Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Malformed(name());
  ListPage page;
  if (const auto items = json.find("items"); items != json.end() && items->is_array()) {
    for (const Json& item : *items) {
      if (!item.is_object()) continue;
      ObjectInfo info = InfoOf(item);
      if (info.key > query.start_after) page.objects.push_back(std::move(info));
    }
  }
  if (const auto prefixes = json.find("prefixes"); prefixes != json.end() && prefixes->is_array()) {
    for (const Json& prefix : *prefixes) {
      if (prefix.is_string()) page.prefixes.push_back(prefix.get<std::string>());
    }
  }
  page.next_page_token = TextOf(json, "nextPageToken");
  return page;
}

Result<ObjectInfo> GcsStore::Stat(const std::string& key, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer,
                          Send({.url = ObjectUrl(key), .timeout_ms = kAnswerTimeoutMs}, key,
                               Condition::Kind::kNone, call));
  return ReadInfo(answer, Where(key));
}

Result<ReadAnswer> GcsStore::Read(const std::string& key, const ReadQuery& query,
                                  const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  const uint64_t length = std::clamp<uint64_t>(query.length, 1, kMaxReadBytes);
  HttpRequest request;
  request.timeout_ms = kBodyTimeoutMs;
  request.url = ObjectUrl(key) + "?alt=media";
  if (!query.if_version.empty()) {
    request.url += "&ifGenerationMatch=" + PercentEncode(query.if_version, false);
  }
  request.headers = {{"range", "bytes=" + std::to_string(query.offset) + "-" +
                                   std::to_string(query.offset + length - 1)},
                     {"accept-encoding", "gzip"}};  // as it is stored
  Result<HttpAnswer> answer = Send(std::move(request), key, Condition::Kind::kVersion, call);
  if (!answer.ok() && answer.status().name() == "OBJECT_RANGE" && query.offset == 0) {
    ReadAnswer empty;
    STROBE_ASSIGN_OR_RETURN(empty.info, Stat(key, call));
    if (!query.if_version.empty() && empty.info.version != query.if_version) {
      return ObjectChanged(Where(key));
    }
    return empty.info.size_bytes == 0 ? Result<ReadAnswer>(std::move(empty)) : answer.status();
  }
  if (!answer.ok()) return answer.status();
  ReadAnswer read;
  read.info.key = key;
  read.info.version = answer->Header("x-goog-generation");
  read.info.modified_unix_ns = ParseTimeNs(answer->Header("last-modified"));
  if (!query.if_version.empty() && !read.info.version.empty() &&
      read.info.version != query.if_version) {
    return ObjectChanged(Where(key));
  }
  if (read.info.version.empty()) read.info.version = query.if_version;
  read.bytes = std::move(answer->body);
  const std::string_view range = answer->Header("content-range");
  const size_t slash = range.rfind('/');
  if (answer->status == 206 && slash != std::string_view::npos) {
    read.info.size_bytes = ToNumber(range.substr(slash + 1));
    return read;
  }
  read.info.size_bytes = read.bytes.size();
  STROBE_RETURN_IF_ERROR(CheckRange(query, read.bytes.size(), Where(key)));
  read.bytes = read.bytes.substr(query.offset, length);
  return read;
}

Result<ObjectInfo> GcsStore::Put(const std::string& key, std::string_view bytes,
                                 const WriteOptions& options, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  // A line that the content cannot hold by chance.
  const std::string boundary = "strobe-" + ToHex64(Hash64(bytes)) + ToHex64(Hash64(key));
  std::string body = "--" + boundary + "\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n" +
                     MetadataOf(key, options).dump() + "\r\n--" + boundary +
                     "\r\ncontent-type: " + options.content_type + "\r\n\r\n";
  body += bytes;
  body += "\r\n--" + boundary + "--\r\n";
  HttpRequest request;
  request.method = "POST";
  request.url = UploadUrl("multipart", options) + "&name=" + PercentEncode(key, false);
  request.headers = {{"content-type", "multipart/related; boundary=" + boundary}};
  request.body = body;
  request.timeout_ms = kBodyTimeoutMs;
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer,
                          Send(std::move(request), key, options.condition.kind, call));
  return ReadInfo(answer, Where(key));
}

Status GcsStore::Delete(const std::string& key, const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  const Result<HttpAnswer> answer =
      Send({.method = "DELETE", .url = ObjectUrl(key), .timeout_ms = kAnswerTimeoutMs}, key,
           Condition::Kind::kNone, call);
  if (answer.ok() || answer.status().name() == "OBJECT_NOT_FOUND") return OkStatus();
  return answer.status();
}

Result<Upload> GcsStore::StartUpload(const std::string& key, const WriteOptions& options,
                                     const CallOptions& call) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  const std::string metadata = MetadataOf(key, options).dump();
  HttpRequest request;
  request.method = "POST";
  request.url = UploadUrl("resumable", options) + "&name=" + PercentEncode(key, false);
  request.headers = {{"content-type", "application/json; charset=UTF-8"},
                     {"x-upload-content-type", options.content_type}};
  request.body = metadata;
  request.timeout_ms = kAnswerTimeoutMs;
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer,
                          Send(std::move(request), key, options.condition.kind, call));
  Upload upload;
  upload.key = key;
  upload.options = options;
  upload.id = answer.Header("location");
  if (!upload.id.starts_with("http")) return Malformed(Where(key));
  return upload;
}

Status GcsStore::SendPart(Upload* upload, std::string_view bytes, const CallOptions& call) {
  HttpRequest request;
  request.method = "PUT";
  request.url = upload->id;
  request.headers = {{"content-range", "bytes " + std::to_string(upload->sent_bytes) + "-" +
                                           std::to_string(upload->sent_bytes + bytes.size() - 1) +
                                           "/*"}};
  request.body = bytes;
  request.timeout_ms = kBodyTimeoutMs;
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer, Send(std::move(request), upload->key,
                                                        upload->options.condition.kind, call));
  if (answer.status != kMoreExpected) return Malformed(Where(upload->key));
  upload->part_tags.emplace_back();
  upload->sent_bytes += bytes.size();
  return OkStatus();
}

Result<ObjectInfo> GcsStore::FinishUpload(const Upload& upload, std::string_view last_bytes,
                                          const CallOptions& call) {
  const uint64_t total = upload.sent_bytes + last_bytes.size();
  const std::string span =
      last_bytes.empty() ? "*"
                         : std::to_string(upload.sent_bytes) + "-" + std::to_string(total - 1);
  HttpRequest request;
  request.method = "PUT";
  request.url = upload.id;
  request.headers = {{"content-range", "bytes " + span + "/" + std::to_string(total)}};
  request.body = last_bytes;
  request.timeout_ms = kBodyTimeoutMs;
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer, Send(std::move(request), upload.key,
                                                        upload.options.condition.kind, call));
  if (answer.status == kMoreExpected) {
    return UnavailableError("OBJECT_STORE_BUSY", "The store has not taken all of the upload yet.")
        .Where(Where(upload.key));
  }
  return ReadInfo(answer, Where(upload.key));
}

Status GcsStore::AbortUpload(const Upload& upload, const CallOptions& call) {
  const Result<HttpAnswer> answer =
      Send({.method = "DELETE", .url = upload.id, .timeout_ms = kAnswerTimeoutMs}, upload.key,
           Condition::Kind::kNone, call);
  if (answer.ok() || answer.status().name() == "OBJECT_NOT_FOUND") return OkStatus();
  return answer.status();
}

}  // namespace strobe::storage
