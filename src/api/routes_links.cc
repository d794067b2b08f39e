// Share links: make, list, take back, and open.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/api/access_control.h"
#include "src/api/access_json.h"
#include "src/api/access_pages.h"
#include "src/api/cookies.h"
#include "src/api/share_link.h"
#include "src/api/v1alpha_support.h"
#include "src/catalog/rules.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using catalog::ShareLink;
using catalog::Transaction;
using Context = std::shared_ptr<AppContext>;
using Json = nlohmann::json;

Json Parsed(const std::string& json) { return Json::parse(json); }

Response Answer(const Json& json, int status = 200) {
  return AccessAnswer(json.dump(-1, ' ', false, Json::error_handler_t::replace), status);
}

constexpr size_t kLinkIdBytes = 9;
constexpr int64_t kSeeOther = 303;

Result<std::string> KeyOfLinks(const Context& context) {
  if (context->access != nullptr) return context->access->LinkKey();
  return FailedPreconditionError("ACCESS_OFF", "This server has no access control.")
      .Hint("Start it with --access; without it, the page's own address is the link.");
}

// The page itself, one below it, or it with what its address says more.
bool IsViewOf(const std::string& view, const std::string& page) {
  const bool of_page = view == page || view.starts_with(page + "/") || view.starts_with(page + "?");
  return of_page && IsLocalPath(view);
}

Status ViewElsewhere(const std::string& view, std::string_view expected) {
  return InvalidArgumentError("LINK_VIEW", "The view is not a page of what the link opens.")
      .Where(view.substr(0, 128))
      .Hint(fmt::format("Expected the console's address from {} on.", expected));
}

// Sets project and target from what the body names.
Status SetTarget(const Context& context, const Request& request, const AccessFields& body,
                 ShareLink* link) {
  STROBE_ASSIGN_OR_RETURN(const std::string session, body.Text("session"));
  STROBE_ASSIGN_OR_RETURN(const std::string run, body.Text("run"));
  STROBE_ASSIGN_OR_RETURN(link->view, body.Text("view"));
  if (session.empty() == run.empty()) {
    return InvalidArgumentError("LINK_TARGET", "A link opens one session or one run.")
        .Hint("Send \"session\" with an id, or \"run\" with its full name.");
  }
  if (!session.empty()) {
    const std::optional<std::string> project =
        context->projects->OfSession(*context->engine, session);
    if (!project || !HasRight(request, *project, Right::kView)) return SessionUnknown(session);
    link->kind = link->view.empty() ? "SESSION" : "VIEW";
    link->project = *project;
    link->target = session;
    const std::string own = "/s/" + session;
    if (link->view.empty()) link->view = own;
    return IsViewOf(link->view, own) ? OkStatus() : ViewElsewhere(link->view, "/s/");
  }
  catalog::Key key;
  if (!catalog::ParseRunName(run, &key) || key.id.empty()) {
    return InvalidArgumentError("LINK_TARGET", "The run's name is not whole.")
        .Where(run.substr(0, 128))
        .Hint("Expected projects/P/locations/L/machineLearningRuns/R.");
  }
  const std::string own = fmt::format("/runs/{}/{}/{}", key.project, key.location, key.id);
  if (link->view.empty()) link->view = own;
  if (!IsViewOf(link->view, own)) return ViewElsewhere(link->view, "/runs/");
  STROBE_RETURN_IF_ERROR(CheckRight(request, key.project, Right::kView));
  STROBE_RETURN_IF_ERROR(context->catalog->Read(
      [&](Transaction& transaction) { return transaction.Get<catalog::Run>(key).status(); }));
  link->kind = "RUN";
  link->project = key.project;
  link->target = run;
  return OkStatus();
}

Result<Response> CreateLink(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const std::string key, KeyOfLinks(context));
  STROBE_ASSIGN_OR_RETURN(
      const AccessFields body,
      AccessFields::Of(request, {"session", "run", "view", "audience", "days"}));
  ShareLink link;
  STROBE_RETURN_IF_ERROR(SetTarget(context, request, body, &link));
  STROBE_ASSIGN_OR_RETURN(link.audience, body.Text("audience"));
  if (link.audience.empty()) link.audience = "SIGNED_IN";
  if (link.audience != "SIGNED_IN" && link.audience != "ANYONE") {
    return InvalidArgumentError("FIELD_MALFORMED", "The audience is SIGNED_IN or ANYONE.");
  }
  const bool anyone = link.audience == "ANYONE";
  if (anyone && link.kind == "RUN") {
    return InvalidArgumentError("LINK_AUDIENCE", "A link for anyone opens one session only.");
  }
  STROBE_RETURN_IF_ERROR(CheckRight(request, link.project, anyone ? Right::kAdmin : Right::kEdit));
  constexpr int64_t kLongestDays = kLinkLongestNs / catalog::kDayNs;
  STROBE_ASSIGN_OR_RETURN(const int64_t days,
                          body.Integer("days", kLinkDefaultNs / catalog::kDayNs, 1, kLongestDays));
  link.created_by = ActorOf(request);
  const auto change = [&](Transaction& transaction) {
    link.id = catalog::Base64UrlEncode(catalog::RandomBytes(kLinkIdBytes, transaction.random()));
    link.create_unix_ns = transaction.clock().NowUnixNanos();
    link.expire_unix_ns = link.create_unix_ns + days * catalog::kDayNs;
    if (request.trail != nullptr) {
      request.trail->record.project = link.project;
      request.trail->record.detail = link.id + " " + link.kind + " " + link.target;
    }
    return transaction.Insert(link);
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*context->catalog, request.trail.get(), change));
  return Answer(Parsed(ShareLinkJson(link, key)), 201);
}

Result<Response> ListLinks(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const std::string key, KeyOfLinks(context));
  const std::string project(request.Query("project").value_or(catalog::kDefaultProject));
  STROBE_RETURN_IF_ERROR(CheckRight(request, project, Right::kEdit));
  catalog::ListQuery query = AccessListQuery(request);
  query.parent.project = project;
  catalog::Page<ShareLink> page;
  STROBE_RETURN_IF_ERROR(context->catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(page, transaction.List<ShareLink>(query));
    return OkStatus();
  }));
  Json links = Json::array();
  for (const ShareLink& link : page.items) links.push_back(Parsed(ShareLinkJson(link, key)));
  return Answer({{"links", links}, {"next_page_token", page.next_page_token}});
}

Result<Response> RevokeLink(const Context& context, const Request& request) {
  const std::string id(request.Param("id"));
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  const auto change = [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(std::vector<ShareLink> found,
                            transaction.Select<ShareLink>("id = ?", {catalog::SqlValue{id}}, 1));
    const Status unknown = NotFoundError("SHARE_LINK_NOT_FOUND", "There is no such share link.");
    if (found.empty() || !HasRight(request, found.front().project, Right::kView)) return unknown;
    ShareLink& link = found.front();
    if (link.created_by != ActorOf(request)) {
      STROBE_RETURN_IF_ERROR(CheckRight(request, link.project, Right::kAdmin));
    }
    if (request.trail != nullptr) request.trail->record.project = link.project;
    if (link.revoke_unix_ns != 0) return OkStatus();
    link.revoke_unix_ns = transaction.clock().NowUnixNanos();
    STROBE_RETURN_IF_ERROR(transaction.Update(link));
    return catalog::MoveAccessVersion(transaction);
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*catalog, request.trail.get(), change));
  return Answer(Json::object());
}

Response Lead(const std::string& to) {
  Response response = TextResponse("", kSeeOther);
  response.headers.emplace_back("Location", to);
  return response;
}

// A person opens a link: the browser keeps it, and is led to what it opens.
Result<Response> OpenLink(const Context& context, const Request& request) {
  if (context->access == nullptr) {
    return RefusalPage(404, "No such link", "This server has no share links.", "");
  }
  AccessControl& access = *context->access;
  const std::string token(request.Param("token"));
  const Result<ResolvedLink> link = access.ResolveLink(token);
  if (!link.ok()) {
    const int status = HttpStatusOf(link.status().code());
    access.RecordDenial(request, "openLink", ShareLinkId(token).substr(0, 32), status, "",
                        std::string(link.status().name()));
    return RefusalPage(status, "This link does not open", link.status().message(),
                       link.status().hint());
  }
  const catalog::ShareLink& record = link->record;
  const Result<std::shared_ptr<const Caller>> caller = access.Identify(request);
  const bool signed_in = caller.ok() && (*caller)->signed_in();
  const std::string cookie_name = LinkCookieName(request.secure);
  Response response;
  if (signed_in || link->grant.anyone) {
    access.Record(request, "openLink", record.id, "DONE", kSeeOther, record.project,
                  record.kind + " " + record.target +
                      (signed_in ? " by " + (*caller)->subject : std::string()));
    response = Lead(record.view);
  } else {
    response = Lead("/sign-in?return=" + EncodeQueryValue(record.view));
  }
  response.headers.emplace_back(
      "Set-Cookie", MakeCookie(cookie_name, AddLinkToken(CookieValue(request, cookie_name), token),
                               request.secure, kLinkDefaultNs / 1'000'000'000));
  return response;
}

}  // namespace

std::string EncodeQueryValue(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == '/';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

void AddLinkRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back({.method = Method::kPost,
                     .pattern = "/api/v1/links",
                     .access = {Need::kEdit, Object::kInBody, Audit::kAlways},
                     .operation_id = "createLink",
                     .tag = "access",
                     .summary = "Make a link to a session, a run or a view.",
                     .request_schema = "AccessObject",
                     .response_schema = "AccessObject",
                     .success_status = 201,
                     .handler = [context](const Request& r) { return CreateLink(context, r); }});
  std::vector<QueryParam> queries = AccessListQueries();
  queries.push_back({.name = "project", .description = "Whose links; \"default\" when absent."});
  routes->push_back({.pattern = "/api/v1/links",
                     .access = {Need::kEdit, Object::kInBody},
                     .operation_id = "listLinks",
                     .tag = "access",
                     .summary = "Links of a project, newest first.",
                     .query = queries,
                     .response_schema = "AccessObject",
                     .handler = [context](const Request& r) { return ListLinks(context, r); }});
  routes->push_back({.method = Method::kDelete,
                     .pattern = "/api/v1/links/{id}",
                     .access = {Need::kSignedIn, Object::kNone, Audit::kAlways},
                     .operation_id = "revokeLink",
                     .tag = "access",
                     .summary = "Take a link back: its maker, or an administrator of the project.",
                     .response_schema = "AccessObject",
                     .handler = [context](const Request& r) { return RevokeLink(context, r); }});
  routes->push_back({.pattern = "/l/{token}",
                     .access = kPublicAccess,
                     .operation_id = "openLink",
                     .tag = "access",
                     .summary = "Open a share link.",
                     .response_type = "text/html",
                     .documented = false,
                     .handler = [context](const Request& r) { return OpenLink(context, r); }});
}

}  // namespace strobe::api
