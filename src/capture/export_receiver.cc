#include "src/capture/export_receiver.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <fstream>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <sstream>
#include <thread>

#include "src/base/log.h"
#include "src/capture/target.h"

namespace strobe::capture {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (file && !text.str().empty()) return text.str();
  return NotFoundError("EXPORT_TLS", "The certificate or its key cannot be read.").Where(path);
}

Result<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(
    const ExportReceiverOptions& options) {
  if (options.tls_certificate.empty()) return grpc::InsecureServerCredentials();
  STROBE_ASSIGN_OR_RETURN(const std::string certificate, ReadFile(options.tls_certificate));
  STROBE_ASSIGN_OR_RETURN(const std::string key, ReadFile(options.tls_key));
  grpc::SslServerCredentialsOptions ssl;
  ssl.pem_key_cert_pairs.push_back({key, certificate});
  return grpc::SslServerCredentials(ssl);
}

std::string Joined(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return "";
  std::string bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

// The end of the queue: what is begun on a queue that was shut down stops the process, so nobody
// begins anything after End.
class Gate {
 public:
  // False, and nothing begun, after the end.
  template <typename Work>
  bool Begin(const Work& work) {
    const std::shared_lock lock(mutex_);
    if (!ended_) work();
    return !ended_;
  }
  void End() {
    const std::unique_lock lock(mutex_);
    ended_ = true;
  }

 private:
  std::shared_mutex mutex_;
  bool ended_ = false;
};

// One call from its arrival to its answer; it waits for the next as soon as it has come itself, and
// deletes itself. Steps of one call never run at the same time.
class Call {
 public:
  static void AwaitNext(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue,
                        const ExportReceiver::Handler& handler, Gate& gate) {
    auto call = std::unique_ptr<Call>(new Call(service, queue, handler, gate));
    const bool begun = gate.Begin(
        [&] { service.RequestCall(&call->context_, &call->stream_, &queue, &queue, call.get()); });
    if (begun) (void)call.release();  // its own from here
  }

  // `ok` false: the server ends, or the caller went away.
  void Step(bool ok) {
    switch (at_) {
      case At::kWaiting:
        if (!ok) break;
        AwaitNext(service_, queue_, handler_, gate_);
        at_ = At::kReading;
        if (gate_.Begin([this] { stream_.Read(&request_, this); })) return;
        break;
      case At::kReading:
        at_ = At::kAnswering;
        if (ok ? Answer() : Refuse(grpc::StatusCode::INVALID_ARGUMENT, "no message")) return;
        break;
      case At::kAnswering:
        break;
    }
    delete this;
  }

 private:
  enum class At : uint8_t { kWaiting, kReading, kAnswering };

  Call(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue,
       const ExportReceiver::Handler& handler, Gate& gate)
      : service_(service), queue_(queue), handler_(handler), gate_(gate), stream_(&context_) {}

  // Both: false when the receiver has ended meanwhile.
  bool Refuse(grpc::StatusCode code, const std::string& message) {
    return gate_.Begin([&] { stream_.Finish(grpc::Status(code, message), this); });
  }
  bool Answer() {
    ExportCall call{.method = context_.method(),
                    .metadata = {},
                    .peer = context_.peer(),
                    .body = Joined(request_)};
    request_.Clear();
    for (const auto& [name, value] : context_.client_metadata()) {
      call.metadata.emplace_back(std::string(name.data(), name.size()),
                                 std::string(value.data(), value.size()));
    }
    const ExportReply reply = handler_(call);
    if (reply.grpc_code != 0) {
      return Refuse(static_cast<grpc::StatusCode>(reply.grpc_code), CleanText(reply.message));
    }
    const grpc::Slice slice(reply.body);
    return gate_.Begin(
        [&] { stream_.WriteAndFinish(grpc::ByteBuffer(&slice, 1), {}, grpc::Status::OK, this); });
  }

  grpc::AsyncGenericService& service_;
  grpc::ServerCompletionQueue& queue_;
  const ExportReceiver::Handler& handler_;
  Gate& gate_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_;
  grpc::ByteBuffer request_;
  At at_ = At::kWaiting;
};

class GrpcReceiver final : public ExportReceiver {
 public:
  explicit GrpcReceiver(Handler handler) : handler_(std::move(handler)) {}

  Status Listen(const ExportReceiverOptions& options) {
    STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ServerCredentials> credentials,
                            CredentialsOf(options));
    grpc::ServerBuilder builder;
    if (!options.address.empty()) builder.AddListeningPort(options.address, credentials, &port_);
    if (options.tunnel) {
      builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &tunnel_port_);
    }
    builder.RegisterAsyncGenericService(&service_);
    builder.SetMaxReceiveMessageSize(kMaxExportBytes);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxExportStreams);
    // Two servers on one port would each get half of what comes.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    const bool all =
        (options.address.empty() || port_ != 0) && (!options.tunnel || tunnel_port_ != 0);
    if (server_ == nullptr || !all) {
      return UnavailableError("EXPORT_LISTEN", "The address for exporters cannot be listened on.")
          .Where(options.address)
          .Hint("Choose another address or port, or end what listens there.");
    }
    Call::AwaitNext(service_, *queue_, handler_, gate_);
    for (int i = 0; i < kReceiverThreads; ++i) {
      threads_.emplace_back([this] {
        void* tag = nullptr;
        bool ok = false;
        while (queue_->Next(&tag, &ok)) static_cast<Call*>(tag)->Step(ok);
      });
    }
    return OkStatus();
  }

  ~GrpcReceiver() override {
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(kShutdownMs));
    }
    gate_.End();
    if (queue_ != nullptr) queue_->Shutdown();
    for (std::thread& thread : threads_) thread.join();
    // Without threads nobody has drained it.
    void* tag = nullptr;
    bool ok = false;
    while (threads_.empty() && queue_ != nullptr && queue_->Next(&tag, &ok)) {
      static_cast<Call*>(tag)->Step(false);
    }
  }

  int port() const override { return port_; }
  int tunnel_port() const override { return tunnel_port_; }

 private:
  const Handler handler_;
  Gate gate_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::thread> threads_;
  int port_ = 0;
  int tunnel_port_ = 0;
};

}  // namespace

Result<std::unique_ptr<ExportReceiver>> ExportReceiver::Start(const ExportReceiverOptions& options,
                                                              Handler handler) {
  auto receiver = std::make_unique<GrpcReceiver>(std::move(handler));
  STROBE_RETURN_IF_ERROR(receiver->Listen(options));
  LogInfo("export.listening", {{"port", receiver->port()}});
  return std::unique_ptr<ExportReceiver>(std::move(receiver));
}

}  // namespace strobe::capture
