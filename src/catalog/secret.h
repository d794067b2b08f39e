// Secrets and proofs: tokens that cannot be guessed, passwords, hashes and signatures over texts.
//
//   const SecretToken token = MakeSecretToken("stb", random);    // "stb_<id>_<secret>"
//   record.secret_hash = Sha256Hex(token.secret);
//   if (SameSecret(Sha256Hex(given), record.secret_hash)) ...
//   STROBE_ASSIGN_OR_RETURN(user.password_hash, HashPassword(password, random));
//
// Tokens hold 256 random bits, so a plain SHA-256 of them is enough; passwords are made by people
// and are hashed by argon2id. Comparisons take the same time whatever differs. Cost: SHA-256 and
// HMAC about 1 us; a password kArgonMemoryKib of memory and some 30 ms, at most
// kMaxPasswordsAtOnce at once, so that sign-ins cannot take all memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/storage/checksum.h"

namespace strobe::catalog {

// OWASP's first choice for argon2id: 19 MiB, two passes, one lane.
inline constexpr uint32_t kArgonMemoryKib = 19 * 1024;
inline constexpr uint32_t kArgonPasses = 2;
inline constexpr int kMaxPasswordsAtOnce = 2;
// Length is what counts; NIST asks for 8, ASVS recommends 15 where nothing else is asked.
inline constexpr size_t kMinPasswordBytes = 12;
inline constexpr size_t kMaxPasswordBytes = 256;

struct SecretToken {
  std::string id;
  std::string secret;
  std::string text;  // what the user gets: prefix_id_secret
};

SecretToken MakeSecretToken(std::string_view prefix, Random& random);
// The parts of such a text; nullopt when it is none.
std::optional<SecretToken> ParseSecretToken(std::string_view prefix, std::string_view text);

using storage::HmacSha256;
using storage::Sha256;
inline std::string Sha256Hex(std::string_view bytes) { return storage::HexOf(Sha256(bytes)); }
bool SameSecret(std::string_view a, std::string_view b);

// Without padding.
inline std::string Base64UrlEncode(std::string_view bytes) { return storage::Base64Url(bytes); }
std::optional<std::string> Base64UrlDecode(std::string_view text);
// The usual alphabet, padding allowed: HTTP Basic.
std::optional<std::string> Base64Decode(std::string_view text);
std::string RandomBytes(size_t count, Random& random);

// Errors: PASSWORD_TOO_SHORT, PASSWORD_TOO_LONG, PASSWORD_EASY (contains the user's name, or is one
// of those that attackers try first).
Status CheckPassword(std::string_view password, std::string_view user);
Result<std::string> HashPassword(std::string_view password, Random& random);
bool VerifyPassword(std::string_view password, const std::string& hash);
// Takes as long as VerifyPassword and says no: for names that do not exist.
void PretendToVerify(std::string_view password);

}  // namespace strobe::catalog
