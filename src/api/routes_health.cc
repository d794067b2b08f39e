// Health, metrics, configuration, the description of the API, and the table of all routes.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/json_answers.h"
#include "src/api/openapi.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;

Result<Response> Ready(const Context& context) {
  if (context->draining()) {
    return UnavailableError("DRAINING", "The server is stopping.").Hint("Ask another one.");
  }
  return TextResponse("ready\n");
}

// Pieces of work on the engine's threads.
void AppendEngineWork(const engine::Engine::Stats& stats, std::string* text) {
  const auto append = [&](std::string_view name, std::string_view type, std::string_view help,
                          uint64_t FairQueue::Counts::* field) {
    *text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    *text += fmt::format("{}{{class=\"interactive\"}} {}\n", name, stats.interactive.*field);
    *text += fmt::format("{}{{class=\"background\"}} {}\n", name, stats.background.*field);
  };
  append("strobe_engine_work_waiting", "gauge", "Pieces of work waiting for an engine's thread.",
         &FairQueue::Counts::waiting);
  append("strobe_engine_work_running", "gauge", "Pieces of work on the engine's threads.",
         &FairQueue::Counts::running);
  append("strobe_engine_work_served_total", "counter", "Pieces of work done.",
         &FairQueue::Counts::served);
  append("strobe_engine_work_refused_total", "counter", "Pieces of work that met a limit.",
         &FairQueue::Counts::refused);
}

Result<Response> Metrics(const Context& context) {
  std::string text;
  context->metrics->AppendText(context->route_names, &text);
  const engine::Engine::Stats stats = context->engine->stats();
  const auto gauge = [&](std::string_view name, std::string_view help, uint64_t value) {
    AppendMetric(&text, name, "gauge", help, static_cast<double>(value));
  };
  const auto counter = [&](std::string_view name, std::string_view help, uint64_t value) {
    AppendMetric(&text, name, "counter", help, static_cast<double>(value));
  };
  gauge("strobe_sessions", "Sessions in the list.", context->engine->Sessions().size());
  gauge("strobe_opened_sessions", "Sessions kept open.", stats.opened_sessions);
  gauge("strobe_engine_resident_bytes", "Memory that opened sessions hold.", stats.resident_bytes);
  gauge("strobe_cache_bytes", "Size of the column files on disk.", stats.cache_bytes);
  counter("strobe_column_file_hits_total", "Opens answered from a column file.",
          stats.column_file_hits);
  counter("strobe_column_file_misses_total", "Opens that had to decode.", stats.column_file_misses);
  counter("strobe_tiles_encoded_total", "Tiles encoded.", stats.tiles_encoded);
  counter("strobe_tile_cache_hits_total", "Tiles answered from memory.", stats.tile_cache_hits);
  counter("strobe_tool_results_computed_total", "Answers of tools computed.",
          stats.tool_results_computed);
  counter("strobe_tool_result_memory_hits_total", "Answers of tools found in memory.",
          stats.tool_result_memory_hits);
  counter("strobe_tool_result_disk_hits_total", "Answers of tools found in the cache directory.",
          stats.tool_result_disk_hits);
  AppendEngineWork(stats, &text);
  gauge("process_resident_memory_bytes", "Memory of the process that is in RAM.", ResidentBytes());
  gauge("process_start_time_seconds", "Start of the process, Unix time.",
        static_cast<uint64_t>(context->started_unix_ms / 1000));
  Response response = TextResponse(std::move(text));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

Result<Response> Config(const Context& context, const Request& request) {
  // Whoever only holds a link has no need of the machine's folders.
  const bool outsider = request.caller != nullptr && !request.caller->signed_in();
  const std::vector<std::string> roots =
      outsider ? std::vector<std::string>() : context->engine->options().roots;
  std::string reason;
  const std::vector<std::string> writable = WritableRoots(roots, &reason);
  if (!context->capture) reason = "This server does not offer captures.";
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(kVersion);
  json.Key("roots").BeginArray();
  for (const std::string& root : roots) json.String(root);
  json.EndArray();
  json.Key("capture_enabled").Bool(reason.empty());
  WriteTextOrNull(json, "capture_reason", reason);
  json.Key("capture_roots").BeginArray();
  for (const std::string& root : writable) json.String(root);
  json.EndArray();
  WriteTextOrNull(json, "capture_default_target", context->capture_default_target);
  json.Key("uploads_enabled").Bool(context->uploads != nullptr);
  json.Key("sample").Bool(context->sample);
  json.EndObject();
  return JsonResponse(json.TakeText());
}

}  // namespace

std::vector<std::string> WritableRoots(const std::vector<std::string>& roots, std::string* reason) {
  std::vector<std::string> writable;
  for (const std::string& root : roots) {
    std::error_code error;
    // Whether a bucket takes it only the bucket can say.
    if (storage::IsBucketPlace(root)) writable.push_back(root);
    if (std::filesystem::is_directory(root, error) && ::access(root.c_str(), W_OK | X_OK) == 0) {
      writable.push_back(root);
    }
  }
  reason->clear();
  if (writable.empty()) {
    *reason = roots.empty() ? "The server has no directory to write to."
                            : "None of the server's roots is a directory that it may write to.";
  }
  return writable;
}

void AddHealthRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      {.pattern = "/healthz",
       .access = kPublicAccess,
       .operation_id = "health",
       .tag = "server",
       .summary = "Whether the process lives.",
       .response_type = "text/plain",
       .run_on = RunOn::kIoThread,
       .handler = [](const Request&) -> Result<Response> { return TextResponse("ok\n"); }});
  routes->push_back({.pattern = "/readyz",
                     .access = kPublicAccess,
                     .operation_id = "ready",
                     .tag = "server",
                     .summary = "Whether requests should be sent here; 503 while the server stops.",
                     .response_type = "text/plain",
                     .run_on = RunOn::kIoThread,
                     .handler = [context](const Request&) { return Ready(context); }});
  routes->push_back({.pattern = "/metrics",
                     .access = {Need::kView, Object::kServer},
                     .operation_id = "metrics",
                     .tag = "server",
                     .summary = "Counters in Prometheus's text form.",
                     .response_type = "text/plain",
                     .handler = [context](const Request&) { return Metrics(context); }});
  routes->push_back({.pattern = "/api/v1/config",
                     .access = {Need::kAnyone, Object::kNone},
                     .operation_id = "getConfig",
                     .tag = "server",
                     .summary = "Version, roots, and whether captures are offered.",
                     .response_schema = "Config",
                     .handler = [context](const Request& r) { return Config(context, r); }});
}

std::vector<Route> MakeRoutes(Context context) {
  std::vector<Route> routes;
  AddHealthRoutes(context, &routes);
  AddSessionRoutes(context, &routes);
  AddTimelineRoutes(context, &routes);
  AddAreaRoutes(context, &routes);
  AddCurveRoutes(context, &routes);
  AddCaptureRoutes(context, &routes);
  AddUploadRoutes(context, &routes);
  AddToolRoutes(context, &routes);
  AddCompareRoutes(context, &routes);
  AddV1alphaRunRoutes(context, &routes);
  AddV1alphaOperationRoutes(context, &routes);
  AddV1alphaChildRoutes(context, &routes);
  AddSelfHostedRoutes(context, &routes);
  AddProjectRoutes(context, &routes);
  AddRunMetricRoutes(context, &routes);
  AddMetricWriteRoutes(context, &routes);
  AddXprofRoutes(context, &routes);
  AddSignInRoutes(context, &routes);
  AddAccessRoutes(context, &routes);
  AddLinkRoutes(context, &routes);
  AddTokenRoutes(context, &routes);
  AddOidcRoutes(context, &routes);
  AddConsoleRoutes(context, &routes);
  routes.push_back({.pattern = "/api/v1/openapi.json",
                    .access = {Need::kAnyone, Object::kNone},
                    .operation_id = "getOpenApi",
                    .tag = "server",
                    .summary = "This description."});
  const std::string description = OpenApiJson(routes);
  routes.back().handler = [description](const Request&) -> Result<Response> {
    return JsonResponse(description);
  };
  for (const Route& route : routes) context->route_names.push_back(route.pattern);
  context->route_names.push_back("none");
  return routes;
}

}  // namespace strobe::api
