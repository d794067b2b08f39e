// Runs of the ML Diagnostics API: create, get, list, update, delete; locations.
#include <fmt/format.h>

#include "src/api/ml_children.h"
#include "src/api/ml_run.h"
#include "src/api/v1alpha_support.h"
#include "src/base/json_writer.h"

namespace strobe::api {
namespace {

using catalog::Key;
using catalog::Operation;
using catalog::Run;
using catalog::Transaction;
using Context = std::shared_ptr<AppContext>;

constexpr std::string_view kRuns =
    "/v1alpha/projects/{project}/locations/{location}/machineLearningRuns";

// The hosts that a run's workload names are its targets without anybody making them.
Status AddWorkloadTargets(Transaction& transaction, const Run& run) {
  for (catalog::ProfilerTarget& target : WorkloadTargets(run)) {
    STROBE_ASSIGN_OR_RETURN(const auto there,
                            transaction.Find<catalog::ProfilerTarget>(target.key()));
    if (there) continue;
    target.etag = catalog::MakeUuid(transaction.random());
    STROBE_RETURN_IF_ERROR(transaction.Insert(target));
  }
  return OkStatus();
}

Result<Response> CreateRun(const Context& context, const Request& request) {
  Key key = KeyOf(request);
  const std::string_view wanted = QueryEither(request, "machineLearningRunId");
  if (!wanted.empty()) STROBE_RETURN_IF_ERROR(catalog::CheckId("run", wanted));
  STROBE_RETURN_IF_ERROR(catalog::CheckId("project", key.project));
  STROBE_RETURN_IF_ERROR(catalog::CheckId("location", key.location));
  return Mutate(
      *context, request, key, "create",
      [&](Transaction& transaction, Operation* operation) -> Result<std::string> {
        Key run_key = key;
        run_key.id = wanted.empty() ? catalog::MakeUuid(transaction.random()) : std::string(wanted);
        const std::string name = catalog::RunName(run_key);
        STROBE_ASSIGN_OR_RETURN(
            const Run run, MakeRun(request.body, run_key, catalog::MakeUuid(transaction.random()),
                                   transaction.clock().NowUnixNanos()));
        STROBE_RETURN_IF_ERROR(NamingResource(transaction.Insert(run), name));
        STROBE_RETURN_IF_ERROR(AddWorkloadTargets(transaction, run));
        operation->target = name;
        operation->run = run.id;
        return TypedJson(RunJson(run), "MachineLearningRun");
      });
}

Result<Response> GetRun(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  std::string json;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const Run run, transaction.Get<Run>(KeyOf(request)));
    json = RunJson(run);
    return OkStatus();
  }));
  return MlResponse(std::move(json));
}

Result<Response> ListRuns(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  STROBE_ASSIGN_OR_RETURN(const catalog::ListQuery query,
                          ListQueryOf(request, KeyOf(request), kDefaultPageSizeRuns));
  catalog::Page<Run> page;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(page, transaction.List<Run>(query));
    return OkStatus();
  }));
  std::vector<std::string> items;
  for (const Run& run : page.items) items.push_back(RunJson(run));
  return MlResponse(ListJson("machineLearningRuns", items, page.next_page_token));
}

Result<Response> PatchRun(const Context& context, const Request& request) {
  const Key key = KeyOf(request);
  return Mutate(*context, request, key, "update",
                [&](Transaction& transaction, Operation* operation) -> Result<std::string> {
                  STROBE_ASSIGN_OR_RETURN(Run run, transaction.Get<Run>(key));
                  STROBE_RETURN_IF_ERROR(UpdateRun(request.body, QueryEither(request, "updateMask"),
                                                   catalog::MakeUuid(transaction.random()),
                                                   transaction.clock().NowUnixNanos(), &run));
                  STROBE_RETURN_IF_ERROR(transaction.Update(run));
                  STROBE_RETURN_IF_ERROR(AddWorkloadTargets(transaction, run));
                  operation->target = catalog::RunName(key);
                  return TypedJson(RunJson(run), "MachineLearningRun");
                });
}

Result<Response> DeleteRun(const Context& context, const Request& request) {
  const Key key = KeyOf(request);
  const std::string_view force = QueryEither(request, "force");
  return Mutate(*context, request, key, "delete",
                [&](Transaction& transaction, Operation* operation) -> Result<std::string> {
                  const std::string_view etag = QueryEither(request, "etag");
                  if (!etag.empty()) {
                    STROBE_ASSIGN_OR_RETURN(const Run run, transaction.Get<Run>(key));
                    STROBE_RETURN_IF_ERROR(catalog::CheckEtag(etag, run.etag));
                  }
                  STROBE_RETURN_IF_ERROR(catalog::DeleteRun(
                      transaction, key, EqualsIgnoreCase(force, "true") || force == "1"));
                  operation->target = catalog::RunName(key);
                  return EmptyTypedJson();
                });
}

void WriteLocation(JsonWriter& json, std::string_view project, std::string_view location) {
  json.BeginObject();
  json.Key("name").String(fmt::format("projects/{}/locations/{}", project, location));
  json.Key("locationId").String(location);
  json.EndObject();
}

// Any word is a location here; the ones that have runs are listed.
Result<Response> ListLocations(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  const Key key = KeyOf(request);
  JsonWriter json;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(
        const catalog::SqlRows found,
        transaction.sql().Run(
            "SELECT DISTINCT location FROM runs WHERE project = ? ORDER BY location LIMIT 1000",
            {key.project}));
    json = JsonWriter();
    json.BeginObject();
    json.Key("locations").BeginArray();
    for (const auto& row : found.rows) {
      WriteLocation(json, key.project, std::get<std::string>(row.at(0)));
    }
    json.EndArray();
    json.EndObject();
    return OkStatus();
  }));
  return MlResponse(json.TakeText());
}

Result<Response> GetLocation(const Request& request) {
  const Key key = KeyOf(request);
  STROBE_RETURN_IF_ERROR(catalog::CheckId("location", key.location));
  JsonWriter json;
  WriteLocation(json, key.project, key.location);
  return MlResponse(json.TakeText());
}

}  // namespace

std::vector<QueryParam> MlListQueries() {
  return {{.name = "filter", .description = "FIELD OPERATOR \"VALUE\", with AND, OR, NOT."},
          {.name = "orderBy", .description = "Fields, each with \" desc\" if wanted."},
          {.name = "pageSize", .description = "At most 1000; larger ones are cut to it."},
          {.name = "pageToken", .description = "nextPageToken of the page before."}};
}

void AddV1alphaRunRoutes(const Context& context, std::vector<Route>* routes) {
  const std::string runs(kRuns);
  routes->push_back(MlRoute(
      {.method = Method::kPost,
       .pattern = runs,
       .access = {Need::kEdit, Object::kProject, Audit::kAlways},
       .operation_id = "mlCreateRun",
       .summary = "Make a run.",
       .query = {{.name = "machineLearningRunId", .description = "Its id; left out, one is made."},
                 {.name = "requestId", .description = "UUID; see get."}},
       .request_schema = "MlMessage",
       .response_schema = "MlOperation"},
      [context](const Request& r) { return CreateRun(context, r); }));
  routes->push_back(MlRoute({.pattern = runs,
                             .access = {Need::kView, Object::kProject},
                             .operation_id = "mlListRuns",
                             .summary = "Runs of a location (\"-\": of all), in pages.",
                             .query = MlListQueries(),
                             .response_schema = "MlMessage"},
                            [context](const Request& r) { return ListRuns(context, r); }));
  routes->push_back(MlRoute({.pattern = runs + "/{id}",
                             .access = {Need::kView, Object::kProject},
                             .operation_id = "mlGetRun",
                             .summary = "One run.",
                             .response_schema = "MlMessage"},
                            [context](const Request& r) { return GetRun(context, r); }));
  routes->push_back(
      MlRoute({.method = Method::kPatch,
               .pattern = runs + "/{id}",
               .access = {Need::kEdit, Object::kProject, Audit::kAlways},
               .operation_id = "mlUpdateRun",
               .summary = "Change a run; its etag, when sent, must be the current one.",
               .query = {{.name = "updateMask", .description = "Fields, or * for all."},
                         {.name = "requestId", .description = "UUID of this request."}},
               .request_schema = "MlMessage",
               .response_schema = "MlOperation"},
              [context](const Request& r) { return PatchRun(context, r); }));
  routes->push_back(
      MlRoute({.method = Method::kDelete,
               .pattern = runs + "/{id}",
               .access = {Need::kEdit, Object::kProject, Audit::kAlways},
               .operation_id = "mlDeleteRun",
               .summary = "Forget a run; profiles in storage stay.",
               .query = {{.name = "force", .description = "true: with all that is below it."},
                         {.name = "etag", .description = "Only if this is the current one."},
                         {.name = "requestId", .description = "UUID of this request."}},
               .response_schema = "MlOperation"},
              [context](const Request& r) { return DeleteRun(context, r); }));
  routes->push_back(MlRoute({.pattern = "/v1alpha/projects/{project}/locations",
                             .access = {Need::kView, Object::kProject},
                             .operation_id = "mlListLocations",
                             .summary = "Locations that have runs.",
                             .response_schema = "MlMessage"},
                            [context](const Request& r) { return ListLocations(context, r); }));
  routes->push_back(MlRoute({.pattern = "/v1alpha/projects/{project}/locations/{location}",
                             .access = {Need::kView, Object::kProject},
                             .operation_id = "mlGetLocation",
                             .summary = "One location.",
                             .response_schema = "MlMessage"},
                            [](const Request& r) { return GetLocation(r); }));
}

}  // namespace strobe::api
