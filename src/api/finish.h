// Fits an answer to its request: ETag and 304, ranges, compression, HEAD, the strict headers, and
// the bytes of the head as they go on the wire.
//
//   WireResponse wire = Finish(request, std::move(response), {.now_unix_seconds = now});
//   Send(wire.head); Send(wire.body_view());
//
// Pure function of its arguments, so the fuzzer and the tests use it without sockets. Every answer
// of the server passes here, errors too; kStrictHeaders are therefore on all of them. Cost: level 1
// compression of bodies above kMinCompressedBytes, else a few hundred nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "src/api/request.h"
#include "src/api/response.h"

namespace strobe::api {

// Below this a packet is sent anyway and compression only costs.
inline constexpr size_t kMinCompressedBytes = 1024;

// Sent with every answer. The page may load only from us; no inline script, no eval. `blob:` for
// images is what the console uses to save a picture of the timeline.
inline constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'self'; "
    "form-action 'none'; frame-ancestors 'self'";

struct FinishOptions {
  int64_t now_unix_seconds = 0;
  bool keep_alive = true;
};

struct WireResponse {
  int status = 200;
  std::string head;
  Body body;  // null: none
  size_t body_offset = 0;
  size_t body_length = 0;
  std::function<void(StreamWriter&)> stream;
  bool chunked = false;
  bool close = false;
  std::string error_name;

  std::string_view body_view() const {
    return body ? std::string_view(*body).substr(body_offset, body_length) : std::string_view();
  }
};

WireResponse Finish(const Request& request, Response response, const FinishOptions& options);

// Whether an Accept-Encoding header takes `encoding` (q=0 means no, "*" means any other).
bool AcceptsEncoding(std::string_view header, std::string_view encoding);
// Whether an If-None-Match header names the content `etag` in any encoding.
bool MatchesEtag(std::string_view header, std::string_view etag);

struct ByteSpan {
  size_t offset = 0;
  size_t length = 0;
};
enum class RangeOutcome : uint8_t { kWhole, kPart, kUnsatisfiable };
// One "bytes=a-b", "bytes=a-", "bytes=-n"; several or malformed ones give the whole, as RFC 9110
// allows.
RangeOutcome ParseRange(std::string_view header, size_t size_bytes, ByteSpan* span);
// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string HttpDate(int64_t unix_seconds);

}  // namespace strobe::api
