#include "src/base/hash.h"

#include <xxhash.h>

#include "src/base/status.h"

namespace strobe {

std::string ToHex64(uint64_t value) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) text[static_cast<size_t>(i)] = kHex[value & 15];
  return text;
}

std::string ToBase32(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuv";
  std::string text(13, '0');
  for (int i = 12; i >= 0; --i, value >>= 5) text[static_cast<size_t>(i)] = kDigits[value & 31];
  return text;
}

std::string Hash128::ToHex() const { return ToHex64(high) + ToHex64(low); }

uint64_t Hash64(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Hash128 Hash128Of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return Hash128{hash.high64, hash.low64};
}

struct Hasher::State {
  XXH3_state_t* state = XXH3_createState();
  ~State() { XXH3_freeState(state); }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  STROBE_CHECK(state_->state != nullptr);
  XXH3_128bits_reset(state_->state);
}
Hasher::~Hasher() = default;

void Hasher::Add(std::string_view bytes) {
  XXH3_128bits_update(state_->state, bytes.data(), bytes.size());
}

Hash128 Hasher::Digest128() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->state);
  return Hash128{hash.high64, hash.low64};
}

}  // namespace strobe
