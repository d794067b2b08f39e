#include "src/api/ml_children.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/api/ml_messages.h"
#include "src/catalog/rules.h"
#include "src/catalog/time_text.h"

namespace strobe::api {
namespace {

using catalog::Key;
using catalog::MonitoredEvent;
using catalog::ProfilerSession;
using catalog::ProfilerTarget;
using Json = nlohmann::json;

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Json Stored(std::string_view body) {
  Json json = Json::parse(body.begin(), body.end(), nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? json : Json::object();
}

int64_t TimeOf(const Json& object, const char* key) {
  const std::string text = Text(object, key);
  if (text.empty()) return 0;
  const Result<int64_t> time = catalog::ParseTimestamp(text);
  return time.ok() ? *time : 0;
}

void SetTime(Json& json, const char* key, int64_t unix_ns) {
  if (unix_ns != 0) json[key] = catalog::FormatTimestamp(unix_ns);
}

std::string WithoutPrefix(std::string word, std::string_view prefix) {
  return word.starts_with(prefix) ? word.substr(prefix.size()) : word;
}

template <typename T>
T NewRecord(const Key& key, std::string etag, int64_t now_unix_ns) {
  T record;
  record.project = key.project;
  record.location = key.location;
  record.run = key.run;
  record.id = key.id;
  record.etag = std::move(etag);
  record.create_unix_ns = now_unix_ns;
  return record;
}

// Columns and body out of a session's document. State and times follow from its targets.
void TakeSession(Json document, ProfilerSession* session) {
  session->kind = WithoutPrefix(Text(document, "kind"), "KIND_");
  std::vector<std::string> phases;
  int64_t start = 0;
  int64_t end = 0;
  bool all_ended = true;
  if (const auto targets = document.find("targetSessions"); targets != document.end()) {
    for (const auto& [target, state] : targets->items()) {
      phases.push_back(Text(state, "sessionPhase"));
      const int64_t began = TimeOf(state, "startTime");
      const int64_t ended = TimeOf(state, "endTime");
      if (began != 0 && (start == 0 || began < start)) start = began;
      end = std::max(end, ended);
      all_ended = all_ended && ended != 0;
    }
  }
  if (start != 0) session->start_unix_ns = start;
  session->end_unix_ns = all_ended && end != 0 ? end : 0;
  if (session->kind == "SCANNED") {
    session->state = "SUCCEEDED";
  } else {
    session->state = catalog::SessionStateOf(phases);
  }
  for (const char* column : {"name", "etag", "kind"}) document.erase(column);
  session->body = document.dump();
}

Json SessionDocument(const ProfilerSession& session) {
  Json document = Stored(session.body);
  if (!session.kind.empty()) document["kind"] = "KIND_" + session.kind;
  return document;
}

// Where the files are, or will be. What clients say of it is not to be trusted.
std::string FolderUri(const ProfilerSession& session, const ChildContext& context) {
  if (!session.found_path.empty()) return session.found_path;
  if (context.storage_path.empty()) return "";
  const std::string of_run = context.storage_path + "/" + session.run;
  return session.state == "ACTIVE" ? of_run : of_run + "/plugins/profile/" + session.id;
}

void TakeEvent(Json document, MonitoredEvent* event) {
  event->display_name = Text(document, "displayName");
  if (event->display_name.empty()) event->display_name = event->id;
  event->type = Text(document, "type");
  event->start_unix_ns = TimeOf(document, "startTime");
  event->end_unix_ns = TimeOf(document, "endTime");
  event->insight_found = 0;
  if (const auto reports = document.find("analyzerReports"); reports != document.end()) {
    for (const Json& report : *reports) {
      if (Text(report, "detectionState") == "DETECTED") event->insight_found = 1;
    }
  }
  for (const char* column : {"name", "etag", "displayName"}) document.erase(column);
  event->body = document.dump();
}

}  // namespace

Result<ProfilerTarget> MakeTarget(std::string_view body, const Key& key, std::string etag,
                                  int64_t now_unix_ns) {
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(body, ProfilerTargetMessage()));
  const Json document = Stored(normal);
  auto target = NewRecord<ProfilerTarget>(key, std::move(etag), now_unix_ns);
  target.hostname = Text(document, "hostname");
  if (target.hostname.empty()) {
    return InvalidArgumentError("TARGET_NO_HOSTNAME", "A target needs a hostname.")
        .Hint("Set hostname to the machine on which the job's profiler listens.");
  }
  if (document.contains("nodeIndex")) target.node_index = document["nodeIndex"].get<int64_t>();
  target.is_master = document.contains("isMaster") && document["isMaster"].get<bool>() ? 1 : 0;
  if (target.id.empty()) target.id = target.hostname + "-" + std::to_string(target.node_index);
  STROBE_RETURN_IF_ERROR(catalog::CheckId("profiler target", target.id));
  return target;
}

std::string TargetJson(const ProfilerTarget& target) {
  Json json{{"name", catalog::ChildName(target.key(), "profilerTargets")},
            {"hostname", target.hostname},
            {"etag", target.etag}};
  if (target.node_index != 0) json["nodeIndex"] = target.node_index;
  if (target.is_master != 0) json["isMaster"] = true;
  return json.dump();
}

std::vector<ProfilerTarget> WorkloadTargets(const catalog::Run& run) {
  std::vector<ProfilerTarget> targets;
  const Json document = Stored(run.body);
  const Json list = document.value("/workloadDetails/targets"_json_pointer, Json::array());
  for (const Json& entry : list) {
    if (targets.size() >= kMaxWorkloadTargets) break;
    ProfilerTarget target;
    target.project = run.project;
    target.location = run.location;
    target.run = run.id;
    target.id = Text(entry, "displayName");
    target.hostname = Text(entry, "hostname");
    if (target.hostname.empty()) target.hostname = target.id;
    if (target.id.empty()) target.id = target.hostname;
    target.node_index = static_cast<int64_t>(targets.size());
    target.is_master = targets.empty() ? 1 : 0;
    target.automatic = 1;
    target.create_unix_ns = run.update_unix_ns;
    // Display names that are no ids stay in the workload's details only.
    if (catalog::CheckId("profiler target", target.id).ok()) targets.push_back(std::move(target));
  }
  return targets;
}

Result<ProfilerSession> MakeSession(std::string_view body, const Key& key, std::string etag,
                                    int64_t now_unix_ns) {
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(body, ProfilerSessionMessage()));
  auto session = NewRecord<ProfilerSession>(key, std::move(etag), now_unix_ns);
  session.update_unix_ns = now_unix_ns;
  TakeSession(Stored(normal), &session);
  // Taking it would leave a session that nobody ever captures.
  if (IsCaptureKind(session.kind)) {
    return InvalidArgumentError("SESSION_BY_CAPTURE",
                                "A session of this kind begins with its capture.")
        .Where(session.kind)
        .Hint("Send it by POST.");
  }
  return session;
}

Result<ProfilerSession> MakeCaptureSession(std::string_view body, const Key& key, std::string etag,
                                           int64_t now_unix_ns) {
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(body, ProfilerSessionMessage()));
  auto session = NewRecord<ProfilerSession>(key, std::move(etag), now_unix_ns);
  session.update_unix_ns = now_unix_ns;
  Json document = Stored(normal);
  // How it goes is ours to say.
  document.erase("targetSessions");
  TakeSession(std::move(document), &session);
  return session;
}

Result<std::string> SessionKindOf(std::string_view body) {
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(body, ProfilerSessionMessage()));
  return WithoutPrefix(Text(Stored(normal), "kind"), "KIND_");
}

bool IsCaptureKind(std::string_view kind) { return kind == "ON_DEMAND" || kind == "SNAPSHOT"; }

void SetTargetSessions(const std::vector<TargetSession>& targets, int64_t now_unix_ns,
                       ProfilerSession* session) {
  Json document = SessionDocument(*session);
  Json map = Json::object();
  for (const TargetSession& target : targets) {
    Json entry{{"sessionPhase", target.phase}};
    SetTime(entry, "startTime", target.start_unix_ns);
    SetTime(entry, "endTime", target.end_unix_ns);
    if (target.error_code != 0 || !target.message.empty()) {
      entry["status"] = Json{{"code", target.error_code}, {"message", target.message}};
    }
    map[target.target] = std::move(entry);
  }
  document["targetSessions"] = std::move(map);
  TakeSession(std::move(document), session);
  session->update_unix_ns = std::max(now_unix_ns, session->update_unix_ns + 1);
}

void EndTargetSessions(std::string_view phase, int error_code, std::string_view message,
                       int64_t now_unix_ns, ProfilerSession* session) {
  Json document = SessionDocument(*session);
  Json& map = document["targetSessions"];
  if (!map.is_object()) map = Json::object();
  for (auto each = map.begin(); each != map.end(); ++each) {
    Json& entry = each.value();
    const std::string at = Text(entry, "sessionPhase");
    if (at == "SUCCEEDED" || at == "FAILED" || at == "CANCELLED") continue;
    entry["sessionPhase"] = phase;
    SetTime(entry, "endTime", now_unix_ns);
    entry["status"] = Json{{"code", error_code}, {"message", message}};
  }
  TakeSession(std::move(document), session);
  session->update_unix_ns = std::max(now_unix_ns, session->update_unix_ns + 1);
}

Status UpdateSession(std::string_view body, std::string_view update_mask, std::string etag,
                     int64_t now_unix_ns, ProfilerSession* session) {
  STROBE_ASSIGN_OR_RETURN(const UpdateMask mask,
                          ParseUpdateMask(update_mask, ProfilerSessionMessage()));
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(body, ProfilerSessionMessage()));
  STROBE_RETURN_IF_ERROR(catalog::CheckEtag(Text(Stored(normal), "etag"), session->etag));
  TakeSession(Stored(ApplyMask(SessionDocument(*session).dump(), normal, mask)), session);
  session->etag = std::move(etag);
  session->update_unix_ns = std::max(now_unix_ns, session->update_unix_ns + 1);
  return OkStatus();
}

std::string SessionJson(const ProfilerSession& session, const ChildContext& context) {
  Json json = SessionDocument(session);
  json["name"] = catalog::ChildName(session.key(), "profilerSessions");
  json["etag"] = session.etag;
  json["state"] = session.state;
  SetTime(json, "createTime", session.create_unix_ns);
  SetTime(json, "updateTime", session.update_unix_ns);
  SetTime(json, "startTime", session.start_unix_ns);
  SetTime(json, "endTime", session.end_unix_ns);
  const std::string folder = FolderUri(session, context);
  if (!folder.empty()) json["storageFolderUri"] = folder;
  if (!session.viewer_id.empty()) {
    json["dashboardUri"] = context.base_url + "/s/" + session.viewer_id;
  }
  if (!session.found_path.empty()) {
    json["hosts"] = Json::parse(session.hosts, nullptr, /*allow_exceptions=*/false);
    json["sizeBytes"] = std::to_string(session.size_bytes);
    json["completeness"] = session.completeness;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<MonitoredEvent> MakeEvent(std::string_view body, const Key& key, std::string etag,
                                 int64_t now_unix_ns) {
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(body, MonitoredEventMessage()));
  auto event = NewRecord<MonitoredEvent>(key, std::move(etag), now_unix_ns);
  event.update_unix_ns = now_unix_ns;
  TakeEvent(Stored(normal), &event);
  return event;
}

Status UpdateEvent(std::string_view body, std::string_view update_mask, std::string etag,
                   int64_t now_unix_ns, MonitoredEvent* event) {
  STROBE_ASSIGN_OR_RETURN(const UpdateMask mask,
                          ParseUpdateMask(update_mask, MonitoredEventMessage()));
  STROBE_ASSIGN_OR_RETURN(const std::string normal,
                          NormalizeMessage(body, MonitoredEventMessage()));
  STROBE_RETURN_IF_ERROR(catalog::CheckEtag(Text(Stored(normal), "etag"), event->etag));
  Json current = Stored(event->body);
  current["displayName"] = event->display_name;
  TakeEvent(Stored(ApplyMask(current.dump(), normal, mask)), event);
  event->etag = std::move(etag);
  event->update_unix_ns = std::max(now_unix_ns, event->update_unix_ns + 1);
  return OkStatus();
}

std::string EventJson(const MonitoredEvent& event) {
  Json json = Stored(event.body);
  json["name"] = catalog::ChildName(event.key(), "monitoredEvents");
  json["displayName"] = event.display_name;
  json["etag"] = event.etag;
  if (event.insight_found != 0) json["analyzerInsightFound"] = true;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace strobe::api
