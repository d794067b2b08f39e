#include "src/api/ml_run.h"

#include <nlohmann/json.hpp>

#include "src/api/ml_messages.h"
#include "src/catalog/rules.h"
#include "src/catalog/time_text.h"

namespace strobe::api {
namespace {

using catalog::Run;
using Json = nlohmann::json;

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Json Stored(const std::string& body) {
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

// Both names of a run's group are kept the same; whichever was changed counts.
std::string GroupOf(const Json& document, const std::string& current) {
  const std::string set = Text(document, "runSet");
  const std::string group = Text(document, "runGroup");
  if (set.empty()) return group;
  if (group.empty() || group == current) return set;
  return group;
}

bool HasLabel(const Json& document, std::string_view name, std::string_view value) {
  const auto labels = document.find("labels");
  return labels != document.end() && labels->is_object() &&
         Text(*labels, std::string(name).c_str()) == value;
}

// Everything that clients set, as they would send it.
Json ClientDocument(const Run& run) {
  Json document = Stored(run.body);
  if (!run.phase.empty()) document["runPhase"] = run.phase;
  if (!run.run_set.empty()) document["runSet"] = document["runGroup"] = run.run_set;
  return document;
}

// Columns and body out of a document in the one spelling. The phase is the caller's.
void TakeDocument(Json document, Run* run) {
  run->display_name = Text(document, "displayName");
  run->run_set = GroupOf(document, run->run_set);
  run->orchestrator = Text(document, "orchestrator");
  const auto artifacts = document.find("artifacts");
  run->storage_path =
      artifacts == document.end() ? "" : NormalizeStoragePath(Text(*artifacts, "gcsPath"));
  run->existing_only = HasLabel(document, kListExistingLabel, "true") ? 1 : 0;
  for (const char* column : {"name", "etag", "state", "runPhase", "runSet", "runGroup"}) {
    document.erase(column);
  }
  run->body = document.dump();
}

std::string PhaseOfNew(const Json& document, const Run& run) {
  // There is nothing to wait for.
  if (run.existing_only != 0) return "COMPLETED";
  const std::string phase = Text(document, "runPhase");
  if (!phase.empty()) return phase;
  // xprofiler registers finished runs by their state.
  const std::string state = Text(document, "state");
  if (state == "STATE_COMPLETED") return "COMPLETED";
  return state == "STATE_FAILED" ? "FAILED" : "ACTIVE";
}

}  // namespace

std::string NormalizeStoragePath(std::string_view path) {
  std::string normal;
  const size_t scheme = path.find("://");
  size_t begin = 0;
  if (scheme != std::string_view::npos) {
    begin = scheme + 3;
    if (path.substr(0, scheme) != "file") normal = path.substr(0, begin);
  }
  const size_t fixed = normal.size();
  for (const char c : path.substr(begin)) {
    if (c == '/' && normal.size() > fixed && normal.back() == '/') continue;
    normal += c;
  }
  while (normal.size() > fixed + 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

Result<Run> MakeRun(std::string_view body, const catalog::Key& key, std::string etag,
                    int64_t now_unix_ns) {
  STROBE_ASSIGN_OR_RETURN(const std::string normal, NormalizeMessage(body, RunMessage()));
  Json document = Stored(normal);
  if (!document.contains("tools")) {
    document["tools"] = Json::array({Json{{"xprof", Json::object()}}});
  }
  Run run;
  run.project = key.project;
  run.location = key.location;
  run.id = key.id;
  run.etag = std::move(etag);
  run.create_unix_ns = now_unix_ns;
  run.update_unix_ns = now_unix_ns;
  TakeDocument(document, &run);
  catalog::ApplyPhase(now_unix_ns, PhaseOfNew(document, run), &run);
  if (!run.storage_path.empty()) run.scan_due_unix_ns = now_unix_ns;
  return run;
}

Status UpdateRun(std::string_view body, std::string_view update_mask, std::string etag,
                 int64_t now_unix_ns, Run* run) {
  STROBE_ASSIGN_OR_RETURN(const UpdateMask mask, ParseUpdateMask(update_mask, RunMessage()));
  STROBE_ASSIGN_OR_RETURN(const std::string normal, NormalizeMessage(body, RunMessage()));
  STROBE_RETURN_IF_ERROR(catalog::CheckEtag(Text(Stored(normal), "etag"), run->etag));
  if (run->existing_only != 0) {
    return FailedPreconditionError("RUN_EXISTING_ONLY",
                                   "A run that only lists existing sessions cannot be changed.")
        .Where(run->id)
        .Hint("Delete it and register the directory again.");
  }
  const std::string before_path = run->storage_path;
  const Json document = Stored(ApplyMask(ClientDocument(*run).dump(), normal, mask));
  TakeDocument(document, run);
  const std::string phase = Text(document, "runPhase");
  if (!phase.empty()) catalog::ApplyPhase(now_unix_ns, phase, run);
  run->etag = std::move(etag);
  // A clock that went backwards does not make a change older than the one before.
  run->update_unix_ns = std::max(now_unix_ns, run->update_unix_ns + 1);
  if (run->storage_path != before_path && !run->storage_path.empty()) {
    run->scan_due_unix_ns = now_unix_ns;
  }
  if (run->storage_path.empty()) run->scan_due_unix_ns = 0;
  return OkStatus();
}

std::string RunJson(const Run& run) {
  Json json = ClientDocument(run);
  json["name"] = catalog::RunName(run.key());
  json["etag"] = run.etag;
  json["state"] = "STATE_" + run.state;
  json["createTime"] = catalog::FormatTimestamp(run.create_unix_ns);
  json["updateTime"] = catalog::FormatTimestamp(run.update_unix_ns);
  json["endTime"] = run.end_unix_ns == 0 ? std::string(catalog::kNoTime)
                                         : catalog::FormatTimestamp(run.end_unix_ns);
  if (run.scan_done_unix_ns != 0) {
    Json& scan = json["storageScan"];
    scan["scanTime"] = catalog::FormatTimestamp(run.scan_done_unix_ns);
    if (!run.scan_error.empty()) scan["error"] = run.scan_error;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace strobe::api
