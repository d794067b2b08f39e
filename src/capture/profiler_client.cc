#include "src/capture/profiler_client.h"

#include <grpc/support/log.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "profiler_service.pb.h"
#include "src/base/log.h"

namespace strobe::capture {
namespace {

constexpr char kProfileMethod[] = "/tensorflow.ProfilerService/Profile";
constexpr char kTerminateMethod[] = "/tensorflow.ProfilerService/Terminate";
// Terminate answers within milliseconds; it is sent again anyway.
constexpr int64_t kTerminateDeadlineMs = 5'000;
// What XProf's own client sends; no server was seen to look at it.
constexpr uint64_t kMaxEvents = 1'000'000;
// Level 0 of the options means "ignore the levels".
constexpr uint32_t kOptionsVersion = 1;
// Large answers in few frames: HTTP/2's default of 16 KiB makes 12,800 pieces of 200 MB.
constexpr int kMaxFrameBytes = 1 << 20;
constexpr int kConnectMarginMs = 1'000;

using ProfileStub = grpc::TemplatedGenericStub<tensorflow::ProfileRequest, grpc::ByteBuffer>;
using TerminateStub = grpc::TemplatedGenericStub<tensorflow::TerminateRequest, grpc::ByteBuffer>;

// gRPC writes its own lines to standard error; ours is one JSON object a line.
void RouteGrpcLog() {
  static const bool routed = [] {
    gpr_set_log_function(
        [](gpr_log_func_args* line) { LogDebug("grpc", {{"text", line->message}}); });
    return true;
  }();
  (void)routed;
}

std::chrono::system_clock::time_point DeadlineIn(int64_t milliseconds) {
  return std::chrono::system_clock::now() + std::chrono::milliseconds(milliseconds);
}

class ReceivedSlices : public ReceivedBytes {
 public:
  explicit ReceivedSlices(std::vector<grpc::Slice> slices) : slices_(std::move(slices)) {
    for (const grpc::Slice& slice : slices_) size_bytes_ += slice.size();
  }
  std::vector<std::string_view> pieces() const override {
    std::vector<std::string_view> pieces;
    pieces.reserve(slices_.size());
    for (const grpc::Slice& slice : slices_) {
      pieces.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    return pieces;
  }
  uint64_t size_bytes() const override { return size_bytes_; }

 private:
  std::vector<grpc::Slice> slices_;
  uint64_t size_bytes_ = 0;
};

CallCode CodeOf(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return CallCode::kOk;
    case grpc::StatusCode::CANCELLED:
      return CallCode::kCancelled;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return CallCode::kDeadline;
    case grpc::StatusCode::UNIMPLEMENTED:
      return CallCode::kUnimplemented;
    case grpc::StatusCode::UNAVAILABLE:
      return CallCode::kUnavailable;
    case grpc::StatusCode::ALREADY_EXISTS:
      return CallCode::kBusy;
    default:
      // JAX's server says INTERNAL "Another profiling session active."
      return status.error_message().find("profiling session active") != std::string::npos
                 ? CallCode::kBusy
                 : CallCode::kOther;
  }
}

struct PendingProfile {
  grpc::ClientContext context;
  tensorflow::ProfileRequest request;
  grpc::ByteBuffer response;
};

struct PendingTerminate {
  grpc::ClientContext context;
  tensorflow::TerminateRequest request;
  grpc::ByteBuffer response;
};

CallOutcome OutcomeOf(const grpc::Status& status, grpc::ByteBuffer* response) {
  CallOutcome outcome{CodeOf(status), CleanText(status.error_message()), nullptr};
  if (!status.ok()) return outcome;
  std::vector<grpc::Slice> slices;
  if (const grpc::Status dumped = response->Dump(&slices); !dumped.ok()) {
    outcome.code = CallCode::kOther;
    outcome.message = CleanText(dumped.error_message());
    return outcome;
  }
  response->Clear();
  outcome.bytes = std::make_shared<ReceivedSlices>(std::move(slices));
  return outcome;
}

void FillRequest(const ProfileCall& call, tensorflow::ProfileRequest* request) {
  const auto duration_ms = static_cast<uint64_t>(call.duration_ms);
  request->set_duration_ms(duration_ms);
  request->set_max_events(kMaxEvents);
  request->set_session_id(call.session_id);
  request->set_host_name(call.host_name);
  request->set_emit_xspace(true);
  tensorflow::ProfileOptions* options = request->mutable_opts();
  options->set_version(kOptionsVersion);
  options->set_duration_ms(duration_ms);
  options->set_start_timestamp_ns(static_cast<uint64_t>(call.start_unix_ns));
  options->set_include_dataset_ops(true);
  options->set_enable_hlo_proto(true);
  options->set_host_tracer_level(call.host_tracer_level);
  options->set_device_tracer_level(call.device_tracer_level);
  options->set_python_tracer_level(call.python_tracer_level);
  options->set_session_id(call.session_id);
  options->set_override_hostname(call.host_name);
  for (const auto& [key, value] : call.options) {
    tensorflow::AdvancedConfigValue& sent = (*options->mutable_advanced_configuration())[key];
    if (const auto* text = std::get_if<std::string>(&value)) sent.set_string_value(*text);
    if (const auto* truth = std::get_if<bool>(&value)) sent.set_bool_value(*truth);
    if (const auto* number = std::get_if<int64_t>(&value)) sent.set_int64_value(*number);
  }
}

// gRPC makes a connection only while something of it waits on a queue (else it looks every 5 s):
// one thread waits on one queue for all channels that are connecting. Lives while channels do.
class ConnectionPoller {
 public:
  static std::shared_ptr<ConnectionPoller> Shared() {
    static std::mutex* const mutex = new std::mutex;
    static auto* const shared = new std::weak_ptr<ConnectionPoller>;
    std::lock_guard lock(*mutex);
    std::shared_ptr<ConnectionPoller> poller = shared->lock();
    if (poller == nullptr) {
      poller = std::make_shared<ConnectionPoller>();
      *shared = poller;
    }
    return poller;
  }

  ConnectionPoller() : thread_([this] { Poll(); }) {}
  ~ConnectionPoller() {
    queue_.Shutdown();
    thread_.join();  // after the watches under way, at most kWatchMs
  }

  // Waits a while for the channel to leave `state`; `armed` is cleared when the wait is over.
  void Watch(grpc::Channel& channel, grpc_connectivity_state state,
             const std::shared_ptr<std::atomic<bool>>& armed) {
    armed->store(true);
    channel.NotifyOnStateChange(state, DeadlineIn(kWatchMs), &queue_, new Tag(armed));
  }

 private:
  using Tag = std::shared_ptr<std::atomic<bool>>;
  static constexpr int64_t kWatchMs = 250;

  void Poll() {
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
      const std::unique_ptr<Tag> armed(static_cast<Tag*>(tag));
      (*armed)->store(false);
    }
  }

  grpc::CompletionQueue queue_;
  std::thread thread_;
};

class GrpcChannel : public ProfilerChannel {
 public:
  explicit GrpcChannel(std::shared_ptr<grpc::Channel> channel)
      : poller_(ConnectionPoller::Shared()), channel_(std::move(channel)) {}
  ~GrpcChannel() override { DropProfile(); }

  Link link() override {
    const grpc_connectivity_state state = channel_->GetState(/*try_to_connect=*/true);
    switch (state) {
      case GRPC_CHANNEL_READY:
        return Link::kReady;
      case GRPC_CHANNEL_TRANSIENT_FAILURE:
      case GRPC_CHANNEL_SHUTDOWN:
        return Link::kFailed;
      default:
        if (!watched_->load()) poller_->Watch(*channel_, state, watched_);
        return Link::kConnecting;
    }
  }

  void StartProfile(const ProfileCall& call, int64_t deadline_ms,
                    std::function<void(CallOutcome)> done) override {
    auto pending = std::make_shared<PendingProfile>();
    pending->context.set_deadline(DeadlineIn(deadline_ms));
    FillRequest(call, &pending->request);
    {
      std::lock_guard lock(mutex_);
      running_ = pending;
    }
    // The stub is taken along so that the channel outlives the call.
    auto stub = std::make_shared<ProfileStub>(channel_);
    stub->UnaryCall(&pending->context, kProfileMethod, grpc::StubOptions(), &pending->request,
                    &pending->response,
                    [pending, stub, done = std::move(done)](const grpc::Status& status) {
                      done(OutcomeOf(status, &pending->response));
                    });
  }

  void DropProfile() override {
    std::lock_guard lock(mutex_);
    if (const std::shared_ptr<PendingProfile> pending = running_.lock()) {
      pending->context.TryCancel();
    }
  }

  void Terminate(const std::string& session_id) override {
    auto pending = std::make_shared<PendingTerminate>();
    pending->context.set_deadline(DeadlineIn(kTerminateDeadlineMs));
    pending->request.set_session_id(session_id);
    auto stub = std::make_shared<TerminateStub>(channel_);
    stub->UnaryCall(&pending->context, kTerminateMethod, grpc::StubOptions(), &pending->request,
                    &pending->response, [pending, stub](const grpc::Status& status) {
                      if (!status.ok()) {
                        LogDebug("capture.terminate_failed",
                                 {{"error", CleanText(status.error_message())}});
                      }
                    });
  }

 private:
  const std::shared_ptr<ConnectionPoller> poller_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::shared_ptr<std::atomic<bool>> watched_ = std::make_shared<std::atomic<bool>>(false);
  std::mutex mutex_;
  std::weak_ptr<PendingProfile> running_;
};

}  // namespace

std::unique_ptr<ProfilerChannel> ProfilerChannel::Open(const Target& target,
                                                       int64_t connect_timeout_ms) {
  RouteGrpcLog();
  const int timeout_ms = static_cast<int>(std::clamp<int64_t>(connect_timeout_ms, 1, 600'000));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrameBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_DNS_ENABLE_SRV_QUERIES, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // a second recording is never the same
  // The time that one attempt may take; the caller's own limit runs out first.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, timeout_ms + kConnectMarginMs);
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, target.authority);
  return std::make_unique<GrpcChannel>(grpc::CreateCustomChannel(
      target.grpc_address, grpc::InsecureChannelCredentials(), arguments));
}

}  // namespace strobe::capture
