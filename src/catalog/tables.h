// How the records of resource.h lie in tables: the one place that names their columns in code.
//
//   for (const auto& column : TableOf<Run>().columns) ...   // name and member
//
// migrations.cc makes the tables; the conformance test writes and reads every column of each.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/catalog/access_records.h"
#include "src/catalog/metric_records.h"
#include "src/catalog/resource.h"

namespace strobe::catalog {

template <typename T>
struct Column {
  std::string_view name;
  std::variant<std::string T::*, int64_t T::*> member;
};

template <typename T>
struct Table {
  std::string_view name;   // in SQL
  std::string_view noun;   // in messages
  size_t key_columns = 4;  // the first so many columns name a record
  std::vector<Column<T>> columns;
};

template <typename T>
const Table<T>& TableOf();
template <>
const Table<Run>& TableOf<Run>();
template <>
const Table<ProfilerTarget>& TableOf<ProfilerTarget>();
template <>
const Table<ProfilerSession>& TableOf<ProfilerSession>();
template <>
const Table<MonitoredEvent>& TableOf<MonitoredEvent>();
template <>
const Table<Operation>& TableOf<Operation>();
template <>
const Table<AnsweredRequest>& TableOf<AnsweredRequest>();

// metric_tables.cc
template <>
const Table<MetricCurve>& TableOf<MetricCurve>();
template <>
const Table<MetricBlock>& TableOf<MetricBlock>();
template <>
const Table<RunConfig>& TableOf<RunConfig>();

// access_tables.cc
template <>
const Table<User>& TableOf<User>();
template <>
const Table<Group>& TableOf<Group>();
template <>
const Table<GroupMember>& TableOf<GroupMember>();
template <>
const Table<RoleBinding>& TableOf<RoleBinding>();
template <>
const Table<ServiceAccount>& TableOf<ServiceAccount>();
template <>
const Table<ServiceKey>& TableOf<ServiceKey>();
template <>
const Table<ApiToken>& TableOf<ApiToken>();
template <>
const Table<SignInSession>& TableOf<SignInSession>();
template <>
const Table<SignInAttempt>& TableOf<SignInAttempt>();
template <>
const Table<ShareLink>& TableOf<ShareLink>();
template <>
const Table<AccessSetting>& TableOf<AccessSetting>();
template <>
const Table<AuditRecord>& TableOf<AuditRecord>();

}  // namespace strobe::catalog
