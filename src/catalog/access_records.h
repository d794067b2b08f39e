// Who may use a server, and what was done: one struct a table, as in resource.h.
//
// A subject is "user:NAME", "service:NAME" or "group:NAME". A role binding gives a subject a role
// in one project, or in all of them ("*"). Secrets are never here: passwords as argon2id, tokens
// and sign-in sessions as SHA-256 of what is random anyway. The one key that must be kept as it is,
// that of share links, is a setting. Times are Unix nanoseconds, 0 when unset.
#pragma once

#include <cstdint>
#include <string>

#include "src/catalog/resource.h"

namespace strobe::catalog {

struct User {
  std::string id;  // as typed at sign-in, lower case
  std::string etag;
  int64_t create_unix_ns = 0;
  int64_t update_unix_ns = 0;
  std::string display_name;
  std::string email;
  std::string password_hash;  // argon2id; empty: none
  int64_t password_unix_ns = 0;
  std::string oidc_subject;  // "issuer sub"; empty: no account of a provider
  int64_t disabled = 0;
  int64_t last_sign_in_unix_ns = 0;

  Key key() const { return {"", "", "", id}; }
};

struct Group {
  std::string id;
  int64_t create_unix_ns = 0;
  std::string display_name;

  Key key() const { return {"", "", "", id}; }
};

struct GroupMember {
  std::string id;  // "group|subject"
  int64_t create_unix_ns = 0;
  std::string group_id;
  std::string subject;

  Key key() const { return {"", "", "", id}; }
};

struct RoleBinding {
  std::string id;  // "project|subject|role"
  int64_t create_unix_ns = 0;
  std::string project;  // "*": every one
  std::string subject;
  std::string role;  // viewer, editor, admin, analysis-reader
  std::string created_by;

  Key key() const { return {"", "", "", id}; }
};

struct ServiceAccount {
  std::string id;
  int64_t create_unix_ns = 0;
  std::string display_name;
  std::string created_by;
  int64_t disabled = 0;

  Key key() const { return {"", "", "", id}; }
};

// The public half of a JSON key file.
struct ServiceKey {
  std::string id;  // private_key_id of the file
  int64_t create_unix_ns = 0;
  std::string service_account;
  std::string public_key_pem;
  int64_t expire_unix_ns = 0;  // 0: never
  int64_t revoke_unix_ns = 0;

  Key key() const { return {"", "", "", id}; }
};

struct ApiToken {
  std::string id;
  int64_t create_unix_ns = 0;
  std::string kind;     // API, ACCESS (of the token endpoint), ONE_TIME (to set a password)
  std::string subject;  // whose it is
  std::string display_name;
  std::string secret_hash;
  std::string rights;   // comma separated; empty: all of the subject's
  std::string project;  // empty: all of the subject's
  int64_t expire_unix_ns = 0;
  int64_t revoke_unix_ns = 0;
  int64_t last_used_unix_ns = 0;
  std::string created_by;

  Key key() const { return {"", "", "", id}; }
};

struct SignInSession {
  std::string id;
  int64_t create_unix_ns = 0;
  std::string user_id;
  std::string secret_hash;
  int64_t last_used_unix_ns = 0;
  int64_t expire_unix_ns = 0;  // the absolute end
  std::string peer;
  std::string user_agent;

  Key key() const { return {"", "", "", id}; }
};

// Failures at the sign-in, by a hash of the name that was typed, so that names which do not exist
// are treated as those that do.
struct SignInAttempt {
  std::string id;
  int64_t create_unix_ns = 0;
  int64_t failures = 0;
  int64_t locked_unix_ns = 0;  // until then

  Key key() const { return {"", "", "", id}; }
};

struct ShareLink {
  std::string project;
  std::string id;
  int64_t create_unix_ns = 0;
  std::string kind;      // SESSION, RUN, VIEW
  std::string target;    // id of the session, or name of the run
  std::string view;      // the console's address that it opens
  std::string audience;  // SIGNED_IN, ANYONE
  int64_t expire_unix_ns = 0;
  int64_t revoke_unix_ns = 0;
  std::string created_by;

  Key key() const { return {project, "", "", id}; }
};

// Small facts of the whole server: "version" (of all that decides access), "link-key",
// "audit-head".
struct AccessSetting {
  std::string id;
  std::string value;

  Key key() const { return {"", "", "", id}; }
};

// What was done or refused. `hash` covers the record and the hash before it.
struct AuditRecord {
  std::string id;  // the place in the chain, 20 digits
  int64_t create_unix_ns = 0;
  std::string actor;   // subject, "link:ID", "anonymous" or "command-line"
  std::string action;  // operation id of the route, or what it was
  std::string object;
  std::string project;
  std::string outcome;  // DONE, DENIED, FAILED
  int64_t http_status = 0;
  std::string peer;
  std::string request_id;
  std::string detail;
  std::string previous_hash;
  std::string hash;

  Key key() const { return {"", "", "", id}; }
};

}  // namespace strobe::catalog
