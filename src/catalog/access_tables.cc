#include "src/catalog/access_records.h"
#include "src/catalog/tables.h"

namespace strobe::catalog {

template <>
const Table<User>& TableOf<User>() {
  static const Table<User> table{
      .name = "users",
      .noun = "user",
      .key_columns = 1,
      .columns = {{"id", &User::id},
                  {"etag", &User::etag},
                  {"create_unix_ns", &User::create_unix_ns},
                  {"update_unix_ns", &User::update_unix_ns},
                  {"display_name", &User::display_name},
                  {"email", &User::email},
                  {"password_hash", &User::password_hash},
                  {"password_unix_ns", &User::password_unix_ns},
                  {"oidc_subject", &User::oidc_subject},
                  {"disabled", &User::disabled},
                  {"last_sign_in_unix_ns", &User::last_sign_in_unix_ns}}};
  return table;
}

template <>
const Table<Group>& TableOf<Group>() {
  static const Table<Group> table{.name = "groups_of_users",
                                  .noun = "group",
                                  .key_columns = 1,
                                  .columns = {{"id", &Group::id},
                                              {"create_unix_ns", &Group::create_unix_ns},
                                              {"display_name", &Group::display_name}}};
  return table;
}

template <>
const Table<GroupMember>& TableOf<GroupMember>() {
  static const Table<GroupMember> table{
      .name = "group_members",
      .noun = "group member",
      .key_columns = 1,
      .columns = {{"id", &GroupMember::id},
                  {"create_unix_ns", &GroupMember::create_unix_ns},
                  {"group_id", &GroupMember::group_id},
                  {"subject", &GroupMember::subject}}};
  return table;
}

template <>
const Table<RoleBinding>& TableOf<RoleBinding>() {
  static const Table<RoleBinding> table{
      .name = "role_bindings",
      .noun = "role binding",
      .key_columns = 1,
      .columns = {{"id", &RoleBinding::id},
                  {"create_unix_ns", &RoleBinding::create_unix_ns},
                  {"project", &RoleBinding::project},
                  {"subject", &RoleBinding::subject},
                  {"role", &RoleBinding::role},
                  {"created_by", &RoleBinding::created_by}}};
  return table;
}

template <>
const Table<ServiceAccount>& TableOf<ServiceAccount>() {
  static const Table<ServiceAccount> table{
      .name = "service_accounts",
      .noun = "service account",
      .key_columns = 1,
      .columns = {{"id", &ServiceAccount::id},
                  {"create_unix_ns", &ServiceAccount::create_unix_ns},
                  {"display_name", &ServiceAccount::display_name},
                  {"created_by", &ServiceAccount::created_by},
                  {"disabled", &ServiceAccount::disabled}}};
  return table;
}

template <>
const Table<ServiceKey>& TableOf<ServiceKey>() {
  static const Table<ServiceKey> table{
      .name = "service_keys",
      .noun = "service key",
      .key_columns = 1,
      .columns = {{"id", &ServiceKey::id},
                  {"create_unix_ns", &ServiceKey::create_unix_ns},
                  {"service_account", &ServiceKey::service_account},
                  {"public_key_pem", &ServiceKey::public_key_pem},
                  {"expire_unix_ns", &ServiceKey::expire_unix_ns},
                  {"revoke_unix_ns", &ServiceKey::revoke_unix_ns}}};
  return table;
}

template <>
const Table<ApiToken>& TableOf<ApiToken>() {
  static const Table<ApiToken> table{
      .name = "api_tokens",
      .noun = "token",
      .key_columns = 1,
      .columns = {{"id", &ApiToken::id},
                  {"create_unix_ns", &ApiToken::create_unix_ns},
                  {"kind", &ApiToken::kind},
                  {"subject", &ApiToken::subject},
                  {"display_name", &ApiToken::display_name},
                  {"secret_hash", &ApiToken::secret_hash},
                  {"rights", &ApiToken::rights},
                  {"project", &ApiToken::project},
                  {"expire_unix_ns", &ApiToken::expire_unix_ns},
                  {"revoke_unix_ns", &ApiToken::revoke_unix_ns},
                  {"last_used_unix_ns", &ApiToken::last_used_unix_ns},
                  {"created_by", &ApiToken::created_by}}};
  return table;
}

template <>
const Table<SignInSession>& TableOf<SignInSession>() {
  static const Table<SignInSession> table{
      .name = "sign_in_sessions",
      .noun = "sign in session",
      .key_columns = 1,
      .columns = {{"id", &SignInSession::id},
                  {"create_unix_ns", &SignInSession::create_unix_ns},
                  {"user_id", &SignInSession::user_id},
                  {"secret_hash", &SignInSession::secret_hash},
                  {"last_used_unix_ns", &SignInSession::last_used_unix_ns},
                  {"expire_unix_ns", &SignInSession::expire_unix_ns},
                  {"peer", &SignInSession::peer},
                  {"user_agent", &SignInSession::user_agent}}};
  return table;
}

template <>
const Table<SignInAttempt>& TableOf<SignInAttempt>() {
  static const Table<SignInAttempt> table{
      .name = "sign_in_attempts",
      .noun = "sign in attempt",
      .key_columns = 1,
      .columns = {{"id", &SignInAttempt::id},
                  {"create_unix_ns", &SignInAttempt::create_unix_ns},
                  {"failures", &SignInAttempt::failures},
                  {"locked_unix_ns", &SignInAttempt::locked_unix_ns}}};
  return table;
}

template <>
const Table<ShareLink>& TableOf<ShareLink>() {
  static const Table<ShareLink> table{.name = "share_links",
                                      .noun = "share link",
                                      .key_columns = 2,
                                      .columns = {{"project", &ShareLink::project},
                                                  {"id", &ShareLink::id},
                                                  {"create_unix_ns", &ShareLink::create_unix_ns},
                                                  {"kind", &ShareLink::kind},
                                                  {"target", &ShareLink::target},
                                                  {"view", &ShareLink::view},
                                                  {"audience", &ShareLink::audience},
                                                  {"expire_unix_ns", &ShareLink::expire_unix_ns},
                                                  {"revoke_unix_ns", &ShareLink::revoke_unix_ns},
                                                  {"created_by", &ShareLink::created_by}}};
  return table;
}

template <>
const Table<AccessSetting>& TableOf<AccessSetting>() {
  static const Table<AccessSetting> table{
      .name = "access_settings",
      .noun = "access setting",
      .key_columns = 1,
      .columns = {{"id", &AccessSetting::id}, {"value", &AccessSetting::value}}};
  return table;
}

template <>
const Table<AuditRecord>& TableOf<AuditRecord>() {
  static const Table<AuditRecord> table{
      .name = "audit_records",
      .noun = "audit record",
      .key_columns = 1,
      .columns = {{"id", &AuditRecord::id},
                  {"create_unix_ns", &AuditRecord::create_unix_ns},
                  {"actor", &AuditRecord::actor},
                  {"action", &AuditRecord::action},
                  {"object", &AuditRecord::object},
                  {"project", &AuditRecord::project},
                  {"outcome", &AuditRecord::outcome},
                  {"http_status", &AuditRecord::http_status},
                  {"peer", &AuditRecord::peer},
                  {"request_id", &AuditRecord::request_id},
                  {"detail", &AuditRecord::detail},
                  {"previous_hash", &AuditRecord::previous_hash},
                  {"hash", &AuditRecord::hash}}};
  return table;
}

}  // namespace strobe::catalog
