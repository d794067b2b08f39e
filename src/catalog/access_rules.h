// What must hold between users, roles, tokens and links, whoever changes them.
//
//   STROBE_ASSIGN_OR_RETURN(const Grants grants, GrantsOf(transaction, "user:ada"));
//   if (Has(grants.In("llama"), Right::kEdit)) ...
//   STROBE_ASSIGN_OR_RETURN(const IssuedToken token, IssueToken(transaction, {.subject = ...}));
//   Print(token.text);     // the only time it is seen
//
// Each change of what decides access also moves AccessVersion, by which servers notice that what
// they remember is old. Functions over records and a transaction; nothing here knows HTTP.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/catalog/access_records.h"
#include "src/catalog/catalog.h"

namespace strobe::catalog {

inline constexpr std::string_view kEveryProject = "*";
inline constexpr std::string_view kDefaultProject = "default";
inline constexpr std::string_view kTokenPrefix = "stb";
inline constexpr int64_t kSecondNs = 1'000'000'000;
inline constexpr int64_t kDayNs = 24 * 3600 * kSecondNs;
// A token that nobody says more of; a year is the longest.
inline constexpr int64_t kTokenDefaultNs = 90 * kDayNs;
inline constexpr int64_t kTokenLongestNs = 366 * kDayNs;
// To hand a code to a new user by another way.
inline constexpr int64_t kOneTimeNs = 7 * kDayNs;
inline constexpr size_t kMaxNameBytes = 128;
// Of one subject; more is a list that nobody looks through.
inline constexpr int64_t kMaxBindings = 10'000;

enum class Right : uint8_t {
  kView = 1,
  kEdit = 2,          // changes runs and what is below them
  kCapture = 4,       // makes other processes work
  kReadAnalysis = 8,  // reports; no role but analysis-reader has it
  kAdmin = 16,        // roles and links of a project; in "*" the whole server
};
using RightSet = uint8_t;
inline constexpr RightSet kNoRights = 0;
inline constexpr RightSet kAllRights = 31;
constexpr bool Has(RightSet set, Right right) { return (set & static_cast<RightSet>(right)) != 0; }
std::string_view RightName(Right right);  // view, edit, capture, analysis.read, admin
// "view,edit" and back; empty is all. Errors: RIGHT_UNKNOWN.
Result<RightSet> ParseRights(std::string_view text);
// What a role gives. Errors: ROLE_UNKNOWN.
Result<RightSet> RightsOfRole(std::string_view role);

Status Unauthenticated(std::string_view name, std::string message);

struct Grants {
  RightSet everywhere = kNoRights;
  std::map<std::string, RightSet, std::less<>> by_project;

  RightSet In(std::string_view project) const;
  bool Anywhere(Right right) const;
  // Only these rights, and only in this project when it is not empty.
  Grants Narrowed(RightSet rights, std::string_view project) const;
};

// "user:NAME", "service:NAME", "group:NAME". Errors: SUBJECT_MALFORMED.
Status CheckSubject(std::string_view subject);
// Letters, digits, ".", "_", "-", "+" and "@". Errors: NAME_MALFORMED.
Status CheckName(std::string_view what, std::string_view name);
std::string LowerName(std::string_view name);

// Of the subject and of all groups it is in.
Result<Grants> GrantsOf(Transaction& transaction, const std::string& subject);
Result<std::vector<std::string>> GroupsOf(Transaction& transaction, const std::string& subject);
// NOT_FOUND when there is no such user, service account or group.
Status CheckSubjectExists(Transaction& transaction, const std::string& subject);

Result<int64_t> AccessVersion(Transaction& transaction);
Status MoveAccessVersion(Transaction& transaction);
// The value kept under this name; made by `make` when there is none.
Result<std::string> SettingOr(Transaction& transaction, const std::string& name,
                              const std::function<std::string()>& make);

Status BindRole(Transaction& transaction, const std::string& project, const std::string& subject,
                const std::string& role, const std::string& by);
Status UnbindRole(Transaction& transaction, const std::string& id);
// With its roles, memberships, tokens and sign-ins.
Status DeleteUser(Transaction& transaction, const std::string& id);
Status DeleteServiceAccount(Transaction& transaction, const std::string& id);
Status DeleteGroup(Transaction& transaction, const std::string& id);
Status AddMember(Transaction& transaction, const std::string& group, const std::string& subject);
Status RemoveMember(Transaction& transaction, const std::string& group, const std::string& subject);
// Ends every sign-in of the user; how many there were.
Result<int64_t> EndSignIns(Transaction& transaction, const std::string& user);
// The subjects that have the right in the project by a role of their own or of a group, for "whom
// to ask"; at most `limit`.
Result<std::vector<std::string>> AdminsOf(Transaction& transaction, const std::string& project,
                                          int64_t limit);

struct TokenSpec {
  std::string kind = "API";
  std::string subject;
  std::string display_name;
  std::string rights;
  std::string project;
  int64_t lifetime_ns = kTokenDefaultNs;
  std::string created_by;
};
struct IssuedToken {
  ApiToken record;
  std::string text;
};
// Errors: LIFETIME_OUT_OF_RANGE, RIGHT_UNKNOWN, and those of CheckSubjectExists.
Result<IssuedToken> IssueToken(Transaction& transaction, const TokenSpec& spec);
Status RevokeToken(Transaction& transaction, const std::string& id);
// The token, when the text is right and it is neither expired nor revoked; else UNAUTHENTICATED
// TOKEN_UNKNOWN, TOKEN_EXPIRED or TOKEN_REVOKED.
Result<ApiToken> FindToken(Transaction& transaction, std::string_view text);

// Forgets tokens, sign-ins and failures that have long ended; how many.
Result<int64_t> PruneAccess(Transaction& transaction);

}  // namespace strobe::catalog
