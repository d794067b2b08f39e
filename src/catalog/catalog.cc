#include "src/catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/utf8.h"
#include "src/catalog/migrations.h"
#include "src/catalog/page_token.h"
#include "src/catalog/tables.h"

namespace strobe::catalog {
namespace {

template <typename T>
std::string ColumnList(const Table<T>& table) {
  std::string list;
  for (const Column<T>& column : table.columns) {
    if (!list.empty()) list += ", ";
    list += column.name;
  }
  return list;
}

template <typename T>
SqlValue ValueOf(const T& record, const Column<T>& column) {
  if (const auto* text = std::get_if<std::string T::*>(&column.member)) return record.**text;
  return record.*std::get<int64_t T::*>(column.member);
}

template <typename T>
T RecordOf(const Table<T>& table, const std::vector<SqlValue>& row) {
  T record;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (const auto* text = std::get_if<std::string T::*>(&table.columns[c].member)) {
      if (const auto* value = std::get_if<std::string>(&row.at(c))) record.** text = *value;
    } else if (const auto* number = std::get_if<int64_t>(&row.at(c))) {
      record.*std::get<int64_t T::*>(table.columns[c].member) = *number;
    }
  }
  return record;
}

std::vector<SqlValue> KeyValues(const Key& key, size_t key_columns) {
  switch (key_columns) {
    case 1:
      return {key.id};
    case 2:
      return {key.project, key.id};
    case 3:
      return {key.project, key.location, key.id};
    default:
      return {key.project, key.location, key.run, key.id};
  }
}

std::string_view KeyCondition(size_t key_columns) {
  switch (key_columns) {
    case 1:
      return "id = ?";
    case 2:
      return "project = ? AND id = ?";
    case 3:
      return "project = ? AND location = ? AND id = ?";
    default:
      return "project = ? AND location = ? AND run = ? AND id = ?";
  }
}

// "profiler target" -> "PROFILER_TARGET_NOT_FOUND"
std::string ErrorName(std::string_view noun, std::string_view ending) {
  std::string name;
  for (const char c : noun) name += c == ' ' ? '_' : static_cast<char>(c - 'a' + 'A');
  return name + "_" + std::string(ending);
}

template <typename T>
Status NotFound(const Table<T>& table, const Key& key) {
  return NotFoundError(ErrorName(table.noun, "NOT_FOUND"),
                       fmt::format("There is no {} of this name.", table.noun))
      .Where(key.id);
}

// PostgreSQL takes no zero byte and nothing but UTF-8; SQLite must not take more than it.
template <typename T>
Status CheckText(const Table<T>& table, const T& record) {
  for (const Column<T>& column : table.columns) {
    const auto* member = std::get_if<std::string T::*>(&column.member);
    if (member == nullptr) continue;
    const std::string& text = record.**member;
    if (text.find('\0') != std::string::npos || ToValidUtf8(text) != text) {
      return InvalidArgumentError("TEXT_MALFORMED", "A text is not UTF-8, or holds a zero byte.")
          .Where(std::string(column.name));
    }
  }
  return OkStatus();
}

// What a list goes through: the parent, then the filter.
template <typename T>
Result<std::string> ListCondition(const Table<T>& table, const ListQuery& query, SqlDialect dialect,
                                  std::vector<SqlValue>* values) {
  std::string sql;
  // Records of the whole server have no parent; those of a project alone may be asked of all.
  if (table.key_columns == 1 || (table.key_columns == 2 && query.parent.project == "-")) {
    sql = "1 = 1";
  } else {
    sql = "project = ?";
    values->emplace_back(query.parent.project);
  }
  if (table.key_columns > 2 && query.parent.location != "-") {
    sql += " AND location = ?";
    values->emplace_back(query.parent.location);
  }
  if (table.key_columns == 4 && query.parent.run != "-") {
    sql += " AND run = ?";
    values->emplace_back(query.parent.run);
  }
  STROBE_ASSIGN_OR_RETURN(const Filter filter, ParseFilter(query.filter, FieldsOf<T>()));
  if (!filter.empty()) {
    sql += " AND ";
    filter.AppendSql(dialect, &sql, values);
  }
  return sql;
}

// The columns a list is sorted by: what was asked, then the key, so that no two are equal.
template <typename T>
Result<std::vector<SortColumn>> SortColumns(const Table<T>& table, const ListQuery& query) {
  STROBE_ASSIGN_OR_RETURN(const std::vector<OrderKey> keys,
                          ParseOrder(query.order_by, FieldsOf<T>()));
  std::vector<SortColumn> columns;
  const auto add = [&columns](std::string_view name, bool descending) {
    for (const SortColumn& column : columns) {
      if (column.name == name) return;
    }
    columns.push_back({name, descending});
  };
  for (const OrderKey& key : keys) add(key.field->column, key.descending);
  if (keys.empty()) add("create_unix_ns", /*descending=*/true);
  add("id", false);
  if (table.key_columns == 2 && query.parent.project == "-") add("project", false);
  if (table.key_columns > 2 && query.parent.location == "-") add("location", false);
  if (table.key_columns == 4 && query.parent.run == "-") add("run", false);
  return columns;
}

template <typename T>
std::vector<SqlValue> SortValues(const Table<T>& table, const T& record,
                                 const std::vector<SortColumn>& sort) {
  std::vector<SqlValue> values;
  for (const SortColumn& wanted : sort) {
    for (const Column<T>& column : table.columns) {
      if (column.name == wanted.name) values.push_back(ValueOf(record, column));
    }
  }
  STROBE_CHECK(values.size() == sort.size());
  return values;
}

}  // namespace

template <typename T>
Result<std::optional<T>> Transaction::Find(const Key& key) {
  const Table<T>& table = TableOf<T>();
  STROBE_ASSIGN_OR_RETURN(const SqlRows found,
                          sql_.Run(fmt::format("SELECT {} FROM {} WHERE {}", ColumnList(table),
                                               table.name, KeyCondition(table.key_columns)),
                                   KeyValues(key, table.key_columns)));
  if (found.rows.empty()) return std::optional<T>();
  return std::optional<T>(RecordOf(table, found.rows.front()));
}

template <typename T>
Result<T> Transaction::Get(const Key& key) {
  STROBE_ASSIGN_OR_RETURN(std::optional<T> found, Find<T>(key));
  if (!found) return NotFound(TableOf<T>(), key);
  return std::move(*found);
}

template <typename T>
Status Transaction::Insert(const T& record) {
  const Table<T>& table = TableOf<T>();
  STROBE_RETURN_IF_ERROR(CheckText(table, record));
  std::string marks;
  std::vector<SqlValue> values;
  for (const Column<T>& column : table.columns) {
    marks += marks.empty() ? "?" : ", ?";
    values.push_back(ValueOf(record, column));
  }
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows done,
      sql_.Run(fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING", table.name,
                           ColumnList(table), marks),
               values));
  if (done.changed_rows == 1) return OkStatus();
  return AlreadyExistsError(ErrorName(table.noun, "EXISTS"),
                            fmt::format("There is a {} of this name already.", table.noun))
      .Where(record.id);
}

template <typename T>
Status Transaction::Update(const T& record) {
  const Table<T>& table = TableOf<T>();
  STROBE_RETURN_IF_ERROR(CheckText(table, record));
  std::string settings;
  std::vector<SqlValue> values;
  for (size_t c = table.key_columns; c < table.columns.size(); ++c) {
    settings += fmt::format("{}{} = ?", settings.empty() ? "" : ", ", table.columns[c].name);
    values.push_back(ValueOf(record, table.columns[c]));
  }
  for (SqlValue& value : KeyValues(record.key(), table.key_columns)) {
    values.push_back(std::move(value));
  }
  STROBE_ASSIGN_OR_RETURN(const SqlRows done,
                          sql_.Run(fmt::format("UPDATE {} SET {} WHERE {}", table.name, settings,
                                               KeyCondition(table.key_columns)),
                                   values));
  return done.changed_rows == 1 ? OkStatus() : NotFound(table, record.key());
}

template <typename T>
Status Transaction::Delete(const Key& key) {
  const Table<T>& table = TableOf<T>();
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows done,
      sql_.Run(fmt::format("DELETE FROM {} WHERE {}", table.name, KeyCondition(table.key_columns)),
               KeyValues(key, table.key_columns)));
  return done.changed_rows == 1 ? OkStatus() : NotFound(table, key);
}

template <typename T>
Result<Page<T>> Transaction::List(const ListQuery& query) {
  const Table<T>& table = TableOf<T>();
  if (query.page_size < 0) {
    return InvalidArgumentError("PAGE_SIZE_NEGATIVE", "A page cannot have fewer than no entries.")
        .Hint("Leave the page size out for the usual one.");
  }
  const int64_t size = std::clamp<int64_t>(query.page_size, 1, kMaxPageSize);
  std::vector<SqlValue> values;
  STROBE_ASSIGN_OR_RETURN(std::string condition,
                          ListCondition(table, query, sql_.dialect(), &values));
  STROBE_ASSIGN_OR_RETURN(const std::vector<SortColumn> sort, SortColumns(table, query));
  const std::string binding =
      PageBinding(table.name, {query.parent.project, query.parent.location, query.parent.run,
                               query.filter, query.order_by});
  if (!query.page_token.empty()) {
    STROBE_ASSIGN_OR_RETURN(const std::vector<SqlValue> after,
                            ReadPageToken(query.page_token, binding, sort.size()));
    const std::vector<SqlValue> kinds = SortValues(table, T(), sort);
    for (size_t i = 0; i < after.size(); ++i) {
      if (after[i].index() != kinds[i].index()) return PageTokenMalformed();
    }
    AppendAfter(sort, after, &condition, &values);
  }
  std::string order;
  for (const SortColumn& column : sort) {
    order += fmt::format("{}{}{}", order.empty() ? "" : ", ", column.name,
                         column.descending ? " DESC" : "");
  }
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows found,
      sql_.Run(fmt::format("SELECT {} FROM {} WHERE {} ORDER BY {} LIMIT {}", ColumnList(table),
                           table.name, condition, order, size + 1),
               values));
  Page<T> page;
  for (const std::vector<SqlValue>& row : found.rows) {
    if (static_cast<int64_t>(page.items.size()) == size) {
      page.next_page_token = WritePageToken(binding, SortValues(table, page.items.back(), sort));
      break;
    }
    page.items.push_back(RecordOf(table, row));
  }
  return page;
}

template <typename T>
Result<int64_t> Transaction::Count(const ListQuery& query) {
  const Table<T>& table = TableOf<T>();
  std::vector<SqlValue> values;
  STROBE_ASSIGN_OR_RETURN(const std::string condition,
                          ListCondition(table, query, sql_.dialect(), &values));
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows found,
      sql_.Run(fmt::format("SELECT COUNT(*) FROM {} WHERE {}", table.name, condition), values));
  return std::get<int64_t>(found.rows.at(0).at(0));
}

template <typename T>
Result<std::vector<T>> Transaction::Select(std::string_view condition,
                                           const std::vector<SqlValue>& values, int64_t limit) {
  const Table<T>& table = TableOf<T>();
  STROBE_ASSIGN_OR_RETURN(const SqlRows found,
                          sql_.Run(fmt::format("SELECT {} FROM {} WHERE {} LIMIT {}",
                                               ColumnList(table), table.name, condition, limit),
                                   values));
  std::vector<T> records;
  for (const std::vector<SqlValue>& row : found.rows) records.push_back(RecordOf(table, row));
  return records;
}

template <typename T>
Result<int64_t> Transaction::DeleteChildren(const Key& run) {
  const Table<T>& table = TableOf<T>();
  STROBE_CHECK(table.key_columns == 4);
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows done,
      sql_.Run(
          fmt::format("DELETE FROM {} WHERE project = ? AND location = ? AND run = ?", table.name),
          {run.project, run.location, run.id}));
  return done.changed_rows;
}

#define STROBE_CATALOG_TABLE(T)                                            \
  template Result<T> Transaction::Get<T>(const Key&);                      \
  template Result<std::optional<T>> Transaction::Find<T>(const Key&);      \
  template Status Transaction::Insert<T>(const T&);                        \
  template Status Transaction::Update<T>(const T&);                        \
  template Status Transaction::Delete<T>(const Key&);                      \
  template Result<std::vector<T>> Transaction::Select<T>(std::string_view, \
                                                         const std::vector<SqlValue>&, int64_t)
#define STROBE_CATALOG_LIST(T)                                     \
  STROBE_CATALOG_TABLE(T);                                         \
  template Result<Page<T>> Transaction::List<T>(const ListQuery&); \
  template Result<int64_t> Transaction::Count<T>(const ListQuery&)

STROBE_CATALOG_LIST(Run);
STROBE_CATALOG_LIST(ProfilerTarget);
STROBE_CATALOG_LIST(ProfilerSession);
STROBE_CATALOG_LIST(MonitoredEvent);
STROBE_CATALOG_LIST(Operation);
STROBE_CATALOG_TABLE(AnsweredRequest);
STROBE_CATALOG_LIST(User);
STROBE_CATALOG_LIST(Group);
STROBE_CATALOG_LIST(RoleBinding);
STROBE_CATALOG_LIST(ServiceAccount);
STROBE_CATALOG_LIST(ApiToken);
STROBE_CATALOG_LIST(ShareLink);
STROBE_CATALOG_LIST(AuditRecord);
STROBE_CATALOG_TABLE(GroupMember);
STROBE_CATALOG_TABLE(ServiceKey);
STROBE_CATALOG_TABLE(SignInSession);
STROBE_CATALOG_TABLE(SignInAttempt);
STROBE_CATALOG_TABLE(AccessSetting);
template Result<int64_t> Transaction::DeleteChildren<ProfilerTarget>(const Key&);
template Result<int64_t> Transaction::DeleteChildren<ProfilerSession>(const Key&);
template Result<int64_t> Transaction::DeleteChildren<MonitoredEvent>(const Key&);
STROBE_CATALOG_TABLE(MetricCurve);
STROBE_CATALOG_TABLE(MetricBlock);
STROBE_CATALOG_TABLE(RunConfig);
template Result<int64_t> Transaction::DeleteChildren<MetricCurve>(const Key&);
template Result<int64_t> Transaction::DeleteChildren<MetricBlock>(const Key&);
template Result<int64_t> Transaction::DeleteChildren<RunConfig>(const Key&);

bool IsPostgresPlace(std::string_view place) {
  return place.starts_with("postgresql://") || place.starts_with("postgres://");
}

Result<std::unique_ptr<Catalog>> Catalog::Open(const CatalogOptions& options, const Clock& clock,
                                               Random& random) {
  std::unique_ptr<SqlDatabase> database;
  if (IsPostgresPlace(options.place)) {
    STROBE_ASSIGN_OR_RETURN(database, OpenPostgres({.url = options.place}));
  } else {
    STROBE_ASSIGN_OR_RETURN(database,
                            OpenSqlite({.path = options.place, .vfs = options.sqlite_vfs}));
  }
  STROBE_RETURN_IF_ERROR(Migrate(*database, clock));
  return std::unique_ptr<Catalog>(new Catalog(std::move(database), clock, random));
}

Status Catalog::Read(const std::function<Status(Transaction&)>& work) {
  return database_->Transact(SqlAccess::kRead, [&](SqlConnection& sql) {
    Transaction transaction(sql, clock_, random_);
    return work(transaction);
  });
}

Status Catalog::Write(const std::function<Status(Transaction&)>& work) {
  return database_->Transact(SqlAccess::kWrite, [&](SqlConnection& sql) {
    Transaction transaction(sql, clock_, random_);
    return work(transaction);
  });
}

Status Catalog::BackUpTo(const std::string& path) { return database_->BackUpTo(path); }

}  // namespace strobe::catalog
