#include "src/analysis/combine_op_stats.h"

namespace strobe::analysis {

OpStats CombineOpStats(const std::vector<const OpStats*>& hosts) {
  if (hosts.empty()) return OpStats();
  return *hosts.front();
}

}  // namespace strobe::analysis
