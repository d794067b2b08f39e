// Two sessions beside each other, for agents.
//
//   Value diff = DiffOfSides({"before", kernel_stats, kpi, hlo_stats}, {"after", ...});
//
// diff_sessions lists the twenty kernels that changed most, with a table in markdown, of answers of
// get_kernel_stats (with summary), get_kpi_metrics and get_hlo_stats about both. A tool sees one
// session, so whoever has both asks and calls DiffOfSides (src/cli/agent_command.h does); the entry
// in the registry is there for its name and says that a second session is missing. Cost: linear in
// the kernels.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeDiffSessionsTool();

struct DiffSide {
  std::string name;
  Value kernel_stats = Value::Object();  // of get_kernel_stats with include_summary
  Value kpi = Value::Object();
  Value hlo_stats = Value::Object();
};
Value DiffOfSides(DiffSide baseline, DiffSide optimized);

}  // namespace strobe::tools
