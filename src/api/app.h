// What the handlers work with, and the table of all routes made from it.
//
//   auto context = std::make_shared<AppContext>();
//   context->engine = engine.get(); ...
//   const Router router(MakeRoutes(context));
//
// The context is filled once before the server starts and only read afterwards; what it points to
// must live longer than the server and is thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/api/metrics.h"
#include "src/api/project_map.h"
#include "src/api/router.h"
#include "src/api/static_files.h"
#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/capture/capture.h"
#include "src/capture/upload.h"
#include "src/catalog/catalog.h"
#include "src/engine/engine.h"
#include "src/queue/operation.h"
#include "src/tools/registry.h"

namespace strobe::api {

inline constexpr std::string_view kVersion = "0.1.0";
// The release whose answers the XProf-compatible routes follow.
inline constexpr std::string_view kXprofVersion = "2.24.2";

using CaptureFunction = std::function<Result<capture::CaptureResult>(
    const capture::CaptureRequest&, const CancelToken&,
    const std::function<void(const capture::CaptureProgress&)>&)>;

class AccessControl;
class OidcProvider;
class RunCaptures;
class SignIn;

struct AppContext {
  engine::Engine* engine = nullptr;
  queue::OperationTable* operations = nullptr;
  CaptureFunction capture;                  // empty: captures are not offered
  catalog::Catalog* catalog = nullptr;      // null: no runs are kept
  capture::UploadTable* uploads = nullptr;  // null: uploads are not offered
  // Looks now for the profiles of one run; empty: nobody looks.
  std::function<Status(const catalog::Key&)> scan_run;
  RunCaptures* run_captures = nullptr;  // null: captures for runs are not offered
  // Null: everybody may do everything (the local mode).
  AccessControl* access = nullptr;
  SignIn* sign_in = nullptr;
  OidcProvider* oidc = nullptr;  // null: none
  std::string provider_name;     // of the OIDC provider; empty: none
  std::shared_ptr<const ProjectMap> projects = std::make_shared<ProjectMap>();
  const Clock* clock = nullptr;
  StaticFiles* console = nullptr;
  HttpMetrics* metrics = nullptr;
  const std::vector<tools::ToolDescriptor>* tools = &tools::AllTools();
  std::function<bool()> draining = [] { return false; };
  std::vector<std::string> route_names;  // labels of the metrics, set by MakeRoutes
  std::string capture_default_target;    // empty: none
  bool sample = false;                   // the roots are the samples that come with Strobe
  int64_t started_unix_ms = 0;
  // How long an event stream may be silent before a comment keeps it alive.
  int64_t heartbeat_ms = 15'000;
};

std::vector<Route> MakeRoutes(std::shared_ptr<AppContext> context);

// The parts of the table.
void AddHealthRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddSessionRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddAreaRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddTimelineRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddCaptureRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddUploadRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddXprofRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddXprofDataRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddXprofWorkRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddToolRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddCompareRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddV1alphaRunRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddV1alphaOperationRoutes(const std::shared_ptr<AppContext>& context,
                               std::vector<Route>* routes);
void AddV1alphaChildRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddSelfHostedRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddRunMetricRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddMetricWriteRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddProjectRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddSignInRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddAccessRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddLinkRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddOidcRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddTokenRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);
void AddConsoleRoutes(const std::shared_ptr<AppContext>& context, std::vector<Route>* routes);

// Parameters that every address of a tool's answer takes.
std::vector<QueryParam> ToolQueries();
// Parameters of the ML Diagnostics API's lists.
std::vector<QueryParam> MlListQueries();
std::string EncodeQueryValue(std::string_view text);
// By id or alias among the context's tools; "^" at the end is cut off. Null: no such tool.
const tools::ToolDescriptor* FindToolIn(const AppContext& context, std::string_view name);

// Where a capture may write: the roots that are directories we can write to. Empty with the reason.
std::vector<std::string> WritableRoots(const std::vector<std::string>& roots, std::string* reason);

}  // namespace strobe::api
