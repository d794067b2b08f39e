// The checksums that object stores speak of, and base64 for their headers.
//
//   Md5 md5; md5.Add(part); md5.Hex();
//   Crc32c(bytes); HexOf(Sha256(text)); Base64(HmacSha256(key, text));
//
// Cost: MD5 0.6 GB/s, CRC32C several GB/s a core. MD5 is no protection against people, only against
// accidents.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace strobe::storage {

class Md5 {
 public:
  Md5();
  ~Md5();
  Md5(Md5&&) noexcept;
  Md5& operator=(Md5&&) noexcept;
  void Add(std::string_view bytes);
  std::string Hex();  // once, at the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void Add(std::string_view bytes);
  std::string Hex();  // of what was added so far; more may follow

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of `bytes` behind what `before` is of.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);
std::string Sha256(std::string_view bytes);  // 32 raw bytes
std::string HmacSha256(std::string_view key, std::string_view bytes);
std::string HexOf(std::string_view bytes);
std::string Base64(std::string_view bytes);
std::string Base64Url(std::string_view bytes);  // without padding
std::optional<std::string> FromBase64(std::string_view text);
// RS256 with a PEM key; nullopt when the key cannot be read.
std::optional<std::string> SignRs256(const std::string& pem_key, std::string_view text);

}  // namespace strobe::storage
