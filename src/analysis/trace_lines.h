// Lines that repeat what others measured, by their reserved ids.
#pragma once

#include <cstdint>

namespace strobe::analysis {

// XProf numbers the lines it derives from here on, in 32 bits; ids of files are that number
// extended by its sign, or as it is.
inline bool IsDerivedLineId(int64_t id) {
  constexpr auto kFirst = static_cast<int32_t>(0xdeadbeef);
  constexpr int32_t kCount = 290;
  const auto low = static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(id)));
  return low >= kFirst && low < kFirst + kCount;
}

}  // namespace strobe::analysis
