// Groups of a TPU plane's lines: the merged steps, and for every other event the group of the step
// (or module) that it overlaps.
//
//   GroupTpuPlane(file, plane, groups, &prepared_plane);
//
// Steps of one group that follow each other become one; steps without a group are dropped, unless
// none has one. The rewritten line carries its events itself. Cost: a merge, 2-4 ns an event.
#pragma once

#include <cstdint>
#include <map>

#include "src/analysis/prepared_host.h"

namespace strobe::analysis {

// `plane->lines` holds the groups that the forest gave to the grouping line already.
void GroupTpuPlane(const xplane::ProfileFile& file, size_t plane_index,
                   const std::map<int64_t, Group>& groups, PreparedPlane* plane);

}  // namespace strobe::analysis
