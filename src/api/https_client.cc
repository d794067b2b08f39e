#include "src/api/https_client.h"

#include <algorithm>
#include <utility>

#include "src/api/guard.h"
#include "src/api/request.h"
#include "src/storage/cloud_context.h"

namespace strobe::api {
namespace {

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
};

Result<Url> ParseUrl(const std::string& text) {
  const Status wrong =
      InvalidArgumentError("FETCH_URL", "This is no address that is asked from here.")
          .Where(text.substr(0, 200))
          .Hint("Expected https://HOST/PATH; http:// is for loopback only.");
  Url url;
  std::string_view rest = text;
  url.tls = rest.starts_with("https://");
  if (!url.tls && !rest.starts_with("http://")) return wrong;
  rest.remove_prefix(url.tls ? 8 : 7);
  const size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, slash);
  const size_t colon = authority.rfind(':');
  url.port = url.tls ? "443" : "80";
  if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
    url.port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) {
    authority = authority.substr(1, authority.size() - 2);
  }
  url.host = authority;
  const bool clean = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7F && c != '@' && c != '\\';
  });
  if (!clean || url.host.empty() || !ParseUint32(url.port)) return wrong;
  if (!url.tls && !IsLoopbackHost(url.host)) return wrong;
  return url;
}

}  // namespace

Status CheckFetchUrl(const std::string& url) { return ParseUrl(url).status(); }

Result<FetchAnswer> Fetch(const FetchRequest& request) {
  STROBE_ASSIGN_OR_RETURN(const Url url, ParseUrl(request.url));
  storage::HttpRequest asked{.method = request.form.empty() ? "GET" : "POST",
                             .url = request.url,
                             .headers = request.headers,
                             .body = request.form,
                             .timeout_ms = kFetchTimeoutSeconds * 1000,
                             .max_body_bytes = kMaxFetchBytes};
  asked.headers.emplace_back("Accept", "application/json");
  if (!request.form.empty()) {
    asked.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  }
  Result<storage::HttpAnswer> answer =
      storage::SystemCloudContext().http->Send(asked, CancelToken());
  if (answer.ok()) return FetchAnswer{answer->status, std::move(answer->body)};
  if (answer.status().name() == "OBJECT_ANSWER_TOO_LARGE") {
    return UnavailableError("FETCH_TOO_LARGE", "The server's answer is larger than is taken.")
        .Where(url.host);
  }
  return UnavailableError("FETCH_FAILED",
                          "The server did not answer: " + std::string(answer.status().message()))
      .Where(url.host + ":" + url.port);
}

}  // namespace strobe::api
