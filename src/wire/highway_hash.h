// HighwayHash-64 (J. Alakuijala, B. Cox, J. Wassenberg: a keyed hash of 256-bit state), portable.
//
//   const uint64_t hash = HighwayHash64(kKey, bytes);
//
// Used to check the hashes in Riegeli files. Cost: about 1 GB/s.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strobe::wire {

uint64_t HighwayHash64(const std::array<uint64_t, 4>& key, std::string_view bytes);

}  // namespace strobe::wire
