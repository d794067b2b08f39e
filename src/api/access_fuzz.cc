// What strangers send before anybody knows who they are: JWTs, tokens, cookies, share links,
// addresses, keys of a provider.
#include <cstdint>
#include <string>
#include <string_view>

#include "src/api/cookies.h"
#include "src/api/jwt.h"
#include "src/api/share_link.h"
#include "src/base/address_policy.h"
#include "src/catalog/access_rules.h"
#include "src/catalog/secret.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strobe;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<api::Jwt> jwt = api::ParseJwt(text);
  if (jwt.ok()) {
    STROBE_CHECK(!jwt->signature.empty());
    (void)api::CheckJwtTimes(*jwt, 1'700'000'000).ok();
  }
  const Result<std::string> pem = api::JwkToPem(text);
  if (pem.ok()) STROBE_CHECK(pem->starts_with("-----BEGIN PUBLIC KEY-----"));
  if (const auto token = catalog::ParseSecretToken("stb", text)) {
    STROBE_CHECK("stb_" + token->id + "_" + token->secret == text);
  }
  if (const auto bytes = catalog::Base64UrlDecode(text)) {
    STROBE_CHECK(catalog::Base64UrlEncode(*bytes) == text);
  }
  STROBE_CHECK(api::SplitLinkTokens(text).size() <= api::kMaxLinksHeld);
  STROBE_CHECK(api::SplitLinkTokens(api::AddLinkToken(text, "new")).front() == "new");
  if (text.starts_with("/l/")) STROBE_CHECK(api::RedactTarget(text).starts_with("/l/-"));
  if (api::IsLocalPath(text)) STROBE_CHECK(!text.starts_with("//") && text.front() == '/');
  if (const auto address = ParseAddress(text)) (void)KindOfAddress(*address);
  (void)AddressRange::Parse(text);
  (void)catalog::ParseRights(text).ok();
  api::Request request;
  request.headers.push_back({"cookie", text});
  (void)api::CookieValue(request, "strobe_session");
  return 0;
}
