// Which steps of several hosts are the same step.
//
//   const StepAlignment alignment = AlignSteps({&host0.steps, &host1.steps});
//   for (size_t i = 0; i < alignment.step_count; ++i)
//     Same(host0.steps.steps[alignment.first_step[0] + i],
//     host1.steps.steps[alignment.first_step[1] + i]);
//
// As XProf intersects steps: the host whose steps span the least time is the chief; each other host
// is moved by whole steps to where its steps overlap the chief's most (moves forward are tried
// first, of equal ones the first counts); what all hosts then have remains.
//
// Overlaps are found by walking both sequences side by side, so it is linear in the number of
// steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/analysis/step_database.h"

namespace strobe::analysis {

struct StepAlignment {
  size_t step_count = 0;
  std::vector<size_t> first_step;  // by host
  bool empty_intersect = false;    // hosts have steps, but none in common
};

// Steps of a host are in order of time. nullptr: the host takes no part.
StepAlignment AlignSteps(const std::vector<const StepDatabase*>& hosts);

}  // namespace strobe::analysis
