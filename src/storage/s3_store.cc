#include "src/storage/s3_store.h"

#include <algorithm>
#include <charconv>

#include "src/base/log.h"
#include "src/storage/checksum.h"
#include "src/storage/xml_text.h"

namespace strobe::storage {
namespace {

constexpr std::string_view kWriteMark = "x-amz-meta-strobe-write";
// Bodies may take long on a slow link; one that stands still is given up much sooner.
constexpr int64_t kBodyTimeoutMs = 600'000;
constexpr int64_t kAnswerTimeoutMs = 60'000;
constexpr size_t kMd5HexBytes = 32;

uint64_t ToNumber(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string Unquoted(std::string_view tag) {
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  if (tag.size() >= 2 && tag.starts_with('"') && tag.ends_with('"')) {
    tag = tag.substr(1, tag.size() - 2);
  }
  return std::string(tag);
}

// A plain ETag is the MD5 of the content, but not of an encrypted one or one made of parts.
std::string Md5Of(const std::string& version, std::string_view encryption) {
  const bool is_md5 = version.size() == kMd5HexBytes &&
                      version.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_md5 && (encryption.empty() || encryption == "AES256") ? version : "";
}

ObjectInfo InfoOf(const std::string& key, const HttpAnswer& answer) {
  ObjectInfo info;
  info.key = key;
  info.version = Unquoted(answer.Header("etag"));
  info.md5_hex = Md5Of(info.version, answer.Header("x-amz-server-side-encryption"));
  info.modified_unix_ns = ParseTimeNs(answer.Header("last-modified"));
  info.write_id = answer.Header(kWriteMark);
  info.size_bytes = ToNumber(answer.Header("content-length"));
  const std::string_view range = answer.Header("content-range");  // "bytes 0-9/100"
  const size_t slash = range.rfind('/');
  if (slash != std::string_view::npos) info.size_bytes = ToNumber(range.substr(slash + 1));
  return info;
}

std::string XmlEscape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

Status Malformed(const std::string& where) {
  return DataLossError("OBJECT_ANSWER_MALFORMED", "The store's answer is not what S3 answers.")
      .Where(where)
      .Hint("Check that the address (AWS_ENDPOINT_URL) is an S3 server's.");
}

Status Unauthenticated(std::string_view name, std::string message) {
  return Status(StatusCode::kUnauthenticated, name, std::move(message));
}

}  // namespace

S3Store::S3Store(S3Options options, CloudContext context,
                 std::shared_ptr<AwsCredentialSource> credentials)
    : options_(std::move(options)),
      context_(std::move(context)),
      credentials_(std::move(credentials)),
      region_(options_.region) {}

void S3Store::AddCondition(const Condition& condition, Call* call) const {
  call->condition = condition.kind;
  if (condition.kind == Condition::Kind::kAbsent) {
    if (options_.google_conditions) {
      call->headers.emplace_back("x-goog-if-generation-match", "0");
    } else {
      call->headers.emplace_back("if-none-match", "*");
    }
  } else if (condition.kind == Condition::Kind::kVersion) {
    call->headers.emplace_back("if-match", "\"" + condition.version + "\"");
  }
}

Result<HttpAnswer> S3Store::Send(const Call& call, const CallOptions& options) {
  bool elsewhere = false;
  Result<HttpAnswer> answer = SendOnce(call, options, &elsewhere);
  if (elsewhere) answer = SendOnce(call, options, &elsewhere);
  return answer;
}

Result<HttpAnswer> S3Store::SendOnce(const Call& call, const CallOptions& options,
                                     bool* elsewhere) {
  STROBE_ASSIGN_OR_RETURN(const AwsCredentials credentials, credentials_->Get(options.cancel));
  const size_t host_at = options_.endpoint.find("://") + 3;
  RequestToSign to_sign;
  to_sign.method = call.method;
  to_sign.host = options_.endpoint.substr(host_at);
  to_sign.path = "/" + call.key;
  if (options_.path_style) {
    to_sign.path = "/" + options_.bucket + (call.key.empty() ? "" : "/" + call.key);
  } else {
    to_sign.host = options_.bucket + "." + to_sign.host;
  }
  to_sign.query = call.query;
  to_sign.headers = call.headers;
  to_sign.payload_sha256 = HexOf(Sha256(call.body));
  std::string region;
  {
    std::lock_guard lock(region_mutex_);
    region = region_;
  }
  HttpRequest request;
  request.method = call.method;
  request.url =
      options_.endpoint.substr(0, host_at) + to_sign.host + PercentEncode(to_sign.path, true);
  if (!call.query.empty()) request.url += "?" + CanonicalQuery(call.query);
  request.headers = SignV4(to_sign, credentials, region, "s3",
                           context_.clock->NowUnixNanos() + clock_offset_ns_.load());
  request.body = call.body;
  const bool small = call.body.empty() && call.method != "GET";
  request.timeout_ms = small ? kAnswerTimeoutMs : kBodyTimeoutMs;
  if (options.timeout_ms > 0) request.timeout_ms = std::min(request.timeout_ms, options.timeout_ms);
  STROBE_ASSIGN_OR_RETURN(HttpAnswer answer, context_.http->Send(request, options.cancel));
  if (answer.status >= 200 && answer.status < 300) {
    *elsewhere = false;
    return answer;
  }
  const std::string home(answer.Header("x-amz-bucket-region"));
  if (!home.empty() && home != region && !*elsewhere) {
    std::lock_guard lock(region_mutex_);
    region_ = home;
    *elsewhere = true;
  }
  return ErrorOf(call, answer, credentials);
}

// What the store says of who asks and when; OK when it is about something else.
Status S3Store::CredentialError(const HttpAnswer& answer, const std::string& code,
                                const std::string& said, const std::string& where,
                                const AwsCredentials& credentials) {
  if (code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "ExpiredTokenException") {
    credentials_->Forget(credentials);
    return Unauthenticated("CREDENTIALS_EXPIRED", "The credentials have expired" + said + ".")
        .Where(where)
        .Hint("Renew them; those of files and roles are fetched again by themselves.");
  }
  if (code == "RequestTimeTooSkewed") {
    const int64_t theirs = ParseTimeNs(answer.Header("date"));
    if (theirs != 0) clock_offset_ns_.store(theirs - context_.clock->NowUnixNanos());
    return Unauthenticated("CLOCK_SKEWED",
                           "This machine's clock differs from the store's" + said + ".")
        .Where(where)
        .Hint("Set the clock (NTP).");
  }
  if (code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || code == "InvalidToken" ||
      code == "AuthorizationHeaderMalformed" || answer.status == 401) {
    return Unauthenticated("CREDENTIALS_REJECTED",
                           "The store does not accept the credentials" + said + ".")
        .Where(where)
        .Hint("Check the access key, its secret and the region (AWS_REGION).");
  }
  return OkStatus();
}

Status S3Store::ErrorOf(const Call& call, const HttpAnswer& answer,
                        const AwsCredentials& credentials) {
  const std::string where = Where(call.key);
  const std::optional<XmlElement> xml = ParseXml(answer.body);
  const std::string code = xml ? xml->Text("Code") : "";
  // The store's words, without what it repeats of the request (it may hold a signature).
  const std::string said = " (HTTP " + std::to_string(answer.status) +
                           (code.empty() ? "" : ", " + code.substr(0, 64)) + ")";
  if (Status refused = CredentialError(answer, code, said, where, credentials); !refused.ok()) {
    return refused;
  }
  switch (answer.status) {
    case 404:
      if (code != "NoSuchBucket") return ObjectNotFound(where);
      return NotFoundError("BUCKET_NOT_FOUND", "There is no such bucket.")
          .Where(name())
          .Hint("Check the name and the endpoint.");
    case 412:
      return call.condition == Condition::Kind::kAbsent ? ObjectExists(where)
                                                        : ObjectChanged(where);
    case 416:
      return OutOfRangeError("OBJECT_RANGE", "The object is shorter than the place asked for.")
          .Where(where);
    case 403:
      return PermissionDeniedError("OBJECT_ACCESS_DENIED", "The store refuses this" + said + ".")
          .Where(where)
          .Hint("The credentials need the right to list, read or write there.");
    case 429:
      break;
    case 409:
    case 500:
    case 502:
    case 503:
    case 504:
      if (code == "SlowDown") break;
      return UnavailableError("OBJECT_STORE_BUSY", "The store cannot answer now" + said + ".")
          .Where(where)
          .Hint("Try again later.");
    default:
      return Status(StatusCode::kFailedPrecondition, "OBJECT_STORE_REFUSED",
                    "The store refuses the request" + said + ".")
          .Where(where)
          .Hint("Check the bucket's name, region and endpoint.");
  }
  return ResourceExhaustedError("OBJECT_STORE_THROTTLED",
                                "The store asks for fewer requests" + said + ".")
      .Where(where)
      .Hint("Try again later.");
}

Result<ListPage> S3Store::List(const ListQuery& query, const CallOptions& options) {
  Call call = {.method = "GET", .key = ""};
  call.query = {
      {"list-type", "2"},
      {"max-keys", std::to_string(std::clamp<uint32_t>(query.max_keys, 1, kMaxPageKeys))}};
  if (!query.prefix.empty()) call.query.emplace_back("prefix", query.prefix);
  if (!query.delimiter.empty()) call.query.emplace_back("delimiter", query.delimiter);
  if (!query.page_token.empty()) {
    call.query.emplace_back("continuation-token", query.page_token);
  } else if (!query.start_after.empty()) {
    call.query.emplace_back("start-after", query.start_after);
  }
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer, Send(call, options));
  const std::optional<XmlElement> xml = ParseXml(answer.body);
  if (!xml || xml->name != "ListBucketResult") return Malformed(name());
  ListPage page;
  for (const XmlElement* const object : xml->All("Contents")) {
    ObjectInfo info;
    info.key = object->Text("Key");
    info.size_bytes = ToNumber(object->Text("Size"));
    info.modified_unix_ns = ParseTimeNs(object->Text("LastModified"));
    info.version = Unquoted(object->Text("ETag"));
    page.objects.push_back(std::move(info));
  }
  for (const XmlElement* const common : xml->All("CommonPrefixes")) {
    page.prefixes.push_back(common->Text("Prefix"));
  }
  if (xml->Text("IsTruncated") == "true") {
    page.next_page_token = xml->Text("NextContinuationToken");
    if (page.next_page_token.empty()) return Malformed(name());
  }
  return page;
}

Result<ObjectInfo> S3Store::Stat(const std::string& key, const CallOptions& options) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  Result<HttpAnswer> answer = Send({.method = "HEAD", .key = key}, options);
  if (answer.ok()) return InfoOf(key, *answer);
  const std::string_view name = answer.status().name();
  if (name != "OBJECT_ACCESS_DENIED" && name != "OBJECT_STORE_REFUSED") return answer.status();
  // An answer to HEAD has no body to say why; that to a GET has one.
  Call call = {.method = "GET", .key = key, .headers = {{"range", "bytes=0-0"}}};
  answer = Send(call, options);
  if (!answer.ok()) return answer.status();
  return InfoOf(key, *answer);
}

Result<ReadAnswer> S3Store::Read(const std::string& key, const ReadQuery& query,
                                 const CallOptions& options) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  const uint64_t length = std::clamp<uint64_t>(query.length, 1, kMaxReadBytes);
  Call call = {.method = "GET", .key = key};
  call.headers.emplace_back("range", "bytes=" + std::to_string(query.offset) + "-" +
                                         std::to_string(query.offset + length - 1));
  if (!query.if_version.empty()) {
    call.headers.emplace_back("if-match", "\"" + query.if_version + "\"");
  }
  Result<HttpAnswer> answer = Send(call, options);
  if (!answer.ok() && answer.status().name() == "OBJECT_RANGE" && query.offset == 0) {
    // Of nothing no range can be given.
    ReadAnswer empty;
    STROBE_ASSIGN_OR_RETURN(empty.info, Stat(key, options));
    if (!query.if_version.empty() && empty.info.version != query.if_version) {
      return ObjectChanged(Where(key));
    }
    return empty.info.size_bytes == 0 ? Result<ReadAnswer>(std::move(empty)) : answer.status();
  }
  if (!answer.ok()) return answer.status();
  ReadAnswer read;
  read.info = InfoOf(key, *answer);
  if (!query.if_version.empty() && read.info.version != query.if_version) {
    return ObjectChanged(Where(key));
  }
  read.bytes = std::move(answer->body);
  if (answer->status == 200) {
    // The store gave all of it.
    read.info.size_bytes = read.bytes.size();
    STROBE_RETURN_IF_ERROR(CheckRange(query, read.bytes.size(), Where(key)));
    read.bytes = read.bytes.substr(query.offset, length);
  }
  return read;
}

Result<ObjectInfo> S3Store::Put(const std::string& key, std::string_view bytes,
                                const WriteOptions& options, const CallOptions& call_options) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  Call call = {.method = "PUT", .key = key};
  call.headers.emplace_back("content-type", options.content_type);
  if (!options.write_id.empty()) call.headers.emplace_back(kWriteMark, options.write_id);
  call.body = bytes;
  AddCondition(options.condition, &call);
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer, Send(call, call_options));
  ObjectInfo info = InfoOf(key, answer);
  info.size_bytes = bytes.size();
  info.modified_unix_ns = context_.clock->NowUnixNanos();
  info.write_id = options.write_id;
  return info;
}

Status S3Store::Delete(const std::string& key, const CallOptions& options) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  const Result<HttpAnswer> answer = Send({.method = "DELETE", .key = key}, options);
  if (answer.ok() || answer.status().name() == "OBJECT_NOT_FOUND") return OkStatus();
  return answer.status();
}

Result<Upload> S3Store::StartUpload(const std::string& key, const WriteOptions& options,
                                    const CallOptions& call_options) {
  STROBE_RETURN_IF_ERROR(CheckKey(key));
  Call call = {.method = "POST", .key = key, .query = {{"uploads", ""}}};
  call.headers.emplace_back("content-type", options.content_type);
  if (!options.write_id.empty()) call.headers.emplace_back(kWriteMark, options.write_id);
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer, Send(call, call_options));
  const std::optional<XmlElement> xml = ParseXml(answer.body);
  Upload upload;
  upload.key = key;
  upload.options = options;
  upload.id = xml ? xml->Text("UploadId") : "";
  if (upload.id.empty()) return Malformed(Where(key));
  return upload;
}

Status S3Store::SendPart(Upload* upload, std::string_view bytes, const CallOptions& options) {
  if (upload->part_tags.size() >= kMaxUploadParts) {
    return OutOfRangeError("OBJECT_TOO_LARGE", "The object needs more than 10,000 parts.")
        .Where(Where(upload->key));
  }
  Call call = {.method = "PUT",
               .key = upload->key,
               .query = {{"partNumber", std::to_string(upload->part_tags.size() + 1)},
                         {"uploadId", upload->id}}};
  call.body = bytes;
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer, Send(call, options));
  if (answer.Header("etag").empty()) return Malformed(Where(upload->key));
  upload->part_tags.emplace_back(answer.Header("etag"));
  upload->sent_bytes += bytes.size();
  return OkStatus();
}

Result<ObjectInfo> S3Store::FinishUpload(const Upload& upload, std::string_view last_bytes,
                                         const CallOptions& options) {
  Upload whole = upload;
  if (!last_bytes.empty()) STROBE_RETURN_IF_ERROR(SendPart(&whole, last_bytes, options));
  std::string body = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < whole.part_tags.size(); ++i) {
    body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" +
            XmlEscape(whole.part_tags[i]) + "</ETag></Part>";
  }
  body += "</CompleteMultipartUpload>";
  Call call = {.method = "POST", .key = upload.key, .query = {{"uploadId", upload.id}}};
  call.headers.emplace_back("content-type", "application/xml");
  call.body = body;
  AddCondition(upload.options.condition, &call);
  STROBE_ASSIGN_OR_RETURN(const HttpAnswer answer, Send(call, options));
  const std::optional<XmlElement> xml = ParseXml(answer.body);
  // It may fail after having said 200.
  if (!xml || xml->name == "Error") {
    const bool gone = xml && xml->Text("Code") == "NoSuchUpload";
    return gone ? ObjectNotFound(Where(upload.key))
                : UnavailableError("OBJECT_STORE_BUSY",
                                   "The store could not put the parts together.")
                      .Where(Where(upload.key));
  }
  ObjectInfo info;
  info.key = upload.key;
  info.size_bytes = whole.sent_bytes;
  info.version = Unquoted(xml->Text("ETag"));
  info.modified_unix_ns = context_.clock->NowUnixNanos();
  info.write_id = upload.options.write_id;
  return info;
}

Status S3Store::AbortUpload(const Upload& upload, const CallOptions& options) {
  const Result<HttpAnswer> answer =
      Send({.method = "DELETE", .key = upload.key, .query = {{"uploadId", upload.id}}}, options);
  if (answer.ok() || answer.status().name() == "OBJECT_NOT_FOUND") return OkStatus();
  return answer.status();
}

}  // namespace strobe::storage
