// Derived lines of GPU planes: steps, and for every stream its scopes, framework ops, modules, XLA
// ops and source lines; launch statistics from the host.
//
//   DeriveGpuLines({file, modules, groups, options}, cancel, &planes, &texts);
//
// `planes` holds the prepared lines of the file with their groups, `texts` a list for each plane;
// groups are filled up here (an event without one belongs to the latest step), and display ids are
// given in XProf's order: the streams that compute first, each followed by its derived lines. Cost:
// about 0.3 us a kernel.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"
#include "src/hlo/module_set.h"

namespace strobe::analysis {

struct GpuLinesInput {
  const xplane::ProfileFile& file;
  const hlo::ModuleSet& modules;
  const std::map<int64_t, Group>& groups;
  const PrepareOptions& options;  // without `op_lines` only groups and steps are made
};

// Errors: CANCELLED.
Status DeriveGpuLines(const GpuLinesInput& input, const CancelToken& cancel,
                      std::vector<PreparedPlane>* planes,
                      std::deque<std::deque<std::string>>* texts);

}  // namespace strobe::analysis
