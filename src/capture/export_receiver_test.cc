#include "src/capture/export_receiver.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <mutex>

#include "profiler_service.grpc.pb.h"
#include "src/base/log.h"

namespace strobe::capture {
namespace {

// A real gRPC client, of a service that is at hand.
struct Client {
  explicit Client(int port)
      : stub(tensorflow::ProfilerService::NewStub(grpc::CreateChannel(
            "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()))) {}
  static void Prepare(grpc::ClientContext* context) {
    context->AddMetadata("authorization", "Bearer t");
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  }
  grpc::Status Monitor(uint64_t number, std::string* answer) {
    grpc::ClientContext context;
    Prepare(&context);
    tensorflow::MonitorRequest request;
    request.set_duration_ms(number);
    tensorflow::MonitorResponse response;
    const grpc::Status status = stub->Monitor(&context, request, &response);
    *answer = response.data();
    return status;
  }
  grpc::Status Terminate(const std::string& text) {
    grpc::ClientContext context;
    Prepare(&context);
    tensorflow::TerminateRequest request;
    request.set_session_id(text);
    tensorflow::TerminateResponse response;
    return stub->Terminate(&context, request, &response);
  }
  std::unique_ptr<tensorflow::ProfilerService::Stub> stub;
};

TEST(ExportReceiverTest, CallsComeWithWhatBelongsToThem) {
  SetLogLevel("off");
  std::mutex mutex;
  std::vector<ExportCall> calls;
  auto receiver = ExportReceiver::Start({.address = "127.0.0.1:0"}, [&](const ExportCall& call) {
    const std::lock_guard lock(mutex);
    calls.push_back(call);
    if (call.method.ends_with("/Terminate"))
      return ExportReply{.grpc_code = 7, .message = "not you"};
    tensorflow::MonitorResponse response;
    response.set_data("seen " + std::to_string(calls.size()));
    return ExportReply{.body = response.SerializeAsString()};
  });
  ASSERT_TRUE(receiver.ok()) << receiver.status().ToString();
  Client client((*receiver)->port());
  std::string answer;
  for (int i = 1; i <= 20; ++i) {
    const grpc::Status status = client.Monitor(300, &answer);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(answer, "seen " + std::to_string(i));
  }
  const grpc::Status refused = client.Terminate("x");
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(refused.error_message(), "not you");
  ASSERT_EQ(calls.size(), 21u);
  EXPECT_EQ(calls[0].method, "/tensorflow.ProfilerService/Monitor");
  EXPECT_EQ(calls[0].body, "\x08\xac\x02");
  EXPECT_TRUE(calls[0].peer.starts_with("ipv4:127.0.0.1:")) << calls[0].peer;
  bool told = false;
  for (const auto& [name, value] : calls[0].metadata) {
    told = told || (name == "authorization" && value == "Bearer t");
  }
  EXPECT_TRUE(told);
  // Too large a message is gRPC's to refuse; the next call is served.
  EXPECT_EQ(client.Terminate(std::string(kMaxExportBytes + 1, 'x')).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(client.Monitor(1, &answer).ok());
  // A second one cannot have the same port.
  EXPECT_EQ(ExportReceiver::Start({.address = "127.0.0.1:" + std::to_string((*receiver)->port())},
                                  [](const ExportCall&) { return ExportReply{}; })
                .status()
                .name(),
            "EXPORT_LISTEN");
  receiver->reset();
  EXPECT_FALSE(client.Monitor(1, &answer).ok());
  SetLogLevel("info");
}

TEST(ExportReceiverTest, ACertificateThatIsNotThereIsNamed) {
  EXPECT_EQ(ExportReceiver::Start({.address = "127.0.0.1:0", .tls_certificate = "/nowhere.pem"},
                                  [](const ExportCall&) { return ExportReply{}; })
                .status()
                .name(),
            "EXPORT_TLS");
}

}  // namespace
}  // namespace strobe::capture
