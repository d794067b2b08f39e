#include "src/cli/access_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "src/base/clock.h"
#include "src/catalog/access_rules.h"
#include "src/catalog/audit.h"
#include "src/cli/api_client.h"
#include "src/cli/command.h"
#include "src/cli/resource_command.h"
#include "src/cli/serve_settings.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBase = "/api/v1/access/";

struct NounFacts {
  std::string_view noun;
  std::string_view collection;  // address
  std::string_view field;       // of the list's answer
  std::string_view columns;
};
constexpr NounFacts kNouns[] = {
    {"users", "/api/v1/access/users", "users",
     "name,display_name,email,disabled,last_sign_in_time"},
    {"groups", "/api/v1/access/groups", "groups", "name,display_name,members"},
    {"roles", "/api/v1/access/roles", "roles", "project,subject,role,created_by"},
    {"service-accounts", "/api/v1/access/service-accounts", "service_accounts",
     "name,display_name,disabled"},
    {"tokens", "/api/v1/access/tokens", "tokens",
     "id,kind,subject,name,rights,project,expire_time,revoke_time"},
    {"links", "/api/v1/links", "links", "id,kind,target,audience,expire_time,revoke_time"},
    {"audit", "/api/v1/access/audit", "records",
     "number,time,actor,action,object,outcome,http_status,detail"}};

const NounFacts& FactsOf(const std::string& noun) {
  for (const NounFacts& facts : kNouns) {
    if (facts.noun == noun) return facts;
  }
  STROBE_CHECK(false);
  return kNouns[0];
}

std::string CatalogPlace(const AccessOptions& options) {
  if (!options.catalog.empty()) return options.catalog;
  const std::string named = Environment("STROBE_CATALOG");
  if (!named.empty()) return named;
  return DefaultCatalogPlace(Environment("XDG_STATE_HOME"), Environment("HOME"));
}

// The folder is made, so that the first administrator can be made before the first start.
Result<std::string> UsablePlace(const AccessOptions& options) {
  std::string place = CatalogPlace(options);
  if (catalog::IsPostgresPlace(place)) return place;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(place).parent_path(), error);
  return place;
}

Result<std::unique_ptr<ApiClient>> OpenClient(const AccessOptions& options) {
  if (!options.server.empty()) {
    return OpenApiClient(options.server, {}, /*needs_session=*/false);
  }
  STROBE_ASSIGN_OR_RETURN(const std::string place, UsablePlace(options));
  return OpenCatalogClient(place);
}

Result<Json> Ask(ApiClient& client, const std::string& method, const std::string& target,
                 const Json& body = Json()) {
  const std::string text =
      body.is_null() ? "" : body.dump(-1, ' ', false, Json::error_handler_t::replace);
  STROBE_ASSIGN_OR_RETURN(const ApiReply reply, client.Send(method, target, text));
  Json json = Json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return UnavailableError("SERVER_ANSWER_BROKEN", "The server's answer is no JSON object.");
  }
  return json;
}

// Texts that came from others must not move the cursor.
Json Shown(const Json& items) {
  Json shown = items;
  for (Json& item : shown) {
    for (auto& [name, value] : item.items()) {
      if (value.is_string()) value = Printable(value.get<std::string>());
      if (value.is_null()) value = "";
    }
  }
  return shown;
}

Result<int> List(ApiClient& client, const AccessOptions& options) {
  const NounFacts& facts = FactsOf(options.noun);
  Json items = Json::array();
  std::string page_token;
  do {
    std::string target = fmt::format("{}?page_size=1000&filter={}&page_token={}", facts.collection,
                                     PercentEncode(options.filter), PercentEncode(page_token));
    if (options.noun == "roles" || options.noun == "links") {
      target += "&project=" + PercentEncode(options.project);
    }
    if (options.noun == "tokens" && !options.subject.empty()) {
      target += "&subject=" + PercentEncode(options.subject);
    }
    STROBE_ASSIGN_OR_RETURN(const Json page, Ask(client, "GET", target));
    for (const Json& item : page.value(std::string(facts.field), Json::array())) {
      if (options.limit == 0 || items.size() < options.limit) items.push_back(item);
    }
    page_token = page.value("next_page_token", std::string());
  } while (!page_token.empty() && (options.limit == 0 || items.size() < options.limit));
  if (items.empty() && options.format.empty()) {
    PrintError("Listed 0 items.\n");
    return int{kExitOk};
  }
  std::string format = options.format.empty() ? "table" : options.format;
  if (format == "table" || format == "csv" || format == "value") {
    format += "(" + std::string(facts.columns) + ")";
  }
  STROBE_ASSIGN_OR_RETURN(const std::string text,
                          FormatResources(Shown(items).dump(), format, /*one=*/false));
  PrintOut(text);
  return int{kExitOk};
}

Json CreateBody(const AccessOptions& options) {
  Json body = Json::object();
  const auto set = [&body](const char* field, const std::string& value) {
    if (!value.empty()) body[field] = value;
  };
  if (options.noun == "tokens") {
    set("name", options.display_name);
    set("subject", options.subject);
    set("rights", options.rights);
    if (options.project != "default") set("project", options.project);
  } else if (options.noun == "links") {
    set("session", options.session);
    set("run", options.run);
    set("view", options.view);
    set("audience", options.audience);
  } else {
    set("name", options.id);
    set("display_name", options.display_name);
    set("email", options.email);
  }
  if (options.days > 0) body["days"] = options.days;
  return body;
}

Result<int> Create(ApiClient& client, const AccessOptions& options) {
  STROBE_ASSIGN_OR_RETURN(
      const Json answer,
      Ask(client, "POST", std::string(FactsOf(options.noun).collection), CreateBody(options)));
  if (options.noun == "users") {
    PrintError("The user sets a password on the sign-in page with this one-time code:\n");
    PrintOut(answer.value("one_time_code", "") + "\n");
  } else if (options.noun == "tokens") {
    PrintError("This is shown only once:\n");
    PrintOut(answer.value("token", "") + "\n");
  } else if (options.noun == "links") {
    std::string base = options.server;
    while (base.ends_with('/')) base.pop_back();
    PrintOut(base + answer.value("path", "") + "\n");
  } else {
    PrintError("Made " + Printable(options.id) + ".\n");
  }
  return int{kExitOk};
}

// A key is readable by its owner only, and never replaces a file.
Result<int> WriteKey(const std::string& text, const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool done = file >= 0;
  if (done) {
    done = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
           fsync(file) == 0;
    done = close(file) == 0 && done;
  }
  if (done) return int{kExitOk};
  return UnavailableError("OUTPUT_NOT_WRITTEN", "The key file could not be written.")
      .Where(path + ": " + std::generic_category().message(errno))
      .Hint("Name a file that is not there yet. The key that was made is of no use: revoke it.");
}

Result<int> RunKeys(ApiClient& client, const AccessOptions& options) {
  const std::string keys =
      std::string(kBase) + "service-accounts/" + PercentEncode(options.id) + "/keys";
  if (options.verb == "keys") {
    STROBE_ASSIGN_OR_RETURN(const Json answer, Ask(client, "GET", keys));
    STROBE_ASSIGN_OR_RETURN(
        const std::string text,
        FormatResources(Shown(answer.value("keys", Json::array())).dump(),
                        "table(id,create_time,expire_time,revoke_time)", /*one=*/false));
    PrintOut(text);
    return int{kExitOk};
  }
  if (options.verb == "revoke-key") {
    STROBE_RETURN_IF_ERROR(
        Ask(client, "DELETE", keys + "/" + PercentEncode(options.subject)).status());
    PrintError("Revoked.\n");
    return int{kExitOk};
  }
  Json body{{"server", options.view}, {"project", options.project}};
  if (options.days > 0) body["days"] = options.days;
  STROBE_ASSIGN_OR_RETURN(const Json file, Ask(client, "POST", keys, body));
  const std::string text = file.dump(2) + "\n";
  if (!options.out.empty()) return WriteKey(text, options.out);
  PrintOut(text);
  return int{kExitOk};
}

Result<int> RunAudit(ApiClient& client, const AccessOptions& options) {
  if (options.verb == "list") return List(client, options);
  STROBE_ASSIGN_OR_RETURN(
      const Json verdict,
      Ask(client, "GET", std::string(kBase) + "audit:verify?head=" + PercentEncode(options.head)));
  if (verdict.value("whole", false)) {
    PrintOut(fmt::format("The audit chain is whole: {} records, the last one is {}.\n",
                         verdict.value("records", int64_t{0}), verdict.value("head", "")));
    return int{kExitOk};
  }
  return DataLossError("AUDIT_BROKEN", "The audit chain was tampered with: " +
                                           Printable(verdict.value("fault", std::string())) + ".")
      .Hint("Compare it with the log, where each record is written too.");
}

Status MakeAdmin(catalog::Transaction& transaction, const std::string& name, std::string* code) {
  const catalog::Key key{"", "", "", name};
  STROBE_ASSIGN_OR_RETURN(const std::optional<catalog::User> there,
                          transaction.Find<catalog::User>(key));
  const int64_t now = transaction.clock().NowUnixNanos();
  if (!there) {
    STROBE_RETURN_IF_ERROR(transaction.Insert(
        catalog::User{.id = name, .create_unix_ns = now, .update_unix_ns = now}));
  }
  const std::string subject = "user:" + name;
  const Status bound = catalog::BindRole(transaction, std::string(catalog::kEveryProject), subject,
                                         "admin", "command-line");
  if (!bound.ok() && bound.code() != StatusCode::kAlreadyExists) return bound;
  STROBE_ASSIGN_OR_RETURN(const catalog::IssuedToken issued,
                          catalog::IssueToken(transaction, {.kind = "ONE_TIME",
                                                            .subject = subject,
                                                            .lifetime_ns = catalog::kOneTimeNs,
                                                            .created_by = "command-line"}));
  *code = issued.text;
  return OkStatus();
}

Result<int> CreateAdmin(const AccessOptions& options) {
  STROBE_RETURN_IF_ERROR(catalog::CheckName("user", options.id));
  const std::string name = catalog::LowerName(options.id);
  STROBE_ASSIGN_OR_RETURN(const std::string place, UsablePlace(options));
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<catalog::Catalog> catalog,
                          catalog::Catalog::Open({.place = place}, SystemClock(), SystemRandom()));
  std::string code;
  catalog::AuditTrail trail{.record = {.actor = "command-line",
                                       .action = "createAdmin",
                                       .object = "user:" + name,
                                       .outcome = "DONE"}};
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(
      *catalog, &trail,
      [&](catalog::Transaction& transaction) { return MakeAdmin(transaction, name, &code); }));
  PrintError(
      "Start the server with --access and this catalogue, open /sign-in, and set a password "
      "with this one-time code:\n");
  PrintOut(code + "\n");
  return int{kExitOk};
}

}  // namespace

Result<int> RunAccess(const AccessOptions& options) {
  if (options.noun == "access") return CreateAdmin(options);
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> client, OpenClient(options));
  if (options.noun == "audit") return RunAudit(*client, options);
  if (options.verb == "list") return List(*client, options);
  if (options.verb == "create") return Create(*client, options);
  if (options.verb.ends_with("key") || options.verb == "keys") return RunKeys(*client, options);
  const std::string collection(FactsOf(options.noun).collection);
  const std::string one = collection + "/" + PercentEncode(options.id);
  if (options.verb == "delete" || options.verb == "revoke") {
    STROBE_RETURN_IF_ERROR(Ask(*client, "DELETE", one).status());
  } else if (options.verb == "grant") {
    STROBE_RETURN_IF_ERROR(
        Ask(*client, "POST", collection,
            {{"project", options.project}, {"subject", options.subject}, {"role", options.role}})
            .status());
  } else if (options.verb == "take") {
    const std::string id = options.project + "|" + options.subject + "|" + options.role;
    STROBE_RETURN_IF_ERROR(Ask(*client, "DELETE", collection + "/" + PercentEncode(id)).status());
  } else if (options.verb == "add") {
    STROBE_RETURN_IF_ERROR(
        Ask(*client, "POST", one + "/members", {{"subject", options.subject}}).status());
  } else if (options.verb == "remove") {
    STROBE_RETURN_IF_ERROR(
        Ask(*client, "DELETE", one + "/members/" + PercentEncode(options.subject)).status());
  } else {
    const std::string verb = options.verb == "sign-out" ? "signOut" : options.verb;
    STROBE_ASSIGN_OR_RETURN(const Json answer,
                            Ask(*client, "POST", one + ":" + verb, Json::object()));
    if (verb == "reset") PrintOut(answer.value("one_time_code", "") + "\n");
  }
  PrintError("Done.\n");
  return int{kExitOk};
}

}  // namespace strobe::cli
