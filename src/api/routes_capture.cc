// Captures and operations: start, look, follow, cancel.
#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/capture_body.h"
#include "src/api/json_answers.h"
#include "src/api/operation_progress.h"
#include "src/api/session_lookup.h"
#include "src/base/log.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using queue::OperationState;

// How soon an event stream notices that its client left or the server stops.
constexpr int64_t kStreamSliceMs = 250;

std::string OperationJson(const OperationState& state) {
  JsonWriter json;
  WriteOperation(json, state);
  return json.TakeText();
}

Status RunCapture(const Context& context, const capture::CaptureRequest& request,
                  queue::OperationHandle& handle) {
  handle.Update([&request](OperationState& state) {
    state.stage = capture::TargetStateName(capture::TargetState::kConnecting);
    state.progress_total = static_cast<uint64_t>(request.duration_ms);
    state.progress_unit = "ms";
  });
  const Result<capture::CaptureResult> result = context->capture(
      request, handle.cancel(), [&handle](const capture::CaptureProgress& progress) {
        ShowCaptureProgress(progress, handle);
      });
  if (!result.ok()) return result.status();
  const std::string id = FindSessionId(*context->engine, result->session_path);
  handle.Update([&](OperationState& state) {
    state.stage = "done";
    state.targets.clear();
    for (const auto& target : result->targets) state.targets.push_back(OperationTargetOf(target));
    state.result = {{"session", id},
                    {"session_name", result->session_name},
                    {"hosts_saved", std::to_string(result->hosts_saved)}};
  });
  return OkStatus();
}

Result<Response> StartCapture(const Context& context, const Request& request) {
  std::string reason;
  const std::vector<std::string> roots = WritableRoots(context->engine->options().roots, &reason);
  if (!context->capture) reason = "This server does not offer captures.";
  if (!reason.empty()) {
    return FailedPreconditionError("CAPTURE_NOT_OFFERED", reason)
        .Hint("Start the server with a directory that it may write to.");
  }
  STROBE_ASSIGN_OR_RETURN(const capture::CaptureRequest parsed,
                          ParseCaptureBody(request.body, roots));
  const std::string project(context->projects->OfPath(parsed.root + "/" + parsed.run));
  STROBE_RETURN_IF_ERROR(CheckRight(request, project, Right::kCapture));
  std::vector<queue::OperationTarget> targets;
  for (const std::string& target : parsed.targets) {
    queue::OperationTarget waiting;
    waiting.target = target;
    waiting.state = "connecting";
    targets.push_back(std::move(waiting));
  }
  STROBE_ASSIGN_OR_RETURN(const std::string id,
                          context->operations->Start(
                              "capture", capture::MaxCaptureMs(parsed), std::move(targets),
                              [context, parsed](queue::OperationHandle& handle) {
                                return RunCapture(context, parsed, handle);
                              },
                              project));
  LogInfo("capture.started", {{"operation", id},
                              {"targets", parsed.targets.size()},
                              {"duration_ms", parsed.duration_ms},
                              {"root", parsed.root}});
  STROBE_ASSIGN_OR_RETURN(const OperationState state, context->operations->Get(id));
  Response response = JsonResponse(OperationJson(state), 202);
  response.cache_control = "no-store";
  response.headers.emplace_back("Location", "/api/v1/operations/" + id);
  return response;
}

Result<Response> ListOperations(const Context& context, const Request& request) {
  JsonWriter json;
  json.BeginObject();
  json.Key("operations").BeginArray();
  for (const OperationState& state : context->operations->List()) {
    if (HasRight(request, state.project, Right::kView)) WriteOperation(json, state);
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(json.TakeText());
}

Result<Response> GetOperation(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const OperationState state,
                          context->operations->Get(std::string(request.Param("id"))));
  return JsonResponse(OperationJson(state));
}

Result<Response> CancelOperation(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const OperationState state,
                          context->operations->Cancel(std::string(request.Param("id"))));
  Response response = JsonResponse(OperationJson(state));
  response.revalidate = false;
  return response;
}

void FollowOperation(const Context& context, OperationState state, StreamWriter& out) {
  int64_t last_sent_ms = 0;
  bool first = true;
  uint64_t sent_revision = 0;
  while (!out.cancel().cancelled()) {
    const int64_t now_ms = context->clock->MonotonicNanos() / 1'000'000;
    if (first || state.revision != sent_revision) {
      if (!out.Write("id: " + std::to_string(state.revision) + "\ndata: " + OperationJson(state) +
                     "\n\n")) {
        return;
      }
      first = false;
      sent_revision = state.revision;
      last_sent_ms = now_ms;
      if (state.done) return;
    } else if (now_ms - last_sent_ms >= context->heartbeat_ms) {
      if (!out.Write(": still here\n\n")) return;
      last_sent_ms = now_ms;
    }
    Result<OperationState> next =
        context->operations->WaitForChange(state.id, sent_revision, kStreamSliceMs);
    if (!next.ok()) return;
    state = std::move(next).value();
  }
}

Result<Response> OperationEvents(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(OperationState state,
                          context->operations->Get(std::string(request.Param("id"))));
  Response response = StreamResponse("text/event-stream", [context, state](StreamWriter& out) {
    FollowOperation(context, state, out);
  });
  // Tells nginx, where it stands in front, not to hold events back.
  response.headers.emplace_back("X-Accel-Buffering", "no");
  return response;
}

}  // namespace

void AddCaptureRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back({.method = Method::kPost,
                     .pattern = "/api/v1/captures",
                     .access = {Need::kCapture, Object::kInBody, Audit::kAlways},
                     .operation_id = "startCapture",
                     .tag = "capture",
                     .summary = "Record profiles from running jobs into one new session.",
                     .request_schema = "CaptureRequest",
                     .response_schema = "Operation",
                     .success_status = 202,
                     .handler = [context](const Request& r) { return StartCapture(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/operations",
       .access = {Need::kSignedIn, Object::kNone},
       .operation_id = "listOperations",
       .tag = "capture",
       .summary = "Operations, newest first.",
       .response_schema = "OperationList",
       .handler = [context](const Request& r) { return ListOperations(context, r); }});
  routes->push_back({.pattern = "/api/v1/operations/{id}",
                     .access = {Need::kView, Object::kOperation},
                     .operation_id = "getOperation",
                     .tag = "capture",
                     .summary = "One operation.",
                     .response_schema = "Operation",
                     .handler = [context](const Request& r) { return GetOperation(context, r); }});
  routes->push_back(
      {.method = Method::kPost,
       .pattern = "/api/v1/operations/{id}:cancel",
       .access = {Need::kCapture, Object::kOperation, Audit::kAlways},
       .operation_id = "cancelOperation",
       .tag = "capture",
       .summary = "Ask an operation to stop; what a capture has recorded is kept.",
       .response_schema = "Operation",
       .handler = [context](const Request& r) { return CancelOperation(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/operations/{id}/events",
       .access = {Need::kView, Object::kOperation},
       .operation_id = "followOperation",
       .tag = "capture",
       .summary = "Server-sent events: the operation at each change, until it is done.",
       .response_type = "text/event-stream",
       .handler = [context](const Request& r) { return OperationEvents(context, r); }});
}

}  // namespace strobe::api
