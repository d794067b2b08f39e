// Fast non-cryptographic hashing (XXH3) for content keys, cache keys and checksums.
//
//   const uint64_t key = Hash64(bytes);
//   Hasher hasher; hasher.Add(part1); hasher.Add(part2); hasher.Digest128().ToHex();
//
// Not for secrets or signatures: an attacker can make collisions. Cost: about 10 GB/s.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace strobe {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Hash128&) const = default;
  // 32 lower-case hex digits.
  std::string ToHex() const;
};

uint64_t Hash64(std::string_view bytes, uint64_t seed = 0);
Hash128 Hash128Of(std::string_view bytes);
std::string ToHex64(uint64_t value);
// 13 characters of [0-9a-v], for short ids in addresses.
std::string ToBase32(uint64_t value);

// Incremental form.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void Add(std::string_view bytes);
  Hash128 Digest128() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strobe
