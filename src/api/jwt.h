// JSON Web Tokens: taken apart, and their signatures checked with OpenSSL (RS256 and ES256 only;
// "none" and HMAC are no signatures of a provider).
//
//   STROBE_ASSIGN_OR_RETURN(const Jwt jwt, ParseJwt(text));
//   STROBE_RETURN_IF_ERROR(VerifyJwtSignature(jwt, public_key_pem));
//   STROBE_RETURN_IF_ERROR(CheckJwtTimes(jwt, now_unix_s));
//
// Errors: JWT_MALFORMED, JWT_ALGORITHM, JWT_SIGNATURE, JWT_EXPIRED, JWT_NOT_YET. Cost: 50 us (RSA
// 2048), 100 us (P-256). Limits: kMaxJwtBytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe::api {

inline constexpr size_t kMaxJwtBytes = 16 * 1024;
// How far clocks may differ.
inline constexpr int64_t kJwtLeewaySeconds = 60;

struct Jwt {
  std::string algorithm;
  std::string key_id;
  std::string issuer;
  std::string subject;
  std::vector<std::string> audience;
  int64_t issued_unix_s = 0;
  int64_t not_before_unix_s = 0;
  int64_t expire_unix_s = 0;
  std::string claims;        // JSON object
  std::string signed_bytes;  // header.payload
  std::string signature;
};

Result<Jwt> ParseJwt(std::string_view text);
Status VerifyJwtSignature(const Jwt& jwt, const std::string& public_key_pem);
Status CheckJwtTimes(const Jwt& jwt, int64_t now_unix_s);

// The public key of one entry of a JWKS document, as PEM. Errors: JWK_UNKNOWN for other kinds.
Result<std::string> JwkToPem(const std::string& jwk_json);
// header.payload.signature by RS256: for tests and for our own clients.
Result<std::string> SignJwt(const std::string& header_json, const std::string& claims_json,
                            const std::string& private_key_pem);

}  // namespace strobe::api
