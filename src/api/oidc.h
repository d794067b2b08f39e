// OpenID Connect: signing in with the organisation's own accounts (code flow with PKCE), and its ID
// tokens as bearers.
//
//   OidcProvider provider({.issuer = "https://id.example.com", .client_id = "strobe", ...}, clock);
//   STROBE_ASSIGN_OR_RETURN(const OidcStart start, provider.Start("/s/abc", key, random));
//   // lead the browser to start.url with start.cookie; at the callback:
//   STROBE_ASSIGN_OR_RETURN(const OidcIdentity who, provider.Finish(code, state, cookie, key));
//
// Discovery and keys are fetched from the issuer when they are needed and kept for kOidcKeptNs; an
// unknown key id fetches them again, at most every kOidcAgainNs. State, nonce and the PKCE verifier
// travel in a signed cookie of ten minutes. Errors: OIDC_UNAVAILABLE, OIDC_STATE, OIDC_REFUSED,
// OIDC_TOKEN, and those of jwt.h. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "src/api/jwt.h"
#include "src/base/clock.h"
#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/catalog/catalog.h"

namespace strobe::api {

inline constexpr int64_t kOidcKeptNs = 3600LL * 1'000'000'000;
inline constexpr int64_t kOidcAgainNs = 60LL * 1'000'000'000;
inline constexpr int64_t kOidcSignInNs = 600LL * 1'000'000'000;
inline constexpr std::string_view kOidcCallbackPath = "/sign-in/oidc/callback";

struct OidcOptions {
  std::string issuer;
  std::string client_id;
  std::string client_secret;  // empty: a public client
  std::string public_url;     // of this server, without a slash at the end
  std::string scopes = "openid profile email";
};

struct OidcStart {
  std::string url;
  std::string cookie;
};

struct OidcIdentity {
  std::string subject;  // "issuer sub": what an account is known by
  std::string name;     // what the provider calls it; may be empty
  std::string display_name;
  std::string email;
  std::string return_to;
};

class OidcProvider {
 public:
  OidcProvider(OidcOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  Result<OidcStart> Start(const std::string& return_to, const std::string& key, Random& random);
  Result<OidcIdentity> Finish(std::string_view code, std::string_view state,
                              std::string_view cookie, const std::string& key);
  // An ID token that somebody sends as a bearer.
  Result<OidcIdentity> VerifyIdToken(std::string_view text);

 private:
  struct Discovery {
    std::string authorization_endpoint;
    std::string token_endpoint;
    std::string jwks_uri;
  };
  Result<Discovery> Discover();
  Result<std::string> KeyOf(const std::string& key_id);
  Status FetchKeys();
  // `nonce` empty: none is asked for.
  Result<OidcIdentity> Verify(std::string_view text, std::string_view nonce);

  const OidcOptions options_;
  const Clock& clock_;
  std::mutex mutex_;
  std::optional<Discovery> discovery_;
  int64_t discovered_ns_ = 0;
  std::map<std::string, std::string> keys_;  // id to PEM
  std::optional<int64_t> keys_fetched_ns_;
};

// The user ("user:NAME") that a provider's ID token speaks for.
Result<std::string> SubjectOfIdToken(catalog::Catalog& catalog, OidcProvider& provider,
                                     std::string_view jwt);

}  // namespace strobe::api
