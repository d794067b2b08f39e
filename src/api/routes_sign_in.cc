// Signing in and out, and who one is: pages, /api/v1/sign-in, /api/v1/sign-out, /api/v1/me.
#include <nlohmann/json.hpp>

#include "src/api/access_control.h"
#include "src/api/access_json.h"
#include "src/api/access_pages.h"
#include "src/api/cookies.h"
#include "src/api/guard.h"
#include "src/api/sign_in.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using Json = nlohmann::json;

Json Parsed(const std::string& json) { return Json::parse(json); }

Response Answer(const Json& json, int status = 200) {
  return AccessAnswer(json.dump(-1, ' ', false, Json::error_handler_t::replace), status);
}

Status AccessOff() {
  return FailedPreconditionError("ACCESS_OFF", "This server has no access control.")
      .Hint("Start it with --access.");
}

SignInAttemptBy AttemptOf(const Request& request, std::string user) {
  return {.user = catalog::LowerName(user),
          .peer = request.peer,
          .user_agent = std::string(request.HeaderValue("user-agent")),
          .old_cookie = std::string(CookieValue(request, SessionCookieName(request.secure)))};
}

void SetSession(const Request& request, std::string_view text, Response* response) {
  response->headers.emplace_back(
      "Set-Cookie", MakeCookie(SessionCookieName(request.secure), text, request.secure,
                               text.empty() ? kCookieForgotten : kCookieOfBrowserSession));
}

Result<Response> SignInWays(const Context& context, const Request& request) {
  Json json{{"needed", context->access != nullptr},
            {"password", context->access != nullptr},
            {"provider", context->provider_name.empty() ? Json() : Json(context->provider_name)},
            {"contact", Json()},
            {"signed_in_as", Json()}};
  if (context->access == nullptr) return Answer(json);
  if (!context->access->options().contact.empty()) {
    json["contact"] = context->access->options().contact;
  }
  const Result<std::shared_ptr<const Caller>> caller = context->access->Identify(request);
  if (caller.ok() && (*caller)->signed_in()) json["signed_in_as"] = (*caller)->subject;
  return Answer(json);
}

Result<Response> PostSignIn(const Context& context, const Request& request) {
  if (context->sign_in == nullptr) return AccessOff();
  // Else a foreign page could sign a person in under another name.
  STROBE_RETURN_IF_ERROR(CheckSameOrigin(request));
  STROBE_ASSIGN_OR_RETURN(const AccessFields body,
                          AccessFields::Of(request, {"user", "password", "code", "new_password"}));
  STROBE_ASSIGN_OR_RETURN(const std::string user, body.Text("user", Presence::kRequired));
  STROBE_ASSIGN_OR_RETURN(const std::string password, body.Text("password"));
  STROBE_ASSIGN_OR_RETURN(const std::string code, body.Text("code"));
  STROBE_ASSIGN_OR_RETURN(const std::string new_password, body.Text("new_password"));
  const SignInAttemptBy attempt = AttemptOf(request, user);
  const std::string who = "user:" + attempt.user.substr(0, catalog::kMaxNameBytes);
  catalog::AuditTrail trail =
      context->access->TrailOf(request, code.empty() ? "signIn" : "signInByCode", who, 200);
  Result<NewSession> session =
      code.empty() ? context->sign_in->WithPassword(attempt, password, &trail)
                   : context->sign_in->WithCode(attempt, code, new_password, &trail);
  if (!session.ok()) {
    // What was typed as a name may be a password: it is not written down when nobody has it.
    context->access->RecordDenial(request, "signIn", "", HttpStatusOf(session.status().code()), "",
                                  std::string(session.status().name()));
    return session.status();
  }
  AccessControl::LogTrail(trail);
  Response response = Answer({{"subject", who}});
  SetSession(request, session->text, &response);
  return response;
}

Result<Response> PostSignOut(const Context& context, const Request& request) {
  if (context->access == nullptr) return AccessOff();
  STROBE_ASSIGN_OR_RETURN(const AccessFields body, AccessFields::Of(request, {"everywhere"}));
  const Caller& caller = *request.caller;
  STROBE_ASSIGN_OR_RETURN(const bool everywhere, body.Truth("everywhere"));
  const auto change = [&](catalog::Transaction& transaction) -> Status {
    if (everywhere && caller.kind == CallerKind::kUser) {
      return catalog::EndSignIns(transaction, caller.subject.substr(5)).status();
    }
    if (caller.proof != Proof::kCookie) return OkStatus();
    STROBE_RETURN_IF_ERROR(
        transaction.Delete<catalog::SignInSession>({"", "", "", caller.credential}));
    return catalog::MoveAccessVersion(transaction);
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*context->catalog, request.trail.get(), change));
  Response response = Answer(Json::object());
  SetSession(request, "", &response);
  response.headers.emplace_back("Set-Cookie", MakeCookie(LinkCookieName(request.secure), "",
                                                         request.secure, kCookieForgotten));
  return response;
}

Result<Response> GetMe(const Context& context, const Request& request) {
  if (request.caller == nullptr) {
    return Answer({{"kind", "local"}, {"subject", Json()}, {"csrf_token", Json()}});
  }
  const Caller& caller = *request.caller;
  Json links = Json::array();
  for (const LinkGrant& link : caller.links) {
    links.push_back({{"id", link.id},
                     {"sessions", link.sessions},
                     {"owner", link.owner},
                     {"expire_time", Parsed(TimeJson(link.expire_unix_ns))}});
  }
  std::string kind = "link";
  if (caller.kind == CallerKind::kUser) kind = "user";
  if (caller.kind == CallerKind::kService) kind = "service";
  return Answer({{"kind", kind},
                 {"subject", caller.subject.empty() ? Json() : Json(caller.subject)},
                 {"display_name", caller.display_name},
                 {"rights", Parsed(GrantsJson(caller.grants))},
                 {"links", links},
                 {"csrf_token", caller.csrf_token.empty() ? Json() : Json(caller.csrf_token)}});
}

Result<Response> PostPassword(const Context& context, const Request& request) {
  if (context->sign_in == nullptr) return AccessOff();
  STROBE_ASSIGN_OR_RETURN(const AccessFields body,
                          AccessFields::Of(request, {"password", "new_password"}));
  STROBE_ASSIGN_OR_RETURN(const std::string old_password,
                          body.Text("password", Presence::kRequired));
  STROBE_ASSIGN_OR_RETURN(const std::string new_password,
                          body.Text("new_password", Presence::kRequired));
  if (request.caller->kind != CallerKind::kUser || request.caller->proof != Proof::kCookie) {
    return PermissionDeniedError("NOT_BY_TOKEN", "A password is changed by whoever is signed in.");
  }
  STROBE_RETURN_IF_ERROR(
      context->sign_in->ChangePassword(AttemptOf(request, request.caller->subject.substr(5)),
                                       old_password, new_password, request.trail.get()));
  Response response = Answer(Json::object());
  SetSession(request, "", &response);
  return response;
}

}  // namespace

void AddSignInRoutes(const Context& context, std::vector<Route>* routes) {
  const auto page = [&](std::string pattern, std::string id, Response (*make)()) {
    routes->push_back({.pattern = std::move(pattern),
                       .access = kPublicAccess,
                       .operation_id = std::move(id),
                       .tag = "access",
                       .summary = "The sign-in page and its files.",
                       .response_type = "text/html",
                       .documented = false,
                       .handler = [make](const Request&) -> Result<Response> { return make(); }});
  };
  page("/sign-in", "signInPage", SignInPage);
  page("/sign-in/page.js", "signInScript", SignInScript);
  page("/sign-in/page.css", "signInStyle", SignInStyle);
  routes->push_back({.pattern = "/api/v1/sign-in",
                     .access = kPublicAccess,
                     .operation_id = "getSignInWays",
                     .tag = "access",
                     .summary = "Whether a sign-in is needed, and how.",
                     .response_schema = "AccessObject",
                     .handler = [context](const Request& r) { return SignInWays(context, r); }});
  routes->push_back({.method = Method::kPost,
                     .pattern = "/api/v1/sign-in",
                     .access = kPublicAccess,
                     .operation_id = "signIn",
                     .tag = "access",
                     .summary = "Sign in by password, or by one-time code with a new password.",
                     .request_schema = "AccessObject",
                     .response_schema = "AccessObject",
                     .handler = [context](const Request& r) { return PostSignIn(context, r); }});
  routes->push_back({.method = Method::kPost,
                     .pattern = "/api/v1/sign-out",
                     .access = {Need::kSignedIn, Object::kNone, Audit::kAlways},
                     .operation_id = "signOut",
                     .tag = "access",
                     .summary = "End this sign-in, or all of one's own.",
                     .request_schema = "AccessObject",
                     .response_schema = "AccessObject",
                     .handler = [context](const Request& r) { return PostSignOut(context, r); }});
  routes->push_back({.pattern = "/api/v1/me",
                     .access = {Need::kAnyone, Object::kNone},
                     .operation_id = "getMe",
                     .tag = "access",
                     .summary = "Who asks, with which rights, and the token for changes.",
                     .response_schema = "AccessObject",
                     .handler = [context](const Request& r) { return GetMe(context, r); }});
  routes->push_back({.method = Method::kPost,
                     .pattern = "/api/v1/me/password",
                     .access = {Need::kSignedIn, Object::kNone, Audit::kAlways},
                     .operation_id = "changePassword",
                     .tag = "access",
                     .summary = "Change one's password; all sign-ins end.",
                     .request_schema = "AccessObject",
                     .response_schema = "AccessObject",
                     .handler = [context](const Request& r) { return PostPassword(context, r); }});
}

}  // namespace strobe::api
