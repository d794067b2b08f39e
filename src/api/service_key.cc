#include "src/api/service_key.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/api/access_control.h"
#include "src/api/access_json.h"
#include "src/api/guard.h"
#include "src/api/jwt.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using catalog::ServiceKey;
using catalog::Transaction;
using catalog::Unauthenticated;
using Context = std::shared_ptr<AppContext>;
using Json = nlohmann::json;

constexpr int kRsaBits = 2048;
constexpr std::string_view kGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
// A client that signs for longer than this has lost its key for longer.
constexpr int64_t kLongestAssertionSeconds = 2 * 3600;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeBio {
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

// The value of a field of a form; the first one counts.
std::string FormValue(std::string_view form, std::string_view wanted) {
  while (!form.empty()) {
    const size_t end = std::min(form.find('&'), form.size());
    const std::string_view pair = form.substr(0, end);
    form.remove_prefix(std::min(end + 1, form.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name;
    std::string value;
    if (!PercentDecode(pair.substr(0, equals), true, &name) || name != wanted) continue;
    if (equals < pair.size() && PercentDecode(pair.substr(equals + 1), true, &value)) return value;
    return "";
  }
  return "";
}

// Errors of the endpoint have OAuth's shape, which google-auth shows.
Response OauthError(std::string_view error, const Status& why) {
  Response response = AccessAnswer(
      Json{{"error", error}, {"error_description", std::string(why.message())}}.dump(), 400);
  response.error_name = std::string(why.name());
  return response;
}

Result<Response> Token(const Context& context, const Request& request) {
  if (context->access == nullptr) {
    return OauthError("invalid_request",
                      InvalidArgumentError("ACCESS_OFF", "This server has no access control."));
  }
  AccessControl& access = *context->access;
  if (FormValue(request.body, "grant_type") != kGrant) {
    return OauthError("unsupported_grant_type",
                      InvalidArgumentError("GRANT_UNKNOWN", "Only the JWT bearer grant is known."));
  }
  const Result<std::string> subject =
      VerifyServiceJwt(*context->catalog, *context->clock, FormValue(request.body, "assertion"));
  if (!subject.ok()) {
    access.RecordDenial(request, "issueToken", "", 400, "", std::string(subject.status().name()));
    return OauthError("invalid_grant", subject.status());
  }
  catalog::IssuedToken issued;
  catalog::AuditTrail trail = access.TrailOf(request, "issueToken", *subject, 200);
  const auto change = [&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(issued, catalog::IssueToken(transaction, {.kind = "ACCESS",
                                                                      .subject = *subject,
                                                                      .lifetime_ns = kAccessTokenNs,
                                                                      .created_by = *subject}));
    return OkStatus();
  };
  STROBE_RETURN_IF_ERROR(catalog::WriteAudited(*context->catalog, &trail, change));
  AccessControl::LogTrail(trail);
  return AccessAnswer(Json{{"access_token", issued.text},
                           {"token_type", "Bearer"},
                           {"expires_in", kAccessTokenNs / 1'000'000'000}}
                          .dump());
}

}  // namespace

Result<KeyPair> MakeKeyPair() {
  const std::unique_ptr<EVP_PKEY, FreeKey> key(EVP_RSA_gen(kRsaBits));
  const std::unique_ptr<BIO, FreeBio> private_bio(BIO_new(BIO_s_mem()));
  const std::unique_ptr<BIO, FreeBio> public_bio(BIO_new(BIO_s_mem()));
  if (key == nullptr ||
      PEM_write_bio_PrivateKey(private_bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                               nullptr) != 1 ||
      PEM_write_bio_PUBKEY(public_bio.get(), key.get()) != 1) {
    return InternalError("KEY_NOT_MADE", "The key could not be made.");
  }
  return KeyPair{TextOf(private_bio.get()), TextOf(public_bio.get())};
}

std::string ServiceKeyFile(const ServiceKey& key, const std::string& private_pem,
                           const std::string& server, const std::string& project) {
  std::string base = server;
  while (base.ends_with('/')) base.pop_back();
  const std::string mail = key.service_account + std::string(kServiceMailDomain);
  const Json file{{"type", "service_account"},
                  {"project_id", project.empty() ? std::string(catalog::kDefaultProject) : project},
                  {"private_key_id", key.id},
                  {"private_key", private_pem},
                  {"client_email", mail},
                  {"client_id", key.id},
                  {"auth_uri", base + "/sign-in"},
                  {"token_uri", base + "/token"},
                  {"universe_domain", "googleapis.com"}};
  return file.dump(2) + "\n";
}

Result<std::string> VerifyServiceJwt(catalog::Catalog& catalog, const Clock& clock,
                                     std::string_view text) {
  STROBE_ASSIGN_OR_RETURN(const Jwt jwt, ParseJwt(text));
  const Status unknown =
      Unauthenticated("SERVICE_KEY_UNKNOWN", "The token is signed with no key of ours.");
  // Whatever the audience: google-auth writes Google's own address whoever token_uri is, generated
  // clients the service's. The key is ours alone, so nothing was signed for anybody else.
  if (!jwt.issuer.ends_with(kServiceMailDomain)) return unknown;
  const std::string account = jwt.issuer.substr(0, jwt.issuer.size() - kServiceMailDomain.size());
  ServiceKey key;
  STROBE_RETURN_IF_ERROR(catalog.Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(std::optional<ServiceKey> found,
                            transaction.Find<ServiceKey>({"", "", "", jwt.key_id}));
    const int64_t now = transaction.clock().NowUnixNanos();
    const bool usable = found && found->service_account == account && found->revoke_unix_ns == 0 &&
                        (found->expire_unix_ns == 0 || found->expire_unix_ns > now);
    if (!usable) return unknown;
    key = std::move(*found);
    STROBE_ASSIGN_OR_RETURN(const catalog::ServiceAccount owner,
                            transaction.Get<catalog::ServiceAccount>({"", "", "", account}));
    if (owner.disabled != 0) {
      return Unauthenticated("ACCOUNT_DISABLED", "This service account is disabled.");
    }
    return OkStatus();
  }));
  STROBE_RETURN_IF_ERROR(VerifyJwtSignature(jwt, key.public_key_pem));
  STROBE_RETURN_IF_ERROR(CheckJwtTimes(jwt, clock.NowUnixNanos() / 1'000'000'000));
  if (jwt.expire_unix_s - jwt.issued_unix_s > kLongestAssertionSeconds) {
    return Unauthenticated("JWT_EXPIRED", "The token claims to live longer than it may.");
  }
  return "service:" + account;
}

void AddTokenRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back({.method = Method::kPost,
                     .pattern = std::string(kTokenPath),
                     .access = kPublicAccess,
                     .operation_id = "issueToken",
                     .tag = "access",
                     .summary = "OAuth 2.0 token endpoint for key files of service accounts.",
                     .documented = false,
                     .handler = [context](const Request& r) { return Token(context, r); }});
}

}  // namespace strobe::api
