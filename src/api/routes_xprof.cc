// XProf's routes that describe what there is: /runs, /run_tools, /hosts, /module_list, /config,
// /version. Those that compute are in routes_xprof_data.cc.
//
// As XProf answers them: sorted keys, gzip whatever the client accepts, unknown runs give empty
// lists. Unlike XProf: a missing `run` is a named error instead of a cut connection, and
// session_path and run_path reach nothing outside the roots.
#include <algorithm>

#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/xprof_answers.h"
#include "src/api/xprof_runs.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;

// The address is XProf's list and the console's page of runs: who follows a link or types it wants
// the page, programs want the list.
Response Runs(const Context& context, const Request& request) {
  const bool wants_page = !request.below_xprof_prefix &&
                          request.HeaderValue("accept").find("text/html") != std::string::npos;
  if (wants_page) {
    Response page = context->console->Serve(request);
    page.headers.emplace_back("Vary", "Accept");
    return page;
  }
  std::vector<std::string> runs;
  for (XprofRun& run : XprofRuns(*context->engine, request)) {
    if (MayList(request, run.entry)) runs.push_back(std::move(run.run));
  }
  std::sort(runs.begin(), runs.end(), std::greater<>());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  Response list = XprofAnswer(PythonJsonStrings(runs), "application/json");
  list.headers.emplace_back("Vary", "Accept");
  return list;
}

Response RunTools(const Context& context, const Request& request) {
  std::vector<std::string> tools;
  const std::optional<xplane::SessionEntry> entry =
      FindXprofRun(*context->engine, request, *request.Query("run"));
  if (entry && !entry->files.empty()) {
    const auto opened = context->engine->OpenForTools(entry->id);
    if (opened.ok()) tools = XprofToolsOf(**opened, *context->tools);
  }
  return XprofAnswer(PythonJsonStrings(tools), "application/json");
}

Response Hosts(const Context& context, const Request& request) {
  const std::optional<xplane::SessionEntry> entry =
      FindXprofRun(*context->engine, request, *request.Query("run"));
  std::vector<std::string> hosts;
  if (entry) hosts = XprofHosts(*entry, request.Query("tag").value_or(""));
  return XprofAnswer(PythonJsonHosts(hosts), "application/json");
}

// All modules of the run as its pages name them; XProf's word for none.
Response ModuleList(const Context& context, const Request& request) {
  const std::optional<xplane::SessionEntry> entry =
      FindXprofRun(*context->engine, request, *request.Query("run"));
  std::string names;
  if (entry && !entry->files.empty()) {
    const auto opened = context->engine->OpenForTools(entry->id);
    if (opened.ok() && XprofReads(**opened)) names = XprofModuleList(**opened);
  }
  return XprofAnswer(std::move(names), "text/plain");
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

}  // namespace

void AddXprofRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      {.pattern = "/runs",
       .access = {Need::kSignedIn, Object::kNone},
       .operation_id = "xprofRuns",
       .tag = "xprof",
       .summary = "XProf: names of all runs, in reverse order; the console for who accepts text/html.",
       .query = PathQueries(),
       .response_schema = "XprofStrings",
       .handler = [context](const Request& r) -> Result<Response> { return Runs(context, r); }});
  routes->push_back({.pattern = "/run_tools",
                     .access = {Need::kView, Object::kXprofRun},
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
       .access = {Need::kView, Object::kXprofRun},
       .operation_id = "xprofHosts",
       .tag = "xprof",
       .summary = "XProf: hosts of a run, as a tool offers them.",
       .query = host_queries,
       .response_schema = "XprofHosts",
       .handler = [context](const Request& r) -> Result<Response> { return Hosts(context, r); }});
  routes->push_back({.pattern = "/config",
                     .access = {Need::kAnyone, Object::kNone},
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
                     .access = {Need::kAnyone, Object::kNone},
                     .operation_id = "xprofVersion",
                     .tag = "xprof",
                     .summary = "XProf: the release whose answers these routes follow.",
                     .response_type = "text/plain",
                     .handler = [](const Request&) -> Result<Response> {
                       return XprofAnswer(std::string(kXprofVersion), "text/plain");
                     }});
  routes->push_back({.pattern = "/module_list",
                     .access = {Need::kView, Object::kXprofRun},
                     .operation_id = "xprofModuleList",
                     .tag = "xprof",
                     .summary = "XProf: names of the run's HLO modules, comma separated.",
                     .query = RunQueries(),
                     .response_type = "text/plain",
                     .handler = [context](const Request& r) -> Result<Response> {
                       return ModuleList(context, r);
                     }});
  AddXprofDataRoutes(context, routes);
  AddXprofWorkRoutes(context, routes);
}

}  // namespace strobe::api
