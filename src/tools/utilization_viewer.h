// Utilization of the units of TPU cores, from hardware counter samples: a table of what was
// achieved and what the unit could have done, a row a unit.
//
// Formulas: tpu_utilization.h. Sessions without counters give the table without rows and a notice
// that says how to capture them.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeUtilizationViewerTool();

// What tools on TPU counters say of a session that has none.
Applicability CounterApplicability(const SessionFacts& facts);
void AddCounterNotice(const SessionFacts& facts, ToolResult* result);

// The file of a host, or why there is none; nullptr for an empty one, which is a profile of no
// device.
Result<const xplane::ProfileFile*> FileOfHost(const ToolInput& input, size_t host);

}  // namespace strobe::tools
