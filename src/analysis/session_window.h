// The span of time that a session is about.
//
//   const TimeWindow window = SessionWindow(hosts, /*decode=*/true);
//
// A host's window is what its `Task Environment` plane says, when that is sane (it ends after it
// begins and some event touches it); else first to last event. The session's window is the union.
// Events beyond kMaxPlausiblePs (26 days from the origin: clamped or garbage) do not stretch it;
// they are counted by the completeness record. Cost: O(rows) once the lines are decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/analysis/overview.h"
#include "src/xplane/profile_file.h"

namespace strobe::analysis {

inline constexpr int64_t kMaxPlausiblePs = int64_t{1} << 61;

struct TimeWindow {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  int64_t length_ps() const { return end_ps - start_ps; }
};

// First to last plausible event of a line, in file time; nullopt when it has none.
std::optional<TimeWindow> LineWindow(const xplane::LineColumns& line);

// In file time. Looks only at lines that are decoded already unless `decode`.
std::optional<TimeWindow> HostWindow(const xplane::ProfileFile& file, bool decode);

// In session time; {0, 0} when no host knows. `known`: windows of hosts, by index, that need not be
// looked for (HostWindow of a time when all was decoded); it may be shorter than `hosts`.
TimeWindow SessionWindow(const std::vector<HostInput>& hosts, bool decode,
                         std::span<const std::optional<TimeWindow>> known = {});

}  // namespace strobe::analysis
