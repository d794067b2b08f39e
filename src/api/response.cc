#include "src/api/response.h"

#include "src/base/json_writer.h"

namespace strobe::api {

Response JsonResponse(std::string json, int status) {
  Response response;
  response.status = status;
  response.content_type = "application/json";
  response.body = std::make_shared<const std::string>(std::move(json));
  response.revalidate = status == 200;
  return response;
}

Response TextResponse(std::string text, int status) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::make_shared<const std::string>(std::move(text));
  response.cache_control = "no-store";
  return response;
}

Response ImmutableResponse(std::string_view content_type, Body body, std::string etag) {
  Response response;
  response.content_type = std::string(content_type);
  response.body = std::move(body);
  response.etag = std::move(etag);
  response.cache_control = "private, max-age=31536000, immutable";
  response.revalidate = true;
  return response;
}

Response StreamResponse(std::string content_type, std::function<void(StreamWriter&)> stream) {
  Response response;
  response.content_type = std::move(content_type);
  response.stream = std::move(stream);
  response.cache_control = "no-store";
  response.compression = Compression::kNever;
  return response;
}

void NameDownload(std::string_view name, Response* response) {
  constexpr size_t kMaxNameLetters = 200;  // File systems take 255 bytes.
  if (name.size() > kMaxNameLetters) name.remove_prefix(name.size() - kMaxNameLetters);
  std::string safe(name);
  for (char& c : safe) {
    const bool fine = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      c == '-' || c == '_' || c == '.';
    if (!fine) c = '_';
  }
  response->headers.emplace_back("Content-Disposition", "attachment; filename=\"" + safe + "\"");
}

namespace {

void TextOrNull(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key);
  if (text.empty()) {
    json.Null();
  } else {
    json.String(text);
  }
}

}  // namespace

std::string ErrorJson(const Status& error, std::string_view request_id) {
  JsonWriter json;
  json.BeginObject();
  json.Key("code").String(StatusCodeName(error.code()));
  json.Key("name").String(error.name());
  json.Key("message").String(error.message());
  TextOrNull(json, "where", error.where());
  TextOrNull(json, "hint", error.hint());
  TextOrNull(json, "request_id", request_id);
  json.EndObject();
  return json.TakeText();
}

Response ErrorResponse(const Status& error, std::string_view request_id, int status) {
  std::string body = "{\"error\":" + ErrorJson(error, request_id) + "}";
  Response response =
      JsonResponse(std::move(body), status != 0 ? status : HttpStatusOf(error.code()));
  response.cache_control = "no-store";
  response.revalidate = false;
  response.error_name = std::string(error.name());
  return response;
}

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 201:
      return "Created";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

}  // namespace strobe::api
