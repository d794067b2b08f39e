#include "src/storage/checksum.h"

#include <isa-l/crc.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <algorithm>

#include "src/base/status.h"

namespace strobe::storage {
namespace {

// crc32_iscsi takes an int.
constexpr size_t kCrcStepBytes = size_t{1} << 30;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

Context StartDigest(const EVP_MD* kind) {
  Context context(EVP_MD_CTX_new());
  STROBE_CHECK(context != nullptr && EVP_DigestInit_ex(context.get(), kind, nullptr) == 1);
  return context;
}

std::string FinishDigest(EVP_MD_CTX* context) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  STROBE_CHECK(EVP_DigestFinal_ex(context, digest, &size) == 1);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

void AddTo(EVP_MD_CTX* context, std::string_view bytes) {
  STROBE_CHECK(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
}

}  // namespace

struct Md5::State {
  Context context = StartDigest(EVP_md5());
};
Md5::Md5() : state_(std::make_unique<State>()) {}
Md5::~Md5() = default;
Md5::Md5(Md5&&) noexcept = default;
Md5& Md5::operator=(Md5&&) noexcept = default;
void Md5::Add(std::string_view bytes) { AddTo(state_->context.get(), bytes); }
std::string Md5::Hex() { return HexOf(FinishDigest(state_->context.get())); }

struct Sha256Stream::State {
  Context context = StartDigest(EVP_sha256());
};
Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;
void Sha256Stream::Add(std::string_view bytes) { AddTo(state_->context.get(), bytes); }
std::string Sha256Stream::Hex() {
  const Context copy(EVP_MD_CTX_new());
  STROBE_CHECK(copy != nullptr && EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()) == 1);
  return HexOf(FinishDigest(copy.get()));
}

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
  uint32_t crc = ~before;
  while (!bytes.empty()) {
    const size_t step = std::min(bytes.size(), kCrcStepBytes);
    crc = crc32_iscsi(reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data())),
                      static_cast<int>(step), crc);
    bytes.remove_prefix(step);
  }
  return ~crc;
}

std::string Sha256(std::string_view bytes) {
  const Context context = StartDigest(EVP_sha256());
  AddTo(context.get(), bytes);
  return FinishDigest(context.get());
}

std::string HmacSha256(std::string_view key, std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  STROBE_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                    reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest,
                    &size) != nullptr);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

std::string HexOf(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string Base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

std::string Base64Url(std::string_view bytes) {
  std::string text = Base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : (text.ends_with('=') ? 1 : 0);
  bytes.resize(static_cast<size_t>(size) - padding);
  return bytes;
}

std::optional<std::string> SignRs256(const std::string& pem_key, std::string_view text) {
  const std::unique_ptr<BIO, FreeBio> bio(
      BIO_new_mem_buf(pem_key.data(), static_cast<int>(pem_key.size())));
  if (bio == nullptr) return std::nullopt;
  const std::unique_ptr<EVP_PKEY, FreeKey> key(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (key == nullptr) return std::nullopt;
  const Context context(EVP_MD_CTX_new());
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1) {
    return std::nullopt;
  }
  size_t size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1) return std::nullopt;
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     bytes, text.size()) != 1) {
    return std::nullopt;
  }
  signature.resize(size);
  return signature;
}

}  // namespace strobe::storage
