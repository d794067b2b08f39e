// How long the chips of a TPU were busy: the union of their ops, but for those that only wait for
// others, over the span of their programs.
//
//   STROBE_ASSIGN_OR_RETURN(const DutyCycle duty, DutyCycleOf(host, planes, cores, cancel));
//   // duty.busy_ps / (duty.busy_ps + duty.idle_ps)
//
// Cores of one chip are united; cores of which nothing is known count by themselves. Cost: 3 ns an
// event of op and module lines. Memory: none where one line of ops makes a chip busy; else 16 B for
// each stretch without a pause.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "src/analysis/op_stats.h"
#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::analysis {

struct DutyCycle {
  uint64_t busy_ps = 0;
  uint64_t idle_ps = 0;
  // Where custom calls whose metadata knows neither flops nor the use of ICI count as idle.
  uint64_t busy_high_confidence_ps = 0;
  uint64_t idle_high_confidence_ps = 0;
};

// Categories of ops during which the core computes nothing.
bool IsOffDutyCategory(std::string_view category);

// `planes`: indices of device planes; `cores`: by plane id.
Result<DutyCycle> DutyCycleOf(const PreparedHost& host, std::span<const size_t> planes,
                              const std::map<uint32_t, CoreDetails>& cores,
                              const CancelToken& cancel);

}  // namespace strobe::analysis
