#include "src/api/guard.h"

#include <arpa/inet.h>

#include <algorithm>

namespace strobe::api {
namespace {

bool SameHost(std::string_view a, std::string_view b) { return EqualsIgnoreCase(a, b); }

// "https://host:port" -> "host:port"; empty when it is no such thing ("null").
std::string_view OriginHost(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

}  // namespace

std::string HostWithoutPort(std::string_view host_header) {
  std::string_view host = host_header;
  std::string_view port;
  if (host.starts_with('[')) {
    const size_t close = host.find(']');
    if (close == std::string_view::npos) return "";
    port = host.substr(close + 1);
    host = host.substr(1, close - 1);
    if (!port.empty() && port.front() != ':') return "";
  } else if (const size_t colon = host.find(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
    host = host.substr(0, colon);
  }
  if (!port.empty()) port.remove_prefix(1);
  if (!std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return "";
  }
  // A name with a final dot is the same name.
  if (host.ends_with('.')) host.remove_suffix(1);
  return ToLowerAscii(host);
}

bool IsIpLiteral(std::string_view host) {
  const std::string text(host);
  in6_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool IsLoopbackHost(std::string_view host) {
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  const std::string text(host);
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

Guard::Guard(GuardOptions options)
    : options_(std::move(options)), loopback_only_(IsLoopbackHost(options_.listen_address)) {}

bool Guard::HostAllowed(std::string_view host_header) const {
  const std::string host = HostWithoutPort(host_header);
  if (host.empty()) return false;
  if (IsLoopbackHost(host) || SameHost(host, options_.listen_address)) return true;
  for (const std::string& extra : options_.extra_hosts) {
    if (SameHost(host, extra)) return true;
  }
  // Rebinding needs a name; whoever writes our address itself means us.
  return !loopback_only_ && IsIpLiteral(host);
}

Status CheckSameOrigin(const Request& request) {
  const std::string_view site = request.HeaderValue("sec-fetch-site");
  const std::string_view origin = request.HeaderValue("origin");
  const bool foreign_origin =
      !origin.empty() && !EqualsIgnoreCase(OriginHost(origin), request.HeaderValue("host"));
  const bool foreign_site = !site.empty() && site != "same-origin" && site != "none";
  if (!foreign_origin && !foreign_site) return OkStatus();
  return PermissionDeniedError("ORIGIN_NOT_ALLOWED",
                               "Requests that change something are taken from our own pages only.")
      .Where(std::string(origin.substr(0, 256)))
      .Hint("Open the console at the server's own address, or send the request without Origin.");
}

Status Guard::Check(const Request& request, int* http_status) const {
  const size_t hosts = request.HeaderCount("host");
  if (hosts != 1 && !(hosts == 0 && request.http_1_0)) {
    *http_status = 400;
    return InvalidArgumentError(hosts == 0 ? "HOST_MISSING" : "HOST_REPEATED",
                                "A request carries exactly one Host header.")
        .Hint("Send \"Host: \" with the address of the server.");
  }
  const std::string_view host = request.HeaderValue("host");
  if (hosts == 1 && !HostAllowed(host)) {
    *http_status = 421;
    return PermissionDeniedError("HOST_NOT_ALLOWED", "This server is not known by that name.")
        .Where("Host: " + std::string(host.substr(0, 256)))
        .Hint(
            "Use 127.0.0.1 or localhost (ssh -L for a remote machine), or start the server with "
            "--allow-host NAME.");
  }
  if (request.method == Method::kGet || request.method == Method::kHead ||
      request.method == Method::kOptions) {
    return OkStatus();
  }
  if (Status status = CheckSameOrigin(request); !status.ok()) {
    *http_status = 403;
    return status;
  }
  // It has no body, and no browser sends it to another site without asking that site first.
  if (request.method == Method::kDelete) return OkStatus();
  // XProf's own clients send it without a body. Pages of others are kept out by their Origin.
  if (request.path == "/generate_cache") return OkStatus();
  const std::string_view type = request.HeaderValue("content-type");
  const std::string_view essence = TrimSpaces(type.substr(0, type.find(';')));
  // Parts of uploads. Like JSON, a page of another site cannot send this type without asking first.
  const bool part = request.method == Method::kPut && request.path.starts_with("/api/v1/uploads/");
  if (part && EqualsIgnoreCase(essence, "application/octet-stream")) return OkStatus();
  // Its right is what the form holds, nothing that a browser adds by itself.
  if (request.path == kTokenPath &&
      EqualsIgnoreCase(essence, "application/x-www-form-urlencoded")) {
    return OkStatus();
  }
  // OTLP's binary form, which no page can send to another site without asking first.
  const bool otlp = request.path == "/v1/metrics" || request.path == "/v1/logs";
  if (otlp && EqualsIgnoreCase(essence, "application/x-protobuf")) return OkStatus();
  if (!EqualsIgnoreCase(essence, "application/json")) {
    *http_status = 415;
    return InvalidArgumentError("CONTENT_TYPE_NOT_JSON",
                                "The body of this request must be declared as JSON.")
        .Where("Content-Type: " + std::string(type.substr(0, 128)))
        .Hint("Send \"Content-Type: application/json\".");
  }
  return OkStatus();
}

}  // namespace strobe::api
