#include "src/engine/host_clock.h"

#include <algorithm>

#include "src/base/clock.h"

namespace strobe::engine {

ClockAlignment AlignClocks(const std::vector<std::optional<int64_t>>& origins_unix_ns) {
  ClockAlignment alignment;
  alignment.shift_ps.assign(origins_unix_ns.size(), 0);
  for (const std::optional<int64_t>& origin : origins_unix_ns) {
    if (!origin) continue;
    alignment.origin_unix_ns = std::min(alignment.origin_unix_ns.value_or(*origin), *origin);
  }
  if (!alignment.origin_unix_ns) return alignment;
  for (size_t h = 0; h < origins_unix_ns.size(); ++h) {
    if (!origins_unix_ns[h]) continue;
    int64_t difference_ns = 0;
    const bool overflow =
        __builtin_sub_overflow(*origins_unix_ns[h], *alignment.origin_unix_ns, &difference_ns);
    if (overflow || difference_ns > ClockAlignment::kMaxSpreadNs) continue;
    alignment.shift_ps[h] = difference_ns * kPicosPerNano;
  }
  return alignment;
}

}  // namespace strobe::engine
