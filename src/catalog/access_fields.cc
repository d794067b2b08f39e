#include "src/catalog/fields.h"

namespace strobe::catalog {

template <>
std::span<const Field> FieldsOf<User>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"display_name", "display_name"},
                                     {"email", "email"},
                                     {"disabled", "disabled", kBool},
                                     {"create_time", "create_unix_ns", kTime},
                                     {"last_sign_in_time", "last_sign_in_unix_ns", kTime}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<Group>() {
  using enum FieldKind;
  static constexpr Field fields[] = {
      {"name", "id"}, {"display_name", "display_name"}, {"create_time", "create_unix_ns", kTime}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<RoleBinding>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"project", "project"},
                                     {"subject", "subject"},
                                     {"role", "role"},
                                     {"create_time", "create_unix_ns", kTime}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<ServiceAccount>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"display_name", "display_name"},
                                     {"disabled", "disabled", kBool},
                                     {"create_time", "create_unix_ns", kTime}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<ApiToken>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"kind", "kind"},
                                     {"subject", "subject"},
                                     {"display_name", "display_name"},
                                     {"project", "project"},
                                     {"create_time", "create_unix_ns", kTime},
                                     {"expire_time", "expire_unix_ns", kTime},
                                     {"revoke_time", "revoke_unix_ns", kTime}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<ShareLink>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"kind", "kind"},
                                     {"target", "target"},
                                     {"audience", "audience"},
                                     {"created_by", "created_by"},
                                     {"create_time", "create_unix_ns", kTime},
                                     {"expire_time", "expire_unix_ns", kTime},
                                     {"revoke_time", "revoke_unix_ns", kTime}};
  return fields;
}

template <>
std::span<const Field> FieldsOf<AuditRecord>() {
  using enum FieldKind;
  static constexpr Field fields[] = {{"name", "id"},
                                     {"actor", "actor"},
                                     {"action", "action"},
                                     {"object", "object"},
                                     {"project", "project"},
                                     {"outcome", "outcome"},
                                     {"peer", "peer"},
                                     {"http_status", "http_status", kInteger},
                                     {"create_time", "create_unix_ns", kTime}};
  return fields;
}

}  // namespace strobe::catalog
