#include "src/api/oidc.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/api/app.h"
#include "src/api/https_client.h"
#include "src/catalog/access_rules.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using catalog::Unauthenticated;
using Json = nlohmann::json;

constexpr size_t kMaxKeys = 64;
constexpr size_t kRandomBytes = 32;

std::string Text(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Result<Json> FetchJson(const FetchRequest& request) {
  STROBE_ASSIGN_OR_RETURN(const FetchAnswer answer, Fetch(request));
  Json json = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (answer.status == 200 && json.is_object()) return json;
  std::string reason = json.is_object() ? Text(json, "error") : "";
  if (reason.empty()) reason = fmt::format("status {}", answer.status);
  return UnavailableError("OIDC_UNAVAILABLE",
                          "The provider refused: " + reason.substr(0, 100) + ".")
      .Where(request.url.substr(0, 200));
}

Status StateWrong() {
  return Unauthenticated("OIDC_STATE", "This sign-in was not begun here, or too long ago.")
      .Hint("Begin again at /sign-in.");
}

std::string Proof(const std::string& key, std::string_view text) {
  return catalog::Base64UrlEncode(catalog::HmacSha256(key, "strobe-oidc-1:" + std::string(text)));
}

}  // namespace

Result<OidcProvider::Discovery> OidcProvider::Discover() {
  const std::lock_guard lock(mutex_);
  const int64_t now = clock_.MonotonicNanos();
  if (discovery_ && now - discovered_ns_ < kOidcKeptNs) return *discovery_;
  std::string base = options_.issuer;
  while (base.ends_with('/')) base.pop_back();
  STROBE_ASSIGN_OR_RETURN(const Json json,
                          FetchJson({.url = base + "/.well-known/openid-configuration"}));
  if (Text(json, "issuer") != options_.issuer) {
    return UnavailableError("OIDC_UNAVAILABLE", "The provider says that it is another one.")
        .Where(Text(json, "issuer").substr(0, 200))
        .Hint("Give --oidc-issuer exactly as the provider writes it.");
  }
  Discovery found{.authorization_endpoint = Text(json, "authorization_endpoint"),
                  .token_endpoint = Text(json, "token_endpoint"),
                  .jwks_uri = Text(json, "jwks_uri")};
  for (const std::string& url :
       {found.authorization_endpoint, found.token_endpoint, found.jwks_uri}) {
    STROBE_RETURN_IF_ERROR(CheckFetchUrl(url));
  }
  discovery_ = found;
  discovered_ns_ = now;
  return found;
}

Status OidcProvider::FetchKeys() {
  STROBE_ASSIGN_OR_RETURN(const Discovery discovery, Discover());
  STROBE_ASSIGN_OR_RETURN(const Json json, FetchJson({.url = discovery.jwks_uri}));
  std::map<std::string, std::string> keys;
  for (const Json& key : json.value("keys", Json::array())) {
    if (!key.is_object() || keys.size() >= kMaxKeys) continue;
    if (const std::string use = Text(key, "use"); !use.empty() && use != "sig") continue;
    const Result<std::string> pem = JwkToPem(key.dump());
    if (pem.ok()) keys[Text(key, "kid")] = *pem;
  }
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
  return OkStatus();
}

Result<std::string> OidcProvider::KeyOf(const std::string& key_id) {
  bool fetch = false;
  {
    const std::lock_guard lock(mutex_);
    const int64_t now = clock_.MonotonicNanos();
    const auto found = keys_.find(key_id);
    const int64_t age = keys_fetched_ns_ ? now - *keys_fetched_ns_ : INT64_MAX;
    if (found != keys_.end() && age < kOidcKeptNs) return found->second;
    // Tokens with made-up key ids must not make us ask the provider each time.
    fetch = age > kOidcAgainNs;
    if (fetch) keys_fetched_ns_ = now;
  }
  if (fetch) {
    const Status fetched = FetchKeys();
    if (!fetched.ok()) {
      const std::lock_guard lock(mutex_);
      keys_fetched_ns_.reset();
      return fetched;
    }
  }
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key_id);
  if (found != keys_.end()) return found->second;
  return Unauthenticated("JWT_SIGNATURE", "The token is signed with no key of the provider.");
}

Result<OidcStart> OidcProvider::Start(const std::string& return_to, const std::string& key,
                                      Random& random) {
  STROBE_ASSIGN_OR_RETURN(const Discovery discovery, Discover());
  const auto secret = [&random] {
    return catalog::Base64UrlEncode(catalog::RandomBytes(kRandomBytes, random));
  };
  const std::string state = secret();
  const std::string nonce = secret();
  const std::string verifier = secret();
  const Json kept{{"s", state},
                  {"n", nonce},
                  {"v", verifier},
                  {"r", return_to},
                  {"e", clock_.NowUnixNanos() + kOidcSignInNs}};
  const std::string text = catalog::Base64UrlEncode(kept.dump());
  const std::string challenge = catalog::Base64UrlEncode(catalog::Sha256(verifier));
  std::string url = discovery.authorization_endpoint;
  url += url.find('?') == std::string::npos ? '?' : '&';
  const std::pair<std::string_view, std::string> parameters[] = {
      {"response_type", "code"},
      {"client_id", options_.client_id},
      {"redirect_uri", options_.public_url + std::string(kOidcCallbackPath)},
      {"scope", options_.scopes},
      {"state", state},
      {"nonce", nonce},
      {"code_challenge", challenge},
      {"code_challenge_method", "S256"}};
  for (const auto& [name, value] : parameters) {
    if (url.back() != '?' && url.back() != '&') url += '&';
    url += std::string(name) + "=" + EncodeQueryValue(value);
  }
  return OidcStart{url, text + "." + Proof(key, text)};
}

Result<OidcIdentity> OidcProvider::Finish(std::string_view code, std::string_view state,
                                          std::string_view cookie, const std::string& key) {
  const size_t dot = cookie.find('.');
  if (dot == std::string_view::npos || code.empty()) return StateWrong();
  const std::string_view text = cookie.substr(0, dot);
  if (!catalog::SameSecret(Proof(key, text), cookie.substr(dot + 1))) return StateWrong();
  const std::optional<std::string> bytes = catalog::Base64UrlDecode(text);
  const Json kept = Json::parse(bytes.value_or(""), nullptr, /*allow_exceptions=*/false);
  if (!kept.is_object() || kept.value("e", int64_t{0}) < clock_.NowUnixNanos() ||
      !catalog::SameSecret(Text(kept, "s"), state)) {
    return StateWrong();
  }
  STROBE_ASSIGN_OR_RETURN(const Discovery discovery, Discover());
  FetchRequest request{.url = discovery.token_endpoint};
  request.form = "grant_type=authorization_code&code=" + EncodeQueryValue(code) + "&redirect_uri=" +
                 EncodeQueryValue(options_.public_url + std::string(kOidcCallbackPath)) +
                 "&code_verifier=" + EncodeQueryValue(Text(kept, "v"));
  if (options_.client_secret.empty()) {
    request.form += "&client_id=" + EncodeQueryValue(options_.client_id);
  } else {
    // RFC 6749: both are encoded as in forms before they are joined.
    std::string basic = catalog::Base64UrlEncode(EncodeQueryValue(options_.client_id) + ":" +
                                                 EncodeQueryValue(options_.client_secret));
    std::replace(basic.begin(), basic.end(), '-', '+');
    std::replace(basic.begin(), basic.end(), '_', '/');
    while (basic.size() % 4 != 0) basic += '=';
    request.headers.emplace_back("Authorization", "Basic " + basic);
  }
  STROBE_ASSIGN_OR_RETURN(const Json answer, FetchJson(request));
  STROBE_ASSIGN_OR_RETURN(OidcIdentity identity, Verify(Text(answer, "id_token"), Text(kept, "n")));
  identity.return_to = Text(kept, "r");
  return identity;
}

Result<OidcIdentity> OidcProvider::VerifyIdToken(std::string_view text) { return Verify(text, ""); }

Result<OidcIdentity> OidcProvider::Verify(std::string_view text, std::string_view nonce) {
  STROBE_ASSIGN_OR_RETURN(const Jwt jwt, ParseJwt(text));
  const auto wrong = [](std::string_view what) {
    return Unauthenticated("OIDC_TOKEN", "The provider's token is not meant for this.")
        .Where(std::string(what));
  };
  if (jwt.issuer != options_.issuer) return wrong("iss");
  if (std::find(jwt.audience.begin(), jwt.audience.end(), options_.client_id) ==
      jwt.audience.end()) {
    return wrong("aud");
  }
  STROBE_ASSIGN_OR_RETURN(const std::string pem, KeyOf(jwt.key_id));
  STROBE_RETURN_IF_ERROR(VerifyJwtSignature(jwt, pem));
  STROBE_RETURN_IF_ERROR(CheckJwtTimes(jwt, clock_.NowUnixNanos() / 1'000'000'000));
  const Json claims = Json::parse(jwt.claims, nullptr, /*allow_exceptions=*/false);
  const std::string party = Text(claims, "azp");
  if ((jwt.audience.size() > 1 || !party.empty()) && party != options_.client_id) {
    return wrong("azp");
  }
  if (!nonce.empty() && !catalog::SameSecret(Text(claims, "nonce"), nonce)) return wrong("nonce");
  if (jwt.subject.empty()) return wrong("sub");
  OidcIdentity identity{.subject = options_.issuer + " " + jwt.subject,
                        .name = Text(claims, "preferred_username"),
                        .display_name = Text(claims, "name"),
                        .email = Text(claims, "email")};
  if (identity.name.empty()) identity.name = identity.email;
  if (identity.name.empty()) identity.name = jwt.subject;
  return identity;
}

}  // namespace strobe::api
