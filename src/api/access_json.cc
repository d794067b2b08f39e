#include "src/api/access_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/api/share_link.h"
#include "src/api/v1alpha_support.h"
#include "src/base/json_writer.h"
#include "src/catalog/time_text.h"

namespace strobe::api {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxTextBytes = 4096;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Time(int64_t unix_ns) {
  return unix_ns == 0 ? Json() : Json(catalog::FormatTimestamp(unix_ns));
}

Json RightsJson(catalog::RightSet set) {
  Json rights = Json::array();
  for (const Right right :
       {Right::kView, Right::kEdit, Right::kCapture, Right::kReadAnalysis, Right::kAdmin}) {
    if (Has(set, right)) rights.push_back(RightName(right));
  }
  return rights;
}

}  // namespace

struct AccessFields::Object {
  Json json;
};

Result<AccessFields> AccessFields::Of(const Request& request,
                                      std::initializer_list<std::string_view> fields) {
  auto object = std::make_shared<Object>();
  object->json = Json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!object->json.is_object()) {
    return InvalidArgumentError("BODY_NOT_JSON", "The body is not a JSON object.");
  }
  for (const auto& [name, value] : object->json.items()) {
    if (std::find(fields.begin(), fields.end(), name) == fields.end()) {
      return InvalidArgumentError("FIELD_UNKNOWN", "The body has a field that is not known here.")
          .Where(name.substr(0, 64))
          .Hint(fmt::format("Known are {}.", fmt::join(fields, ", ")));
    }
  }
  AccessFields read;
  read.object_ = std::move(object);
  return read;
}

Result<std::string> AccessFields::Text(std::string_view field, Presence presence) const {
  const auto found = object_->json.find(field);
  const bool absent = found == object_->json.end() || found->is_null();
  if (absent && presence == Presence::kOptional) return std::string();
  if (absent) {
    return InvalidArgumentError("FIELD_MISSING", "A field of the body is missing.")
        .Where(std::string(field));
  }
  if (!found->is_string() || found->get_ref<const std::string&>().size() > kMaxTextBytes) {
    return InvalidArgumentError("FIELD_MALFORMED", "A field of the body is not a text.")
        .Where(std::string(field))
        .Hint("At most 4096 bytes are taken.");
  }
  return found->get<std::string>();
}

Result<int64_t> AccessFields::Integer(std::string_view field, int64_t otherwise, int64_t minimum,
                                      int64_t maximum) const {
  const auto found = object_->json.find(field);
  if (found == object_->json.end() || found->is_null()) return otherwise;
  if (found->is_number_integer()) {
    const int64_t value = found->get<int64_t>();
    if (value >= minimum && value <= maximum) return value;
  }
  return InvalidArgumentError("FIELD_MALFORMED", "A number of the body is not what it must be.")
      .Where(std::string(field))
      .Hint(fmt::format("Expected an integer from {} to {}.", minimum, maximum));
}

Result<bool> AccessFields::Truth(std::string_view field) const {
  const auto found = object_->json.find(field);
  if (found == object_->json.end() || found->is_null()) return false;
  if (found->is_boolean()) return found->get<bool>();
  return InvalidArgumentError("FIELD_MALFORMED", "A field of the body is neither true nor false.")
      .Where(std::string(field));
}

Response AccessAnswer(std::string json, int status) {
  Response response = JsonResponse(std::move(json), status);
  response.cache_control = "no-store";
  response.revalidate = false;
  return response;
}

std::string TimeJson(int64_t unix_ns) { return Dump(Time(unix_ns)); }

std::string UserJson(const catalog::User& user) {
  return Dump({{"name", user.id},
               {"display_name", user.display_name},
               {"email", user.email},
               {"disabled", user.disabled != 0},
               {"has_password", !user.password_hash.empty()},
               {"has_provider", !user.oidc_subject.empty()},
               {"create_time", Time(user.create_unix_ns)},
               {"last_sign_in_time", Time(user.last_sign_in_unix_ns)}});
}

std::string GroupJson(const catalog::Group& group, const std::vector<std::string>& members) {
  return Dump({{"name", group.id},
               {"display_name", group.display_name},
               {"members", members},
               {"create_time", Time(group.create_unix_ns)}});
}

std::string RoleBindingJson(const catalog::RoleBinding& binding) {
  return Dump({{"id", binding.id},
               {"project", binding.project},
               {"subject", binding.subject},
               {"role", binding.role},
               {"created_by", binding.created_by},
               {"create_time", Time(binding.create_unix_ns)}});
}

std::string ServiceAccountJson(const catalog::ServiceAccount& account) {
  return Dump({{"name", account.id},
               {"display_name", account.display_name},
               {"created_by", account.created_by},
               {"disabled", account.disabled != 0},
               {"create_time", Time(account.create_unix_ns)}});
}

std::string ServiceKeyJson(const catalog::ServiceKey& key) {
  return Dump({{"id", key.id},
               {"service_account", key.service_account},
               {"create_time", Time(key.create_unix_ns)},
               {"expire_time", Time(key.expire_unix_ns)},
               {"revoke_time", Time(key.revoke_unix_ns)}});
}

std::string TokenJson(const catalog::ApiToken& token) {
  return Dump({{"id", token.id},
               {"kind", token.kind},
               {"subject", token.subject},
               {"name", token.display_name},
               {"rights", token.rights},
               {"project", token.project},
               {"created_by", token.created_by},
               {"create_time", Time(token.create_unix_ns)},
               {"expire_time", Time(token.expire_unix_ns)},
               {"revoke_time", Time(token.revoke_unix_ns)},
               {"last_used_time", Time(token.last_used_unix_ns)}});
}

std::string AuditJson(const catalog::AuditRecord& record) {
  return Dump({{"number", record.id},
               {"time", Time(record.create_unix_ns)},
               {"actor", record.actor},
               {"action", record.action},
               {"object", record.object},
               {"project", record.project},
               {"outcome", record.outcome},
               {"http_status", record.http_status},
               {"peer", record.peer},
               {"request_id", record.request_id},
               {"detail", record.detail},
               {"hash", record.hash}});
}

std::string ShareLinkJson(const catalog::ShareLink& link, std::string_view key) {
  Json json{{"id", link.id},
            {"project", link.project},
            {"kind", link.kind},
            {"target", link.target},
            {"view", link.view},
            {"audience", link.audience},
            {"created_by", link.created_by},
            {"create_time", Time(link.create_unix_ns)},
            {"expire_time", Time(link.expire_unix_ns)},
            {"revoke_time", Time(link.revoke_unix_ns)}};
  if (!key.empty()) json["path"] = "/l/" + ShareLinkToken(key, link);
  return Dump(json);
}

std::string GrantsJson(const catalog::Grants& grants) {
  Json projects = Json::object();
  for (const auto& [project, rights] : grants.by_project) projects[project] = RightsJson(rights);
  return Dump({{"everywhere", RightsJson(grants.everywhere)}, {"projects", projects}});
}

std::string AccessListJson(std::string_view field, const std::vector<std::string>& items,
                           std::string_view next_page_token) {
  JsonWriter json;
  json.BeginObject();
  json.Key(field).BeginArray();
  for (const std::string& item : items) json.Raw(item);
  json.EndArray();
  json.Key("next_page_token").String(next_page_token);
  json.EndObject();
  return json.TakeText();
}

std::vector<QueryParam> AccessListQueries() {
  return {{.name = "filter", .description = "FIELD OPERATOR \"VALUE\", with AND, OR, NOT."},
          {.name = "order_by", .description = "Fields, each with \" desc\" if wanted."},
          {.name = "page_size",
           .type = ParamType::kInteger,
           .description = "Records of one page.",
           .minimum = 1,
           .maximum = catalog::kMaxPageSize},
          {.name = "page_token", .description = "next_page_token of the page before."}};
}

catalog::ListQuery AccessListQuery(const Request& request) {
  catalog::ListQuery query;
  query.parent.project = "-";
  query.filter = request.Query("filter").value_or("");
  query.order_by = request.Query("order_by").value_or("");
  query.page_size = request.QueryInt("page_size").value_or(100);
  query.page_token = request.Query("page_token").value_or("");
  return query;
}

}  // namespace strobe::api
