#include "src/cli/resource_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "src/base/clock.h"
#include "src/cli/api_client.h"
#include "src/cli/command.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

using Json = nlohmann::json;

struct KindFacts {
  std::string_view collection;
  std::string_view id_query;
  std::string_view columns;
};

KindFacts FactsOf(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::kRun:
      return {"machineLearningRuns", "machineLearningRunId",
              "name.basename(),displayName,state,runSet,createTime,artifacts.gcsPath"};
    case ResourceKind::kTarget:
      return {"profilerTargets", "profilerTargetId", "name.basename(),hostname,nodeIndex"};
    case ResourceKind::kSession:
      return {"profilerSessions", "profilerSessionId",
              "name.basename(),kind,state,createTime,sizeBytes,dashboardUri"};
    case ResourceKind::kEvent:
      return {"monitoredEvents", "monitoredEventId",
              "name.basename(),type,startTime,endTime,displayName"};
    case ResourceKind::kOperation:
      return {"operations", "", "name.basename(),metadata.verb,done,metadata.target"};
  }
  return {};
}

bool IsBelowRun(ResourceKind kind) {
  return kind != ResourceKind::kRun && kind != ResourceKind::kOperation;
}

std::string Collection(const ResourceOptions& options) {
  std::string path = fmt::format("/v1alpha/projects/{}/locations/{}",
                                 PercentEncode(options.project), PercentEncode(options.location));
  if (IsBelowRun(options.kind)) {
    path += "/machineLearningRuns/" + PercentEncode(options.run);
  }
  return path + "/" + std::string(FactsOf(options.kind).collection);
}

Result<Json> Ask(ApiClient& client, const std::string& method, const std::string& target,
                 const std::string& body = "") {
  STROBE_ASSIGN_OR_RETURN(const ApiReply reply, client.Send(method, target, body));
  Json json = Json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return UnavailableError("SERVER_ANSWER_BROKEN", "The server's answer is no JSON object.");
  }
  return json;
}

Status Print(const ResourceOptions& options, const Json& items, bool one) {
  std::string format = options.format;
  if (format.empty()) format = one ? "yaml" : "table";
  if (format == "table" || format == "csv" || format == "value") {
    format += "(" + std::string(FactsOf(options.kind).columns) + ")";
  }
  STROBE_ASSIGN_OR_RETURN(
      const std::string text,
      FormatResources(items.dump(-1, ' ', false, Json::error_handler_t::replace), format, one));
  PrintOut(text);
  return OkStatus();
}

// gcloud writes "~start_time" for "start_time desc".
std::string OrderOf(const std::string& order_by) {
  std::string order;
  for (size_t begin = 0; begin <= order_by.size();) {
    const size_t end = std::min(order_by.find(',', begin), order_by.size());
    std::string field = order_by.substr(begin, end - begin);
    field.erase(0, field.find_first_not_of(' '));
    if (field.starts_with('~')) field = field.substr(1) + " desc";
    if (!field.empty()) order += (order.empty() ? "" : ", ") + field;
    begin = end + 1;
  }
  return order;
}

Result<int> List(ApiClient& client, const ResourceOptions& options) {
  const KindFacts facts = FactsOf(options.kind);
  Json items = Json::array();
  std::string page_token;
  do {
    std::string target =
        fmt::format("{}?pageSize={}&filter={}&orderBy={}&pageToken={}", Collection(options),
                    options.page_size, PercentEncode(options.filter),
                    PercentEncode(OrderOf(options.order_by)), PercentEncode(page_token));
    if (options.refresh && page_token.empty()) target += "&refresh=true";
    STROBE_ASSIGN_OR_RETURN(const Json page, Ask(client, "GET", target));
    for (const Json& item : page.value(std::string(facts.collection), Json::array())) {
      if (options.limit == 0 || items.size() < options.limit) items.push_back(item);
    }
    page_token = page.value("nextPageToken", std::string());
  } while (!page_token.empty() && (options.limit == 0 || items.size() < options.limit));
  if (items.empty() && (options.format.empty() || options.format.starts_with("table"))) {
    PrintError("Listed 0 items.\n");
    return int{kExitOk};
  }
  if (options.uri) {
    for (const Json& item : items) PrintOut(Printable(item.value("name", std::string())) + "\n");
    return int{kExitOk};
  }
  STROBE_RETURN_IF_ERROR(Print(options, items, /*one=*/false));
  return int{kExitOk};
}

std::string Noun(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::kRun:
      return "machine_learning_run";
    case ResourceKind::kTarget:
      return "profiler_target";
    case ResourceKind::kSession:
      return "profiler_session";
    case ResourceKind::kEvent:
      return "monitored_event";
    case ResourceKind::kOperation:
      return "operation";
  }
  return "";
}

// What an operation failed with, by its google.rpc.Code.
Status OperationError(const Json& operation) {
  static constexpr StatusCode kCodes[] = {StatusCode::kInternal,
                                          StatusCode::kCancelled,
                                          StatusCode::kInternal,
                                          StatusCode::kInvalidArgument,
                                          StatusCode::kDeadlineExceeded,
                                          StatusCode::kNotFound,
                                          StatusCode::kAlreadyExists,
                                          StatusCode::kPermissionDenied,
                                          StatusCode::kResourceExhausted,
                                          StatusCode::kFailedPrecondition,
                                          StatusCode::kAborted};
  const Json& error = operation["error"];
  const auto number = static_cast<size_t>(error.value("code", 0));
  const StatusCode code = number < std::size(kCodes) ? kCodes[number] : StatusCode::kUnavailable;
  // "NAME: words", as our server writes it.
  const std::string text = error.value("message", std::string());
  const size_t colon = std::min(text.find(": "), text.size());
  const bool named = colon < text.size() &&
                     text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == colon;
  return Status(code, named ? text.substr(0, colon) : "OPERATION_FAILED",
                named ? text.substr(colon + 2) : text)
      .Where(operation.value("name", std::string()));
}

// The answer of a change when it is done: an operation is asked again, ever more seldom.
Result<Json> WaitForOperation(ApiClient& client, Json operation) {
  if (!operation.contains("done")) return operation;  // no operation
  const std::string name = operation.value("name", std::string());
  const bool waits = !operation["done"].get<bool>();
  if (waits) PrintError(fmt::format("Waiting for operation [{}] to complete...", Printable(name)));
  int64_t pause_ms = 200;
  const int64_t deadline_ns = SystemClock().MonotonicNanos() + kMaxWaitMs * 1'000'000;
  while (!operation["done"].get<bool>()) {
    if (SystemClock().MonotonicNanos() > deadline_ns) {
      PrintError("\n");
      return DeadlineExceededError("OPERATION_STILL_RUNNING", "The operation goes on.")
          .Where(name)
          .Hint("Look again with strobe operations describe ID, or stop it with cancel.");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    pause_ms = std::min<int64_t>(pause_ms * 7 / 5, 5000);
    const size_t begin = name.find_first_not_of('/');
    STROBE_ASSIGN_OR_RETURN(
        operation, Ask(client, "GET", "/v1alpha/" + name.substr(std::min(begin, name.size()))));
    if (!operation.contains("done")) break;
  }
  if (waits) PrintError(operation.contains("error") ? "failed.\n" : "done.\n");
  if (operation.contains("error")) return OperationError(operation);
  return operation;
}

struct Change {
  std::string method;
  std::string target;
  std::string body;
};

Result<Change> ChangeOf(const ResourceOptions& options) {
  const std::string collection = Collection(options);
  const std::string one = collection + "/" + PercentEncode(options.id);
  if (options.verb == "delete") {
    return Change{"DELETE", one + (options.force ? "?force=true" : ""), ""};
  }
  STROBE_ASSIGN_OR_RETURN(const std::string body, ResourceBody(options));
  if (options.verb == "update") {
    return Change{"PATCH", one + "?updateMask=" + PercentEncode(options.update_mask), body};
  }
  std::string target = collection;
  if (!options.id.empty()) {
    target += fmt::format("?{}={}", FactsOf(options.kind).id_query, PercentEncode(options.id));
  }
  return Change{"POST", target, body};
}

// Create, update, delete and capture: the change, the wait, and the resource as it is then.
Result<int> RunChange(ApiClient& client, const ResourceOptions& options) {
  STROBE_ASSIGN_OR_RETURN(const Change change, ChangeOf(options));
  STROBE_ASSIGN_OR_RETURN(Json answer, Ask(client, change.method, change.target, change.body));
  const Json metadata = answer.value("metadata", Json::object());
  std::string name = metadata.value("target", answer.value("name", std::string()));
  const std::string id =
      Printable(options.id.empty() ? name.substr(name.rfind('/') + 1) : options.id);
  const bool gone = options.verb == "delete";
  const std::string verb = options.verb == "create" ? "Create" : gone ? "Delete" : "";
  PrintError(
      fmt::format("{} issued for: [{}]\n", verb.empty() ? "Request" : verb + " request", id));
  if (options.no_wait) {
    STROBE_RETURN_IF_ERROR(Print(options, Json::array({answer}), /*one=*/true));
    return int{kExitOk};
  }
  STROBE_RETURN_IF_ERROR(WaitForOperation(client, answer).status());
  if (options.verb != "capture") {
    const std::string done = gone ? "Deleted" : options.verb == "create" ? "Created" : "Updated";
    PrintError(fmt::format("{} {} [{}].\n", done, Noun(options.kind), id));
  }
  if (gone) return int{kExitOk};
  STROBE_ASSIGN_OR_RETURN(const Json resource, Ask(client, "GET", "/v1alpha/" + name));
  STROBE_RETURN_IF_ERROR(Print(options, Json::array({resource}), /*one=*/true));
  return int{resource.value("state", std::string()) == "FAILED" ? kExitPartial : kExitOk};
}

}  // namespace

Result<int> RunResource(const ResourceOptions& options) {
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> client,
                          OpenApiClient(options.server, {}, /*needs_session=*/false));
  if (IsBelowRun(options.kind) && options.run.empty()) {
    return InvalidArgumentError("USAGE", "The run is missing.")
        .Hint("Add --run ID; --run - lists those of all runs.");
  }
  if (options.verb == "list") return List(*client, options);
  const std::string one = Collection(options) + "/" + PercentEncode(options.id);
  if (options.verb == "cancel") {
    STROBE_RETURN_IF_ERROR(Ask(*client, "POST", one + ":cancel", "{}").status());
    PrintError("Asked " + Printable(options.id) + " to stop.\n");
    return int{kExitOk};
  }
  if (options.verb == "describe" || options.verb == "wait") {
    STROBE_ASSIGN_OR_RETURN(Json answer, Ask(*client, "GET", one));
    if (options.verb == "wait") {
      STROBE_ASSIGN_OR_RETURN(answer, WaitForOperation(*client, std::move(answer)));
    }
    STROBE_RETURN_IF_ERROR(Print(options, Json::array({answer}), /*one=*/true));
    return int{kExitOk};
  }
  return RunChange(*client, options);
}

}  // namespace strobe::cli
