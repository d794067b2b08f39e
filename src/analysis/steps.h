// The steps that a profile marks, and why there are none.
//
//   const StepsFound found = FindSteps(hosts, /*max_items=*/500);
//   if (!found.steps) Show(found.reason);
//
// In this order: a `Steps` line of a device (the first device that has one; measured before
// derived), else host events with a `step_num` stat (JAX's StepTraceAnnotation) on the line that
// has most of them, outermost ones only. XLA modules are not steps. Whether a name carries a stat
// is judged by its longest event on the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/overview.h"

namespace strobe::analysis {

struct StepsFound {
  std::optional<StepSummary> steps;
  std::string reason;  // when there are none
};

StepsFound FindSteps(const std::vector<HostInput>& hosts, size_t max_items);

// 1 for each name of the line whose longest event carries the stat; empty when the plane does not
// know the stat or no name has it. Cost: one pass, and one record a name.
std::vector<uint8_t> NamesWithStat(const xplane::ProfileFile& file, uint32_t plane, uint32_t line,
                                   std::string_view stat_name);

}  // namespace strobe::analysis
