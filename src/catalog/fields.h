// Which fields lists may be filtered and sorted by, and the columns behind them.
//
//   const Field* field = FindField(FieldsOf<Run>(), "createTime");   // snake and camel case
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "src/catalog/access_records.h"
#include "src/catalog/resource.h"

namespace strobe::catalog {

enum class FieldKind : uint8_t { kText, kTime, kEnum, kBool, kInteger };

struct Field {
  std::string_view name;  // snake case
  std::string_view column;
  FieldKind kind = FieldKind::kText;
  // Enum words may come with it in front: STATE_COMPLETED is COMPLETED.
  std::string_view enum_prefix = "";
};

template <typename T>
std::span<const Field> FieldsOf();
template <>
std::span<const Field> FieldsOf<Run>();
template <>
std::span<const Field> FieldsOf<ProfilerTarget>();
template <>
std::span<const Field> FieldsOf<ProfilerSession>();
template <>
std::span<const Field> FieldsOf<MonitoredEvent>();
template <>
std::span<const Field> FieldsOf<Operation>();
// access_fields.cc
template <>
std::span<const Field> FieldsOf<User>();
template <>
std::span<const Field> FieldsOf<Group>();
template <>
std::span<const Field> FieldsOf<RoleBinding>();
template <>
std::span<const Field> FieldsOf<ServiceAccount>();
template <>
std::span<const Field> FieldsOf<ApiToken>();
template <>
std::span<const Field> FieldsOf<ShareLink>();
template <>
std::span<const Field> FieldsOf<AuditRecord>();

// Null: no such field.
const Field* FindField(std::span<const Field> fields, std::string_view name);

}  // namespace strobe::catalog
