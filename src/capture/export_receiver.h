// Takes what jobs export by gRPC (OTLP, Google's logging client): unary calls as they come,
// whatever their method, handed to one function. It knows nothing of what they mean.
//
//   STROBE_ASSIGN_OR_RETURN(auto receiver, ExportReceiver::Start({.address = "127.0.0.1:4317"},
//       [](const ExportCall& call) { return ExportReply{.body = Handle(call)}; }));
//   receiver->port();
//
// `handle` runs on the receiver's own threads (kReceiverThreads), may wait for the catalogue, and
// must be thread-safe. The destructor ends what runs within kShutdownMs. Limits: messages of
// kMaxExportBytes, kMaxExportStreams calls of one connection at once; gRPC tells callers of more to
// wait. Errors: EXPORT_LISTEN, EXPORT_TLS.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/status.h"

namespace strobe::capture {

// As large as an HTTP body of ours may be, four times over; exporters send some hundred points.
inline constexpr int kMaxExportBytes = 4 << 20;
inline constexpr int kMaxExportStreams = 64;
// Each waits for the catalogue, which writes one after the other.
inline constexpr int kReceiverThreads = 2;
inline constexpr int64_t kShutdownMs = 2'000;

struct ExportCall {
  std::string method;  // "/package.Service/Method"
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string peer;
  std::string body;
};

struct ExportReply {
  int grpc_code = 0;
  std::string message = {};
  std::string body = {};
};

struct ExportReceiverOptions {
  std::string address;               // host:port; port 0 takes any free one; empty: none
  std::string tls_certificate = {};  // files; empty: without TLS
  std::string tls_key = {};
  // Listens on loopback as well, without TLS: for calls whose TLS ends in front of it.
  bool tunnel = false;
};

class ExportReceiver {
 public:
  using Handler = std::function<ExportReply(const ExportCall&)>;
  static Result<std::unique_ptr<ExportReceiver>> Start(const ExportReceiverOptions& options,
                                                       Handler handler);
  virtual ~ExportReceiver() = default;
  virtual int port() const = 0;         // 0: none
  virtual int tunnel_port() const = 0;  // 0: none
};

}  // namespace strobe::capture
