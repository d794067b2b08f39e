// One HTTP answer as handlers make it, before it is fitted to what the client asked for.
//
//   return JsonResponse(json.TakeText());
//   return ErrorResponse(status);             // the one error shape of docs/api/v1.md
//   return StreamResponse("text/event-stream", [](StreamWriter& out) { while (out.Write(...)) ...;
//   });
//
// Bodies are shared and immutable, so a cached tile is sent without a copy. `Finish` (finish.h)
// adds ETag, 304, ranges, compression and the strict headers; handlers never do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::api {

class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  // Blocks while the client is slower than we are; false when nobody listens any more.
  virtual bool Write(std::string bytes) = 0;
  // What was written is not whole and nothing will follow: the connection is broken off, so that
  // nobody takes it for the whole.
  virtual void Fail() = 0;
  virtual const CancelToken& cancel() const = 0;
};

using Body = std::shared_ptr<const std::string>;

enum class Compression : uint8_t {
  kIfAccepted,  // gzip when the client takes it, the type compresses and the body is large enough
  kNever,
  kAlways,  // XProf's routes: gzip whatever the client says
};

struct Response {
  int status = 200;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;  // besides those of Finish
  Body body;
  std::function<void(StreamWriter&)> stream;  // instead of a body
  // Identity of the content without quotes; made from the body when empty and the answer may be
  // revalidated.
  std::string etag;
  std::string cache_control = "no-cache";
  bool revalidate = false;  // ETag and If-None-Match apply
  bool ranges = false;      // Range applies
  Compression compression = Compression::kIfAccepted;
  // The same content compressed ahead of time, where it is kept.
  Body gzip_body;
  Body brotli_body;
  std::string error_name;  // for the access log
  bool close_connection = false;
};

Response JsonResponse(std::string json, int status = 200);
Response TextResponse(std::string text, int status = 200);
// Immutable bytes under an address that names their version.
Response ImmutableResponse(std::string_view content_type, Body body, std::string etag);
Response StreamResponse(std::string content_type, std::function<void(StreamWriter&)> stream);
// Says that the answer is a file to keep, of that name: other characters than A-Z a-z 0-9 - _ .
// become _, so that every file system and every shell takes it; at most 200 letters of it.
void NameDownload(std::string_view name, Response* response);
// Status number from the code unless given. `request_id` may be empty.
Response ErrorResponse(const Status& error, std::string_view request_id, int status = 0);
// {"code", "name", "message", "where", "hint", "request_id"}; empty ones are null.
std::string ErrorJson(const Status& error, std::string_view request_id);

// "OK", "Not Found" ...
std::string_view ReasonPhrase(int status);

}  // namespace strobe::api
