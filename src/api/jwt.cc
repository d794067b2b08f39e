#include "src/api/jwt.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "src/catalog/access_rules.h"
#include "src/catalog/secret.h"

namespace strobe::api {
namespace {

using catalog::Unauthenticated;
using Json = nlohmann::json;

constexpr size_t kP256Bytes = 32;
// Keys below are broken with money, keys above take seconds: neither is a provider's.
constexpr int kMinRsaBits = 2048;
constexpr int kMaxRsaBits = 8192;

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freer<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freer<EVP_MD_CTX_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using Number = std::unique_ptr<BIGNUM, Freer<BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freer<OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Freer<OSSL_PARAM_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, Freer<ECDSA_SIG_free>>;

Status Malformed(std::string_view what) {
  return Unauthenticated("JWT_MALFORMED", "The token is no JWT that makes sense.")
      .Where(std::string(what));
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Key ReadPublicKey(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
}

std::string Text(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// Seconds; some issuers send them as a double. 0 when absent or absurd.
int64_t Seconds(const Json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return value > 0 && value < 1e12 ? static_cast<int64_t>(value) : 0;
}

Result<Json> DecodeObject(std::string_view part) {
  const std::optional<std::string> bytes = catalog::Base64UrlDecode(part);
  if (!bytes) return Malformed("base64url");
  Json json = Json::parse(*bytes, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Malformed("JSON");
  return json;
}

// JWS has r and s side by side, OpenSSL wants them in DER.
std::string EcdsaDer(const std::string& raw) {
  if (raw.size() != 2 * kP256Bytes) return "";
  const EcSignature signature(ECDSA_SIG_new());
  BIGNUM* r = BN_bin2bn(Bytes(raw), kP256Bytes, nullptr);
  BIGNUM* s = BN_bin2bn(Bytes(raw) + kP256Bytes, kP256Bytes, nullptr);
  if (ECDSA_SIG_set0(signature.get(), r, s) != 1) return "";
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  if (size <= 0) return "";
  std::string text(reinterpret_cast<char*>(der), static_cast<size_t>(size));
  OPENSSL_free(der);
  return text;
}

Result<std::string> PemOf(const char* kind, OSSL_PARAM_BLD* builder) {
  const Params params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* raw = nullptr;
  const bool made = params != nullptr && context != nullptr &&
                    EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &raw, EVP_PKEY_PUBLIC_KEY, params.get()) == 1;
  const Key key(raw);
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!made || PEM_write_bio_PUBKEY(bio.get(), key.get()) != 1) {
    return Unauthenticated("JWK_UNKNOWN", "A key of the provider cannot be read.");
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

Result<Jwt> ParseJwt(std::string_view text) {
  if (text.size() > kMaxJwtBytes) return Malformed("too long");
  const size_t first = text.find('.');
  const size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos || text.find('.', second + 1) != std::string_view::npos) {
    return Malformed("parts");
  }
  STROBE_ASSIGN_OR_RETURN(const Json header, DecodeObject(text.substr(0, first)));
  STROBE_ASSIGN_OR_RETURN(const Json claims,
                          DecodeObject(text.substr(first + 1, second - first - 1)));
  // Extensions that must be understood are not.
  if (header.contains("crit")) return Malformed("crit");
  const std::optional<std::string> signature = catalog::Base64UrlDecode(text.substr(second + 1));
  if (!signature || signature->empty()) return Malformed("signature");
  Jwt jwt{.algorithm = Text(header, "alg"),
          .key_id = Text(header, "kid"),
          .issuer = Text(claims, "iss"),
          .subject = Text(claims, "sub"),
          .issued_unix_s = Seconds(claims, "iat"),
          .not_before_unix_s = Seconds(claims, "nbf"),
          .expire_unix_s = Seconds(claims, "exp"),
          .claims = claims.dump(-1, ' ', false, Json::error_handler_t::replace),
          .signed_bytes = std::string(text.substr(0, second)),
          .signature = *signature};
  const auto audience = claims.find("aud");
  if (audience != claims.end() && audience->is_string()) {
    jwt.audience.push_back(audience->get<std::string>());
  } else if (audience != claims.end() && audience->is_array()) {
    for (const Json& one : *audience) {
      if (one.is_string()) jwt.audience.push_back(one.get<std::string>());
    }
  }
  return jwt;
}

Status VerifyJwtSignature(const Jwt& jwt, const std::string& public_key_pem) {
  const Status wrong = Unauthenticated("JWT_SIGNATURE", "The token's signature is not right.");
  const Key key = ReadPublicKey(public_key_pem);
  if (key == nullptr) return wrong;
  const int kind = EVP_PKEY_base_id(key.get());
  std::string signature = jwt.signature;
  // The key decides which algorithm is right, never the token alone.
  if (jwt.algorithm == "RS256" && kind == EVP_PKEY_RSA) {
    const int bits = EVP_PKEY_get_bits(key.get());
    if (bits < kMinRsaBits || bits > kMaxRsaBits) return wrong;
  } else if (jwt.algorithm == "ES256" && kind == EVP_PKEY_EC) {
    signature = EcdsaDer(jwt.signature);
  } else {
    return Unauthenticated("JWT_ALGORITHM", "The token is signed in a way that is not taken.")
        .Where(jwt.algorithm.substr(0, 16))
        .Hint("RS256 and ES256 are.");
  }
  const DigestContext context(EVP_MD_CTX_new());
  const bool right =
      !signature.empty() &&
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(jwt.signed_bytes),
                       jwt.signed_bytes.size()) == 1;
  return right ? OkStatus() : wrong;
}

Status CheckJwtTimes(const Jwt& jwt, int64_t now_unix_s) {
  if (jwt.expire_unix_s == 0 || jwt.expire_unix_s + kJwtLeewaySeconds <= now_unix_s) {
    return Unauthenticated("JWT_EXPIRED", "The token's time is over.").Hint("Get a new one.");
  }
  if (jwt.not_before_unix_s > now_unix_s + kJwtLeewaySeconds ||
      jwt.issued_unix_s > now_unix_s + kJwtLeewaySeconds) {
    return Unauthenticated("JWT_NOT_YET", "The token's time has not come yet.")
        .Hint("Do the clocks of both machines agree?");
  }
  return OkStatus();
}

Result<std::string> JwkToPem(const std::string& jwk_json) {
  const Json jwk = Json::parse(jwk_json, nullptr, /*allow_exceptions=*/false);
  const Status unknown =
      Unauthenticated("JWK_UNKNOWN", "A key of the provider is of no known kind.");
  if (!jwk.is_object()) return unknown;
  const Builder builder(OSSL_PARAM_BLD_new());
  if (Text(jwk, "kty") == "RSA") {
    const auto n = catalog::Base64UrlDecode(Text(jwk, "n"));
    const auto e = catalog::Base64UrlDecode(Text(jwk, "e"));
    if (!n || !e || n->empty() || e->empty()) return unknown;
    const Number modulus(BN_bin2bn(Bytes(*n), static_cast<int>(n->size()), nullptr));
    const Number exponent(BN_bin2bn(Bytes(*e), static_cast<int>(e->size()), nullptr));
    if (OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) != 1 ||
        OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) != 1) {
      return unknown;
    }
    return PemOf("RSA", builder.get());
  }
  if (Text(jwk, "kty") != "EC" || Text(jwk, "crv") != "P-256") return unknown;
  const auto x = catalog::Base64UrlDecode(Text(jwk, "x"));
  const auto y = catalog::Base64UrlDecode(Text(jwk, "y"));
  if (!x || !y || x->size() != kP256Bytes || y->size() != kP256Bytes) return unknown;
  const std::string point = "\x04" + *x + *y;
  if (OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) !=
          1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return unknown;
  }
  return PemOf("EC", builder.get());
}

Result<std::string> SignJwt(const std::string& header_json, const std::string& claims_json,
                            const std::string& private_key_pem) {
  const Bio bio(BIO_new_mem_buf(private_key_pem.data(), static_cast<int>(private_key_pem.size())));
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  const std::string bytes =
      catalog::Base64UrlEncode(header_json) + "." + catalog::Base64UrlEncode(claims_json);
  const DigestContext context(EVP_MD_CTX_new());
  size_t size = 0;
  std::string signature;
  bool done = key != nullptr &&
              EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, Bytes(bytes), bytes.size()) == 1;
  if (done) {
    signature.resize(size);
    done = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                          Bytes(bytes), bytes.size()) == 1;
    signature.resize(size);
  }
  if (!done) return InternalError("JWT_NOT_SIGNED", "The token could not be signed.");
  return bytes + "." + catalog::Base64UrlEncode(signature);
}

}  // namespace strobe::api
