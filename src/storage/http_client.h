// HTTP as the object stores need it: one request, one answer in memory.
//
//   std::shared_ptr<HttpClient> client = MakeHttpClient({});
//   STROBE_ASSIGN_OR_RETURN(HttpAnswer answer, client->Send({.url = "https://..."}, cancel));
//   if (answer.status == 206) Use(answer.body);
//
// One thread drives all transfers (libcurl's multi interface); connections are kept and shared by
// all callers. Send blocks until the answer is whole, the request's time is over or the token is
// set (looked at every kCancelLookMs). Redirects are not followed; only http and https are spoken;
// certificates are checked. Errors: OBJECT_STORE_UNREACHABLE, OBJECT_STORE_TIMEOUT,
// OBJECT_BODY_SHORT, OBJECT_ANSWER_TOO_LARGE, CANCELLED. An error tells the address without its
// query, and never a header. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::storage {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};
  HttpHeaders headers = {};
  std::string_view body = {};  // must live until Send returns
  int64_t timeout_ms = 60'000;
  uint64_t max_body_bytes = uint64_t{80} << 20;
};

struct HttpAnswer {
  int status = 0;
  HttpHeaders headers;  // names in lower case
  std::string body;
  // "" when it is not there.
  std::string_view Header(std::string_view lower_case_name) const;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual Result<HttpAnswer> Send(const HttpRequest& request, const CancelToken& cancel) = 0;
};

struct HttpClientOptions {
  int64_t connect_timeout_ms = 10'000;
  // Fewer than this many bytes a second for this long is as good as a lost connection.
  int64_t low_speed_bytes = 1024;
  int64_t low_speed_seconds = 30;
  int64_t max_connections = 64;
  std::string authorities_file = {};  // of certificates; empty: the system's
};
std::shared_ptr<HttpClient> MakeHttpClient(const HttpClientOptions& options);

// Every byte but letters, digits and -._~ as %XX; "/" stays when `keep_slashes`.
std::string PercentEncode(std::string_view text, bool keep_slashes);
std::string PercentDecodeText(std::string_view text);
// Without query: what may be shown.
std::string UrlForPeople(std::string_view url);

}  // namespace strobe::storage
