// Service accounts for Google's own clients: key files in their form, and the token endpoint that
// the files name (OAuth 2.0 JWT bearer grant, RFC 7523). google-auth and gcloud need no change.
//
//   STROBE_ASSIGN_OR_RETURN(const KeyPair pair, MakeKeyPair());
//   Print(ServiceKeyFile(key, pair.private_pem, "https://strobe.example.com", "default"));
//
// A token of the endpoint lives an hour. Clients that sign their own JWT and send it as the bearer
// are understood too (generated gRPC clients do so). Errors of VerifyServiceJwt: JWT_*,
// SERVICE_KEY_UNKNOWN, ACCOUNT_DISABLED.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/app.h"
#include "src/api/router.h"
#include "src/base/status.h"
#include "src/catalog/access_records.h"
#include "src/catalog/catalog.h"

namespace strobe::api {

inline constexpr int64_t kAccessTokenNs = 3600LL * 1'000'000'000;
inline constexpr std::string_view kServiceMailDomain = "@strobe.iam.gserviceaccount.com";

struct KeyPair {
  std::string private_pem;
  std::string public_pem;
};
Result<KeyPair> MakeKeyPair();

std::string ServiceKeyFile(const catalog::ServiceKey& key, const std::string& private_pem,
                           const std::string& server, const std::string& project);

// The service account ("service:NAME") that signed this JWT with a key of ours.
Result<std::string> VerifyServiceJwt(catalog::Catalog& catalog, const Clock& clock,
                                     std::string_view jwt);

}  // namespace strobe::api
