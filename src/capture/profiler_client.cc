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
// How long one watch of a connecting channel lasts; it is renewed.
constexpr int64_t kWatchMs = 250;

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

// One queue and one thread for everything that gRPC does for captures: connecting, calls, answers.
// (Its own callback threads are no choice: they end with the last channel, and a channel that is
// let go of inside a callback then makes the thread wait for itself.) Lives as long as the process.
class Poller {
 public:
  class Tag {
   public:
    virtual ~Tag() = default;
    virtual void Complete() = 0;
  };

  static Poller& Get() {
    static auto* const poller = new Poller;
    return *poller;
  }
  grpc::CompletionQueue& queue() { return queue_; }

 private:
  Poller() {
    std::thread([this] {
      void* tag = nullptr;
      bool ok = false;  // says nothing that the status of a call does not say
      while (queue_.Next(&tag, &ok)) {
        const std::unique_ptr<Tag> done(static_cast<Tag*>(tag));
        done->Complete();
      }
    }).detach();
  }

  grpc::CompletionQueue queue_;
};

// A call under way: holds all that gRPC needs until it is complete, the channel too.
template <typename Request>
struct Call {
  using Stub = grpc::TemplatedGenericStub<Request, grpc::ByteBuffer>;
  std::shared_ptr<grpc::Channel> channel;
  grpc::ClientContext context;
  Request request;
  grpc::ByteBuffer response;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
  std::function<void(Call&)> done;

  class DoneTag : public Poller::Tag {
   public:
    explicit DoneTag(std::shared_ptr<Call> call) : call_(std::move(call)) {}
    void Complete() override { call_->done(*call_); }

   private:
    const std::shared_ptr<Call> call_;
  };

  static void Start(const std::shared_ptr<Call>& call, const char* method) {
    Stub stub(call->channel);
    call->reader =
        stub.PrepareUnaryCall(&call->context, method, call->request, &Poller::Get().queue());
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, new DoneTag(call));
  }
};

using ProfileRpc = Call<tensorflow::ProfileRequest>;
using TerminateRpc = Call<tensorflow::TerminateRequest>;

// gRPC makes a connection only while something waits for that channel (else it looks every 5 s).
class WatchTag : public Poller::Tag {
 public:
  explicit WatchTag(std::shared_ptr<std::atomic<bool>> armed) : armed_(std::move(armed)) {}
  void Complete() override { armed_->store(false); }

 private:
  const std::shared_ptr<std::atomic<bool>> armed_;
};

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

class GrpcChannel : public ProfilerChannel {
 public:
  explicit GrpcChannel(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)) {}
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
        if (!watched_->exchange(true)) {
          channel_->NotifyOnStateChange(state, DeadlineIn(kWatchMs), &Poller::Get().queue(),
                                        new WatchTag(watched_));
        }
        return Link::kConnecting;
    }
  }

  void StartProfile(const ProfileCall& call, int64_t deadline_ms,
                    std::function<void(CallOutcome)> done) override {
    auto rpc = std::make_shared<ProfileRpc>();
    rpc->channel = channel_;
    rpc->context.set_deadline(DeadlineIn(deadline_ms));
    FillRequest(call, &rpc->request);
    rpc->done = [done = std::move(done)](ProfileRpc& ended) {
      done(OutcomeOf(ended.status, &ended.response));
    };
    {
      std::lock_guard lock(mutex_);
      running_ = rpc;
    }
    ProfileRpc::Start(rpc, kProfileMethod);
  }

  void DropProfile() override {
    std::lock_guard lock(mutex_);
    if (const std::shared_ptr<ProfileRpc> rpc = running_.lock()) rpc->context.TryCancel();
  }

  void Terminate(const std::string& session_id) override {
    auto rpc = std::make_shared<TerminateRpc>();
    rpc->channel = channel_;
    rpc->context.set_deadline(DeadlineIn(kTerminateDeadlineMs));
    rpc->request.set_session_id(session_id);
    rpc->done = [](TerminateRpc& ended) {
      if (ended.status.ok()) return;
      LogDebug("capture.terminate_failed", {{"error", CleanText(ended.status.error_message())}});
    };
    TerminateRpc::Start(rpc, kTerminateMethod);
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::shared_ptr<std::atomic<bool>> watched_ = std::make_shared<std::atomic<bool>>(false);
  std::mutex mutex_;
  std::weak_ptr<ProfileRpc> running_;
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
