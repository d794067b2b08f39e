// The tools for agents as commands, in the manner of XProf's own command line: the answer is the
// tool's JSON on stdout, beginning with `capture`, which says what it is about.
//
//   strobe get_overview ~/logs                 the newest run of a log directory
//   strobe get_top_hlo_ops RUN_DIRECTORY --limit=5
//   strobe get_step_trace --session_dir RUN_DIRECTORY --host worker-0
//   strobe diff_sessions --baseline_session_id A --optimized_session_id B
//
//   strobe get_llo_static_analysis DUMP --mode=spills   *.llo_module.pb of a folder, or one of them
//
// Errors: {"status":"ERROR","reason","error"} on stdout and "REASON: message" on stderr; exit code
// 1 INTERNAL_ERROR, 2 USAGE_ERROR, 3 PATH_ERROR, 4 INVALID_VALUE. Text answers stand alone, their
// capture on stderr. An answer over kSpillBytes goes to a file in the temporary directory, and
// stdout says where.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/tools/value.h"

namespace strobe::cli {

inline constexpr uint64_t kSpillBytes = 10 * 1024 * 1024;

struct AgentCommandOptions {
  std::string tool;    // id
  std::string place;   // path, run of `logdir`, or address of a server
  std::string second;  // of diff_sessions
  std::string logdir;
  std::vector<std::string> hosts;
  std::map<std::string, std::string> tool_options;
  std::string output_path;  // of create_events_db and get_xspace_proto
  std::vector<std::string> xla_dump_directories;
  bool as_xprof = false;
  bool bypass_cache = false;  // nothing is stored by this command, so there is nothing to pass by
};

Result<int> RunAgentTool(const AgentCommandOptions& options);

// Prints a failure as XProf's command line does, and returns its exit code.
int ReportAgentFailure(const Status& error);

// A tool's document as the answers are printed.
std::string DocumentText(const tools::Value& document);

// What the place stands for: of a log directory its newest run, of a run's name the run.
std::string SessionPlace(const std::string& place, const std::string& logdir);

}  // namespace strobe::cli
