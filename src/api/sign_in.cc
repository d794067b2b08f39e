#include "src/api/sign_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "src/base/utf8.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using catalog::ApiToken;
using catalog::SignInAttempt;
using catalog::SignInSession;
using catalog::Transaction;
using catalog::User;

constexpr int64_t kMinuteNs = 60'000'000'000;
constexpr size_t kMaxPeers = 10'000;
constexpr size_t kMaxAgentBytes = 200;

Status Failed() {
  return catalog::Unauthenticated("SIGN_IN_FAILED", "Name or password is wrong.")
      .Hint("After five failures a name is locked for a while.");
}

std::string AttemptId(const std::string& user) {
  return catalog::Sha256Hex("strobe-sign-in:" + user);
}

}  // namespace

Status SignIn::CheckTries(const std::string& peer) {
  const int64_t minute = access_.parts().clock->MonotonicNanos() / kMinuteNs;
  const std::lock_guard lock(mutex_);
  if (tries_.size() >= kMaxPeers) tries_.clear();
  Tries& tries = tries_[peer];
  if (tries.minute != minute) tries = {.minute = minute};
  if (++tries.count <= kMaxTriesAMinute) return OkStatus();
  return ResourceExhaustedError("SIGN_IN_TOO_OFTEN", "Your address has tried too often.")
      .Hint("Wait a minute.");
}

Status SignIn::CheckLock(const std::string& user) {
  const int64_t now = access_.parts().clock->NowUnixNanos();
  std::optional<SignInAttempt> attempt;
  STROBE_RETURN_IF_ERROR(access_.parts().catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(attempt,
                            transaction.Find<SignInAttempt>({"", "", "", AttemptId(user)}));
    return OkStatus();
  }));
  if (!attempt || attempt->locked_unix_ns <= now) return OkStatus();
  return ResourceExhaustedError("SIGN_IN_LOCKED", "Too many failures: this name is locked.")
      .Hint(fmt::format("Try again in {} s.", (attempt->locked_unix_ns - now) / 1'000'000'000 + 1));
}

Status SignIn::NoteFailure(const std::string& user) {
  return access_.parts().catalog->Write([&](Transaction& transaction) -> Status {
    const int64_t now = transaction.clock().NowUnixNanos();
    STROBE_ASSIGN_OR_RETURN(std::optional<SignInAttempt> attempt,
                            transaction.Find<SignInAttempt>({"", "", "", AttemptId(user)}));
    const bool first = !attempt;
    if (first) attempt = SignInAttempt{.id = AttemptId(user), .create_unix_ns = now};
    // A day later it begins anew.
    if (now - attempt->create_unix_ns > catalog::kDayNs) {
      attempt->failures = 0;
      attempt->create_unix_ns = now;
    }
    ++attempt->failures;
    if (attempt->failures >= kFreeFailures) {
      const int64_t doublings = std::min<int64_t>(attempt->failures - kFreeFailures, 10);
      attempt->locked_unix_ns = now + std::min(kFirstLockNs << doublings, kLongestLockNs);
    }
    return first ? transaction.Insert(*attempt) : transaction.Update(*attempt);
  });
}

Status SignIn::ForgetFailures(Transaction& transaction, const std::string& user) {
  const Status gone = transaction.Delete<SignInAttempt>({"", "", "", AttemptId(user)});
  return gone.code() == StatusCode::kNotFound ? OkStatus() : gone;
}

Result<NewSession> SignIn::MakeSession(Transaction& transaction, const SignInAttemptBy& attempt) {
  const int64_t now = transaction.clock().NowUnixNanos();
  const catalog::SecretToken secret = catalog::MakeSecretToken(kSignInPrefix, transaction.random());
  // A session that somebody planted in the browser must not become the signed-in one.
  if (const auto old = catalog::ParseSecretToken(kSignInPrefix, attempt.old_cookie)) {
    const Status gone = transaction.Delete<SignInSession>({"", "", "", old->id});
    if (!gone.ok() && gone.code() != StatusCode::kNotFound) return gone;
    if (gone.ok()) STROBE_RETURN_IF_ERROR(catalog::MoveAccessVersion(transaction));
  }
  SignInSession session{.id = secret.id,
                        .create_unix_ns = now,
                        .user_id = attempt.user,
                        .secret_hash = catalog::Sha256Hex(secret.secret),
                        .last_used_unix_ns = now,
                        .expire_unix_ns = now + kSignInLongestNs,
                        .peer = attempt.peer,
                        .user_agent = ToValidUtf8(attempt.user_agent.substr(0, kMaxAgentBytes))};
  STROBE_RETURN_IF_ERROR(transaction.Insert(session));
  STROBE_ASSIGN_OR_RETURN(User user, transaction.Get<User>({"", "", "", attempt.user}));
  user.last_sign_in_unix_ns = now;
  STROBE_RETURN_IF_ERROR(transaction.Update(user));
  STROBE_RETURN_IF_ERROR(ForgetFailures(transaction, attempt.user));
  return NewSession{.text = secret.text, .user_id = attempt.user};
}

Result<User> SignIn::CheckUser(const SignInAttemptBy& attempt, std::string_view password) {
  STROBE_RETURN_IF_ERROR(CheckTries(attempt.peer));
  STROBE_RETURN_IF_ERROR(CheckLock(attempt.user));
  std::optional<User> user;
  STROBE_RETURN_IF_ERROR(access_.parts().catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(user, transaction.Find<User>({"", "", "", attempt.user}));
    return OkStatus();
  }));
  const bool right = catalog::VerifyPassword(password, user ? user->password_hash : "");
  if (right && user && user->disabled == 0) return std::move(*user);
  STROBE_RETURN_IF_ERROR(NoteFailure(attempt.user));
  return Failed();
}

Result<NewSession> SignIn::WithPassword(const SignInAttemptBy& attempt, std::string_view password,
                                        catalog::AuditTrail* trail) {
  STROBE_RETURN_IF_ERROR(CheckUser(attempt, password).status());
  return ForUser(attempt, trail);
}

Result<NewSession> SignIn::WithCode(const SignInAttemptBy& attempt, std::string_view code,
                                    std::string_view new_password, catalog::AuditTrail* trail) {
  STROBE_RETURN_IF_ERROR(CheckTries(attempt.peer));
  STROBE_RETURN_IF_ERROR(CheckLock(attempt.user));
  STROBE_RETURN_IF_ERROR(catalog::CheckPassword(new_password, attempt.user));
  STROBE_ASSIGN_OR_RETURN(const std::string hash,
                          catalog::HashPassword(new_password, *access_.parts().random));
  NewSession session;
  const auto change = [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const ApiToken token, catalog::FindToken(transaction, code));
    if (token.kind != "ONE_TIME" || token.subject != "user:" + attempt.user) return Failed();
    STROBE_ASSIGN_OR_RETURN(std::optional<User> user,
                            transaction.Find<User>({"", "", "", attempt.user}));
    if (!user || user->disabled != 0) return Failed();
    user->password_hash = hash;
    user->password_unix_ns = transaction.clock().NowUnixNanos();
    STROBE_RETURN_IF_ERROR(transaction.Update(*user));
    STROBE_RETURN_IF_ERROR(catalog::RevokeToken(transaction, token.id));
    // Whoever knew the old password is out.
    STROBE_RETURN_IF_ERROR(catalog::EndSignIns(transaction, attempt.user).status());
    STROBE_ASSIGN_OR_RETURN(session, MakeSession(transaction, attempt));
    return OkStatus();
  };
  const Status done = catalog::WriteAudited(*access_.parts().catalog, trail, change);
  if (done.code() == StatusCode::kUnauthenticated) {
    STROBE_RETURN_IF_ERROR(NoteFailure(attempt.user));
    return Failed();
  }
  STROBE_RETURN_IF_ERROR(done);
  access_.Forget();
  return session;
}

Result<NewSession> SignIn::ForUser(const SignInAttemptBy& attempt, catalog::AuditTrail* trail) {
  NewSession session;
  const auto change = [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(session, MakeSession(transaction, attempt));
    return OkStatus();
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*access_.parts().catalog, trail, change));
  access_.Forget();
  return session;
}

Status SignIn::ChangePassword(const SignInAttemptBy& attempt, std::string_view old_password,
                              std::string_view new_password, catalog::AuditTrail* trail) {
  STROBE_RETURN_IF_ERROR(CheckUser(attempt, old_password).status());
  STROBE_RETURN_IF_ERROR(catalog::CheckPassword(new_password, attempt.user));
  STROBE_ASSIGN_OR_RETURN(const std::string hash,
                          catalog::HashPassword(new_password, *access_.parts().random));
  const auto change = [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(User user, transaction.Get<User>({"", "", "", attempt.user}));
    user.password_hash = hash;
    user.password_unix_ns = transaction.clock().NowUnixNanos();
    STROBE_RETURN_IF_ERROR(transaction.Update(user));
    return catalog::EndSignIns(transaction, attempt.user).status();
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*access_.parts().catalog, trail, change));
  access_.Forget();
  return OkStatus();
}

}  // namespace strobe::api
