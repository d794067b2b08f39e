// What a tool may ask of a session: its files, and what is computed from them once for all tools.
//
//   Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken&
//   cancel) {
//     STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const analysis::OpStats> stats,
//                             input.CombinedOpStats(question.hosts, cancel));
//     ...
//   }
//
// SessionInput (session_input.h) is the implementation over opened profile files; the engine holds
// one for each opened session. Thread-safe: several tools may ask at once, each thing is computed
// once. What is returned is immutable and may outlive the input's next change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/op_stats.h"
#include "src/analysis/prepared_host.h"
#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/hlo/module_set.h"
#include "src/xplane/profile_file.h"

namespace strobe::tools {

struct ToolHost {
  std::string name;                           // of the host, as in the file's name
  const xplane::ProfileFile* file = nullptr;  // nullptr: could not be opened
  int64_t shift_ps = 0;                       // session time = file time + shift
  std::optional<Status> error;                // why it could not be opened
};

// What can be told of a session from its metadata alone; what tools apply to.
struct SessionFacts {
  size_t host_count = 0;
  bool has_host_plane = false;
  bool has_gpu_plane = false;
  bool has_tpu_plane = false;
  bool has_hlo_modules = false;      // embedded, as XProf judges: the stat is known to the plane
  bool has_sidecar_modules = false;  // *.hlo_proto.pb beside the profile
  bool has_dcn_events = false;
  bool has_counters = false;     // a TPU plane knows `counter_value`
  bool has_allocations = false;  // MemoryAllocation events
  bool has_serving_requests = false;
};

class ToolInput {
 public:
  virtual ~ToolInput() = default;

  virtual const std::vector<ToolHost>& hosts() const = 0;
  virtual const SessionFacts& facts() const = 0;
  // Name of the run as the page shows it, for titles and file names.
  virtual std::string_view session_name() const = 0;

  // One host with group ids and flows; derived lines but those of TPU ops, which it may have too.
  // HOST_UNREADABLE when it has no file.
  virtual Result<std::shared_ptr<const analysis::PreparedHost>> Prepared(
      size_t host, const CancelToken& cancel) = 0;
  // With every derived line, for those who show the trace.
  virtual Result<std::shared_ptr<const analysis::PreparedHost>> PreparedForTrace(
      size_t host, const CancelToken& cancel) {
    return Prepared(host, cancel);
  }
  // Of one host; of the chosen hosts combined as XProf combines them. Hosts that cannot be read are
  // left out and named in OpStats::diagnostics; when none can be read, the first one's error.
  virtual Result<std::shared_ptr<const analysis::OpStats>> HostOpStats(
      size_t host, const CancelToken& cancel) = 0;
  virtual Result<std::shared_ptr<const analysis::OpStats>> CombinedOpStats(
      std::span<const size_t> hosts, const CancelToken& cancel) = 0;
  // As CombinedOpStats, but steps and what follows from them, the duty cycle and counters may be
  // missing (analysis::MakeOps): for tools that need ops only, which it serves sooner.
  virtual Result<std::shared_ptr<const analysis::OpStats>> CombinedOps(
      std::span<const size_t> hosts, const CancelToken& cancel) {
    return CombinedOpStats(hosts, cancel);
  }
  // The modules of all hosts, embedded ones and sidecar files, decoded on demand.
  virtual std::shared_ptr<const hlo::ModuleSet> Modules() = 0;
};

}  // namespace strobe::tools
