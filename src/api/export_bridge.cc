#include "src/api/export_bridge.h"

#include <nlohmann/json.hpp>

#include "src/api/metric_entries.h"
#include "src/catalog/rules.h"

namespace strobe::api {
namespace {

using capture::ExportCall;
using capture::ExportReply;

constexpr int kUnimplemented = 12;
constexpr std::string_view kLogWrite = "/google.logging.v2.LoggingServiceV2/WriteLogEntries";

std::string_view PathOf(std::string_view method) {
  if (method == "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export") {
    return "/v1/metrics";
  }
  if (method == "/opentelemetry.proto.collector.logs.v1.LogsService/Export") return "/v1/logs";
  return method == kLogWrite ? "/v2/entries:write" : "";
}

// gRPC's own numbers, for the few statuses that the routes answer with.
int GrpcCodeOf(int http_status) {
  switch (http_status) {
    case 400:
      return 3;
    case 401:
      return 16;
    case 403:
      return 7;
    case 404:
      return 5;
    case 429:
      return 8;
    case 503:
      return 14;
    default:
      return 13;
  }
}

std::string MessageOf(const Response& response) {
  if (response.body == nullptr) return "";
  const auto json = nlohmann::json::parse(*response.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("error") || !json["error"].is_object()) return "";
  return json["error"].value("message", std::string());
}

// "ipv4:10.0.0.1:4711" -> "10.0.0.1"
std::string PeerAddress(const std::string& peer) {
  const size_t begin = peer.find(':') + 1;
  const size_t end = peer.rfind(':');
  if (begin == 0 || end <= begin) return peer;
  std::string address = peer.substr(begin, end - begin);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  return address;
}

}  // namespace

ExportReply AnswerExport(const Router& router, const IdMaker& ids, bool secure,
                         const ExportCall& call, const std::string& peer) {
  const std::string_view path = PathOf(call.method);
  if (path.empty()) {
    return {.grpc_code = kUnimplemented, .message = "Not taken here: " + call.method};
  }
  Result<Request> made = MakeRequest("POST", path);
  STROBE_CHECK(made.ok());
  Request request = std::move(made).value();
  request.peer = peer.empty() ? PeerAddress(call.peer) : peer;
  request.secure = secure;
  request.request_id = ids.Make("grpc");
  const bool entries = call.method == kLogWrite;
  request.headers.push_back(
      {"content-type", entries ? "application/json" : "application/x-protobuf"});
  request.headers.push_back({"host", "localhost"});
  for (const auto& [name, value] : call.metadata) {
    if (name == "authorization") request.headers.push_back({name, value});
  }
  request.body = call.body;
  if (entries) {
    Result<std::string> json = LogEntriesToJson(call.body);
    if (!json.ok()) {
      return {.grpc_code = catalog::RpcCodeOf(json.status().code()),
              .message = std::string(json.status().message())};
    }
    request.body = *std::move(json);
  }
  const Response response = router.Run(router.Find(request), request);
  if (response.status < 300) return {};
  return {.grpc_code = GrpcCodeOf(response.status), .message = MessageOf(response)};
}

}  // namespace strobe::api
