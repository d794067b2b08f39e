// A small client for the few servers that whoever runs this one has named: the OIDC provider.
//
//   STROBE_ASSIGN_OR_RETURN(const FetchAnswer answer, Fetch({.url = "https://id.example.com/x"}));
//
// One request, one answer, no redirects followed, over the client of the object stores. TLS with
// the certificates checked; plain HTTP only to loopback. Blocks. Errors: FETCH_URL, FETCH_FAILED,
// FETCH_TOO_LARGE. Limits: kMaxFetchBytes, kFetchTimeoutSeconds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace strobe::api {

// Key sets and tokens are some kilobytes.
inline constexpr size_t kMaxFetchBytes = 1024 * 1024;
inline constexpr int kFetchTimeoutSeconds = 10;

struct FetchRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string form = {};  // not empty: a POST of it
};

struct FetchAnswer {
  int status = 0;
  std::string body;
};

Result<FetchAnswer> Fetch(const FetchRequest& request);
// OK for https://host/..., and http:// of loopback. Errors: FETCH_URL.
Status CheckFetchUrl(const std::string& url);

}  // namespace strobe::api
