// The list of sessions and what is known of one: detail, completeness, overview.
#include <algorithm>

#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/api/json_answers.h"
#include "src/base/hash.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using engine::SessionSummary;

constexpr int64_t kDefaultPageSize = 100;
constexpr int64_t kMaxPageSize = 1000;

bool ContainsIgnoreCase(std::string_view text, std::string_view lower_needle) {
  return ToLowerAscii(text).find(lower_needle) != std::string::npos;
}

bool Matches(const SessionSummary& summary, std::string_view lower_query) {
  if (lower_query.empty() || ContainsIgnoreCase(summary.entry.run, lower_query) ||
      ContainsIgnoreCase(summary.entry.name, lower_query)) {
    return true;
  }
  return std::any_of(
      summary.entry.files.begin(), summary.entry.files.end(),
      [&](const xplane::SessionFile& file) { return ContainsIgnoreCase(file.host, lower_query); });
}

// A page begins after this session; the time finds the place when the session is gone.
std::string PageToken(const SessionSummary& last) {
  return std::to_string(last.entry.modified_unix_ns) + "-" + last.entry.id;
}

Result<size_t> FindPageStart(const std::vector<SessionSummary>& sessions, std::string_view token) {
  if (token.empty()) return size_t{0};
  const size_t dash = token.find('-');
  const std::optional<int64_t> modified = ParseInt64(token.substr(0, dash));
  if (dash == std::string_view::npos || !modified) {
    return InvalidArgumentError("PAGE_TOKEN_MALFORMED", "The page token is not one of ours.")
        .Hint("Use next_page_token of the page before, or leave it out for the first page.");
  }
  const std::string_view id = token.substr(dash + 1);
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (sessions[i].entry.id == id) return i + 1;
  }
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (sessions[i].entry.modified_unix_ns < *modified) return i;
  }
  return sessions.size();
}

// The fields of a session, and whose it is: who may share or change it depends on that.
void WriteListed(JsonWriter& json, const AppContext& context, const SessionSummary& summary) {
  WriteSessionFields(json, summary);
  json.Key("project").String(context.projects->OfPath(summary.entry.path));
}

Result<Response> ListSessions(const Context& context, const Request& request) {
  const std::string query = ToLowerAscii(request.Query("q").value_or(""));
  const int64_t page_size = request.QueryInt("page_size").value_or(kDefaultPageSize);
  std::vector<SessionSummary> sessions = context->engine->Sessions();
  std::erase_if(sessions, [&](const SessionSummary& s) {
    return !Matches(s, query) || !MayList(request, s.entry);
  });
  STROBE_ASSIGN_OR_RETURN(const size_t start,
                          FindPageStart(sessions, request.Query("page_token").value_or("")));
  const size_t end = std::min(sessions.size(), start + static_cast<size_t>(page_size));
  JsonWriter json;
  json.BeginObject();
  json.Key("sessions").BeginArray();
  for (size_t i = start; i < end; ++i) {
    json.BeginObject();
    WriteListed(json, *context, sessions[i]);
    json.EndObject();
  }
  json.EndArray();
  json.Key("total").Uint(sessions.size());
  if (end < sessions.size() && end > start) {
    json.Key("next_page_token").String(PageToken(sessions[end - 1]));
  }
  json.EndObject();
  return JsonResponse(json.TakeText());
}

Result<SessionSummary> FindSummary(engine::Engine& engine, std::string_view id) {
  for (SessionSummary& summary : engine.Sessions()) {
    if (summary.entry.id == id) return std::move(summary);
  }
  return NotFoundError("SESSION_UNKNOWN",
                       "No session has the id \"" + std::string(id.substr(0, 64)) + "\".")
      .Hint("Open /api/v1/sessions for the sessions that exist.");
}

// For a session that cannot be opened: changes with its files, as the version of an opened one.
std::string VersionOf(const xplane::SessionEntry& entry) {
  Hasher hasher;
  for (const xplane::SessionFile& file : entry.files) {
    hasher.Add(file.path + '\0' + std::to_string(file.size_bytes) + '\0' +
               std::to_string(file.modified_unix_ns) + '\0');
  }
  return ToHex64(hasher.Digest128().low);
}

void WriteUnopened(JsonWriter& json, const SessionSummary& summary, const Status& error) {
  json.Key("version").String(VersionOf(summary.entry));
  json.Key("origin_unix_ns").Null();
  json.Key("window").Null();
  json.Key("files");
  std::vector<engine::FileState> files;
  for (const xplane::SessionFile& file : summary.entry.files) {
    files.push_back({file, summary.state, summary.state_reason});
  }
  WriteFileStates(json, files);
  json.Key("load").BeginObject();
  json.Key("stage").String(engine::LoadStageName(engine::LoadStage::kFailed));
  json.Key("done_bytes").Uint(0);
  json.Key("total_bytes").SafeUint(summary.entry.size_bytes);
  json.EndObject();
  json.Key("error").Raw(ErrorJson(error, ""));
}

void WriteOpened(JsonWriter& json, engine::OpenedSession& session) {
  json.Key("version").String(session.version());
  json.Key("origin_unix_ns");
  if (const std::optional<int64_t> origin = session.origin_unix_ns()) {
    json.String(std::to_string(*origin));
  } else {
    json.Null();
  }
  const engine::LineTree tree = session.Lines(0);
  json.Key("window");
  if (tree.window_end_ps > tree.window_start_ps) {
    WriteWindow(json, tree.window_start_ps, tree.window_end_ps);
  } else {
    json.Null();
  }
  json.Key("files");
  WriteFileStates(json, session.files());
  const engine::LoadProgress progress = session.progress();
  json.Key("load").BeginObject();
  json.Key("stage").String(engine::LoadStageName(progress.stage));
  json.Key("done_bytes").SafeUint(progress.done_bytes);
  json.Key("total_bytes").SafeUint(progress.total_bytes);
  json.EndObject();
  json.Key("error").Null();
}

Result<Response> GetSession(const Context& context, const Request& request) {
  const std::string id(request.Param("id"));
  STROBE_ASSIGN_OR_RETURN(SessionSummary summary, FindSummary(*context->engine, id));
  Result<std::shared_ptr<engine::OpenedSession>> opened = context->engine->Open(id);
  // Opening judges the session, so the list knows more afterwards.
  STROBE_ASSIGN_OR_RETURN(summary, FindSummary(*context->engine, id));
  JsonWriter json;
  json.BeginObject();
  WriteListed(json, *context, summary);
  if (opened.ok()) {
    WriteOpened(json, **opened);
  } else {
    WriteUnopened(json, summary, opened.status());
  }
  json.EndObject();
  return JsonResponse(json.TakeText());
}

// What a page shows while its first question about the session waits.
Result<Response> GetOpening(const Context& context, const Request& request) {
  const std::string id(request.Param("id"));
  STROBE_RETURN_IF_ERROR(FindSummary(*context->engine, id).status());
  const std::optional<engine::LoadProgress> progress = context->engine->Opening(id);
  JsonWriter json;
  json.BeginObject();
  json.Key("stage");
  if (progress) {
    json.String(engine::LoadStageName(progress->stage));
  } else {
    json.Null();
  }
  json.Key("done_bytes").SafeUint(progress ? progress->done_bytes : 0);
  json.Key("total_bytes").SafeUint(progress ? progress->total_bytes : 0);
  json.EndObject();
  return JsonResponse(json.TakeText());
}

Result<Response> GetCompleteness(const Context& context, const Request& request) {
  const std::string id(request.Param("id"));
  Result<std::shared_ptr<engine::OpenedSession>> opened = context->engine->Open(id);
  JsonWriter json;
  if (opened.ok()) {
    STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const xplane::Completeness> record,
                            (*opened)->CompletenessRecord(request.cancel));
    WriteCompleteness(json, *record);
    return JsonResponse(json.TakeText());
  }
  // What is wrong with a session that cannot be opened is a record too.
  STROBE_ASSIGN_OR_RETURN(const SessionSummary summary, FindSummary(*context->engine, id));
  xplane::Completeness record;
  record.state = summary.state == xplane::CompletenessState::kUnread
                     ? xplane::CompletenessState::kDamaged
                     : summary.state;
  record.reasons.emplace_back(summary.state_reason.empty() ? opened.status().message()
                                                           : summary.state_reason);
  record.hosts_expected_reason = "no file of this session could be read";
  for (const xplane::SessionFile& file : summary.entry.files) {
    xplane::HostCompleteness host;
    host.host = file.host;
    host.file = file.path.substr(file.path.rfind('/') + 1);
    host.format = std::string(xplane::FileFormatName(file.format));
    host.size_bytes = file.size_bytes;
    host.state = record.state;
    host.open_error = opened.status();
    record.hosts.push_back(std::move(host));
  }
  WriteCompleteness(json, record);
  return JsonResponse(json.TakeText());
}

Result<Response> GetOverview(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<engine::OpenedSession> session,
                          context->engine->Open(std::string(request.Param("id"))));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const analysis::Overview> overview,
                          session->FirstOverview(request.cancel));
  std::vector<std::string> hosts;
  for (const analysis::HostInput& input : session->hosts()) hosts.push_back(input.host);
  JsonWriter json;
  WriteOverview(json, *overview, hosts);
  return JsonResponse(json.TakeText());
}

}  // namespace

void AddSessionRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      {.pattern = "/api/v1/sessions",
       .access = {Need::kSignedIn, Object::kNone},
       .operation_id = "listSessions",
       .tag = "sessions",
       .summary = "Sessions, newest first.",
       .query = {{.name = "q", .description = "Substring of run, name or host, in any case."},
                 {.name = "page_size",
                  .type = ParamType::kInteger,
                  .description = "Sessions of one page.",
                  .minimum = 1,
                  .maximum = kMaxPageSize},
                 {.name = "page_token", .description = "next_page_token of the page before."}},
       .response_schema = "SessionList",
       .handler = [context](const Request& r) { return ListSessions(context, r); }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "getSession",
                     .tag = "sessions",
                     .summary = "One session: files, version, window, how far it is loaded.",
                     .response_schema = "SessionDetail",
                     .handler = [context](const Request& r) { return GetSession(context, r); }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}/opening",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "getOpening",
                     .tag = "sessions",
                     .summary = "How far the opening of the session that runs now has come.",
                     .response_schema = "Opening",
                     .handler = [context](const Request& r) { return GetOpening(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/completeness",
       .access = {Need::kView, Object::kSession},
       .operation_id = "getCompleteness",
       .tag = "sessions",
       .summary = "What the session has, what it lacks, and every known reason.",
       .response_schema = "Completeness",
       .run_on = RunOn::kWorkPool,
       .handler = [context](const Request& r) { return GetCompleteness(context, r); }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}/overview",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "getOverview",
                     .tag = "sessions",
                     .summary = "Duration, devices, steps and the heaviest operations.",
                     .response_schema = "Overview",
                     .run_on = RunOn::kWorkPool,
                     .handler = [context](const Request& r) { return GetOverview(context, r); }});
}

}  // namespace strobe::api
