#include "src/cli/server_connection.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "src/api/request.h"

namespace strobe::cli {
namespace {

constexpr std::string_view kPlain = "http://";
constexpr std::string_view kTls = "https://";

Status Unreachable(const ServerAddress& server, const std::string& reason) {
  return UnavailableError("SERVER_UNREACHABLE", "The server cannot be reached: " + reason)
      .Where(server.host + ":" + server.port)
      .Hint("Is it running, and is the port right?");
}

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // At least one byte, or -1; a server that went away raises no signal.
  ssize_t Send(const char* data, size_t size) {
    ssize_t sent = 0;
    do sent = send(descriptor_, data, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) error_ = errno;
    return sent;
  }
  // 0: the end; -1: an error.
  ssize_t Receive(char* buffer, size_t size) {
    ssize_t got = 0;
    do got = recv(descriptor_, buffer, size, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) error_ = errno;
    ended_ = ended_ || got == 0;
    return got;
  }
  bool ended() const { return ended_; }
  int error() const { return error_; }
  std::string Why() const {
    return error_ == EAGAIN ? "it does not answer in time"
                            : std::generic_category().message(error_ == 0 ? ECONNRESET : error_);
  }

 private:
  const int descriptor_;
  bool ended_ = false;
  int error_ = 0;
};

Result<int> Connect(const ServerAddress& server) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found);
  if (error != 0) return Unreachable(server, gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  int last_error = ECONNREFUSED;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int descriptor = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (descriptor < 0) continue;
    const timeval limit{.tv_sec = kTimeoutSeconds, .tv_usec = 0};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(descriptor, at->ai_addr, at->ai_addrlen) == 0) return descriptor;
    last_error = errno;
    close(descriptor);
  }
  return Unreachable(server, std::generic_category().message(last_error));
}

class PlainConnection final : public ServerConnection {
 public:
  PlainConnection(const ServerAddress& server, int descriptor)
      : server_(server), socket_(descriptor) {}
  Status Send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t sent = socket_.Send(bytes.data(), bytes.size());
      if (sent <= 0) return Unreachable(server_, socket_.Why());
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return OkStatus();
  }
  Result<size_t> Receive(char* buffer, size_t size) override {
    const ssize_t got = socket_.Receive(buffer, size);
    if (got < 0) return Unreachable(server_, socket_.Why());
    return static_cast<size_t>(got);
  }

 private:
  const ServerAddress server_;
  Socket socket_;
};

// ---- TLS

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

// OpenSSL's own socket would raise SIGPIPE.
BIO_METHOD* SocketMethod() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "strobe socket");
    STROBE_CHECK(made != nullptr);
    BIO_meth_set_write(made, [](BIO* bio, const char* data, int size) {
      return static_cast<int>(
          static_cast<Socket*>(BIO_get_data(bio))->Send(data, static_cast<size_t>(size)));
    });
    BIO_meth_set_read(made, [](BIO* bio, char* data, int size) {
      return static_cast<int>(
          static_cast<Socket*>(BIO_get_data(bio))->Receive(data, static_cast<size_t>(size)));
    });
    BIO_meth_set_ctrl(made, [](BIO* bio, int command, long /*number*/, void* /*pointer*/) -> long {
      if (command == BIO_CTRL_EOF) return static_cast<Socket*>(BIO_get_data(bio))->ended() ? 1 : 0;
      return command == BIO_CTRL_FLUSH ? 1 : 0;
    });
    return made;
  }();
  return method;
}

std::string WhatIsWrong(long verdict, const std::string& host) {
  switch (verdict) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "is from an authority that is not trusted here";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "is not for " + host;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "is not valid yet";
    default:
      return fmt::format("is not accepted: {}", X509_verify_cert_error_string(verdict));
  }
}

std::string AdviceFor(long verdict) {
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "Use the name that the certificate is for, or have one made for this name.";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "Give the server a new certificate (it reads it again on SIGHUP), or look at the "
             "clock.";
    default:
      return "Give the authority's certificate with --ca-file FILE or STROBE_CA_FILE.";
  }
}

class TlsConnection final : public ServerConnection {
 public:
  TlsConnection(const ServerAddress& server, int descriptor)
      : server_(server), socket_(descriptor) {}

  Status Begin(const std::string& ca_file) {
    ERR_clear_error();
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (context_ == nullptr) return InternalError("TLS_NOT_MADE", "TLS cannot be begun.");
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    const int trusted = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context_.get())
                                        : SSL_CTX_load_verify_file(context_.get(), ca_file.c_str());
    if (trusted != 1) {
      return InvalidArgumentError("CA_FILE", "No certificates of authorities can be read there.")
          .Where(ca_file.empty() ? "the system's" : ca_file)
          .Hint("Expected certificates in PEM form, of --ca-file or STROBE_CA_FILE.");
    }
    ssl_.reset(SSL_new(context_.get()));
    BIO* bio = BIO_new(SocketMethod());
    if (ssl_ == nullptr || bio == nullptr) {
      BIO_free(bio);
      return InternalError("TLS_NOT_MADE", "TLS cannot be begun.");
    }
    BIO_set_data(bio, &socket_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    in6_addr ignored;
    const bool numeric = inet_pton(AF_INET, server_.host.c_str(), &ignored) == 1 ||
                         inet_pton(AF_INET6, server_.host.c_str(), &ignored) == 1;
    const int named =
        numeric ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), server_.host.c_str())
                : SSL_set1_host(ssl_.get(), server_.host.c_str()) &
                      static_cast<int>(SSL_set_tlsext_host_name(ssl_.get(), server_.host.c_str()));
    if (named != 1) return InternalError("TLS_NOT_MADE", "TLS does not take the host's name.");
    return SSL_connect(ssl_.get()) == 1 ? OkStatus() : NotShaken();
  }

  Status Send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const size_t piece = std::min<size_t>(bytes.size(), 1 << 20);
      const int sent = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(piece));
      if (sent <= 0) return Unreachable(server_, socket_.Why());
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return OkStatus();
  }
  Result<size_t> Receive(char* buffer, size_t size) override {
    const int got = SSL_read(ssl_.get(), buffer, static_cast<int>(std::min<size_t>(size, 1 << 20)));
    if (got > 0) return static_cast<size_t>(got);
    // A connection that just ends: whether the answer was whole its own length says.
    const bool over = SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN || socket_.ended();
    ERR_clear_error();
    if (over) return size_t{0};
    return Unreachable(server_, socket_.error() != 0 ? socket_.Why() : "TLS broke off");
  }

 private:
  Status NotShaken() {
    const long verdict = SSL_get_verify_result(ssl_.get());
    const std::string where = server_.host + ":" + server_.port;
    const int reason = ERR_GET_REASON(ERR_peek_error());
    ERR_clear_error();
    if (verdict != X509_V_OK) {
      return Status(StatusCode::kUnauthenticated, "SERVER_CERTIFICATE",
                    "The server's certificate " + WhatIsWrong(verdict, server_.host) + ".")
          .Where(where)
          .Hint(AdviceFor(verdict));
    }
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
        reason == SSL_R_HTTP_REQUEST) {
      return UnavailableError("SERVER_NOT_TLS", "What answers there does not speak TLS.")
          .Where(where)
          .Hint("Write http:// when the server has no --tls-cert.");
    }
    return Unreachable(
        server_, socket_.error() != 0 ? socket_.Why() : "it and this program agree on no TLS");
  }

  const ServerAddress server_;
  Socket socket_;
  std::unique_ptr<SSL_CTX, FreeContext> context_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
};

}  // namespace

bool IsServerAddress(std::string_view place) {
  return place.starts_with(kPlain) || place.starts_with(kTls);
}

Result<ServerAddress> ParseServerAddress(std::string_view url) {
  const Status malformed =
      InvalidArgumentError("URL_MALFORMED", "The address of the server is not one we can use.")
          .Where(std::string(url.substr(0, 200)))
          .Hint("Write http://HOST:PORT/RUN, or https:// for a server with a certificate.");
  if (!IsServerAddress(url)) return malformed;
  ServerAddress server;
  server.tls = url.starts_with(kTls);
  url.remove_prefix(server.tls ? kTls.size() : kPlain.size());
  const size_t slash = std::min(url.find('/'), url.size());
  std::string_view authority = url.substr(0, slash);
  std::string_view path = url.substr(slash);
  path = path.substr(0, path.find_first_of("?#"));
  if (!api::PercentDecode(path, /*plus_is_space=*/false, &server.path)) return malformed;
  if (authority.find('@') != std::string_view::npos) return malformed;
  if (authority.starts_with('[')) {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return malformed;
    server.host = authority.substr(1, close - 1);
    authority.remove_prefix(close + 1);
  } else {
    const size_t colon = std::min(authority.find(':'), authority.size());
    server.host = authority.substr(0, colon);
    authority.remove_prefix(colon);
  }
  server.port = !authority.empty() ? std::string(authority.substr(1)) : server.tls ? "443" : "80";
  const std::optional<uint32_t> port = api::ParseUint32(server.port);
  const bool bad_port = !port || *port == 0 || *port > 65535;
  if (server.host.empty() || bad_port || (!authority.empty() && authority[0] != ':')) {
    return malformed;
  }
  return server;
}

std::string CaFileOf(const std::string& given) {
  if (!given.empty()) return given;
  const char* const set = std::getenv("STROBE_CA_FILE");
  return set == nullptr ? "" : set;
}

Result<std::unique_ptr<ServerConnection>> ServerConnection::Open(const ServerAddress& server,
                                                                 const std::string& ca_file) {
  STROBE_ASSIGN_OR_RETURN(const int descriptor, Connect(server));
  if (!server.tls) {
    return std::unique_ptr<ServerConnection>(std::make_unique<PlainConnection>(server, descriptor));
  }
  auto connection = std::make_unique<TlsConnection>(server, descriptor);
  STROBE_RETURN_IF_ERROR(connection->Begin(ca_file));
  return std::unique_ptr<ServerConnection>(std::move(connection));
}

}  // namespace strobe::cli
