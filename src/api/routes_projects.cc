// Which projects have runs: what the console offers to choose from.
#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/json_answers.h"
#include "src/base/json_writer.h"
#include "src/catalog/catalog.h"
#include "src/catalog/rules.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;

// A menu of more is no menu.
constexpr int64_t kMaxProjects = 1000;

Result<Response> Projects(const Context& context, const Request& request) {
  std::vector<std::string> projects;
  if (context->catalog != nullptr) {
    STROBE_RETURN_IF_ERROR(context->catalog->Read([&](catalog::Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(projects, catalog::ProjectsOfRuns(transaction, kMaxProjects));
      return OkStatus();
    }));
  }
  JsonWriter json;
  json.BeginObject();
  json.Key("projects").BeginArray();
  for (const std::string& project : projects) {
    if (HasRight(request, project, Right::kView)) json.String(project);
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(json.TakeText());
}

}  // namespace

void AddProjectRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      {.pattern = "/api/v1/projects",
       .access = {Need::kSignedIn, Object::kNone},
       .operation_id = "listProjects",
       .tag = "runs",
       .summary = "The projects that have runs and that the caller may look at, by name.",
       .response_schema = "ProjectList",
       .handler = [context](const Request& r) { return Projects(context, r); }});
}

}  // namespace strobe::api
