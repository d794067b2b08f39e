// Signing in with a name and a password: the check, the brake on guessing, and the new session.
//
//   SignIn sign_in(access);
//   STROBE_ASSIGN_OR_RETURN(const NewSession session, sign_in.WithPassword(attempt, password));
//   // the cookie's value is session.text
//
// Whatever is wrong, the answer is the same SIGN_IN_FAILED and takes as long, so that nobody learns
// which names exist. After kFreeFailures a name is locked, for longer each time; names that do not
// exist are locked as well. One address may try kMaxTriesAMinute times. A sign-in always makes a
// new session and ends the one the browser had. What succeeds is written together with the record
// of `trail` (WriteAudited; null: without one). Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "src/api/access_control.h"
#include "src/base/status.h"

namespace strobe::api {

inline constexpr int64_t kFreeFailures = 5;
inline constexpr int64_t kFirstLockNs = 30LL * 1'000'000'000;
// Long enough to make guessing hopeless, short enough that nobody is kept out for a day.
inline constexpr int64_t kLongestLockNs = 15LL * 60 * 1'000'000'000;
inline constexpr int kMaxTriesAMinute = 20;

struct SignInAttemptBy {
  std::string user;
  std::string peer;
  std::string user_agent;
  std::string old_cookie;  // of this browser
};

struct NewSession {
  std::string text;  // the cookie's value
  std::string user_id;
};

class SignIn {
 public:
  explicit SignIn(AccessControl& access) : access_(access) {}

  // Errors: SIGN_IN_FAILED, SIGN_IN_LOCKED, SIGN_IN_TOO_OFTEN.
  Result<NewSession> WithPassword(const SignInAttemptBy& attempt, std::string_view password,
                                  catalog::AuditTrail* trail);
  // A one-time code and the password to be: those of CheckPassword besides.
  Result<NewSession> WithCode(const SignInAttemptBy& attempt, std::string_view code,
                              std::string_view new_password, catalog::AuditTrail* trail);
  // For those whom a provider vouches for.
  Result<NewSession> ForUser(const SignInAttemptBy& attempt, catalog::AuditTrail* trail);
  Status ChangePassword(const SignInAttemptBy& attempt, std::string_view old_password,
                        std::string_view new_password, catalog::AuditTrail* trail);

 private:
  struct Tries {
    int64_t minute = 0;
    int count = 0;
  };
  Status CheckTries(const std::string& peer);
  Status CheckLock(const std::string& user);
  Status NoteFailure(const std::string& user);
  Status ForgetFailures(catalog::Transaction& transaction, const std::string& user);
  // The user, when the password is theirs.
  Result<catalog::User> CheckUser(const SignInAttemptBy& attempt, std::string_view password);
  Result<NewSession> MakeSession(catalog::Transaction& transaction, const SignInAttemptBy& attempt);

  AccessControl& access_;
  std::mutex mutex_;
  std::map<std::string, Tries> tries_;
};

}  // namespace strobe::api
