#include "src/capture/testing/fake_profiler_server.h"

#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "profiler_service.grpc.pb.h"
#include "src/base/status.h"
#include "src/wire/wire_writer.h"

namespace strobe::capture::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr char kBusyMessage[] = "Another profiling session active.";
// gRPC tells a synchronous handler of a cancelled call only when asked.
constexpr milliseconds kCancelLook(2);

int Listen(int* port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  STROBE_CHECK(listener >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  STROBE_CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
  STROBE_CHECK(listen(listener, 16) == 0);
  STROBE_CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  *port = ntohs(address.sin_port);
  return listener;
}

class Service final : public tensorflow::ProfilerService::Service {
 public:
  explicit Service(FakeProfilerServer::Script script) : script_(std::move(script)) {}

  grpc::Status Profile(grpc::ServerContext* context, const tensorflow::ProfileRequest* request,
                       tensorflow::ProfileResponse* response) override {
    std::unique_lock lock(mutex_);
    requests_.push_back(*request);
    if (busy_left_ > 0 || recording_) {
      if (busy_left_ > 0) --busy_left_;
      return {grpc::StatusCode::INTERNAL, kBusyMessage};
    }
    const grpc::Status failure(static_cast<grpc::StatusCode>(script_.fail_code),
                               script_.fail_message);
    if (!failure.ok() && !script_.fail_late) return failure;
    recording_ = true;
    changed_.notify_all();
    const grpc::Status status = Record(lock, *context, *request);
    recording_ = false;
    changed_.notify_all();
    if (!status.ok()) return status;
    if (!failure.ok()) return failure;
    response->set_xspace(script_.xspace);
    response->set_empty_trace(script_.empty_trace);
    for (int i = 0; i < script_.tool_data; ++i) response->add_tool_data()->set_name("overview");
    return grpc::Status::OK;
  }

  grpc::Status Terminate(grpc::ServerContext*, const tensorflow::TerminateRequest* request,
                         tensorflow::TerminateResponse*) override {
    std::lock_guard lock(mutex_);
    terminated_.push_back(request->session_id());
    changed_.notify_all();
    return grpc::Status::OK;
  }

  std::vector<tensorflow::ProfileRequest> requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  std::vector<std::string> terminated() const {
    std::lock_guard lock(mutex_);
    return terminated_;
  }
  void WaitUntilRecording() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return recording_; });
  }
  void Stop() {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }

 private:
  // Waits for the start (nothing can end that), then for the duration, Terminate or a lost client.
  grpc::Status Record(std::unique_lock<std::mutex>& lock, grpc::ServerContext& context,
                      const tensorflow::ProfileRequest& request) {
    const auto now_ns = std::chrono::nanoseconds(system_clock::now().time_since_epoch()).count();
    const int64_t lead_ns = static_cast<int64_t>(request.opts().start_timestamp_ns()) - now_ns;
    auto at = steady_clock::now();
    if (lead_ns > 0) at += std::chrono::nanoseconds(lead_ns);
    changed_.wait_until(lock, at, [this] { return stopping_; });
    at += milliseconds(request.opts().duration_ms());
    const auto ended = [&] {
      if (stopping_) return true;
      if (script_.deaf) return false;
      for (const std::string& id : terminated_) {
        if (id == request.session_id()) return true;
      }
      return false;
    };
    while (!ended() && (script_.hangs || steady_clock::now() < at)) {
      if (context.IsCancelled()) return grpc::Status::CANCELLED;
      changed_.wait_for(lock, kCancelLook);
    }
    const auto collected = steady_clock::now() + milliseconds(script_.collecting_ms);
    changed_.wait_until(lock, collected, [this] { return stopping_; });
    return stopping_ ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone") : grpc::Status::OK;
  }

  const FakeProfilerServer::Script script_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int busy_left_ = script_.busy_times;
  bool recording_ = false;
  bool stopping_ = false;
  std::vector<tensorflow::ProfileRequest> requests_;
  std::vector<std::string> terminated_;
};

// Planes of one large event each.
void AppendPadding(uint64_t size_bytes, std::string* space) {
  constexpr uint64_t kPartBytes = 1 << 20;
  space->reserve(space->size() + size_bytes + size_bytes / 1000 + 1000);
  while (size_bytes > 0) {
    const uint64_t part_bytes = std::min(size_bytes, kPartBytes);
    std::string stat, event, line, plane;
    wire::AppendBytesField(6, std::string(part_bytes, 'x'), &stat);
    wire::AppendBytesField(4, stat, &event);
    wire::AppendBytesField(4, event, &line);
    wire::AppendBytesField(3, line, &plane);
    wire::AppendBytesField(1, plane, space);
    size_bytes -= part_bytes;
  }
}

// Answers gRPC, but knows no profiler: as any other service on that port.
using OtherService = grpc::CallbackGenericService;

}  // namespace

std::string MakeXSpace(const XSpaceSpec& spec) {
  constexpr uint32_t kProcessIdKey = 9;
  std::string metadata;
  wire::AppendVarintField(1, kProcessIdKey, &metadata);
  wire::AppendBytesField(2, "process_id", &metadata);
  std::string entry;
  wire::AppendVarintField(1, kProcessIdKey, &entry);
  wire::AppendBytesField(2, metadata, &entry);
  std::string stat;
  wire::AppendVarintField(1, kProcessIdKey, &stat);
  wire::AppendSignedField(4, spec.process_id, &stat);
  std::string line;
  wire::AppendBytesField(2, "python", &line);
  for (int i = 0; i < spec.events; ++i) {
    std::string event;
    wire::AppendVarintField(1, 1, &event);
    wire::AppendVarintField(2, static_cast<uint64_t>(i) * 1000, &event);
    wire::AppendVarintField(3, 500, &event);
    wire::AppendBytesField(4, event, &line);
  }
  std::string plane;
  wire::AppendBytesField(2, "/host:CPU", &plane);
  wire::AppendBytesField(3, line, &plane);
  if (spec.process_id != 0) {
    wire::AppendBytesField(5, entry, &plane);
    wire::AppendBytesField(6, stat, &plane);
  }
  std::string space;
  wire::AppendBytesField(1, plane, &space);
  AppendPadding(spec.padding_bytes, &space);
  if (!spec.error.empty()) wire::AppendBytesField(2, spec.error, &space);
  if (!spec.hostname.empty()) wire::AppendBytesField(4, spec.hostname, &space);
  return space;
}

struct FakeProfilerServer::State {
  explicit State(Script script) : service(std::move(script)) {}
  Service service;
  OtherService other;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

FakeProfilerServer::FakeProfilerServer(Script script) {
  const bool without_service = script.without_service;
  state_ = std::make_unique<State>(std::move(script));
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxSendMessageSize(-1);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &state_->port);
  if (without_service) {
    builder.RegisterCallbackGenericService(&state_->other);
  } else {
    builder.RegisterService(&state_->service);
  }
  state_->server = builder.BuildAndStart();
  STROBE_CHECK(state_->server != nullptr && state_->port > 0);
}

FakeProfilerServer::~FakeProfilerServer() { Kill(); }

int FakeProfilerServer::port() const { return state_->port; }
std::string FakeProfilerServer::target() const {
  return "127.0.0.1:" + std::to_string(state_->port);
}
std::vector<tensorflow::ProfileRequest> FakeProfilerServer::requests() const {
  return state_->service.requests();
}
std::vector<std::string> FakeProfilerServer::terminated() const {
  return state_->service.terminated();
}
void FakeProfilerServer::WaitUntilRecording() const { state_->service.WaitUntilRecording(); }

void FakeProfilerServer::Kill() {
  state_->service.Stop();
  state_->server->Shutdown(system_clock::now());
  state_->server->Wait();
}

CuttingRelay::CuttingRelay(int server_port, uint64_t cut_after_bytes)
    : server_port_(server_port), cut_after_bytes_(cut_after_bytes) {
  listener_ = Listen(&port_);
  thread_ = std::thread([this] { Serve(); });
}

CuttingRelay::~CuttingRelay() {
  shutdown(listener_, SHUT_RDWR);  // wakes accept()
  thread_.join();
  close(listener_);
}

void CuttingRelay::Serve() {
  for (;;) {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    Relay(client);
  }
}

void CuttingRelay::Relay(int client) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(server_port_));
  STROBE_CHECK(connect(server, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  std::array<pollfd, 2> ends = {{{client, POLLIN, 0}, {server, POLLIN, 0}}};
  std::array<char, 64 * 1024> buffer;
  uint64_t to_client = 0;
  while (to_client < cut_after_bytes_ && poll(ends.data(), ends.size(), -1) > 0) {
    bool closed = false;
    for (size_t i = 0; i < ends.size() && !closed; ++i) {
      if (ends[i].revents == 0) continue;
      const ssize_t count = read(ends[i].fd, buffer.data(), buffer.size());
      closed = count <= 0 ||
               send(ends[1 - i].fd, buffer.data(), static_cast<size_t>(count), MSG_NOSIGNAL) < 0;
      if (i == 1 && count > 0) to_client += static_cast<uint64_t>(count);
    }
    if (closed) break;
  }
  const linger reset{1, 0};
  setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  close(client);
  close(server);
}

SilentListener::SilentListener() { listener_ = Listen(&port_); }
SilentListener::~SilentListener() { close(listener_); }

int UnusedPort() {
  int port = 0;
  close(Listen(&port));
  return port;
}

}  // namespace strobe::capture::testing
