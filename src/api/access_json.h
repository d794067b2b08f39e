// What the routes of access share: strict bodies, records as JSON text, pages of lists.
//
//   STROBE_ASSIGN_OR_RETURN(const AccessFields body, AccessFields::Of(request, {"name", "email"}));
//   STROBE_ASSIGN_OR_RETURN(const std::string name, body.Text("name", Presence::kRequired));
//   return AccessAnswer(UserJson(user));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/app.h"
#include "src/api/caller.h"
#include "src/catalog/access_records.h"

namespace strobe::api {

enum class Presence : uint8_t { kOptional, kRequired };

// The object in a request's body, with no other fields than those named.
class AccessFields {
 public:
  // Errors: BODY_NOT_JSON, FIELD_UNKNOWN.
  static Result<AccessFields> Of(const Request& request,
                                 std::initializer_list<std::string_view> fields);
  // "" when absent. Errors: FIELD_MALFORMED, FIELD_MISSING when required.
  Result<std::string> Text(std::string_view field, Presence presence = Presence::kOptional) const;
  Result<int64_t> Integer(std::string_view field, int64_t otherwise, int64_t minimum,
                          int64_t maximum) const;
  // Absent is false. Errors: FIELD_MALFORMED.
  Result<bool> Truth(std::string_view field) const;

 private:
  struct Object;
  std::shared_ptr<const Object> object_;
};

// Nothing of it is kept by browsers: it holds names, and sometimes secrets.
Response AccessAnswer(std::string json, int status = 200);
// "null" for 0.
std::string TimeJson(int64_t unix_ns);
std::string UserJson(const catalog::User& user);
std::string GroupJson(const catalog::Group& group, const std::vector<std::string>& members);
std::string RoleBindingJson(const catalog::RoleBinding& binding);
std::string ServiceAccountJson(const catalog::ServiceAccount& account);
std::string ServiceKeyJson(const catalog::ServiceKey& key);
std::string TokenJson(const catalog::ApiToken& token);
std::string AuditJson(const catalog::AuditRecord& record);
// With the address that opens it when `key` is not empty.
std::string ShareLinkJson(const catalog::ShareLink& link, std::string_view key);
std::string GrantsJson(const catalog::Grants& grants);
// {"<field>": [...], "next_page_token": "..."}
std::string AccessListJson(std::string_view field, const std::vector<std::string>& items,
                           std::string_view next_page_token);

std::vector<QueryParam> AccessListQueries();
catalog::ListQuery AccessListQuery(const Request& request);

}  // namespace strobe::api
