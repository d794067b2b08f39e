// The HTTP/1.1 server: sockets, limits and threads around a Router.
//
//   Server::Parts parts{.router = router, .guard = guard, .metrics = metrics, .clock = clock, .ids
//   = ids}; STROBE_ASSIGN_OR_RETURN(std::unique_ptr<Server> server, Server::Start({.port = 0},
//   parts)); Print(server->port()); WaitForSignal(); server->Shutdown();     // stops accepting,
//   lets what runs finish, ends streams
//
// A few io threads do all reading and writing and never block; handlers run on two pools, what a
// page waits for and what may compute for long, each shared fairly by users (base/fair_queue.h: a
// user is what Router::UserOf says); streams on a thread each (max_streams). A request whose client
// has gone before its turn is not begun. Keep-alive and pipelining: one request of a connection is
// answered at a time, in order. When a client goes away its request's cancel token is set. Every
// limit is in ServerOptions, and whoever meets one gets a named error. HTTP/2 is not spoken: by TLS
// it can be led on (LeadHttp2To). Boost is seen only by server.cc and connection.cc. Cost: about 15
// us a small request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "src/api/guard.h"
#include "src/api/metrics.h"
#include "src/api/request.h"
#include "src/api/router.h"
#include "src/api/trusted_proxies.h"
#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/base/status.h"

namespace strobe::api {

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IP address or "localhost"
  uint16_t port = 0;                  // 0: any free one
  int io_threads = 2;
  // Handlers wait for the engine, which has threads of its own, so more than cores.
  int handler_threads = 8;
  // For routes that compute for long (RunOn::kWorkPool). 0: one a core, at least kMinWorkThreads.
  int work_threads = 0;
  // A browser takes 6, a page of 20 users 120; ten times that is a fault or an attack.
  size_t max_connections = 1024;
  size_t max_connections_per_peer = 512;
  size_t max_streams = 64;
  size_t max_header_bytes = kMaxHeaderBytes;
  size_t max_body_bytes = kMaxBodyBytes;
  int64_t idle_timeout_ms = 75'000;       // between two requests; longer than proxies keep
  int64_t header_timeout_ms = 10'000;     // from the first byte to the end of the head
  int64_t body_timeout_ms = 30'000;       // for the whole body
  int64_t write_timeout_ms = 30'000;      // for each kWriteSliceBytes
  int64_t request_deadline_ms = 120'000;  // from the whole request to the answer
  int64_t drain_timeout_ms = 10'000;      // what runs may take this long at shutdown
  // PEM files; both empty: plain HTTP.
  std::string tls_certificate;
  std::string tls_key;
};

inline constexpr int kMinWorkThreads = 4;
// What may wait for each of the two pools, and of one user: half, so that nobody fills it for all.
inline constexpr size_t kMaxWaitingRequests = 1024;
inline constexpr size_t kMaxWaitingRequestsOfUser = 512;
// Long work gives way to what a page waits for: a core's worth of that gets nine tenths of a core.
inline constexpr int kWorkNiceness = 10;
inline constexpr size_t kWriteSliceBytes = 256 * 1024;
// What a stream may be ahead of its client before Write blocks.
inline constexpr size_t kMaxStreamAheadBytes = 1024 * 1024;

class Server {
 public:
  struct Parts {
    const Router& router;
    const Guard& guard;
    HttpMetrics& metrics;
    const Clock& clock;
    const IdMaker& ids;
    const TrustedProxies* proxies = nullptr;  // null: none
  };

  // Listening when it returns. Errors: LISTEN_ADDRESS_INVALID, LISTEN_FAILED, TLS_FILES.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Parts parts);
  virtual ~Server() = default;  // shuts down

  virtual uint16_t port() const = 0;
  // Blocks until everything has ended; safe to call twice and from any thread but the server's own.
  virtual void Shutdown() = 0;
  virtual bool draining() const = 0;
  // Reads certificate and key again, for new connections; when they are no good the old ones stay.
  // Errors: TLS_FILES.
  virtual Status ReloadTls() = 0;
  // From now on TLS clients that speak HTTP/2 only, as gRPC does, are led to this port of loopback,
  // where it goes on without TLS.
  virtual void LeadHttp2To(uint16_t port) = 0;
  // Whose such a connection is, by its address there ("ipv4:127.0.0.1:4711"); "" when it is none.
  virtual std::string PeerOfHttp2(std::string_view address) const = 0;
};

// The head and body of one request out of bytes, as the server reads it: for the fuzzer and tests.
// Errors: REQUEST_MALFORMED, REQUEST_INCOMPLETE, TARGET_*.
Result<Request> ParseWholeRequest(std::string_view bytes);

}  // namespace strobe::api
