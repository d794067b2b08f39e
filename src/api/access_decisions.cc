// What callers may do: the table of routes turned into answers, and the record of them.
#include <fmt/format.h>

#include <algorithm>

#include "src/api/access_control.h"
#include "src/api/access_pages.h"
#include "src/api/cookies.h"
#include "src/api/guard.h"
#include "src/api/v1alpha_support.h"
#include "src/base/log.h"
#include "src/catalog/audit.h"
#include "src/catalog/secret.h"
#include "src/storage/http_client.h"

namespace strobe::api {
namespace {

constexpr int64_t kMinuteNs = 60'000'000'000;
constexpr size_t kMaxKnockers = 10'000;
constexpr int64_t kMaxAdminsNamed = 3;
// As many as a comparison takes, and more is refused there.
constexpr size_t kMaxSessionsAsked = 64;

Right RightOf(Need need) {
  switch (need) {
    case Need::kEdit:
      return Right::kEdit;
    case Need::kCapture:
      return Right::kCapture;
    case Need::kReadAnalysis:
      return Right::kReadAnalysis;
    case Need::kAdmin:
      return Right::kAdmin;
    default:
      return Right::kView;
  }
}

Status NotSignedIn() {
  return catalog::Unauthenticated("NOT_SIGNED_IN", "This needs a sign-in or a token.")
      .Hint("Open /sign-in in a browser, or send \"Authorization: Bearer TOKEN\".");
}

Status RightMissing(Right right, std::string_view where) {
  return PermissionDeniedError(
             "RIGHT_MISSING",
             fmt::format("You may not do this: it needs the right \"{}\".", RightName(right)))
      .Where(std::string(where));
}

std::vector<std::string> SplitIds(std::string_view text) {
  std::vector<std::string> ids;
  while (!text.empty() && ids.size() < kMaxSessionsAsked) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view id = TrimSpaces(text.substr(0, comma));
    if (!id.empty()) ids.emplace_back(id);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return ids;
}

// A foreign page can make a browser send our cookie; it can neither read the token that our own
// page shows with what changes something, nor set a header of its own.
Status CheckCsrf(const Route& route, const Request& request) {
  const Caller& caller = *request.caller;
  const bool reads = request.method == Method::kGet || request.method == Method::kHead;
  const bool changes = !reads || route.access.need >= Need::kEdit;
  if (caller.proof != Proof::kCookie || !changes) return OkStatus();
  STROBE_RETURN_IF_ERROR(CheckSameOrigin(request));
  if (catalog::SameSecret(request.HeaderValue("x-strobe-csrf"), caller.csrf_token)) {
    return OkStatus();
  }
  // XProf's pages start captures by GET and know no header of ours.
  if (reads && request.HeaderValue("sec-fetch-site") == "same-origin") return OkStatus();
  return PermissionDeniedError("CSRF_TOKEN_MISSING",
                               "Changes by a signed-in browser carry the token of its page.")
      .Hint("Send csrf_token of /api/v1/me as the header X-Strobe-Csrf, or use an API token.");
}

bool RunLinkOpens(const Route& route, const Request& request, const Caller& caller) {
  if (request.method != Method::kGet && request.method != Method::kHead) return false;
  std::string_view run = request.Param("run");
  if (run.empty() && route.pattern.ends_with("/machineLearningRuns/{id}")) {
    run = request.Param("id");
  }
  return !run.empty() &&
         std::any_of(caller.links.begin(), caller.links.end(), [&](const LinkGrant& link) {
           return link.run.id == run && link.run.project == request.Param("project") &&
                  link.run.location == request.Param("location");
         });
}

}  // namespace

Status AccessControl::DecideInProject(const Request& request, const std::string& project,
                                      Right right, bool link_opens, Status unknown,
                                      std::string* denied_project) {
  const Caller& caller = *request.caller;
  const catalog::RightSet rights = caller.grants.In(project);
  if (Has(rights, right)) return OkStatus();
  if (right == Right::kView && link_opens) return OkStatus();
  if (!caller.signed_in() && caller.links.empty()) return NotSignedIn();
  if (rights == catalog::kNoRights && !link_opens) return unknown;
  *denied_project = project;
  return RightMissing(right, "project " + project);
}

Status AccessControl::DecideSession(const Request& request, std::string_view id, Right right,
                                    std::string* denied_project) {
  const Caller& caller = *request.caller;
  const std::optional<std::string> project = parts_.projects->OfSession(*parts_.engine, id);
  if (project) {
    return DecideInProject(request, *project, right, caller.LinkOpensSession(id),
                           SessionUnknown(id), denied_project);
  }
  if (!caller.signed_in() && caller.links.empty()) return NotSignedIn();
  return SessionUnknown(id);
}

Status AccessControl::Decide(const Route& route, const Request& request, std::string* project) {
  const Caller& caller = *request.caller;
  const Right right = RightOf(route.access.need);
  if (route.access.need == Need::kAnyone) {
    return caller.signed_in() || !caller.links.empty() ? OkStatus() : NotSignedIn();
  }
  if (route.access.need == Need::kSignedIn) {
    return caller.signed_in() ? OkStatus() : NotSignedIn();
  }
  switch (route.access.object) {
    case Object::kNone:
    case Object::kServer:
      if (Has(caller.grants.everywhere, right)) return OkStatus();
      if (!caller.signed_in()) return NotSignedIn();
      *project = catalog::kEveryProject;
      return RightMissing(right, "the whole server");
    case Object::kSession:
      return DecideSession(request, request.Param("id"), right, project);
    case Object::kSessions:
      if (!caller.signed_in() && caller.links.empty()) return NotSignedIn();
      for (const std::string& id : SplitIds(request.Query("sessions").value_or(""))) {
        STROBE_RETURN_IF_ERROR(DecideSession(request, id, right, project));
      }
      return OkStatus();
    case Object::kXprofRun:
      return caller.signed_in() || !caller.links.empty() ? OkStatus() : NotSignedIn();
    case Object::kProject: {
      const std::string name(request.Param("project"));
      return DecideInProject(request, name, right, RunLinkOpens(route, request, caller),
                             ProjectUnknown(name), project);
    }
    case Object::kDefaultProject: {
      const std::string name(catalog::kDefaultProject);
      return DecideInProject(request, name, right, false, ProjectUnknown(name), project);
    }
    case Object::kOperation: {
      if (!caller.signed_in()) return NotSignedIn();
      const std::string id(request.Param("id"));
      const Result<queue::OperationState> state = parts_.operations->Get(id);
      if (!state.ok()) return OperationUnknown(id);
      return DecideInProject(request, state->project, right, false, OperationUnknown(id), project);
    }
    case Object::kInBody:
      if (caller.grants.Anywhere(right)) return OkStatus();
      if (!caller.signed_in()) return NotSignedIn();
      return RightMissing(right, "any project");
  }
  return InternalError("ACCESS_UNDECIDED", "The route's access cannot be decided.");
}

std::optional<Response> AccessControl::Enter(const Route& route, Request& request) {
  if (route.access.need == Need::kPublic) return std::nullopt;
  request.caller = anonymous_;
  Result<std::shared_ptr<const Caller>> caller = Identify(request);
  if (!caller.ok()) return Refuse(route, request, caller.status(), "");
  request.caller = std::move(caller).value();
  std::string project;
  Status decision = Decide(route, request, &project);
  if (decision.ok()) decision = CheckCsrf(route, request);
  if (!decision.ok()) return Refuse(route, request, decision, project);
  if (route.access.audit == Audit::kAlways) {
    request.trail = std::make_shared<catalog::AuditTrail>(
        TrailOf(request, route.operation_id, RedactTarget(request.path), route.success_status,
                ProjectOf(route, request)));
  }
  return std::nullopt;
}

namespace {

// A person who follows a link to a page is taken to the sign-in, and from there to the page.
bool WantsPage(const Request& request) {
  return request.method == Method::kGet &&
         request.HeaderValue("accept").find("text/html") != std::string::npos;
}

Response ToSignIn(const Request& request) {
  Response response = TextResponse("", 303);
  response.cache_control = "no-store";
  response.headers.emplace_back(
      "Location",
      "/sign-in?return=" + storage::PercentEncode(request.target, /*keep_slashes=*/true));
  return response;
}

}  // namespace

std::optional<Response> AccessControl::Refuse(const Route& route, const Request& request,
                                              const Status& why, const std::string& project) {
  Status status = why;
  if (status.name() == "NOT_SIGNED_IN" && WantsPage(request)) return ToSignIn(request);
  if (status.name() == "RIGHT_MISSING") status = std::move(status).Hint(WhomToAsk(project));
  Response response = route.tag == "ml-diagnostics" ? GoogleErrorResponse(status)
                                                    : ErrorResponse(status, request.request_id);
  response.error_name = std::string(status.name());
  if (response.status == 401) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"strobe\"");
  }
  if (WantsPage(request)) {
    response =
        RefusalPage(response.status, "You may not open this", status.message(), status.hint());
    response.error_name = std::string(status.name());
  }
  // To be not signed in yet is no denial, and a catalogue that is away decides nothing.
  if (status.name() == "NOT_SIGNED_IN" || status.code() == StatusCode::kUnavailable) {
    return response;
  }
  RecordDenial(request, route.operation_id, RedactTarget(request.path), response.status,
               project.empty() ? ProjectOf(route, request) : project, std::string(status.name()));
  return response;
}

void AccessControl::RecordDenial(const Request& request, std::string action, std::string object,
                                 int http_status, std::string project, std::string detail) {
  if (!MayRecordDenial(request, &detail)) return;
  Record(request, std::move(action), std::move(object), "DENIED", http_status, std::move(project),
         std::move(detail));
}

bool AccessControl::MayRecordDenial(const Request& request, std::string* detail) {
  const int64_t minute = parts_.clock->MonotonicNanos() / kMinuteNs;
  const std::lock_guard lock(mutex_);
  if (knocks_.size() >= kMaxKnockers) knocks_.clear();
  Knocks& knocks = knocks_[request.peer];
  if (knocks.minute != minute) {
    if (knocks.more > 0) *detail += fmt::format("; {} more not recorded", knocks.more);
    knocks = {.minute = minute};
  }
  if (knocks.recorded >= kMaxDenialsAMinute) {
    ++knocks.more;
    return false;
  }
  ++knocks.recorded;
  return true;
}

std::string AccessControl::ProjectOf(const Route& route, const Request& request) {
  switch (route.access.object) {
    case Object::kProject:
      return std::string(request.Param("project"));
    case Object::kDefaultProject:
      return std::string(catalog::kDefaultProject);
    case Object::kSession:
      return parts_.projects->OfSession(*parts_.engine, request.Param("id")).value_or("");
    case Object::kOperation: {
      const auto state = parts_.operations->Get(std::string(request.Param("id")));
      return state.ok() ? state->project : "";
    }
    default:
      return "";
  }
}

void AccessControl::Leave(const Route& route, const Request& request, const Response& response) {
  const bool denied = response.status == 403 || response.error_name == "PROJECT_UNKNOWN";
  if (route.access.audit != Audit::kAlways && !denied) return;
  // Whoever changed access wants it to hold now.
  if (route.tag == "access") Forget();
  if (request.trail != nullptr && !request.trail->written.empty()) {
    LogTrail(*request.trail);
    if (response.status < 400) return;
  }
  std::string outcome = response.status < 400 ? "DONE" : "FAILED";
  if (denied) outcome = "DENIED";
  Record(request, route.operation_id, RedactTarget(request.path), outcome, response.status,
         ProjectOf(route, request), response.error_name);
}

void AccessControl::Record(const Request& request, std::string action, std::string object,
                           std::string outcome, int http_status, std::string project,
                           std::string detail) {
  catalog::AuditTrail trail =
      TrailOf(request, std::move(action), std::move(object), http_status, std::move(project));
  trail.record.outcome = std::move(outcome);
  trail.record.detail = std::move(detail);
  const Status written = catalog::WriteAudited(*parts_.catalog, &trail,
                                               [](catalog::Transaction&) { return OkStatus(); });
  if (!written.ok()) {
    trail.written.push_back(trail.record);
    LogError("audit.not_written", {{"reason", written.ToString()}});
  }
  LogTrail(trail);
}

catalog::AuditTrail AccessControl::TrailOf(const Request& request, std::string action,
                                           std::string object, int http_status,
                                           std::string project) {
  return {.record = {.actor = ActorOf(request),
                     .action = std::move(action),
                     .object = std::move(object),
                     .project = std::move(project),
                     .outcome = "DONE",
                     .http_status = http_status,
                     .peer = request.peer,
                     .request_id = request.request_id}};
}

// The log is the second place, which can be kept on another machine.
void AccessControl::LogTrail(const catalog::AuditTrail& trail) {
  for (const catalog::AuditRecord& record : trail.written) {
    LogInfo("audit", {{"number", record.id},
                      {"actor", record.actor},
                      {"action", record.action},
                      {"object", record.object},
                      {"project", record.project},
                      {"outcome", record.outcome},
                      {"status", record.http_status},
                      {"peer", record.peer},
                      {"request_id", record.request_id},
                      {"detail", record.detail},
                      {"hash", record.hash}});
  }
}

std::string AccessControl::WhomToAsk(const std::string& project) {
  std::string names;
  const Status read = parts_.catalog->Read([&](catalog::Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const std::vector<std::string> admins,
                            catalog::AdminsOf(transaction, project, kMaxAdminsNamed));
    names.clear();
    for (const std::string& admin : admins) names += (names.empty() ? "" : ", ") + admin;
    return OkStatus();
  });
  std::string text = "Ask an administrator";
  if (read.ok() && !names.empty()) text += " (" + names + ")";
  text += " for a role that has it.";
  if (!options_.contact.empty()) text += " " + options_.contact;
  return text;
}

}  // namespace strobe::api
