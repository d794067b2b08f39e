#include "src/api/https_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "src/api/guard.h"
#include "src/api/request.h"

namespace strobe::api {
namespace {

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
  std::string target;
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
  url.target = rest.substr(slash);
  url.target = url.target.substr(0, url.target.find('#'));
  if (!url.target.starts_with('/')) url.target = "/" + url.target;
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

Status Failed(const Url& url, const std::string& reason) {
  return UnavailableError("FETCH_FAILED", "The server did not answer: " + reason + ".")
      .Where(url.host + ":" + url.port);
}

class Wire {
 public:
  ~Wire() {
    if (ssl_ != nullptr) SSL_free(ssl_);
    if (context_ != nullptr) SSL_CTX_free(context_);
    if (socket_ >= 0) close(socket_);
  }
  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  Status Connect(const Url& url) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
    if (error != 0) return Failed(url, gai_strerror(error));
    int last_error = ECONNREFUSED;
    for (const addrinfo* at = list.get(); at != nullptr && socket_ < 0; at = at->ai_next) {
      const int descriptor = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
      if (descriptor < 0) continue;
      const timeval limit{.tv_sec = kFetchTimeoutSeconds, .tv_usec = 0};
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
      if (connect(descriptor, at->ai_addr, at->ai_addrlen) == 0) {
        socket_ = descriptor;
      } else {
        last_error = errno;
        close(descriptor);
      }
    }
    if (socket_ < 0) return Failed(url, std::generic_category().message(last_error));
    return url.tls ? StartTls(url) : OkStatus();
  }

  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ssl_ != nullptr
                               ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                               : send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // 0 at the end, less on a fault.
  ssize_t Read(char* into, size_t size) {
    if (ssl_ == nullptr) return recv(socket_, into, size, 0);
    const int got = SSL_read(ssl_, into, static_cast<int>(size));
    if (got > 0) return got;
    return SSL_get_error(ssl_, got) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
  }

 private:
  Status StartTls(const Url& url) {
    context_ = SSL_CTX_new(TLS_client_method());
    STROBE_CHECK(context_ != nullptr);
    SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_default_verify_paths(context_);
    ssl_ = SSL_new(context_);
    const bool ready = SSL_set_tlsext_host_name(ssl_, url.host.c_str()) == 1 &&
                       SSL_set1_host(ssl_, url.host.c_str()) == 1 && SSL_set_fd(ssl_, socket_) == 1;
    if (ready && SSL_connect(ssl_) == 1) return OkStatus();
    const long verdict = SSL_get_verify_result(ssl_);
    return Failed(url, verdict == X509_V_OK ? "no TLS" : X509_verify_cert_error_string(verdict));
  }

  int socket_ = -1;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
};

}  // namespace

Status CheckFetchUrl(const std::string& url) { return ParseUrl(url).status(); }

Result<FetchAnswer> Fetch(const FetchRequest& request) {
  STROBE_ASSIGN_OR_RETURN(const Url url, ParseUrl(request.url));
  Wire wire;
  STROBE_RETURN_IF_ERROR(wire.Connect(url));
  // HTTP/1.0, so that the answer's end is its end and nothing is chunked.
  std::string head = fmt::format(
      "{} {} HTTP/1.0\r\nHost: {}:{}\r\nAccept: application/json\r\nConnection: close\r\n",
      request.form.empty() ? "GET" : "POST", url.target, url.host, url.port);
  for (const auto& [name, value] : request.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (!request.form.empty()) {
    head += fmt::format("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
                        request.form.size());
  }
  if (!wire.Write(head + "\r\n" + request.form)) return Failed(url, "it broke off");
  std::string bytes;
  std::string part(16 * 1024, '\0');
  for (;;) {
    const ssize_t got = wire.Read(part.data(), part.size());
    if (got < 0) return Failed(url, "it broke off");
    if (got == 0) break;
    bytes.append(part, 0, static_cast<size_t>(got));
    if (bytes.size() > kMaxFetchBytes) {
      return UnavailableError("FETCH_TOO_LARGE", "The server's answer is larger than is taken.")
          .Where(url.host);
    }
  }
  const size_t end = bytes.find("\r\n\r\n");
  const std::optional<uint32_t> status = bytes.starts_with("HTTP/1.") && bytes.size() > 12
                                             ? ParseUint32(std::string_view(bytes).substr(9, 3))
                                             : std::nullopt;
  if (end == std::string::npos || !status) return Failed(url, "it does not speak HTTP");
  return FetchAnswer{static_cast<int>(*status), bytes.substr(end + 4)};
}

}  // namespace strobe::api
