// Groups: which step or request every event belongs to. XProf's event grouping for hosts, GPUs and
// the grouping lines of TPUs.
//
//   GroupingResult result;
//   STROBE_RETURN_IF_ERROR(GroupEvents(file, links, max_groups, cancel, &result));
//   result.lines[p][l]      // group of each event; empty: none
//
// A root (stat _r, TraceContext, the first executor event of a loop's iteration) and everything it
// caused is a group; roots are numbered by level, then time. Without a root that reaches a
// TensorCore the steps of all TensorCores count on in lock step. A file with loop ops of TensorFlow
// is not grouped at all. Cost: nothing when there are no roots, else 15-25 ns an event of the lines
// that have links.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/analysis/event_links.h"
#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::analysis {

struct GroupingResult {
  struct LineResult {
    std::vector<int32_t> groups;           // by event of the file; empty: none
    std::vector<int32_t> region_groups;    // likewise of regions
    std::vector<EventAddition> additions;  // step_name
    std::vector<int8_t> is_eager;
  };
  std::vector<std::vector<LineResult>> lines;  // by plane and line
  std::map<int64_t, Group> groups;
  bool skipped = false;  // loop ops
};

// `links`: of each plane and line. Errors: CANCELLED, PREPARE_LIMIT_GROUPS.
Status GroupEvents(const xplane::ProfileFile& file,
                   const std::vector<std::vector<LineLinks>>& links, uint64_t max_groups,
                   const CancelToken& cancel, GroupingResult* result);

// The line of a TPU plane whose events are its groups: the steps, else the modules; -1 when neither
// has events.
ptrdiff_t TpuGroupingLine(const xplane::ProfileFile& file, size_t plane);
bool IsStepLineName(std::string_view name);
bool IsModuleLineName(std::string_view name);

}  // namespace strobe::analysis
