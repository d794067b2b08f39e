// The events of all rows of a tile that touch its span (rows.h), found together.
//
//   std::vector<EventRange> ranges;
//   FindTouching(lines, from_ps, to_ps, &ranges);     // ranges[i]: of the i-th row of all lines
//
// One row after the other would wait a dozen times for memory for each; here every step is taken
// for all rows before the next, and each asks the memory for what the next one reads. Cost: 0.1 to
// 0.2 us a row. Rows that are not in time order give some range, never one outside of the row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/timeline/rows.h"
#include "src/timeline/tile.h"

namespace strobe::timeline {

void FindTouching(std::span<const TileLine> lines, int64_t from_ps, int64_t to_ps,
                  std::vector<EventRange>* ranges);

}  // namespace strobe::timeline
