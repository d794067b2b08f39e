// XProf's routes, for tools and pages that know XProf: /runs, /run_tools, /hosts, /config,
// /version.
//
// As XProf answers them: sorted keys, gzip whatever the client accepts, unknown runs give empty
// lists. Unlike XProf: a missing `run` is a named error instead of a cut connection, session_path
// and run_path reach nothing outside the roots, and /run_tools lists what is served here.
#include <algorithm>
#include <filesystem>

#include "src/api/app.h"
#include "src/api/xprof_answers.h"

namespace strobe::api {
namespace {

namespace fs = std::filesystem;
using Context = std::shared_ptr<AppContext>;

Response XprofAnswer(std::string text, std::string_view content_type) {
  Response response;
  response.content_type = std::string(content_type);
  response.body = std::make_shared<const std::string>(std::move(text));
  response.compression = Compression::kAlways;
  response.revalidate = true;
  return response;
}

// The real path, when it is inside one of the roots; empty otherwise, also when it does not exist,
// so that nothing can be learnt about what lies outside.
std::string InsideRoots(const engine::Engine& engine, std::string_view path) {
  std::error_code error;
  const fs::path real = fs::canonical(fs::path(path), error);
  if (error || !fs::is_directory(real, error)) return "";
  for (const std::string& root : engine.options().roots) {
    const fs::path real_root = fs::canonical(root, error);
    if (error) continue;
    const auto [end, unused] =
        std::mismatch(real_root.begin(), real_root.end(), real.begin(), real.end());
    if (end == real_root.end()) return real.string();
  }
  return "";
}

// The sessions a request may mean, with the names it may call them by.
struct NamedSession {
  std::string run;
  xplane::SessionEntry entry;
};

std::vector<NamedSession> SessionsOf(const Context& context, const Request& request) {
  std::vector<NamedSession> named;
  const std::string_view session_path = request.Query("session_path").value_or("");
  const std::string_view run_path = request.Query("run_path").value_or("");
  if (session_path.empty() && run_path.empty()) {
    for (engine::SessionSummary& summary : context->engine->Sessions()) {
      std::string run = summary.entry.xprof_run();
      named.push_back({std::move(run), std::move(summary.entry)});
    }
    return named;
  }
  const bool one = !session_path.empty();
  const std::string inside = InsideRoots(*context->engine, one ? session_path : run_path);
  if (inside.empty()) return named;
  std::vector<std::string> directories;
  std::error_code error;
  if (one) {
    directories.push_back(inside);
  } else {
    for (const fs::directory_entry& child : fs::directory_iterator(inside, error)) {
      if (child.is_directory(error)) directories.push_back(child.path().string());
    }
  }
  for (const std::string& directory : directories) {
    Result<std::vector<xplane::SessionEntry>> entries = xplane::ListSessions(directory, {});
    for (xplane::SessionEntry& entry :
         entries.ok() ? *entries : std::vector<xplane::SessionEntry>()) {
      std::error_code ignored;
      if (fs::canonical(entry.path, ignored) != fs::path(directory)) continue;
      if (!one && entry.files.empty()) continue;
      named.push_back({fs::path(directory).filename().string(), std::move(entry)});
    }
  }
  return named;
}

Response Runs(const Context& context, const Request& request) {
  std::vector<std::string> runs;
  for (NamedSession& session : SessionsOf(context, request)) runs.push_back(session.run);
  std::sort(runs.begin(), runs.end(), std::greater<>());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return XprofAnswer(PythonJsonStrings(runs), "application/json");
}

std::optional<xplane::SessionEntry> FindRun(const Context& context, const Request& request) {
  const std::string_view run = *request.Query("run");
  if (!request.Query("session_path") && !request.Query("run_path")) {
    Result<xplane::SessionEntry> entry = context->engine->FindByXprofRun(std::string(run));
    return entry.ok() ? std::optional(std::move(entry).value()) : std::nullopt;
  }
  for (NamedSession& session : SessionsOf(context, request)) {
    if (session.run == run) return std::move(session.entry);
  }
  return std::nullopt;
}

Response RunTools(const Context& context, const Request& request) {
  std::vector<std::string> tools;
  const std::optional<xplane::SessionEntry> entry = FindRun(context, request);
  // Only what can be opened can be shown.
  if (entry && !entry->files.empty() && context->engine->Open(entry->id).ok()) {
    tools = ServedXprofTools();
  }
  return XprofAnswer(PythonJsonStrings(tools), "application/json");
}

Response Hosts(const Context& context, const Request& request) {
  const std::optional<xplane::SessionEntry> entry = FindRun(context, request);
  std::vector<std::string> hosts;
  if (entry) hosts = XprofHosts(*entry, request.Query("tag").value_or(""));
  return XprofAnswer(PythonJsonHosts(hosts), "application/json");
}

std::vector<QueryParam> PathQueries() {
  return {{.name = "session_path", .description = "One session's directory, inside the roots."},
          {.name = "run_path", .description = "A directory of sessions, inside the roots."}};
}

std::vector<QueryParam> RunQueries() {
  std::vector<QueryParam> query = PathQueries();
  query.insert(query.begin(),
               {.name = "run", .description = "Run name, from /runs.", .required = true});
  return query;
}

// Known to XProf's clients; answered by name, so that none of them takes a page for data.
void AddUnserved(std::vector<Route>* routes) {
  for (const std::string_view pattern :
       {"/data", "/data_csv", "/module_list", "/generate_cache", "/capture_profile"}) {
    routes->push_back(
        {.pattern = std::string(pattern),
         .operation_id = "unserved",
         .tag = "xprof",
         .summary = "Not served by this release.",
         .run_on = RunOn::kIoThread,
         .documented = false,
         .handler = [](const Request& request) -> Result<Response> {
           return UnimplementedError("XPROF_ROUTE_NOT_SERVED",
                                     "This release does not serve this XProf address.")
               .Where(request.path)
               .Hint("The same profile is at /api/v1/sessions; captures are at /api/v1/captures.");
         }});
  }
}

}  // namespace

void AddXprofRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      {.pattern = "/runs",
       .operation_id = "xprofRuns",
       .tag = "xprof",
       .summary = "XProf: names of all runs, in reverse order.",
       .query = PathQueries(),
       .response_schema = "XprofStrings",
       .handler = [context](const Request& r) -> Result<Response> { return Runs(context, r); }});
  routes->push_back({.pattern = "/run_tools",
                     .operation_id = "xprofRunTools",
                     .tag = "xprof",
                     .summary = "XProf: tools of a run whose pages are served here.",
                     .query = RunQueries(),
                     .response_schema = "XprofStrings",
                     .handler = [context](const Request& r) -> Result<Response> {
                       return RunTools(context, r);
                     }});
  std::vector<QueryParam> host_queries = RunQueries();
  host_queries.push_back({.name = "tag", .description = "Name of the tool."});
  routes->push_back(
      {.pattern = "/hosts",
       .operation_id = "xprofHosts",
       .tag = "xprof",
       .summary = "XProf: hosts of a run, as a tool offers them.",
       .query = host_queries,
       .response_schema = "XprofHosts",
       .handler = [context](const Request& r) -> Result<Response> { return Hosts(context, r); }});
  routes->push_back({.pattern = "/config",
                     .operation_id = "xprofConfig",
                     .tag = "xprof",
                     .summary = "XProf: settings of its pages.",
                     .response_schema = "XprofConfig",
                     .handler = [](const Request&) -> Result<Response> {
                       return XprofAnswer(
                           "{\"enableTabNameLabel\": false, \"hideCaptureProfileButton\": false, "
                           "\"srcPathPrefix\": null}",
                           "application/json");
                     }});
  routes->push_back({.pattern = "/version",
                     .operation_id = "xprofVersion",
                     .tag = "xprof",
                     .summary = "XProf: the release whose answers these routes follow.",
                     .response_type = "text/plain",
                     .handler = [](const Request&) -> Result<Response> {
                       return XprofAnswer(std::string(kXprofVersion), "text/plain");
                     }});
  AddUnserved(routes);
}

}  // namespace strobe::api
