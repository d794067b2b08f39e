// The two addresses of a sign-in by an OIDC provider: where it begins, and where it comes back.
#include "src/api/access_control.h"
#include "src/api/access_pages.h"
#include "src/api/app.h"
#include "src/api/cookies.h"
#include "src/api/oidc.h"
#include "src/api/share_link.h"
#include "src/api/sign_in.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using catalog::Transaction;
using catalog::User;
using Context = std::shared_ptr<AppContext>;

constexpr size_t kShortHash = 8;
constexpr size_t kMaxShownBytes = 256;
constexpr int kSeeOther = 303;

Response Lead(const std::string& to) {
  Response response = TextResponse("", kSeeOther);
  response.headers.emplace_back("Location", to);
  return response;
}

Response NoProvider() {
  return RefusalPage(404, "No provider", "This server has no provider to sign in with.",
                     "Sign in with a password.");
}

Result<Response> Begin(const Context& context, const Request& request) {
  if (context->access == nullptr || context->oidc == nullptr) return NoProvider();
  std::string back(request.Query("return").value_or("/"));
  if (!IsLocalPath(back)) back = "/";
  STROBE_ASSIGN_OR_RETURN(const std::string key, context->access->LinkKey());
  Result<OidcStart> start = context->oidc->Start(back, key, *context->access->parts().random);
  if (!start.ok()) return Lead("/sign-in?problem=" + std::string(start.status().name()));
  Response response = Lead(start->url);
  response.headers.emplace_back(
      "Set-Cookie", MakeCookie(OidcCookieName(request.secure), start->cookie, request.secure,
                               kOidcSignInNs / 1'000'000'000));
  return response;
}

std::string Short(std::string_view text) { return std::string(text.substr(0, kMaxShownBytes)); }

Result<std::optional<User>> FindUser(Transaction& transaction, const OidcIdentity& identity) {
  STROBE_ASSIGN_OR_RETURN(
      std::vector<User> found,
      transaction.Select<User>("oidc_subject = ?", {catalog::SqlValue{identity.subject}}, 1));
  if (found.empty()) return std::optional<User>();
  return std::optional<User>(std::move(found.front()));
}

// Without any role. A name that is taken by another account stays that account's.
Result<User> MakeUser(Transaction& transaction, const OidcIdentity& identity) {
  const std::string hash = catalog::Sha256Hex(identity.subject).substr(0, kShortHash);
  std::string name = catalog::LowerName(identity.name);
  if (!catalog::CheckName("user", name).ok()) name = "user." + hash;
  STROBE_ASSIGN_OR_RETURN(const std::optional<User> taken,
                          transaction.Find<User>({"", "", "", name}));
  if (taken) name = name.substr(0, catalog::kMaxNameBytes - kShortHash - 1) + "." + hash;
  const int64_t now = transaction.clock().NowUnixNanos();
  User user{.id = name,
            .create_unix_ns = now,
            .update_unix_ns = now,
            .display_name = Short(identity.display_name),
            .email = Short(identity.email),
            .oidc_subject = identity.subject};
  STROBE_RETURN_IF_ERROR(transaction.Insert(user));
  return user;
}

// The user whom the provider means; made at the first sight of them.
Result<User> FindOrMakeUser(catalog::Catalog& catalog, const OidcIdentity& identity,
                            const std::string& peer) {
  std::optional<User> user;
  STROBE_RETURN_IF_ERROR(catalog.Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(user, FindUser(transaction, identity));
    return OkStatus();
  }));
  if (!user) {
    catalog::AuditTrail trail{.record = {.actor = "provider",
                                         .action = "createUserByProvider",
                                         .outcome = "DONE",
                                         .peer = peer}};
    const auto change = [&](Transaction& transaction) -> Status {
      // Another request may have been first.
      STROBE_ASSIGN_OR_RETURN(user, FindUser(transaction, identity));
      if (!user) {
        STROBE_ASSIGN_OR_RETURN(user, MakeUser(transaction, identity));
      }
      trail.record.object = "user:" + user->id;
      return OkStatus();
    };
    STROBE_RETURN_IF_ERROR(catalog::WriteAudited(catalog, &trail, change));
    AccessControl::LogTrail(trail);
  }
  if (user->disabled == 0) return std::move(*user);
  return catalog::Unauthenticated("ACCOUNT_DISABLED", "This account is disabled.");
}

Result<Response> Return(const Context& context, const Request& request) {
  if (context->access == nullptr || context->oidc == nullptr) return NoProvider();
  AccessControl& access = *context->access;
  STROBE_ASSIGN_OR_RETURN(const std::string key, access.LinkKey());
  const std::string cookie_name = OidcCookieName(request.secure);
  Result<OidcIdentity> identity =
      context->oidc->Finish(request.Query("code").value_or(""), request.Query("state").value_or(""),
                            CookieValue(request, cookie_name), key);
  Status failed = identity.status();
  User user;
  if (identity.ok()) {
    const Result<User> found = FindOrMakeUser(*context->catalog, *identity, request.peer);
    failed = found.status();
    if (found.ok()) user = *found;
  }
  catalog::AuditTrail trail =
      access.TrailOf(request, "signInByProvider", "user:" + user.id, kSeeOther);
  Result<NewSession> session = NewSession();
  if (failed.ok()) {
    session = context->sign_in->ForUser(
        {.user = user.id,
         .peer = request.peer,
         .user_agent = std::string(request.HeaderValue("user-agent")),
         .old_cookie = std::string(CookieValue(request, SessionCookieName(request.secure)))},
        &trail);
    failed = session.status();
  }
  const std::string forget = MakeCookie(cookie_name, "", request.secure, kCookieForgotten);
  if (!failed.ok()) {
    access.RecordDenial(request, "signInByProvider", "", 401, "", std::string(failed.name()));
    Response response = Lead("/sign-in?problem=" + std::string(failed.name()));
    response.headers.emplace_back("Set-Cookie", forget);
    return response;
  }
  AccessControl::LogTrail(trail);
  Response response = Lead(IsLocalPath(identity->return_to) ? identity->return_to : "/");
  response.headers.emplace_back("Set-Cookie", forget);
  response.headers.emplace_back(
      "Set-Cookie", MakeCookie(SessionCookieName(request.secure), session->text, request.secure,
                               kCookieOfBrowserSession));
  return response;
}

}  // namespace

Result<std::string> SubjectOfIdToken(catalog::Catalog& catalog, OidcProvider& provider,
                                     std::string_view jwt) {
  STROBE_ASSIGN_OR_RETURN(const OidcIdentity identity, provider.VerifyIdToken(jwt));
  STROBE_ASSIGN_OR_RETURN(const User user, FindOrMakeUser(catalog, identity, /*peer=*/""));
  return "user:" + user.id;
}

void AddOidcRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back({.pattern = "/sign-in/oidc",
                     .access = kPublicAccess,
                     .operation_id = "beginOidc",
                     .tag = "access",
                     .summary = "Lead to the provider.",
                     .response_type = "text/html",
                     .documented = false,
                     .handler = [context](const Request& r) { return Begin(context, r); }});
  routes->push_back({.pattern = std::string(kOidcCallbackPath),
                     .access = kPublicAccess,
                     .operation_id = "finishOidc",
                     .tag = "access",
                     .summary = "Come back from the provider.",
                     .response_type = "text/html",
                     .documented = false,
                     .handler = [context](const Request& r) { return Return(context, r); }});
}

}  // namespace strobe::api
