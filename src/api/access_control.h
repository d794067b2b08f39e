// The gate before every route: who asks, whether they may, and the record of it.
//
//   AccessControl access({.catalog = catalog, .engine = engine, ...}, {});
//   const Router router(MakeRoutes(context), &access);
//
// Callers prove who they are by a bearer token (API token, OIDC ID token, JWT of a service
// account), by a token as the password of HTTP Basic (the SDK's self-hosted dialect knows no other
// way), or by the cookie of a sign-in. Share links add what they open. What a caller has no right
// in at all is answered as what does not exist (404); what needs a further right as 403, with whom
// to ask. Cookie callers also prove that our own page sends what changes something.
//
// Callers are remembered and the catalogue's AccessVersion is looked at every kRecheckNs, so a
// revocation made elsewhere counts within that time, one made here at once. When the catalogue
// cannot be asked, nobody comes in (503). Cost: some 5 us a request that is remembered. Limits:
// kMaxRemembered, kMaxDenialsAMinute. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/api/caller.h"
#include "src/api/router.h"
#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/catalog/audit.h"
#include "src/catalog/catalog.h"
#include "src/engine/engine.h"
#include "src/queue/operation.h"

namespace strobe::api {

inline constexpr int64_t kRecheckNs = 1'000'000'000;
// A team with its jobs has some hundred; beyond this all are forgotten and read again.
inline constexpr size_t kMaxRemembered = 10'000;
// Of one address; more are counted only, so that nobody fills the chain by knocking.
inline constexpr int kMaxDenialsAMinute = 60;
// Without use a sign-in ends; and it ends anyway. A working day, and a week.
inline constexpr int64_t kSignInIdleNs = 8LL * 3600 * 1'000'000'000;
inline constexpr int64_t kSignInLongestNs = 7LL * 24 * 3600 * 1'000'000'000;
inline constexpr std::string_view kSignInPrefix = "sts";

// What a link is, or why it opens nothing.
struct ResolvedLink {
  catalog::ShareLink record;
  LinkGrant grant;
};

class AccessControl final : public Gate {
 public:
  struct Parts {
    catalog::Catalog* catalog = nullptr;
    engine::Engine* engine = nullptr;
    queue::OperationTable* operations = nullptr;
    std::shared_ptr<const ProjectMap> projects;
    const Clock* clock = nullptr;
    Random* random = nullptr;
  };
  struct Options {
    std::string contact;  // whom to ask, as text; empty: the administrators by name
  };
  // The subject that a JWT speaks for; of other issuers than ourselves.
  using VerifyJwt = std::function<Result<std::string>(std::string_view jwt)>;

  AccessControl(Parts parts, Options options);

  std::optional<Response> Enter(const Route& route, Request& request) override;
  void Leave(const Route& route, const Request& request, const Response& response) override;
  // The subject of a token or a sign-in that was proved before and is remembered; else the address.
  // So nobody gets a second share by sending what is no proof.
  std::string UserOf(const Request& request) const override;

  // Who asks. Errors: those of FindToken, TOKEN_MALFORMED, ACCOUNT_DISABLED, CATALOG_*.
  Result<std::shared_ptr<const Caller>> Identify(const Request& request);
  // Errors: LINK_UNKNOWN (edited or never made), LINK_EXPIRED, LINK_REVOKED; the hint says whom to
  // ask. `signed_in` is not looked at.
  Result<ResolvedLink> ResolveLink(std::string_view token);
  Result<std::string> LinkKey();
  void Record(const Request& request, std::string action, std::string object, std::string outcome,
              int http_status, std::string project = "", std::string detail = "");
  // For a change that is written together with its record (catalog::WriteAudited); LogTrail then
  // puts into the log what came into the chain.
  catalog::AuditTrail TrailOf(const Request& request, std::string action, std::string object,
                              int http_status, std::string project = "");
  static void LogTrail(const catalog::AuditTrail& trail);
  // As Record with the outcome DENIED, but for those who knock too often.
  void RecordDenial(const Request& request, std::string action, std::string object, int http_status,
                    std::string project, std::string detail);
  // Forgets who was remembered; whoever changes access calls it.
  void Forget();
  std::string WhomToAsk(const std::string& project);

  void set_verify_jwt(VerifyJwt verify) { verify_jwt_ = std::move(verify); }
  const Parts& parts() const { return parts_; }
  const Options& options() const { return options_; }

 private:
  struct Remembered {
    std::string secret_hash;
    std::shared_ptr<const Caller> caller;
    int64_t expire_unix_ns = 0;
    int64_t last_used_unix_ns = 0;  // of sign-ins
    int64_t written_unix_ns = 0;    // last_used as the catalogue has it
  };
  struct RememberedLink {
    ResolvedLink link;
    int64_t until_ns = 0;
  };
  struct Knocks {
    int64_t minute = 0;
    int recorded = 0;
    int64_t more = 0;
  };

  Status Refresh();
  Result<std::shared_ptr<const Caller>> ByAuthorization(std::string_view header);
  Result<std::shared_ptr<const Caller>> ByToken(std::string_view text);
  Result<std::shared_ptr<const Caller>> ByJwt(std::string_view text);
  Result<std::shared_ptr<const Caller>> ByCookie(std::string_view text);
  std::shared_ptr<const Caller> WithLinks(std::shared_ptr<const Caller> caller,
                                          const Request& request);
  Result<std::shared_ptr<Caller>> MakeCaller(catalog::Transaction& transaction,
                                             const std::string& subject);
  std::optional<Remembered> Recall(const std::unordered_map<std::string, Remembered>& in,
                                   const std::string& id) const;
  void Remember(std::unordered_map<std::string, Remembered>& in, const std::string& id,
                Remembered entry);

  Status Decide(const Route& route, const Request& request, std::string* project);
  Status DecideInProject(const Request& request, const std::string& project, Right right,
                         bool link_opens, Status unknown, std::string* denied_project);
  Status DecideSession(const Request& request, std::string_view id, Right right,
                       std::string* denied_project);
  std::optional<Response> Refuse(const Route& route, const Request& request, const Status& why,
                                 const std::string& project);
  bool MayRecordDenial(const Request& request, std::string* detail);
  std::string ProjectOf(const Route& route, const Request& request);

  const Parts parts_;
  const Options options_;
  VerifyJwt verify_jwt_;
  const std::shared_ptr<const Caller> anonymous_;

  std::mutex refresh_mutex_;
  std::atomic<int64_t> checked_ns_{INT64_MIN};
  int64_t version_ = -1;

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Remembered> tokens_;
  std::unordered_map<std::string, Remembered> sign_ins_;
  std::unordered_map<std::string, Remembered> jwts_;
  std::unordered_map<std::string, RememberedLink> links_;
  std::string link_key_;
  std::map<std::string, Knocks> knocks_;
};

}  // namespace strobe::api
