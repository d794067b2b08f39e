#include "src/catalog/secret.h"

#include <argon2.h>
#include <openssl/crypto.h>

#include <array>
#include <semaphore>
#include <vector>

#include "src/base/text.h"

namespace strobe::catalog {
namespace {

constexpr size_t kIdBytes = 9;
constexpr size_t kSecretBytes = 32;
constexpr size_t kSaltBytes = 16;
constexpr size_t kHashBytes = 32;
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::optional<std::string> Decode(std::string_view text, char plus, char slash) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == plus) value = 62;
    if (c == slash) value = 63;
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  // What is left must be padding: a text with other bits set would be a second spelling of the
  // same bytes.
  if (count >= 6 || (bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

std::counting_semaphore<kMaxPasswordsAtOnce>& PasswordSlots() {
  static std::counting_semaphore<kMaxPasswordsAtOnce> slots(kMaxPasswordsAtOnce);
  return slots;
}

class PasswordSlot {
 public:
  PasswordSlot() { PasswordSlots().acquire(); }
  ~PasswordSlot() { PasswordSlots().release(); }
  PasswordSlot(const PasswordSlot&) = delete;
  PasswordSlot& operator=(const PasswordSlot&) = delete;
};

std::string Encode(std::string_view password, const std::string& salt) {
  std::array<char, 256> encoded{};
  const PasswordSlot slot;
  const int error =
      argon2id_hash_encoded(kArgonPasses, kArgonMemoryKib, 1, password.data(), password.size(),
                            salt.data(), salt.size(), kHashBytes, encoded.data(), encoded.size());
  return error == ARGON2_OK ? encoded.data() : "";
}

// Those long enough to pass otherwise that head every published list.
constexpr std::string_view kEasyParts[] = {
    "password1234",   "123456789012", "qwertyuiop",   "111111111111", "passwordpassword",
    "letmeinletmein", "adminadmin",   "iloveyou1234", "abcdefghijkl", "000000000000"};

}  // namespace

std::string RandomBytes(size_t count, Random& random) {
  std::string bytes;
  while (bytes.size() < count) {
    uint64_t word = random.Next();
    for (int i = 0; i < 8 && bytes.size() < count; ++i, word >>= 8) {
      bytes += static_cast<char>(word & 0xFF);
    }
  }
  return bytes;
}

SecretToken MakeSecretToken(std::string_view prefix, Random& random) {
  SecretToken token;
  // Ids are part of addresses: no character that means something there.
  token.id = storage::HexOf(RandomBytes(kIdBytes, random));
  token.secret = Base64UrlEncode(RandomBytes(kSecretBytes, random));
  token.text = std::string(prefix) + "_" + token.id + "_" + token.secret;
  return token;
}

std::optional<SecretToken> ParseSecretToken(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix) || text.size() <= prefix.size() || text[prefix.size()] != '_') {
    return std::nullopt;
  }
  std::string_view rest = text.substr(prefix.size() + 1);
  constexpr size_t kIdDigits = kIdBytes * 2;
  if (rest.size() < kIdDigits + 2 || rest[kIdDigits] != '_') return std::nullopt;
  SecretToken token;
  token.id = rest.substr(0, kIdDigits);
  token.secret = rest.substr(kIdDigits + 1);
  token.text = text;
  for (const char c : token.id) {
    if (kHexDigits.find(c) == std::string_view::npos) return std::nullopt;
  }
  const std::optional<std::string> bytes = Base64UrlDecode(token.secret);
  if (!bytes || bytes->size() != kSecretBytes) return std::nullopt;
  return token;
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string> Base64UrlDecode(std::string_view text) { return Decode(text, '-', '_'); }

std::optional<std::string> Base64Decode(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return Decode(text, '+', '/');
}

Status CheckPassword(std::string_view password, std::string_view user) {
  if (password.size() < kMinPasswordBytes) {
    return InvalidArgumentError("PASSWORD_TOO_SHORT", "The password is too short.")
        .Hint("Take at least 12 characters; a few words are better than signs.");
  }
  if (password.size() > kMaxPasswordBytes) {
    return InvalidArgumentError("PASSWORD_TOO_LONG", "The password is too long.")
        .Hint("At most 256 bytes are taken.");
  }
  const std::string lower = AsciiLower(password);
  bool easy = user.size() >= 4 && lower.find(AsciiLower(user)) != std::string::npos;
  for (const std::string_view part : kEasyParts) {
    easy = easy || lower.find(part) != std::string::npos;
  }
  easy = easy || lower.find_first_not_of(lower.front()) == std::string::npos;
  if (!easy) return OkStatus();
  return InvalidArgumentError("PASSWORD_EASY", "The password is one that others would try.")
      .Hint("Leave the user's name out of it, and take words that do not belong together.");
}

Result<std::string> HashPassword(std::string_view password, Random& random) {
  std::string hash = Encode(password, RandomBytes(kSaltBytes, random));
  if (hash.empty()) {
    return ResourceExhaustedError("PASSWORD_NOT_HASHED", "There is no memory for a password.")
        .Hint("Try again in a moment.");
  }
  return hash;
}

bool VerifyPassword(std::string_view password, const std::string& hash) {
  if (hash.empty() || password.size() > kMaxPasswordBytes) {
    PretendToVerify(password.substr(0, kMaxPasswordBytes));
    return false;
  }
  const PasswordSlot slot;
  return argon2id_verify(hash.c_str(), password.data(), password.size()) == ARGON2_OK;
}

void PretendToVerify(std::string_view password) {
  static_cast<void>(Encode(password, "0123456789abcdef"));
}

}  // namespace strobe::catalog
