// Placing hosts on one clock: session time 0 is the earliest host's wall-clock origin, and each
// other host is shifted by how much later its own origin is.
//
//   const ClockAlignment clock = AlignClocks(origins_of_hosts);
//
// Trusts the hosts' wall clocks. A host that gives no wall clock, or one more than kMaxSpreadNs
// from the earliest, is not shifted (it then begins at session time 0).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace strobe::engine {

struct ClockAlignment {
  // One day: hosts of one capture begin within seconds of each other.
  static constexpr int64_t kMaxSpreadNs = 86'400LL * 1'000'000'000;

  std::optional<int64_t> origin_unix_ns;
  std::vector<int64_t> shift_ps;  // session time = file time + shift
};

ClockAlignment AlignClocks(const std::vector<std::optional<int64_t>>& origins_unix_ns);

}  // namespace strobe::engine
