// When nothing ran on any of some lines: the gaps between their events, longest first.
//
//   STROBE_ASSIGN_OR_RETURN(GapList gaps, FindGaps(lines, {.from_ps = 0, .to_ps = end}, cancel));
//   gaps.longest[0].before            // the event that ended last before it
//
// The beginning of the span up to the first event and its end after the last one are gaps too, with
// no event at that side. Cost: about 10 ns an event of the outermost rows; events inside others are
// skipped over. Memory: `limit` gaps and one cursor a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/xplane/profile_file.h"

namespace strobe::timeline {

struct GapLine {
  const xplane::LineColumns* columns = nullptr;
  uint32_t line = 0;  // index in its plane
};

struct GapOptions {
  int64_t from_ps = 0;  // the file's time
  int64_t to_ps = 0;
  size_t limit = 100;
};

struct GapEdge {
  uint32_t line = 0;
  uint32_t event = 0;
};

struct Gap {
  int64_t start_ps = 0;
  int64_t end_ps = 0;
  std::optional<GapEdge> before;
  std::optional<GapEdge> after;
  int64_t duration_ps() const { return end_ps - start_ps; }
};

struct GapList {
  uint64_t count = 0;        // all of them
  int64_t total_ps = 0;      // likewise
  std::vector<Gap> longest;  // at most `limit`; of equal ones the earlier first
};

Result<GapList> FindGaps(std::span<const GapLine> lines, const GapOptions& options,
                         const CancelToken& cancel);

}  // namespace strobe::timeline
