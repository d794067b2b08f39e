// What is refused before any handler runs: requests that a foreign web page makes a browser send.
//
//   Guard guard({.listen_address = "127.0.0.1", .extra_hosts = {}});
//   if (Status status = guard.Check(request, &http_status); !status.ok()) return
//   ErrorResponse(status, id, http_status);
//
// Two attacks on a server without passwords on loopback: DNS rebinding (a foreign name that
// resolves to us; the Host header gives it away) and cross-site requests (the Origin and
// Sec-Fetch-Site headers give them away, and they cannot send application/json without asking).
// Errors: HOST_MISSING, HOST_REPEATED (400), HOST_NOT_ALLOWED (421), ORIGIN_NOT_ALLOWED (403),
// CONTENT_TYPE_NOT_JSON (415).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/api/request.h"
#include "src/base/status.h"

namespace strobe::api {

// OAuth 2.0 sends forms to its token endpoint.
inline constexpr std::string_view kTokenPath = "/token";

struct GuardOptions {
  std::string listen_address = "127.0.0.1";  // without port
  std::vector<std::string> extra_hosts;      // names under which we are reached, without port
};

class Guard {
 public:
  explicit Guard(GuardOptions options);
  // OK, or the error and the HTTP status that fits it.
  Status Check(const Request& request, int* http_status) const;
  bool HostAllowed(std::string_view host_header) const;

 private:
  GuardOptions options_;
  bool loopback_only_;
};

// ORIGIN_NOT_ALLOWED when a browser says that another site's page sends the request. Whatever
// starts work asks this, whatever its method.
Status CheckSameOrigin(const Request& request);
// "localhost:80" -> "localhost", "[::1]:80" -> "::1", "" when it is neither.
std::string HostWithoutPort(std::string_view host_header);
bool IsLoopbackHost(std::string_view host);  // localhost, *.localhost, 127.x.y.z, ::1
bool IsIpLiteral(std::string_view host);

}  // namespace strobe::api
