// Times and durations as Google's JSON writes them.
//
//   FormatTimestamp(ns)                      // "2026-11-29T10:15:00.000000000Z"
//   ParseTimestamp("2026-11-29T11:15:00+01:00")
//   ParseDuration("0.5s"), FormatDuration(5'000'000'000)   // "5s"
//
// Unix nanoseconds in int64: years 1678 to 2262. "0001-01-01T00:00:00Z", Google's way to write "no
// time", reads as 0. Errors: TIME_MALFORMED, DURATION_MALFORMED.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace strobe::catalog {

inline constexpr std::string_view kNoTime = "0001-01-01T00:00:00Z";
// Some 317 years, the reach of Google's Duration is larger than any profile needs.
inline constexpr int64_t kMaxDurationSeconds = 9'000'000'000;

Result<int64_t> ParseTimestamp(std::string_view text);
std::string FormatTimestamp(int64_t unix_ns);
Result<int64_t> ParseDuration(std::string_view text);
std::string FormatDuration(int64_t duration_ns);

}  // namespace strobe::catalog
