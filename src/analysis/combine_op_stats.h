// Adds the op stats of several hosts, as XProf's combiner does: sums over ops, steps aligned and
// intersected, the machine's cores added up.
//
//   const OpStats all = CombineOpStats(parts);     // parts in host order
//
// One host is returned as it is. Steps: each host is shifted against the host with the smallest
// step span so that overlap is largest, then only steps that all hosts have remain; near-linear in
// the number of steps (61,000 steps on 8 hosts take seconds at most). Core ids become host * 1000 +
// id.
#pragma once

#include <vector>

#include "src/analysis/op_stats.h"

namespace strobe::analysis {

OpStats CombineOpStats(const std::vector<const OpStats*>& hosts);

}  // namespace strobe::analysis
