// The SDK's self-hosted dialect (DIAGON_BASE_URL or base_url=): runs are made and changed by PATCH
// to /v1/machineLearningRuns. They are the same runs as those of the ML Diagnostics API, in the
// project and location below.
//
// The same job always sends the same logical id. While its run goes on, it is that run again; once
// that has ended, the next start makes a new one. What the SDK would die of (an error on create) is
// answered with what can be done.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/api/ml_messages.h"
#include "src/api/ml_run.h"
#include "src/api/v1alpha_support.h"
#include "src/catalog/audit.h"

namespace strobe::api {
namespace {

using catalog::Key;
using catalog::Operation;
using catalog::Run;
using catalog::Transaction;
using Context = std::shared_ptr<AppContext>;
using Json = nlohmann::json;

constexpr std::string_view kProject = "default";
constexpr std::string_view kLocation = "local";

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Json Parse(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

std::string PhaseOf(const std::string& state) {
  if (state == "STATE_SUCCEEDED") return "COMPLETED";
  if (state == "STATE_FAILED") return "FAILED";
  return state == "STATE_RUNNING" ? "ACTIVE" : "";
}

std::string StateOf(const std::string& phase) {
  if (phase == "COMPLETED") return "STATE_SUCCEEDED";
  return phase == "FAILED" ? "STATE_FAILED" : "STATE_RUNNING";
}

std::string SelfHostedJson(const Run& run) {
  const Json body = Parse(run.body);
  const Json labels = body.value("labels", Json::object());
  Json json{
      {"name", "machineLearningRuns/" + run.id},
      {"displayName", run.display_name},
      {"logicalId", run.logical_id},
      {"workload", {{"workloadId", Text(labels, "workload_id")}, {"state", StateOf(run.phase)}}}};
  if (const std::string cluster = Text(labels, "cluster_id"); !cluster.empty()) {
    json["clusterId"] = cluster;
  }
  if (!run.storage_path.empty()) json["baseBlobPath"] = run.storage_path;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The run of the ML Diagnostics API that this document means.
std::string RunBodyOf(const Json& document) {
  Json workload = document.value("workload", Json::object());
  Json body{{"displayName", Text(document, "displayName")},
            {"orchestrator", "CUSTOM"},
            {"artifacts", {{"gcsPath", Text(document, "baseBlobPath")}}},
            {"labels",
             {{"created_by", "diagon_sdk"},
              {"workload_id", Text(workload, "workloadId")},
              {"cluster_id", Text(document, "clusterId")}}},
            {"workloadDetails", {{"custom", {{"id", Text(workload, "workloadId")}}}}}};
  return body.dump();
}

// The run that goes on under a logical id, free for a new one when it has ended.
Result<std::optional<Run>> FindActive(Transaction& transaction, const std::string& logical_id) {
  STROBE_ASSIGN_OR_RETURN(
      std::vector<Run> found,
      transaction.Select<Run>("project = ? AND location = ? AND logical_id = ?",
                              {std::string(kProject), std::string(kLocation), logical_id}, 1));
  if (found.empty()) return std::optional<Run>();
  Run run = found.front();
  if (run.end_unix_ns == 0) return std::optional<Run>(std::move(run));
  run.logical_id.clear();
  STROBE_RETURN_IF_ERROR(transaction.Update(run));
  return std::optional<Run>();
}

// The first run of a job has its logical id; later ones are told apart by their start.
Result<std::string> FreeId(Transaction& transaction, const std::string& logical_id) {
  const Key key{std::string(kProject), std::string(kLocation), "", logical_id};
  STROBE_ASSIGN_OR_RETURN(const std::optional<Run> taken, transaction.Find<Run>(key));
  if (!taken) return logical_id;
  return fmt::format("{}-{}", logical_id, transaction.clock().NowUnixMillis());
}

Result<Run> Upsert(Transaction& transaction, const Json& document) {
  const int64_t now = transaction.clock().NowUnixNanos();
  std::string logical_id = Text(document, "logicalId");
  if (!catalog::CheckId("run", logical_id).ok()) {
    logical_id = catalog::MakeUuid(transaction.random());
  }
  STROBE_ASSIGN_OR_RETURN(std::optional<Run> active, FindActive(transaction, logical_id));
  if (active) {
    STROBE_RETURN_IF_ERROR(UpdateRun(RunBodyOf(document),
                                     "display_name,labels,artifacts,workload_details",
                                     catalog::MakeUuid(transaction.random()), now, &*active));
    STROBE_RETURN_IF_ERROR(transaction.Update(*active));
    return std::move(*active);
  }
  STROBE_ASSIGN_OR_RETURN(std::string id, FreeId(transaction, logical_id));
  STROBE_ASSIGN_OR_RETURN(
      Run run, MakeRun(RunBodyOf(document),
                       {std::string(kProject), std::string(kLocation), "", std::move(id)},
                       catalog::MakeUuid(transaction.random()), now));
  run.logical_id = logical_id;
  STROBE_RETURN_IF_ERROR(transaction.Insert(run));
  return run;
}

Result<Response> PatchUnnamed(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(request.body, SelfHostedRunMessage()));
  const Json document = Parse(normal);
  std::string json;
  const auto change = [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const Run run, Upsert(transaction, document));
    json = SelfHostedJson(run);
    return OkStatus();
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*catalog, request.trail.get(), change));
  return MlResponse(std::move(json));
}

// By run id, or by the logical id under which it goes on.
Result<Run> FindNamed(Transaction& transaction, const std::string& id) {
  const Key key{std::string(kProject), std::string(kLocation), "", id};
  STROBE_ASSIGN_OR_RETURN(std::vector<Run> active,
                          transaction.Select<Run>("project = ? AND location = ? AND logical_id = ?",
                                                  {key.project, key.location, id}, 1));
  if (!active.empty()) return std::move(active.front());
  return transaction.Get<Run>(key);
}

Result<Response> PatchNamed(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(request.body, SelfHostedRunMessage()));
  const Json document = Parse(normal);
  std::string json;
  const auto change = [&](Transaction& transaction) -> Status {
    const int64_t now = transaction.clock().NowUnixNanos();
    Result<Run> found = FindNamed(transaction, std::string(request.Param("id")));
    if (!found.ok() && QueryEither(request, "allowMissing") == "true") {
      found = Upsert(transaction, document);
    }
    STROBE_ASSIGN_OR_RETURN(Run run, std::move(found));
    const std::string phase = PhaseOf(Text(document.value("workload", Json::object()), "state"));
    if (!phase.empty()) catalog::ApplyPhase(now, phase, &run);
    run.etag = catalog::MakeUuid(transaction.random());
    run.update_unix_ns = std::max(now, run.update_unix_ns + 1);
    // What a job wrote last is found soon after its end.
    if (!run.storage_path.empty()) run.scan_due_unix_ns = now;
    json = SelfHostedJson(run);
    return transaction.Update(run);
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*catalog, request.trail.get(), change));
  return MlResponse(std::move(json));
}

Result<Response> GetNamed(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  std::string json;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const Run run,
                            FindNamed(transaction, std::string(request.Param("id"))));
    json = SelfHostedJson(run);
    return OkStatus();
  }));
  return MlResponse(std::move(json));
}

Result<Response> ListAll(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  STROBE_ASSIGN_OR_RETURN(
      const catalog::ListQuery query,
      ListQueryOf(request, {std::string(kProject), std::string(kLocation), "", ""},
                  kDefaultPageSizeRuns));
  catalog::Page<Run> page;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(page, transaction.List<Run>(query));
    return OkStatus();
  }));
  std::vector<std::string> items;
  for (const Run& run : page.items) items.push_back(SelfHostedJson(run));
  return MlResponse(ListJson("machineLearningRuns", items, page.next_page_token));
}

}  // namespace

void AddSelfHostedRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      MlRoute({.method = Method::kPatch,
               .pattern = "/v1/machineLearningRuns",
               .access = {Need::kEdit, Object::kDefaultProject, Audit::kAlways},
               .operation_id = "selfHostedUpsertRun",
               .summary = "Make the run of a logical id, or join it while it goes on.",
               .query = {{.name = "updateMask", .description = "Taken and not needed."},
                         {.name = "allowMissing", .description = "Always so here."}},
               .request_schema = "MlMessage",
               .response_schema = "MlMessage"},
              [context](const Request& r) { return PatchUnnamed(context, r); }));
  routes->push_back(
      MlRoute({.method = Method::kPatch,
               .pattern = "/v1/machineLearningRuns/{id}",
               .access = {Need::kEdit, Object::kDefaultProject, Audit::kAlways},
               .operation_id = "selfHostedUpdateRun",
               .summary = "Say how a run's workload is doing.",
               .query = {{.name = "updateMask", .description = "workload.state"},
                         {.name = "allowMissing", .description = "true: make it when absent."}},
               .request_schema = "MlMessage",
               .response_schema = "MlMessage"},
              [context](const Request& r) { return PatchNamed(context, r); }));
  routes->push_back(MlRoute({.pattern = "/v1/machineLearningRuns/{id}",
                             .access = {Need::kView, Object::kDefaultProject},
                             .operation_id = "selfHostedGetRun",
                             .summary = "One run of the self-hosted dialect.",
                             .response_schema = "MlMessage"},
                            [context](const Request& r) { return GetNamed(context, r); }));
  routes->push_back(MlRoute({.pattern = "/v1/machineLearningRuns",
                             .access = {Need::kView, Object::kDefaultProject},
                             .operation_id = "selfHostedListRuns",
                             .summary = "Runs of the self-hosted dialect.",
                             .query = MlListQueries(),
                             .response_schema = "MlMessage"},
                            [context](const Request& r) { return ListAll(context, r); }));
}

}  // namespace strobe::api
