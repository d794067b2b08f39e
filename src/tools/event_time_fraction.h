// Which share of each step the events of a name took, by chip and by host: how XProf finds
// barriers and debug prints.
//
//   STROBE_ASSIGN_OR_RETURN(EventTimeFractions found,
//                           FindEventTimeFractions(input, hosts, "barrier-cores", cancel));
//   const double percent = found.MeanPercent();
//
// An event counts when its name contains the text, it belongs to a step that its plane has, and it
// carries the time it took on the device. Of three or more steps with such events the first and the
// last are left out; of two, one that is shorter than 1 % of the other.
//
// Cost: the names of the device planes; the events of lines only where a name matches.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/tools/tool_input.h"

namespace strobe::tools {

struct EventTimeFractions {
  std::map<std::string, std::vector<double>> by_chip;  // plane name; steps in order
  std::map<std::string, std::vector<double>> by_host;  // mean over the planes of each step
  // Over all chips and steps; 0 when there are none.
  double MeanPercent() const;
};

Result<EventTimeFractions> FindEventTimeFractions(ToolInput& input, std::span<const size_t> hosts,
                                                  std::string_view event_name,
                                                  const CancelToken& cancel);

// Hosts that stand out: the modified z-score of their mean share is beyond 3.5 (median and median
// absolute deviation, which counts as 0.1 at least). Needs three hosts.
struct Straggler {
  std::string host;
  double mean_percent = 0;
  double score = 0;
};
std::vector<Straggler> FindStragglers(const std::map<std::string, double>& percent_by_host);

}  // namespace strobe::tools
