// What the hardware counters of TPUs are called, and what is known of them.
//
//   STROBE_ASSIGN_OR_RETURN(const std::vector<TpuCounter>& counters, TpuCountersOf("v6e"));
//   if (const CounterNote* note = NoteOfCounter(3257466888)) Print(note->sets);
//
// A counter's id is its address on the chip. Addresses are regular, so the tables in the .cc files
// hold only what repeats: "@ PREFIX ADDRESS FIRST,COUNT,STRIDE..." gives a group of counters; each
// {} of the prefix counts over one dimension (in the order of texts: 0, 1, 10, 11, 2); then follow
// NAME:PLACE, where the address is ADDRESS + 8 * PLACE and NAME has "count_" before it unless it
// begins with "=". Every full name is "PREFIXunprivileged_NAME".
//
// Errors: COUNTER_DEVICE_MISSING, COUNTER_DEVICE_UNKNOWN. Made once; immutable, so thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe::tools {

struct TpuCounter {
  std::string name;  // lower case
  uint64_t id = 0;
};

// `device` is "v6e" (900 counters) or "v7x" (2,933); in the order in which XProf lists them.
Result<const std::vector<TpuCounter>*> TpuCountersOf(std::string_view device);

struct CounterNote {
  std::string_view description;  // in our words
  std::string_view sets;         // what it counts, as XProf groups counters: "activity issue"
};
// nullptr when nothing is known of it (most counters of v7x, VPU operations of v6e).
const CounterNote* NoteOfCounter(uint64_t id);

namespace internal {
extern const std::string_view kV6eCounterTable;
extern const std::string_view kV7xCounterTable;
}  // namespace internal

}  // namespace strobe::tools
