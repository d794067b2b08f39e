// How much of asynchronous work (copies, collectives) is hidden behind computation.
//
//   analyze_async_overlap: {summary{overlap_ratio ...}, by_op, by_plane, top_exposed, concurrency}
//
// A window is an event of the line Async XLA Ops, or where a device has none the time from an op
// "x-start" to its "x-done". It is covered while any op that is neither runs on the device's op
// lines; what is not covered is exposed. hidden: at least 90% covered, exposed: at most 10%,
// partial between (both are options). Cost: one pass over op lines and a sort.
#pragma once

#include "src/tools/agent_common.h"
#include "src/tools/agent_event_walk.h"

namespace strobe::tools {

ToolDescriptor MakeAnalyzeAsyncOverlapTool();

// How much of [lo, hi) the merged intervals cover. Cost: two binary searches.
class Coverage {
 public:
  explicit Coverage(std::vector<Interval> merged);
  int64_t Covered(int64_t lo, int64_t hi) const;

 private:
  int64_t Before(int64_t time) const;  // covered time before it
  std::vector<Interval> merged_;
  std::vector<int64_t> sums_;  // of all intervals before each
};

// "%copy-start.3 = ..." -> "copy-start.3".
std::string InstructionName(std::string_view event_name);
// {"copy.3", true} of "copy-start.3"; {"", ...} of what is no half of an async op. send and recv
// are starts.
struct AsyncRole {
  std::string key;
  bool is_start = false;
};
AsyncRole AsyncRoleOf(std::string_view instruction);
// The kind of op without numbers and halves: "copy" of "copy-start.3".
std::string OpFamily(std::string_view instruction);

}  // namespace strobe::tools
