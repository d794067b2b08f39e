#include "src/wire/highway_hash.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace strobe::wire {
namespace {

static_assert(std::endian::native == std::endian::little);

using Lanes = std::array<uint64_t, 4>;

constexpr size_t kPacketBytes = 32;
constexpr Lanes kFirst = {0xdbe6d5d5fe4cce2fULL, 0xa4093822299f31d0ULL, 0x13198a2e03707344ULL,
                          0x243f6a8885a308d3ULL};
constexpr Lanes kSecond = {0x3bd39e10cb0ef593ULL, 0xc0acf169b5f18a8cULL, 0xbe5466cf34e90c6cULL,
                           0x452821e638d01377ULL};

constexpr uint64_t SwapHalves(uint64_t value) { return std::rotl(value, 32); }
constexpr uint64_t Byte(uint64_t value, int index) { return (value >> (8 * index)) & 0xff; }
constexpr uint64_t At(uint64_t byte, int index) { return byte << (8 * index); }

// Adds the bytes of two lanes, interleaved so that each sum's strong middle bits spread out.
void ZipperMerge(uint64_t high, uint64_t low, uint64_t* add_high, uint64_t* add_low) {
  *add_low += At(Byte(low, 3), 0) | At(Byte(high, 4), 1) | At(Byte(low, 2), 2) |
              At(Byte(low, 5), 3) | At(Byte(high, 6), 4) | At(Byte(low, 1), 5) |
              At(Byte(high, 7), 6) | At(Byte(low, 0), 7);
  *add_high += At(Byte(high, 3), 0) | At(Byte(low, 4), 1) | At(Byte(high, 2), 2) |
               At(Byte(high, 5), 3) | At(Byte(high, 1), 4) | At(Byte(low, 6), 5) |
               At(Byte(high, 0), 6) | At(Byte(low, 7), 7);
}

class State {
 public:
  explicit State(const Lanes& key) : mul0_(kFirst), mul1_(kSecond) {
    for (size_t i = 0; i < 4; ++i) {
      v0_[i] = mul0_[i] ^ key[i];
      v1_[i] = mul1_[i] ^ SwapHalves(key[i]);
    }
  }

  void Update(const Lanes& lanes) {
    for (size_t i = 0; i < 4; ++i) {
      v1_[i] += mul0_[i] + lanes[i];
      mul0_[i] ^= (v1_[i] & 0xffffffff) * (v0_[i] >> 32);
      v0_[i] += mul1_[i];
      mul1_[i] ^= (v0_[i] & 0xffffffff) * (v1_[i] >> 32);
    }
    ZipperMerge(v1_[1], v1_[0], &v0_[1], &v0_[0]);
    ZipperMerge(v1_[3], v1_[2], &v0_[3], &v0_[2]);
    ZipperMerge(v0_[1], v0_[0], &v1_[1], &v1_[0]);
    ZipperMerge(v0_[3], v0_[2], &v1_[3], &v1_[2]);
  }

  void UpdateRemainder(std::string_view rest) {
    const size_t size = rest.size();
    const size_t tail = size & 3;
    for (size_t i = 0; i < 4; ++i) {
      v0_[i] += (uint64_t{size} << 32) + size;
      const auto low = std::rotl(static_cast<uint32_t>(v1_[i]), static_cast<int>(size));
      const auto high = std::rotl(static_cast<uint32_t>(v1_[i] >> 32), static_cast<int>(size));
      v1_[i] = (uint64_t{high} << 32) | low;
    }
    char packet[kPacketBytes] = {};
    std::memcpy(packet, rest.data(), size - tail);
    if ((size & 16) != 0) {
      // The last four bytes, overlapping those before.
      std::memcpy(packet + 28, rest.data() + size - 4, 4);
    } else if (tail != 0) {
      const char* const end = rest.data() + size - tail;
      packet[16] = end[0];
      packet[17] = end[tail >> 1];
      packet[18] = end[tail - 1];
    }
    Update(LoadLanes(packet));
  }

  uint64_t Finish() {
    for (int round = 0; round < 4; ++round) {
      Update({SwapHalves(v0_[2]), SwapHalves(v0_[3]), SwapHalves(v0_[0]), SwapHalves(v0_[1])});
    }
    return v0_[0] + v1_[0] + mul0_[0] + mul1_[0];
  }

  static Lanes LoadLanes(const char* packet) {
    Lanes lanes;
    std::memcpy(lanes.data(), packet, kPacketBytes);
    return lanes;
  }

 private:
  Lanes mul0_;
  Lanes mul1_;
  Lanes v0_ = {};
  Lanes v1_ = {};
};

}  // namespace

uint64_t HighwayHash64(const std::array<uint64_t, 4>& key, std::string_view bytes) {
  State state(key);
  while (bytes.size() >= kPacketBytes) {
    state.Update(State::LoadLanes(bytes.data()));
    bytes.remove_prefix(kPacketBytes);
  }
  if (!bytes.empty()) state.UpdateRemainder(bytes);
  return state.Finish();
}

}  // namespace strobe::wire
