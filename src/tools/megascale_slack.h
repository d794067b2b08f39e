// The slack of each DCN collective of one host. Part of megascale_stats.
//
//   STROBE_ASSIGN_OR_RETURN(const auto slack, SlackOfHost(*file, *modules, cancel));
//   for (const SlackSummary& row : slack) Print(row.rendezvous, row.slack_us);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/hlo/module_set.h"
#include "src/xplane/profile_file.h"

namespace strobe::tools {

// Means over the occurrences of one rendezvous; every duration in whole microseconds.
struct SlackSummary {
  std::string rendezvous;
  std::string recv_op;
  std::string send_op;
  std::string transfer_type;
  uint64_t slack_us = 0;
  uint64_t observed_us = 0;
  uint64_t send_us = 0;
  uint64_t send_done_us = 0;
  uint64_t recv_us = 0;
  uint64_t recv_done_us = 0;
  uint64_t stall_us = 0;
  uint64_t occurrences = 0;
  uint64_t transmitted_bytes = 0;
};

// Whether the host logged network transfers between slices at all.
bool HasMegascaleEvents(const xplane::ProfileFile& file);
// In the order of first appearance. `as_xprof`: recv durations are divided once more, as there.
Result<std::vector<SlackSummary>> SlackOfHost(const xplane::ProfileFile& file,
                                              const hlo::ModuleSet& modules, bool as_xprof,
                                              const CancelToken& cancel);
std::vector<SlackSummary> CombineSlack(const std::vector<std::vector<SlackSummary>>& hosts);

}  // namespace strobe::tools
