#include "src/catalog/access_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/catalog/rules.h"
#include "src/catalog/secret.h"

namespace strobe::catalog {
namespace {

constexpr std::string_view kVersion = "version";
// Ended ones stay for a while, so that lists can say what became of them.
constexpr int64_t kEndedKeptNs = 30 * kDayNs;

constexpr std::pair<Right, std::string_view> kRightNames[] = {
    {Right::kView, "view"},
    {Right::kEdit, "edit"},
    {Right::kCapture, "capture"},
    {Right::kReadAnalysis, "analysis.read"},
    {Right::kAdmin, "admin"}};

constexpr RightSet Set(std::initializer_list<Right> rights) {
  RightSet set = kNoRights;
  for (const Right right : rights) set |= static_cast<RightSet>(right);
  return set;
}

constexpr std::pair<std::string_view, RightSet> kRoles[] = {
    {"viewer", Set({Right::kView})},
    {"editor", Set({Right::kView, Right::kEdit, Right::kCapture})},
    {"admin", Set({Right::kView, Right::kEdit, Right::kCapture, Right::kAdmin})},
    {"analysis-reader", Set({Right::kReadAnalysis})}};

Status Execute(Transaction& transaction, std::string_view sql,
               const std::vector<SqlValue>& values) {
  return transaction.sql().Run(sql, values).status();
}

// "user:ada" -> "ada"
std::string NameOf(std::string_view subject) {
  return std::string(subject.substr(subject.find(':') + 1));
}

Status DeleteSubject(Transaction& transaction, const std::string& subject) {
  STROBE_RETURN_IF_ERROR(
      Execute(transaction, "DELETE FROM role_bindings WHERE subject = ?", {subject}));
  STROBE_RETURN_IF_ERROR(
      Execute(transaction, "DELETE FROM group_members WHERE subject = ?", {subject}));
  STROBE_RETURN_IF_ERROR(
      Execute(transaction, "DELETE FROM api_tokens WHERE subject = ?", {subject}));
  return MoveAccessVersion(transaction);
}

}  // namespace

Status Unauthenticated(std::string_view name, std::string message) {
  return Status(StatusCode::kUnauthenticated, name, std::move(message));
}

std::string_view RightName(Right right) {
  for (const auto& [known, name] : kRightNames) {
    if (known == right) return name;
  }
  return "unknown";
}

Result<RightSet> ParseRights(std::string_view text) {
  if (text.empty()) return kAllRights;
  RightSet set = kNoRights;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    const auto* const known = std::find_if(std::begin(kRightNames), std::end(kRightNames),
                                           [&](const auto& entry) { return entry.second == name; });
    if (known == std::end(kRightNames)) {
      return InvalidArgumentError("RIGHT_UNKNOWN", "There is no such right.")
          .Where(std::string(name.substr(0, 64)))
          .Hint("Rights are view, edit, capture, analysis.read and admin, separated by commas.");
    }
    set |= static_cast<RightSet>(known->first);
    if (comma == text.size()) return set;
    text.remove_prefix(comma + 1);
  }
}

Result<RightSet> RightsOfRole(std::string_view role) {
  for (const auto& [name, rights] : kRoles) {
    if (name == role) return rights;
  }
  return InvalidArgumentError("ROLE_UNKNOWN", "There is no such role.")
      .Where(std::string(role.substr(0, 64)))
      .Hint("Roles are viewer, editor, admin and analysis-reader.");
}

RightSet Grants::In(std::string_view project) const {
  const auto found = by_project.find(project);
  return everywhere | (found == by_project.end() ? kNoRights : found->second);
}

bool Grants::Anywhere(Right right) const {
  return Has(everywhere, right) ||
         std::any_of(by_project.begin(), by_project.end(),
                     [right](const auto& entry) { return Has(entry.second, right); });
}

Grants Grants::Narrowed(RightSet rights, std::string_view project) const {
  Grants narrow;
  if (!project.empty()) {
    narrow.by_project[std::string(project)] = In(project) & rights;
    return narrow;
  }
  narrow.everywhere = everywhere & rights;
  for (const auto& [name, set] : by_project) narrow.by_project[name] = set & rights;
  return narrow;
}

Status CheckName(std::string_view what, std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool fits = !name.empty() && name.size() <= kMaxNameBytes && letter(name.front()) &&
                    std::all_of(name.begin(), name.end(), [&](char c) {
                      return letter(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '@';
                    });
  if (fits) return OkStatus();
  return InvalidArgumentError("NAME_MALFORMED",
                              fmt::format("This cannot be the name of a {}.", what))
      .Where(std::string(name.substr(0, 64)))
      .Hint("Use up to 128 letters, digits, \".\", \"_\", \"-\", \"+\" and \"@\".");
}

std::string LowerName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

Status CheckSubject(std::string_view subject) {
  for (const std::string_view kind : {"user:", "service:", "group:"}) {
    if (subject.starts_with(kind)) return CheckName("subject", subject.substr(kind.size()));
  }
  return InvalidArgumentError("SUBJECT_MALFORMED", "This does not say who is meant.")
      .Where(std::string(subject.substr(0, 64)))
      .Hint("Write user:NAME, service:NAME or group:NAME.");
}

Status CheckSubjectExists(Transaction& transaction, const std::string& subject) {
  STROBE_RETURN_IF_ERROR(CheckSubject(subject));
  const Key key{"", "", "", NameOf(subject)};
  if (subject.starts_with("user:")) return transaction.Get<User>(key).status();
  if (subject.starts_with("service:")) return transaction.Get<ServiceAccount>(key).status();
  return transaction.Get<Group>(key).status();
}

Result<std::vector<std::string>> GroupsOf(Transaction& transaction, const std::string& subject) {
  STROBE_ASSIGN_OR_RETURN(
      const std::vector<GroupMember> members,
      transaction.Select<GroupMember>("subject = ?", {SqlValue{subject}}, kMaxBindings));
  std::vector<std::string> groups;
  for (const GroupMember& member : members) groups.push_back(member.group_id);
  return groups;
}

Result<Grants> GrantsOf(Transaction& transaction, const std::string& subject) {
  std::vector<std::string> subjects{subject};
  STROBE_ASSIGN_OR_RETURN(const std::vector<std::string> groups, GroupsOf(transaction, subject));
  for (const std::string& group : groups) subjects.push_back("group:" + group);
  Grants grants;
  for (const std::string& name : subjects) {
    STROBE_ASSIGN_OR_RETURN(
        const std::vector<RoleBinding> bindings,
        transaction.Select<RoleBinding>("subject = ?", {SqlValue{name}}, kMaxBindings));
    for (const RoleBinding& binding : bindings) {
      const Result<RightSet> rights = RightsOfRole(binding.role);
      // A role of a later release gives nothing here.
      if (!rights.ok()) continue;
      if (binding.project == kEveryProject) {
        grants.everywhere |= *rights;
      } else {
        grants.by_project[binding.project] |= *rights;
      }
    }
  }
  return grants;
}

Result<int64_t> AccessVersion(Transaction& transaction) {
  STROBE_ASSIGN_OR_RETURN(const SqlRows found,
                          transaction.sql().Run("SELECT value FROM access_settings WHERE id = ?",
                                                {SqlValue{std::string(kVersion)}}));
  if (found.rows.empty()) return int64_t{0};
  return std::stoll(std::get<std::string>(found.rows.at(0).at(0)));
}

Status MoveAccessVersion(Transaction& transaction) {
  STROBE_ASSIGN_OR_RETURN(const int64_t version, AccessVersion(transaction));
  const AccessSetting next{std::string(kVersion), std::to_string(version + 1)};
  if (version == 0) return transaction.Insert(next);
  return transaction.Update(next);
}

Result<std::string> SettingOr(Transaction& transaction, const std::string& name,
                              const std::function<std::string()>& make) {
  STROBE_ASSIGN_OR_RETURN(const std::optional<AccessSetting> found,
                          transaction.Find<AccessSetting>({"", "", "", name}));
  if (found) return found->value;
  const AccessSetting made{name, make()};
  STROBE_RETURN_IF_ERROR(transaction.Insert(made));
  return made.value;
}

Status BindRole(Transaction& transaction, const std::string& project, const std::string& subject,
                const std::string& role, const std::string& by) {
  if (project != kEveryProject) STROBE_RETURN_IF_ERROR(CheckId("project", project));
  STROBE_RETURN_IF_ERROR(RightsOfRole(role).status());
  STROBE_RETURN_IF_ERROR(CheckSubjectExists(transaction, subject));
  const RoleBinding binding{.id = project + "|" + subject + "|" + role,
                            .create_unix_ns = transaction.clock().NowUnixNanos(),
                            .project = project,
                            .subject = subject,
                            .role = role,
                            .created_by = by};
  STROBE_RETURN_IF_ERROR(transaction.Insert(binding));
  return MoveAccessVersion(transaction);
}

Status UnbindRole(Transaction& transaction, const std::string& id) {
  STROBE_RETURN_IF_ERROR(transaction.Delete<RoleBinding>({"", "", "", id}));
  return MoveAccessVersion(transaction);
}

Status DeleteUser(Transaction& transaction, const std::string& id) {
  STROBE_RETURN_IF_ERROR(transaction.Delete<User>({"", "", "", id}));
  STROBE_RETURN_IF_ERROR(EndSignIns(transaction, id).status());
  return DeleteSubject(transaction, "user:" + id);
}

Status DeleteServiceAccount(Transaction& transaction, const std::string& id) {
  STROBE_RETURN_IF_ERROR(transaction.Delete<ServiceAccount>({"", "", "", id}));
  STROBE_RETURN_IF_ERROR(
      Execute(transaction, "DELETE FROM service_keys WHERE service_account = ?", {id}));
  return DeleteSubject(transaction, "service:" + id);
}

Status DeleteGroup(Transaction& transaction, const std::string& id) {
  STROBE_RETURN_IF_ERROR(transaction.Delete<Group>({"", "", "", id}));
  STROBE_RETURN_IF_ERROR(
      Execute(transaction, "DELETE FROM group_members WHERE group_id = ?", {id}));
  return DeleteSubject(transaction, "group:" + id);
}

Status AddMember(Transaction& transaction, const std::string& group, const std::string& subject) {
  STROBE_RETURN_IF_ERROR(transaction.Get<Group>({"", "", "", group}).status());
  STROBE_RETURN_IF_ERROR(CheckSubjectExists(transaction, subject));
  if (subject.starts_with("group:")) {
    return InvalidArgumentError("SUBJECT_MALFORMED",
                                "Groups hold users and service accounts only.");
  }
  STROBE_RETURN_IF_ERROR(
      transaction.Insert(GroupMember{.id = group + "|" + subject,
                                     .create_unix_ns = transaction.clock().NowUnixNanos(),
                                     .group_id = group,
                                     .subject = subject}));
  return MoveAccessVersion(transaction);
}

Status RemoveMember(Transaction& transaction, const std::string& group,
                    const std::string& subject) {
  STROBE_RETURN_IF_ERROR(transaction.Delete<GroupMember>({"", "", "", group + "|" + subject}));
  return MoveAccessVersion(transaction);
}

Result<int64_t> EndSignIns(Transaction& transaction, const std::string& user) {
  STROBE_ASSIGN_OR_RETURN(
      const SqlRows done,
      transaction.sql().Run("DELETE FROM sign_in_sessions WHERE user_id = ?", {SqlValue{user}}));
  STROBE_RETURN_IF_ERROR(MoveAccessVersion(transaction));
  return done.changed_rows;
}

Result<std::vector<std::string>> AdminsOf(Transaction& transaction, const std::string& project,
                                          int64_t limit) {
  STROBE_ASSIGN_OR_RETURN(
      const std::vector<RoleBinding> bindings,
      transaction.Select<RoleBinding>("role = 'admin' AND (project = ? OR project = '*')",
                                      {SqlValue{project}}, limit));
  std::vector<std::string> subjects;
  for (const RoleBinding& binding : bindings) {
    const std::string name = NameOf(binding.subject);
    if (std::find(subjects.begin(), subjects.end(), name) == subjects.end()) {
      subjects.push_back(name);
    }
  }
  return subjects;
}

Result<IssuedToken> IssueToken(Transaction& transaction, const TokenSpec& spec) {
  STROBE_RETURN_IF_ERROR(CheckSubjectExists(transaction, spec.subject));
  STROBE_RETURN_IF_ERROR(ParseRights(spec.rights).status());
  if (!spec.project.empty()) STROBE_RETURN_IF_ERROR(CheckId("project", spec.project));
  if (spec.lifetime_ns <= 0 || spec.lifetime_ns > kTokenLongestNs) {
    return InvalidArgumentError("LIFETIME_OUT_OF_RANGE", "A token lives at most 366 days.")
        .Hint("Make a new one before it ends.");
  }
  const SecretToken secret = MakeSecretToken(kTokenPrefix, transaction.random());
  const int64_t now = transaction.clock().NowUnixNanos();
  IssuedToken issued{.record = {.id = secret.id,
                                .create_unix_ns = now,
                                .kind = spec.kind,
                                .subject = spec.subject,
                                .display_name = spec.display_name,
                                .secret_hash = Sha256Hex(secret.secret),
                                .rights = spec.rights,
                                .project = spec.project,
                                .expire_unix_ns = now + spec.lifetime_ns,
                                .created_by = spec.created_by},
                     .text = secret.text};
  STROBE_RETURN_IF_ERROR(transaction.Insert(issued.record));
  return issued;
}

Status RevokeToken(Transaction& transaction, const std::string& id) {
  STROBE_ASSIGN_OR_RETURN(ApiToken token, transaction.Get<ApiToken>({"", "", "", id}));
  if (token.revoke_unix_ns != 0) return OkStatus();
  token.revoke_unix_ns = transaction.clock().NowUnixNanos();
  STROBE_RETURN_IF_ERROR(transaction.Update(token));
  return MoveAccessVersion(transaction);
}

Result<ApiToken> FindToken(Transaction& transaction, std::string_view text) {
  const std::optional<SecretToken> parsed = ParseSecretToken(kTokenPrefix, text);
  std::optional<ApiToken> found;
  if (parsed) {
    STROBE_ASSIGN_OR_RETURN(found, transaction.Find<ApiToken>({"", "", "", parsed->id}));
  }
  if (!found || !SameSecret(Sha256Hex(parsed->secret), found->secret_hash)) {
    return Unauthenticated("TOKEN_UNKNOWN", "The token is not one of ours.")
        .Hint("Ask for a new one, or sign in.");
  }
  if (found->revoke_unix_ns != 0) {
    return Unauthenticated("TOKEN_REVOKED", "The token was revoked.").Where(found->id);
  }
  if (found->expire_unix_ns <= transaction.clock().NowUnixNanos()) {
    return Unauthenticated("TOKEN_EXPIRED", "The token's time is over.").Where(found->id);
  }
  return std::move(*found);
}

Result<int64_t> PruneAccess(Transaction& transaction) {
  const int64_t now = transaction.clock().NowUnixNanos();
  int64_t gone = 0;
  const std::pair<std::string_view, int64_t> steps[] = {
      {"DELETE FROM api_tokens WHERE expire_unix_ns > 0 AND expire_unix_ns < ?",
       now - kEndedKeptNs},
      // Those of the token endpoint live an hour and are many.
      {"DELETE FROM api_tokens WHERE kind = 'ACCESS' AND expire_unix_ns < ?", now - kDayNs},
      {"DELETE FROM sign_in_sessions WHERE expire_unix_ns < ?", now},
      {"DELETE FROM sign_in_attempts WHERE create_unix_ns < ?", now - kDayNs}};
  for (const auto& [sql, before] : steps) {
    STROBE_ASSIGN_OR_RETURN(const SqlRows done, transaction.sql().Run(sql, {SqlValue{before}}));
    gone += done.changed_rows;
  }
  return gone;
}

}  // namespace strobe::catalog
