// Who asks: credentials to callers, and what is remembered of them. What they may do is in
// access_decisions.cc.
#include "src/api/access_control.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/api/cookies.h"
#include "src/api/share_link.h"
#include "src/base/log.h"
#include "src/catalog/rules.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using catalog::ApiToken;
using catalog::SecretToken;
using catalog::ServiceAccount;
using catalog::ShareLink;
using catalog::SignInSession;
using catalog::Transaction;
using catalog::Unauthenticated;
using catalog::User;

// How exact the time of the last use is kept: a write costs a sync of the disk.
constexpr int64_t kSignInWriteNs = 5LL * 60 * 1'000'000'000;
constexpr int64_t kTokenWriteNs = 3600LL * 1'000'000'000;
// A run may get sessions while its link is open.
constexpr int64_t kLinkKeptNs = 10'000'000'000;
constexpr int64_t kMaxSessionsOfLink = 10'000;
constexpr size_t kMaxCredentialBytes = 8 * 1024;
constexpr std::string_view kLinkKey = "link-key";

std::shared_ptr<const Caller> Anonymous(std::shared_ptr<const ProjectMap> projects) {
  auto caller = std::make_shared<Caller>();
  caller->projects = std::move(projects);
  return caller;
}

Status Disabled() {
  return Unauthenticated("ACCOUNT_DISABLED", "This account is disabled.")
      .Hint("Ask an administrator of the server.");
}

Status SignInOver() {
  return Unauthenticated("SIGN_IN_OVER", "You are not signed in any more.").Hint("Sign in again.");
}

struct Credential {
  std::string text;
  bool bearer = false;  // else the password of Basic
};

// Nullopt: a scheme that is not known, or far too long.
std::optional<Credential> ReadCredential(std::string_view header) {
  if (header.size() > kMaxCredentialBytes) return std::nullopt;
  const size_t blank = std::min(header.find(' '), header.size());
  const std::string_view scheme = header.substr(0, blank);
  const std::string_view given = TrimSpaces(header.substr(blank));
  if (EqualsIgnoreCase(scheme, "bearer")) return Credential{std::string(given), true};
  if (!EqualsIgnoreCase(scheme, "basic")) return std::nullopt;
  const std::optional<std::string> pair = catalog::Base64Decode(given);
  const size_t colon = pair ? pair->find(':') : std::string::npos;
  return Credential{colon == std::string::npos ? "" : pair->substr(colon + 1), false};
}

std::string CsrfTokenOf(std::string_view secret) {
  return catalog::Base64UrlEncode(catalog::Sha256("strobe-csrf:" + std::string(secret)));
}

}  // namespace

AccessControl::AccessControl(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      anonymous_(Anonymous(parts_.projects)) {
  STROBE_CHECK(parts_.catalog != nullptr && parts_.engine != nullptr && parts_.clock != nullptr &&
               parts_.random != nullptr && parts_.projects != nullptr);
}

void AccessControl::Forget() { checked_ns_.store(INT64_MIN); }

// Looks whether what is remembered still holds.
Status AccessControl::Refresh() {
  const auto fresh = [this] {
    const int64_t checked = checked_ns_.load();
    return checked != INT64_MIN && parts_.clock->MonotonicNanos() - checked < kRecheckNs;
  };
  if (fresh()) return OkStatus();
  const std::lock_guard refresh_lock(refresh_mutex_);
  if (fresh()) return OkStatus();
  const int64_t now_ns = parts_.clock->MonotonicNanos();
  int64_t version = 0;
  STROBE_RETURN_IF_ERROR(parts_.catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(version, catalog::AccessVersion(transaction));
    return OkStatus();
  }));
  if (version != version_) {
    const std::lock_guard lock(mutex_);
    tokens_.clear();
    sign_ins_.clear();
    jwts_.clear();
    links_.clear();
    version_ = version;
  }
  checked_ns_.store(now_ns);
  return OkStatus();
}

std::optional<AccessControl::Remembered> AccessControl::Recall(
    const std::unordered_map<std::string, Remembered>& in, const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = in.find(id);
  return found == in.end() ? std::nullopt : std::optional(found->second);
}

void AccessControl::Remember(std::unordered_map<std::string, Remembered>& in, const std::string& id,
                             Remembered entry) {
  const std::lock_guard lock(mutex_);
  if (in.size() >= kMaxRemembered) in.clear();
  in[id] = std::move(entry);
}

Result<std::shared_ptr<Caller>> AccessControl::MakeCaller(Transaction& transaction,
                                                          const std::string& subject) {
  auto caller = std::make_shared<Caller>();
  caller->subject = subject;
  caller->projects = parts_.projects;
  const catalog::Key key{"", "", "", subject.substr(subject.find(':') + 1)};
  if (subject.starts_with("user:")) {
    STROBE_ASSIGN_OR_RETURN(const std::optional<User> user, transaction.Find<User>(key));
    if (!user || user->disabled != 0) return Disabled();
    caller->kind = CallerKind::kUser;
    caller->display_name = user->display_name;
  } else {
    STROBE_ASSIGN_OR_RETURN(const std::optional<ServiceAccount> account,
                            transaction.Find<ServiceAccount>(key));
    if (!account || account->disabled != 0) return Disabled();
    caller->kind = CallerKind::kService;
    caller->display_name = account->display_name;
  }
  STROBE_ASSIGN_OR_RETURN(caller->grants, catalog::GrantsOf(transaction, subject));
  return caller;
}

Result<std::shared_ptr<const Caller>> AccessControl::ByToken(std::string_view text) {
  const std::optional<SecretToken> parsed = catalog::ParseSecretToken(catalog::kTokenPrefix, text);
  const int64_t now = parts_.clock->NowUnixNanos();
  if (parsed) {
    const std::optional<Remembered> known = Recall(tokens_, parsed->id);
    if (known && catalog::SameSecret(catalog::Sha256Hex(parsed->secret), known->secret_hash) &&
        known->expire_unix_ns > now) {
      return known->caller;
    }
  }
  std::shared_ptr<Caller> caller;
  ApiToken token;
  STROBE_RETURN_IF_ERROR(parts_.catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(token, catalog::FindToken(transaction, text));
    if (token.kind == "ONE_TIME") {
      return Unauthenticated("TOKEN_UNKNOWN", "A one-time code is for the sign-in page only.");
    }
    STROBE_ASSIGN_OR_RETURN(caller, MakeCaller(transaction, token.subject));
    return OkStatus();
  }));
  STROBE_ASSIGN_OR_RETURN(const catalog::RightSet rights, catalog::ParseRights(token.rights));
  caller->proof = Proof::kToken;
  caller->credential = token.id;
  caller->narrowed = rights != catalog::kAllRights || !token.project.empty();
  caller->grants = caller->grants.Narrowed(rights, token.project);
  Remember(
      tokens_, token.id,
      {.secret_hash = token.secret_hash, .caller = caller, .expire_unix_ns = token.expire_unix_ns});
  if (now - token.last_used_unix_ns > kTokenWriteNs && token.kind == "API") {
    const Status noted = parts_.catalog->Write([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(ApiToken at, transaction.Get<ApiToken>({"", "", "", token.id}));
      at.last_used_unix_ns = now;
      return transaction.Update(at);
    });
    if (!noted.ok()) LogWarning("access.use_not_noted", {{"reason", noted.ToString()}});
  }
  return std::shared_ptr<const Caller>(caller);
}

Result<std::shared_ptr<const Caller>> AccessControl::ByJwt(std::string_view text) {
  // Verified each time: it costs some 50 us, and its expiry is the issuer's matter.
  STROBE_ASSIGN_OR_RETURN(const std::string subject, verify_jwt_(text));
  if (const std::optional<Remembered> known = Recall(jwts_, subject)) return known->caller;
  std::shared_ptr<Caller> caller;
  STROBE_RETURN_IF_ERROR(parts_.catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(caller, MakeCaller(transaction, subject));
    return OkStatus();
  }));
  caller->proof = Proof::kToken;
  caller->credential = "jwt";
  Remember(jwts_, subject, {.caller = caller});
  return std::shared_ptr<const Caller>(caller);
}

Result<std::shared_ptr<const Caller>> AccessControl::ByAuthorization(std::string_view header) {
  const std::optional<Credential> given = ReadCredential(header);
  if (!given) {
    return Unauthenticated("TOKEN_MALFORMED", "The Authorization header is not one that is known.")
        .Hint("Send \"Authorization: Bearer TOKEN\", or Basic with a token as the password.");
  }
  const bool may_be_jwt = given->bearer && std::ranges::count(given->text, '.') == 2;
  return verify_jwt_ && may_be_jwt ? ByJwt(given->text) : ByToken(given->text);
}

std::string AccessControl::UserOf(const Request& request) const {
  const auto subject_of = [this](const std::unordered_map<std::string, Remembered>& in,
                                 std::string_view prefix, std::string_view text) -> std::string {
    const std::optional<SecretToken> parsed = catalog::ParseSecretToken(prefix, text);
    const std::optional<Remembered> known = parsed ? Recall(in, parsed->id) : std::nullopt;
    if (!known || !catalog::SameSecret(catalog::Sha256Hex(parsed->secret), known->secret_hash)) {
      return "";
    }
    return known->caller->subject;
  };
  std::string subject;
  const std::string_view authorization = request.HeaderValue("authorization");
  if (!authorization.empty()) {
    const std::optional<Credential> given = ReadCredential(authorization);
    if (given) subject = subject_of(tokens_, catalog::kTokenPrefix, given->text);
  } else {
    subject = subject_of(sign_ins_, kSignInPrefix,
                         CookieValue(request, SessionCookieName(request.secure)));
  }
  return subject.empty() ? request.peer : subject;
}

Result<std::shared_ptr<const Caller>> AccessControl::ByCookie(std::string_view text) {
  const std::optional<SecretToken> parsed = catalog::ParseSecretToken(kSignInPrefix, text);
  if (!parsed) return SignInOver();
  const int64_t now = parts_.clock->NowUnixNanos();
  const std::string hash = catalog::Sha256Hex(parsed->secret);
  std::optional<Remembered> known = Recall(sign_ins_, parsed->id);
  if (!known) {
    Remembered entry;
    STROBE_RETURN_IF_ERROR(parts_.catalog->Read([&](Transaction& transaction) -> Status {
      STROBE_ASSIGN_OR_RETURN(const std::optional<SignInSession> session,
                              transaction.Find<SignInSession>({"", "", "", parsed->id}));
      if (!session || !catalog::SameSecret(hash, session->secret_hash)) return SignInOver();
      STROBE_ASSIGN_OR_RETURN(std::shared_ptr<Caller> caller,
                              MakeCaller(transaction, "user:" + session->user_id));
      caller->proof = Proof::kCookie;
      caller->credential = session->id;
      caller->csrf_token = CsrfTokenOf(parsed->secret);
      entry = {.secret_hash = session->secret_hash,
               .caller = std::move(caller),
               .expire_unix_ns = session->expire_unix_ns,
               .last_used_unix_ns = session->last_used_unix_ns,
               .written_unix_ns = session->last_used_unix_ns};
      return OkStatus();
    }));
    known = std::move(entry);
  }
  if (!catalog::SameSecret(hash, known->secret_hash) || known->expire_unix_ns <= now ||
      now - known->last_used_unix_ns > kSignInIdleNs) {
    return SignInOver();
  }
  known->last_used_unix_ns = std::max(known->last_used_unix_ns, now);
  const bool write = now - known->written_unix_ns > kSignInWriteNs;
  if (write) known->written_unix_ns = now;
  Remember(sign_ins_, parsed->id, *known);
  if (write) {
    const Status noted = parts_.catalog->Write([&](Transaction& transaction) {
      return transaction.sql()
          .Run("UPDATE sign_in_sessions SET last_used_unix_ns = ? WHERE id = ?",
               {catalog::SqlValue{now}, catalog::SqlValue{parsed->id}})
          .status();
    });
    if (!noted.ok()) LogWarning("access.use_not_noted", {{"reason", noted.ToString()}});
  }
  return known->caller;
}

Result<std::shared_ptr<const Caller>> AccessControl::Identify(const Request& request) {
  STROBE_RETURN_IF_ERROR(Refresh());
  const std::string_view authorization = request.HeaderValue("authorization");
  if (!authorization.empty()) {
    if (request.HeaderCount("authorization") != 1) {
      return Unauthenticated("TOKEN_MALFORMED", "A request carries at most one Authorization.");
    }
    STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const Caller> caller, ByAuthorization(authorization));
    return WithLinks(std::move(caller), request);
  }
  const std::string_view cookie = CookieValue(request, SessionCookieName(request.secure));
  std::shared_ptr<const Caller> caller = anonymous_;
  if (!cookie.empty()) {
    Result<std::shared_ptr<const Caller>> found = ByCookie(cookie);
    // An old cookie is no attack: its holder is nobody until they sign in.
    if (!found.ok() && found.status().code() != StatusCode::kUnauthenticated) return found;
    if (found.ok()) caller = std::move(found).value();
  }
  return WithLinks(std::move(caller), request);
}

std::shared_ptr<const Caller> AccessControl::WithLinks(std::shared_ptr<const Caller> caller,
                                                       const Request& request) {
  std::vector<std::string> tokens =
      SplitLinkTokens(CookieValue(request, LinkCookieName(request.secure)));
  if (const std::string_view header = request.HeaderValue("x-strobe-link"); !header.empty()) {
    tokens.insert(tokens.begin(), std::string(header.substr(0, kMaxCredentialBytes)));
  }
  if (tokens.empty()) return caller;
  auto wider = std::make_shared<Caller>(*caller);
  for (const std::string& token : tokens) {
    const Result<ResolvedLink> link = ResolveLink(token);
    if (!link.ok() || (!link->grant.anyone && !caller->signed_in())) continue;
    wider->links.push_back(link->grant);
  }
  if (wider->links.empty()) return caller;
  return wider;
}

Result<std::string> AccessControl::LinkKey() {
  {
    const std::lock_guard lock(mutex_);
    if (!link_key_.empty()) return link_key_;
  }
  std::string key;
  STROBE_RETURN_IF_ERROR(parts_.catalog->Write([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(
        key, catalog::SettingOr(transaction, std::string(kLinkKey), [&] {
          return catalog::Base64UrlEncode(catalog::RandomBytes(32, transaction.random()));
        }));
    return OkStatus();
  }));
  const std::lock_guard lock(mutex_);
  link_key_ = key;
  return key;
}

Result<ResolvedLink> AccessControl::ResolveLink(std::string_view token) {
  STROBE_RETURN_IF_ERROR(Refresh());
  const Status unknown =
      NotFoundError("LINK_UNKNOWN", "This link was never made here, or a part of it is missing.")
          .Hint("Copy the whole link again, or ask whoever sent it. " + options_.contact);
  const std::string text(token.substr(0, 256));
  const int64_t now = parts_.clock->NowUnixNanos();
  {
    const std::lock_guard lock(mutex_);
    const auto found = links_.find(text);
    if (found != links_.end() && parts_.clock->MonotonicNanos() < found->second.until_ns &&
        found->second.link.record.expire_unix_ns > now) {
      return found->second.link;
    }
  }
  STROBE_ASSIGN_OR_RETURN(const std::string key, LinkKey());
  ResolvedLink link;
  STROBE_RETURN_IF_ERROR(parts_.catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(
        std::vector<ShareLink> found,
        transaction.Select<ShareLink>("id = ?", {catalog::SqlValue{ShareLinkId(text)}}, 1));
    if (found.empty() || !ShareLinkGenuine(key, found.front(), text)) return unknown;
    link = ResolvedLink();
    link.record = std::move(found.front());
    const ShareLink& record = link.record;
    const std::string ask = "Ask " + record.created_by.substr(record.created_by.find(':') + 1) +
                            ", who made it, for a new one.";
    if (record.revoke_unix_ns != 0) {
      return PermissionDeniedError("LINK_REVOKED", "This link was taken back.").Hint(ask);
    }
    if (record.expire_unix_ns <= now) {
      return PermissionDeniedError("LINK_EXPIRED", "This link's time is over.").Hint(ask);
    }
    // Whoever may not share any more does not share any more.
    const bool anyone = record.audience == "ANYONE";
    if (record.created_by.find(':') != std::string::npos) {
      const Result<std::shared_ptr<Caller>> owner = MakeCaller(transaction, record.created_by);
      const Right needed = anyone ? Right::kAdmin : Right::kEdit;
      if (!owner.ok() || !Has((*owner)->grants.In(record.project), needed)) {
        return PermissionDeniedError("LINK_REVOKED", "Who made this link may not share any more.")
            .Hint("Ask an administrator of the project. " + options_.contact);
      }
    }
    link.grant = {.id = record.id,
                  .project = record.project,
                  .owner = record.created_by,
                  .expire_unix_ns = record.expire_unix_ns,
                  .anyone = anyone};
    if (record.kind != "RUN") {
      link.grant.sessions = {record.target};
      return OkStatus();
    }
    if (!catalog::ParseRunName(record.target, &link.grant.run)) return unknown;
    STROBE_ASSIGN_OR_RETURN(
        const std::vector<catalog::ProfilerSession> sessions,
        transaction.Select<catalog::ProfilerSession>(
            "project = ? AND location = ? AND run = ? AND viewer_id <> ''",
            {link.grant.run.project, link.grant.run.location, link.grant.run.id},
            kMaxSessionsOfLink));
    for (const catalog::ProfilerSession& session : sessions) {
      link.grant.sessions.push_back(session.viewer_id);
    }
    return OkStatus();
  }));
  // A run's profiles may have been found in another project's folder: a link opens its own only.
  std::erase_if(link.grant.sessions, [&](const std::string& id) {
    return parts_.projects->OfSession(*parts_.engine, id) != link.grant.project;
  });
  const std::lock_guard lock(mutex_);
  if (links_.size() >= kMaxRemembered) links_.clear();
  links_[text] = {link, parts_.clock->MonotonicNanos() + kLinkKeptNs};
  return link;
}

}  // namespace strobe::api
