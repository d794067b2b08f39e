// Administration of access: users, groups, roles, service accounts, tokens, the audit chain.
#include <nlohmann/json.hpp>

#include "src/api/access_control.h"
#include "src/api/access_json.h"
#include "src/api/service_key.h"
#include "src/api/v1alpha_support.h"
#include "src/catalog/audit.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using catalog::ApiToken;
using catalog::Group;
using catalog::Key;
using catalog::RoleBinding;
using catalog::ServiceAccount;
using catalog::ServiceKey;
using catalog::Transaction;
using catalog::User;
using Context = std::shared_ptr<AppContext>;
using Json = nlohmann::json;

Json Parsed(const std::string& json) { return Json::parse(json); }

Response Answer(const Json& json, int status = 200) {
  return AccessAnswer(json.dump(-1, ' ', false, Json::error_handler_t::replace), status);
}
using Handler = Result<Response> (*)(const Context&, const Request&);

constexpr Access kServerAdmin{Need::kAdmin, Object::kServer};
constexpr Access kServerAdminChange{Need::kAdmin, Object::kServer, Audit::kAlways};

Key IdKey(std::string_view id) { return {"", "", "", std::string(id)}; }

template <typename T>
Result<Response> List(const Context& context, const Request& request, const char* field,
                      std::string (*to_json)(const T&), std::string extra_filter = "") {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  catalog::ListQuery query = AccessListQuery(request);
  if (!extra_filter.empty()) {
    query.filter =
        query.filter.empty() ? extra_filter : extra_filter + " AND (" + query.filter + ")";
  }
  catalog::Page<T> page;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(page, transaction.List<T>(query));
    return OkStatus();
  }));
  std::vector<std::string> items;
  for (const T& item : page.items) items.push_back(to_json(item));
  return AccessAnswer(AccessListJson(field, items, page.next_page_token));
}

// A change and its record in one transaction.
Status Written(const Context& context, const Request& request,
               const std::function<Status(Transaction&)>& work) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  return catalog::WriteAudited(*catalog, request.trail.get(), work);
}

// The same for a change whose answer is an empty object.
Result<Response> Change(const Context& context, const Request& request,
                        const std::function<Status(Transaction&)>& work) {
  STROBE_RETURN_IF_ERROR(Written(context, request, work));
  return Answer(Json::object());
}

// What the address alone does not say: whom or what the change was about.
void Note(const Request& request, std::string detail) {
  if (request.trail != nullptr) request.trail->record.detail = std::move(detail);
}

// ---- users

Result<Response> ListUsers(const Context& context, const Request& request) {
  return List<User>(context, request, "users", UserJson);
}

Json CodeJson(const catalog::IssuedToken& code) {
  return {{"one_time_code", code.text},
          {"expire_time", Parsed(TimeJson(code.record.expire_unix_ns))}};
}

Result<catalog::IssuedToken> MakeCode(Transaction& transaction, const std::string& user,
                                      const std::string& by) {
  return catalog::IssueToken(transaction, {.kind = "ONE_TIME",
                                           .subject = "user:" + user,
                                           .lifetime_ns = catalog::kOneTimeNs,
                                           .created_by = by});
}

Result<Response> CreateUser(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const AccessFields body,
                          AccessFields::Of(request, {"name", "display_name", "email"}));
  STROBE_ASSIGN_OR_RETURN(std::string name, body.Text("name", Presence::kRequired));
  STROBE_ASSIGN_OR_RETURN(const std::string display_name, body.Text("display_name"));
  STROBE_ASSIGN_OR_RETURN(const std::string email, body.Text("email"));
  STROBE_RETURN_IF_ERROR(catalog::CheckName("user", name));
  name = catalog::LowerName(name);
  Note(request, name);
  Json answer;
  STROBE_RETURN_IF_ERROR(Written(context, request, [&](Transaction& transaction) -> Status {
    const int64_t now = transaction.clock().NowUnixNanos();
    const User user{.id = name,
                    .create_unix_ns = now,
                    .update_unix_ns = now,
                    .display_name = display_name,
                    .email = email};
    STROBE_RETURN_IF_ERROR(transaction.Insert(user));
    STROBE_ASSIGN_OR_RETURN(const catalog::IssuedToken code,
                            MakeCode(transaction, name, ActorOf(request)));
    answer = CodeJson(code);
    answer["user"] = Parsed(UserJson(user));
    return OkStatus();
  }));
  return Answer(answer, 201);
}

Result<Response> DeleteUser(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) {
    return catalog::DeleteUser(transaction, std::string(request.Param("id")));
  });
}

Status SetDisabled(Transaction& transaction, const std::string& id, bool disabled) {
  STROBE_ASSIGN_OR_RETURN(User user, transaction.Get<User>(IdKey(id)));
  user.disabled = disabled ? 1 : 0;
  user.update_unix_ns = transaction.clock().NowUnixNanos();
  STROBE_RETURN_IF_ERROR(transaction.Update(user));
  return catalog::EndSignIns(transaction, id).status();
}

Result<Response> DisableUser(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) {
    return SetDisabled(transaction, std::string(request.Param("id")), true);
  });
}

Result<Response> EnableUser(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) {
    return SetDisabled(transaction, std::string(request.Param("id")), false);
  });
}

Result<Response> SignOutUser(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) -> Status {
    const std::string id(request.Param("id"));
    STROBE_RETURN_IF_ERROR(transaction.Get<User>(IdKey(id)).status());
    return catalog::EndSignIns(transaction, id).status();
  });
}

Result<Response> ResetUser(const Context& context, const Request& request) {
  Json answer;
  STROBE_RETURN_IF_ERROR(Written(context, request, [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(
        const catalog::IssuedToken code,
        MakeCode(transaction, std::string(request.Param("id")), ActorOf(request)));
    answer = CodeJson(code);
    return OkStatus();
  }));
  return Answer(answer);
}

// ---- groups

Result<Response> ListGroups(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  Json groups = Json::array();
  std::string next;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    groups = Json::array();
    STROBE_ASSIGN_OR_RETURN(const catalog::Page<Group> page,
                            transaction.List<Group>(AccessListQuery(request)));
    next = page.next_page_token;
    for (const Group& group : page.items) {
      STROBE_ASSIGN_OR_RETURN(const std::vector<catalog::GroupMember> members,
                              transaction.Select<catalog::GroupMember>(
                                  "group_id = ? ORDER BY subject", {catalog::SqlValue{group.id}},
                                  catalog::kMaxBindings));
      std::vector<std::string> subjects;
      for (const catalog::GroupMember& member : members) subjects.push_back(member.subject);
      groups.push_back(Parsed(GroupJson(group, subjects)));
    }
    return OkStatus();
  }));
  return Answer({{"groups", groups}, {"next_page_token", next}});
}

Result<Response> CreateGroup(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const AccessFields body,
                          AccessFields::Of(request, {"name", "display_name"}));
  STROBE_ASSIGN_OR_RETURN(const std::string name, body.Text("name", Presence::kRequired));
  STROBE_ASSIGN_OR_RETURN(const std::string display_name, body.Text("display_name"));
  STROBE_RETURN_IF_ERROR(catalog::CheckName("group", name));
  Note(request, name);
  return Change(context, request, [&](Transaction& transaction) {
    return transaction.Insert(Group{.id = name,
                                    .create_unix_ns = transaction.clock().NowUnixNanos(),
                                    .display_name = display_name});
  });
}

Result<Response> DeleteGroup(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) {
    return catalog::DeleteGroup(transaction, std::string(request.Param("id")));
  });
}

Result<Response> AddGroupMember(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const AccessFields body, AccessFields::Of(request, {"subject"}));
  STROBE_ASSIGN_OR_RETURN(const std::string subject, body.Text("subject", Presence::kRequired));
  Note(request, subject);
  return Change(context, request, [&](Transaction& transaction) {
    return catalog::AddMember(transaction, std::string(request.Param("id")), subject);
  });
}

Result<Response> RemoveGroupMember(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) {
    return catalog::RemoveMember(transaction, std::string(request.Param("id")),
                                 std::string(request.Param("subject")));
  });
}

// ---- roles

Result<Response> ListRoles(const Context& context, const Request& request) {
  const std::string project(request.Query("project").value_or(catalog::kDefaultProject));
  STROBE_RETURN_IF_ERROR(CheckRight(request, project, Right::kAdmin));
  if (project != catalog::kEveryProject) {
    STROBE_RETURN_IF_ERROR(catalog::CheckId("project", project));
  }
  return List<RoleBinding>(context, request, "roles", RoleBindingJson,
                           "project = \"" + project + "\"");
}

Result<Response> BindRole(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const AccessFields body,
                          AccessFields::Of(request, {"project", "subject", "role"}));
  STROBE_ASSIGN_OR_RETURN(const std::string project, body.Text("project", Presence::kRequired));
  STROBE_ASSIGN_OR_RETURN(const std::string subject, body.Text("subject", Presence::kRequired));
  STROBE_ASSIGN_OR_RETURN(const std::string role, body.Text("role", Presence::kRequired));
  STROBE_RETURN_IF_ERROR(CheckRight(request, project, Right::kAdmin));
  Note(request, role + " " + subject);
  if (request.trail != nullptr) request.trail->record.project = project;
  return Change(context, request, [&](Transaction& transaction) {
    return catalog::BindRole(transaction, project, subject, role, ActorOf(request));
  });
}

Result<Response> UnbindRole(const Context& context, const Request& request) {
  const std::string id(request.Param("id"));
  return Change(context, request, [&](Transaction& transaction) -> Status {
    const Result<RoleBinding> binding = transaction.Get<RoleBinding>(IdKey(id));
    if (!binding.ok() || !HasRight(request, binding->project, Right::kAdmin)) {
      return NotFoundError("ROLE_BINDING_NOT_FOUND", "There is no role binding of this name.");
    }
    return catalog::UnbindRole(transaction, id);
  });
}

// ---- service accounts

Result<Response> ListAccounts(const Context& context, const Request& request) {
  return List<ServiceAccount>(context, request, "service_accounts", ServiceAccountJson);
}

Result<Response> CreateAccount(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const AccessFields body,
                          AccessFields::Of(request, {"name", "display_name"}));
  STROBE_ASSIGN_OR_RETURN(std::string name, body.Text("name", Presence::kRequired));
  STROBE_ASSIGN_OR_RETURN(const std::string display_name, body.Text("display_name"));
  STROBE_RETURN_IF_ERROR(catalog::CheckName("service account", name));
  Note(request, catalog::LowerName(name));
  return Change(context, request, [&](Transaction& transaction) {
    return transaction.Insert(ServiceAccount{.id = catalog::LowerName(name),
                                             .create_unix_ns = transaction.clock().NowUnixNanos(),
                                             .display_name = display_name,
                                             .created_by = ActorOf(request)});
  });
}

Result<Response> DeleteAccount(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) {
    return catalog::DeleteServiceAccount(transaction, std::string(request.Param("id")));
  });
}

Result<Response> ListKeys(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  Json keys = Json::array();
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    keys = Json::array();
    STROBE_ASSIGN_OR_RETURN(
        const std::vector<ServiceKey> found,
        transaction.Select<ServiceKey>("service_account = ?",
                                       {catalog::SqlValue{std::string(request.Param("id"))}},
                                       catalog::kMaxBindings));
    for (const ServiceKey& key : found) keys.push_back(Parsed(ServiceKeyJson(key)));
    return OkStatus();
  }));
  return Answer({{"keys", keys}});
}

// The answer is the key file; its private half is never seen again.
Result<Response> CreateKey(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const AccessFields body,
                          AccessFields::Of(request, {"days", "server", "project"}));
  STROBE_ASSIGN_OR_RETURN(const std::string server, body.Text("server", Presence::kRequired));
  STROBE_ASSIGN_OR_RETURN(const std::string project, body.Text("project"));
  STROBE_ASSIGN_OR_RETURN(const int64_t days, body.Integer("days", 0, 0, 3660));
  const std::string account(request.Param("id"));
  STROBE_ASSIGN_OR_RETURN(KeyPair pair, MakeKeyPair());
  ServiceKey key{.service_account = account, .public_key_pem = pair.public_pem};
  STROBE_RETURN_IF_ERROR(Written(context, request, [&](Transaction& transaction) -> Status {
    STROBE_RETURN_IF_ERROR(transaction.Get<ServiceAccount>(IdKey(account)).status());
    const int64_t now = transaction.clock().NowUnixNanos();
    key.id = catalog::Sha256Hex(catalog::RandomBytes(32, transaction.random())).substr(0, 40);
    key.create_unix_ns = now;
    key.expire_unix_ns = days == 0 ? 0 : now + days * catalog::kDayNs;
    Note(request, key.id);
    return transaction.Insert(key);
  }));
  return Answer(Parsed(ServiceKeyFile(key, pair.private_pem, server, project)), 201);
}

Result<Response> RevokeKey(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(ServiceKey key,
                            transaction.Get<ServiceKey>(IdKey(request.Param("key"))));
    if (key.service_account != request.Param("id")) {
      return NotFoundError("SERVICE_KEY_NOT_FOUND", "The service account has no such key.");
    }
    key.revoke_unix_ns = transaction.clock().NowUnixNanos();
    STROBE_RETURN_IF_ERROR(transaction.Update(key));
    // What was made with it ends with it.
    STROBE_RETURN_IF_ERROR(transaction.sql()
                               .Run("DELETE FROM api_tokens WHERE kind = 'ACCESS' AND subject = ?",
                                    {catalog::SqlValue{"service:" + key.service_account}})
                               .status());
    return catalog::MoveAccessVersion(transaction);
  });
}

// ---- tokens

bool IsServerAdmin(const Request& request) {
  return HasRight(request, catalog::kEveryProject, Right::kAdmin);
}

Result<Response> ListTokens(const Context& context, const Request& request) {
  std::string subject(request.Query("subject").value_or(""));
  if (!IsServerAdmin(request)) {
    if (!subject.empty() && subject != request.caller->subject) {
      return PermissionDeniedError("RIGHT_MISSING", "You may look at your own tokens only.");
    }
    subject = request.caller->subject;
  }
  if (!subject.empty()) STROBE_RETURN_IF_ERROR(catalog::CheckSubject(subject));
  return List<ApiToken>(context, request, "tokens", TokenJson,
                        subject.empty() ? "" : "subject = \"" + subject + "\"");
}

Result<Response> CreateToken(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(
      const AccessFields body,
      AccessFields::Of(request, {"subject", "name", "rights", "project", "days"}));
  catalog::TokenSpec spec;
  STROBE_ASSIGN_OR_RETURN(spec.subject, body.Text("subject"));
  STROBE_ASSIGN_OR_RETURN(spec.display_name, body.Text("name"));
  STROBE_ASSIGN_OR_RETURN(spec.rights, body.Text("rights"));
  STROBE_ASSIGN_OR_RETURN(spec.project, body.Text("project"));
  STROBE_ASSIGN_OR_RETURN(const int64_t days,
                          body.Integer("days", catalog::kTokenDefaultNs / catalog::kDayNs, 1,
                                       catalog::kTokenLongestNs / catalog::kDayNs));
  spec.lifetime_ns = days * catalog::kDayNs;
  spec.created_by = ActorOf(request);
  if (spec.subject.empty()) spec.subject = request.caller == nullptr ? "" : spec.created_by;
  const bool own = request.caller != nullptr && spec.subject == request.caller->subject;
  if (own && request.caller->narrowed) {
    return PermissionDeniedError("TOKEN_NARROW",
                                 "A token with some of your rights cannot make one with others.")
        .Hint("Sign in, or use a token that has all of them.");
  }
  // Tokens of other people would be a way to act under their names.
  if (!own && (!IsServerAdmin(request) || !spec.subject.starts_with("service:"))) {
    return PermissionDeniedError("RIGHT_MISSING",
                                 "Tokens are made for oneself, or by an administrator of the "
                                 "server for a service account.");
  }
  catalog::IssuedToken issued;
  STROBE_RETURN_IF_ERROR(Written(context, request, [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(issued, catalog::IssueToken(transaction, spec));
    Note(request, issued.record.id + " " + spec.subject);
    return OkStatus();
  }));
  Json answer = Parsed(TokenJson(issued.record));
  answer["token"] = issued.text;
  return Answer(answer, 201);
}

Result<Response> RevokeToken(const Context& context, const Request& request) {
  return Change(context, request, [&](Transaction& transaction) -> Status {
    const std::string id(request.Param("id"));
    const Result<ApiToken> token = transaction.Get<ApiToken>(IdKey(id));
    const bool own =
        token.ok() && request.caller != nullptr && token->subject == request.caller->subject;
    if (!token.ok() || (!own && !IsServerAdmin(request))) {
      return NotFoundError("TOKEN_NOT_FOUND", "There is no token of this name.");
    }
    return catalog::RevokeToken(transaction, id);
  });
}

// ---- audit

Result<Response> ListAudit(const Context& context, const Request& request) {
  return List<catalog::AuditRecord>(context, request, "records", AuditJson);
}

Result<Response> VerifyAudit(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  STROBE_ASSIGN_OR_RETURN(
      const catalog::AuditVerdict verdict,
      catalog::VerifyAudit(*catalog, std::string(request.Query("head").value_or(""))));
  return Answer({{"whole", verdict.whole},
                 {"fault", verdict.fault.empty() ? Json() : Json(verdict.fault)},
                 {"records", verdict.records},
                 {"head", verdict.head}});
}

void Add(const Context& context, std::vector<Route>* routes, Method method, std::string pattern,
         Access access, std::string operation_id, std::string summary, Handler handler,
         std::vector<QueryParam> query = {}, int success_status = 200) {
  routes->push_back(
      {.method = method,
       .pattern = "/api/v1/access/" + std::move(pattern),
       .access = access,
       .operation_id = std::move(operation_id),
       .tag = "access",
       .summary = std::move(summary),
       .query = std::move(query),
       .request_schema = method == Method::kPost ? "AccessObject" : "",
       .response_schema = "AccessObject",
       .success_status = success_status,
       .handler = [context, handler](const Request& r) { return handler(context, r); }});
}

void AddPeople(const Context& context, std::vector<Route>* routes) {
  using enum Method;
  const Access read = kServerAdmin;
  const Access change = kServerAdminChange;
  Add(context, routes, kGet, "users", read, "listUsers", "Users.", ListUsers, AccessListQueries());
  Add(context, routes, kPost, "users", change, "createUser",
      "Make a user; the answer holds a one-time code for the first password.", CreateUser, {}, 201);
  Add(context, routes, kDelete, "users/{id}", change, "deleteUser", "Forget a user.", DeleteUser);
  Add(context, routes, kPost, "users/{id}:disable", change, "disableUser",
      "Keep a user out, and end all sign-ins.", DisableUser);
  Add(context, routes, kPost, "users/{id}:enable", change, "enableUser", "Let a user in again.",
      EnableUser);
  Add(context, routes, kPost, "users/{id}:reset", change, "resetUser",
      "A one-time code for a new password.", ResetUser);
  Add(context, routes, kPost, "users/{id}:signOut", change, "signOutUser",
      "End all sign-ins of a user.", SignOutUser);
  Add(context, routes, kGet, "groups", read, "listGroups", "Groups with their members.", ListGroups,
      AccessListQueries());
  Add(context, routes, kPost, "groups", change, "createGroup", "Make a group.", CreateGroup);
  Add(context, routes, kDelete, "groups/{id}", change, "deleteGroup", "Forget a group.",
      DeleteGroup);
  Add(context, routes, kPost, "groups/{id}/members", change, "addGroupMember",
      "Take a user or service account into a group.", AddGroupMember);
  Add(context, routes, kDelete, "groups/{id}/members/{subject}", change, "removeGroupMember",
      "Take one out of a group.", RemoveGroupMember);
}

void AddAccounts(const Context& context, std::vector<Route>* routes) {
  using enum Method;
  const Access read = kServerAdmin;
  const Access change = kServerAdminChange;
  Add(context, routes, kGet, "service-accounts", read, "listServiceAccounts", "Service accounts.",
      ListAccounts, AccessListQueries());
  Add(context, routes, kPost, "service-accounts", change, "createServiceAccount",
      "Make a service account.", CreateAccount);
  Add(context, routes, kDelete, "service-accounts/{id}", change, "deleteServiceAccount",
      "Forget a service account with its keys and tokens.", DeleteAccount);
  Add(context, routes, kGet, "service-accounts/{id}/keys", read, "listServiceKeys",
      "Keys of a service account.", ListKeys);
  Add(context, routes, kPost, "service-accounts/{id}/keys", change, "createServiceKey",
      "Make a key; the answer is the key file that Google's clients read.", CreateKey, {}, 201);
  Add(context, routes, kDelete, "service-accounts/{id}/keys/{key}", change, "revokeServiceKey",
      "Take a key back.", RevokeKey);
}

}  // namespace

void AddAccessRoutes(const Context& context, std::vector<Route>* routes) {
  using enum Method;
  AddPeople(context, routes);
  AddAccounts(context, routes);
  std::vector<QueryParam> roles = AccessListQueries();
  roles.push_back({.name = "project", .description = "Whose roles; * for those of all projects."});
  Add(context, routes, kGet, "roles", {Need::kAdmin, Object::kInBody}, "listRoles",
      "Who has which role in a project.", ListRoles, roles);
  Add(context, routes, kPost, "roles", {Need::kAdmin, Object::kInBody, Audit::kAlways}, "bindRole",
      "Give a role.", BindRole);
  Add(context, routes, kDelete, "roles/{id}", {Need::kAdmin, Object::kInBody, Audit::kAlways},
      "unbindRole", "Take a role away.", UnbindRole);
  std::vector<QueryParam> tokens = AccessListQueries();
  tokens.push_back({.name = "subject", .description = "Whose tokens; one's own when absent."});
  Add(context, routes, kGet, "tokens", {Need::kSignedIn, Object::kNone}, "listTokens", "Tokens.",
      ListTokens, tokens);
  Add(context, routes, kPost, "tokens", {Need::kSignedIn, Object::kNone, Audit::kAlways},
      "createToken", "Make a token; only this answer holds its text.", CreateToken, {}, 201);
  Add(context, routes, kDelete, "tokens/{id}", {Need::kSignedIn, Object::kNone, Audit::kAlways},
      "revokeToken", "Take a token back.", RevokeToken);
  Add(context, routes, kGet, "audit", kServerAdmin, "listAudit", "Records of the audit chain.",
      ListAudit, AccessListQueries());
  Add(context, routes, kGet, "audit:verify", kServerAdmin, "verifyAudit",
      "Whether the audit chain is whole.", VerifyAudit,
      {{.name = "head", .description = "A hash kept elsewhere that must be in the chain."}});
}

}  // namespace strobe::api
