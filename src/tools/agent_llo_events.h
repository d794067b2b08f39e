// What TPU kernels did, instruction by instruction, where the trace recorded it: in SQL.
//
//   llo_query   one SELECT over the table `llo_events`, or the name of a prepared one
//   llo_load    the table as an SQLite file, for other programs
//
//   strobe llo_query RUN instruction_mix
//   strobe llo_query RUN "SELECT event_name, sum(duration_ps) FROM llo_events GROUP BY 1 ORDER BY
//   2"
//
// Rows are the events of a TPU's lines LLO, SALU, VALU, EUP, XLU, VLD, VST and MXU Instructions,
// Pallas Primitives, Source Lines and Source code. Prepared: instruction_mix,
// top_pallas_primitives, longest_events. A session without such events answers NO_DATA with the
// option that records them. Cost: 2-5 us an event. Limits and errors: those of agent_sql.h;
// `Events` can be asked too.
#pragma once

#include "src/tools/agent_common.h"

namespace strobe::tools {

ToolDescriptor MakeLloQueryTool();
ToolDescriptor MakeLloLoadTool();

}  // namespace strobe::tools
