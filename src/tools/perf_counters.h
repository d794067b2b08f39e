// Hardware counters of TPUs and GPUs as the profile has them: a row a counter and sample.
//
//   names_only=1 & device_type=v6e|v7x    instead: the names and ids of all counters of a device
//
// Sets and descriptions are those of the event; of TPU v6e a table knows more
// (tpu_counter_names.h). The list of names needs no session: CounterNamesDocument gives it alone.
// Errors: COUNTER_DEVICE_MISSING, COUNTER_DEVICE_UNKNOWN (XProf: status 500 and the message).
// Limit: kMaxCounterRows; beyond it the table is cut and a notice says so.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

// Kernel profiles of whole programs have some 100,000.
inline constexpr size_t kMaxCounterRows = 2'000'000;

ToolDescriptor MakePerfCountersTool();

// A list of {"name", "val"}.
Result<Value> CounterNamesDocument(std::string_view device_type);

}  // namespace strobe::tools
