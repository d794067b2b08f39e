// XProf's routes that start work: /generate_cache and /capture_profile.
//
// The cache of answers is filled by an operation that can be followed and cancelled like any other
// (/api/v1/operations). A capture is waited for, as XProf does; a page of another site cannot start
// one.
#include <algorithm>
#include <cctype>

#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/guard.h"
#include "src/api/xprof_answers.h"
#include "src/api/xprof_runs.h"
#include "src/base/log.h"
#include "src/capture/target.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;

// A tool of a gigabyte takes seconds; a run of hundreds of hosts some minutes.
constexpr int64_t kGenerateLimitMs = 60 * 60 * 1000;
// Tracer levels go to 3.
constexpr uint32_t kMaxTracerLevel = 100;

Response Text(int status, std::string text) {
  return XprofAnswer(std::move(text), "text/plain", status);
}

std::vector<std::string> SplitNames(std::string_view text) {
  std::vector<std::string> names;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = TrimSpaces(text.substr(0, comma));
    if (!name.empty()) names.emplace_back(name);
    if (comma == text.size()) return names;
    text.remove_prefix(comma + 1);
  }
}

Status FillCache(const Context& context, const std::shared_ptr<engine::OpenedSession>& session,
                 const std::vector<const tools::ToolDescriptor*>& chosen,
                 queue::OperationHandle& handle) {
  for (size_t i = 0; i < chosen.size(); ++i) {
    STROBE_RETURN_IF_ERROR(handle.cancel().Check());
    handle.Update([&](queue::OperationState& state) {
      state.stage = chosen[i]->id;
      state.progress_done = i;
      state.progress_total = chosen.size();
      state.progress_unit = "tools";
    });
    tools::ToolQuestion question;
    question.as_xprof = true;
    STROBE_ASSIGN_OR_RETURN(
        question.options,
        tools::ToolOptions::Parse(chosen[i]->options, {}, tools::ToolOptions::Policy::kLenient));
    const size_t hosts = session->entry().files.size();
    const bool one_by_one = chosen[i]->scope == tools::HostScope::kOneHost;
    for (size_t first = 0; first < (one_by_one ? hosts : 1); ++first) {
      question.hosts.clear();
      for (size_t h = first; h < (one_by_one ? first + 1 : hosts); ++h) question.hosts.push_back(h);
      const auto result = session->RunTool(*chosen[i], question, handle.cancel());
      if (!result.ok() && result.status().code() == StatusCode::kCancelled) return result.status();
      if (!result.ok()) {
        LogInfo("xprof.not_generated",
                {{"tool", chosen[i]->id}, {"error", result.status().ToString()}});
      }
    }
  }
  handle.Update([&](queue::OperationState& state) {
    state.stage = "done";
    state.progress_done = chosen.size();
  });
  return OkStatus();
}

Result<Response> GenerateCache(const Context& context, const Request& request) {
  const std::string_view path = request.Query("session_path").value_or("");
  if (path.empty()) return Text(400, "Missing \"session_path\" parameter");
  const std::vector<XprofRun> runs = XprofRuns(*context->engine, request);
  if (runs.empty() || runs.front().entry.files.empty()) {
    return Text(404, "No XPlane files found in session_path");
  }
  const auto opened = context->engine->OpenForTools(runs.front().entry.id);
  const std::vector<std::string> usable =
      opened.ok() ? XprofToolsOf(**opened, *context->tools) : std::vector<std::string>();
  std::vector<std::string> names = SplitNames(request.Query("tools").value_or(""));
  if (names.empty()) names = {"overview_page", "trace_viewer@"};
  std::vector<const tools::ToolDescriptor*> chosen;
  for (const std::string& name : names) {
    if (std::ranges::find(usable, name) == usable.end()) continue;
    chosen.push_back(FindToolIn(*context, name));
  }
  if (chosen.empty()) return Text(400, "None of the tools can be used for this session");
  STROBE_ASSIGN_OR_RETURN(const std::string id,
                          context->operations->Start(
                              "generate_cache", kGenerateLimitMs, {},
                              [context, session = *opened, chosen](auto& handle) {
                                return FillCache(context, session, chosen, handle);
                              },
                              std::string(context->projects->OfPath(runs.front().entry.path))));
  Response response = XprofAnswer(
      R"({"message": "Cache generation started", "status": "ACCEPTED"})", "application/json", 202);
  response.headers.emplace_back("Location", "/api/v1/operations/" + id);
  return response;
}

Response CaptureFailed(std::string_view code, std::string_view text) {
  return XprofAnswer(
      "{\"error\": " + PythonJsonString(std::string(code) + ": " + std::string(text)) + "}",
      "application/json", 500);
}

// A number of the query; `otherwise` when absent, nullopt when it is none.
std::optional<int64_t> Number(const Request& request, std::string_view name, int64_t otherwise) {
  const std::optional<std::string_view> text = request.Query(name);
  return text ? ParseInt64(*text) : otherwise;
}

Result<capture::CaptureRequest> ParseXprofCapture(const Context& context, const Request& request) {
  capture::CaptureRequest parsed;
  parsed.targets = SplitNames(request.Query("service_addr").value_or(""));
  if (parsed.targets.empty()) {
    return InvalidArgumentError("CAPTURE_NO_TARGET", "No service address provided.");
  }
  for (const std::string& target : parsed.targets) {
    if (capture::ParseTarget(target).ok()) continue;
    return InvalidArgumentError("CAPTURE_BAD_TARGET",
                                "Could not interpret \"" + target + "\" as a host-port pair.");
  }
  const std::optional<int64_t> duration_ms = Number(request, "duration", 1000);
  if (!duration_ms || *duration_ms <= 0) {
    return InvalidArgumentError("CAPTURE_BAD_DURATION", "duration_ms must be greater than zero.");
  }
  parsed.duration_ms = *duration_ms;
  const std::pair<std::string_view, uint32_t*> levels[] = {
      {"host_tracer_level", &parsed.host_tracer_level},
      {"device_tracer_level", &parsed.device_tracer_level},
      {"python_tracer_level", &parsed.python_tracer_level}};
  for (const auto& [name, level] : levels) {
    const std::optional<int64_t> value = Number(request, name, *level);
    if (!value || *value < 0 || *value > kMaxTracerLevel) {
      return InvalidArgumentError("CAPTURE_BAD_LEVEL",
                                  std::string(name) + " must be a number from 0 to 100.");
    }
    *level = static_cast<uint32_t>(*value);
  }
  STROBE_RETURN_IF_ERROR(capture::CheckCaptureRequest(parsed));
  std::string reason;
  const std::vector<std::string> roots = WritableRoots(context->engine->options().roots, &reason);
  if (!context->capture) reason = "This server does not offer captures.";
  if (!reason.empty()) return FailedPreconditionError("CAPTURE_NOT_OFFERED", reason);
  parsed.root = roots.front();
  return parsed;
}

Result<Response> CaptureProfile(const Context& context, const Request& request) {
  STROBE_RETURN_IF_ERROR(CheckSameOrigin(request));
  const Result<capture::CaptureRequest> parsed = ParseXprofCapture(context, request);
  if (!parsed.ok()) {
    return CaptureFailed(StatusCodeName(parsed.status().code()), parsed.status().message());
  }
  STROBE_RETURN_IF_ERROR(
      CheckRight(request, context->projects->OfPath(parsed->root), Right::kCapture));
  LogInfo("capture.started",
          {{"targets", parsed->targets.size()}, {"duration_ms", parsed->duration_ms}});
  const Result<capture::CaptureResult> result =
      context->capture(*parsed, request.cancel, [](const capture::CaptureProgress&) {});
  if (const Status refreshed = context->engine->Refresh(); !refreshed.ok()) {
    LogWarning("capture.refresh_failed", {{"reason", refreshed.ToString()}});
  }
  if (!result.ok()) {
    return CaptureFailed("UNAVAILABLE",
                         "No trace event was collected. " + std::string(result.status().message()));
  }
  Response response = XprofAnswer(R"({"result": "Capture profile successfully. Please refresh."})",
                                  "application/json");
  response.cache_control = "no-store";
  response.revalidate = false;
  return response;
}

}  // namespace

void AddXprofWorkRoutes(const Context& context, std::vector<Route>* routes) {
  const std::vector<QueryParam> generate = {
      {.name = "session_path", .description = "The session's directory, inside the roots."},
      {.name = "tools", .description = "Tools, comma separated."}};
  routes->push_back({.method = Method::kPost,
                     .pattern = "/generate_cache",
                     .access = {Need::kView, Object::kXprofRun, Audit::kAlways},
                     .operation_id = "xprofGenerateCache",
                     .tag = "xprof",
                     .summary = "XProf: compute answers of tools ahead of time.",
                     .query = generate,
                     .success_status = 202,
                     .handler = [context](const Request& r) { return GenerateCache(context, r); }});
  routes->push_back({.pattern = "/generate_cache",
                     .access = kPublicAccess,
                     .operation_id = "xprofGenerateCacheGet",
                     .tag = "xprof",
                     .summary = "XProf: refused, the address takes POST only.",
                     .run_on = RunOn::kIoThread,
                     .documented = false,
                     .handler = [](const Request&) -> Result<Response> {
                       return Text(405, "Method Not Allowed");
                     }});
  routes->push_back(
      {.pattern = "/capture_profile",
       .access = {Need::kCapture, Object::kInBody, Audit::kAlways},
       .operation_id = "xprofCaptureProfile",
       .tag = "xprof",
       .summary = "XProf: record a profile and wait for it.",
       .query = {{.name = "service_addr", .description = "host:port, comma separated."},
                 {.name = "duration", .description = "Milliseconds, 1000 when absent."},
                 {.name = "host_tracer_level", .description = "0 to 3."},
                 {.name = "device_tracer_level", .description = "0 or 1."},
                 {.name = "python_tracer_level", .description = "0 or 1."}},
       .run_on = RunOn::kWorkPool,
       .handler = [context](const Request& r) { return CaptureProfile(context, r); }});
}

}  // namespace strobe::api
