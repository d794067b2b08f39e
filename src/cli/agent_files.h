// The commands for agents that write files, in the manner of XProf's command line.
//
//   strobe create_events_db SESSION --output_path events.sqlite   the events as an SQLite file
//   strobe llo_load SESSION --db_path llo.sqlite   what TPU kernels executed, likewise
//   strobe get_xspace_proto SESSION --host h0 > h0.xplane.pb      the profile itself, uncompressed
//   strobe upload_trace h0.xplane.pb --logdir ~/logs --run_name r  into plugins/profile/r
//   strobe install_skills --target_dir .claude/skills/strobe      what an agent should know of us
//
// Each prints one JSON object that says what was written. Files are there whole or not at all.
// Nothing that exists is replaced: by upload_trace and install_skills only with --force, by the
// others not at all. Errors as in agent_command.h, with the names NEEDS_FILES, HOST_AMBIGUOUS,
// RUN_NAME_INVALID, FILE_EXISTS, OUTPUT_MISSING and those of opening and writing files.
#pragma once

#include <string>

#include "src/base/status.h"
#include "src/cli/agent_command.h"

namespace strobe::cli {

struct AgentFileOptions {
  std::string file;  // of upload_trace
  std::string logdir;
  std::string run_name = "imported_trace";
  std::string target_directory = ".claude/skills/strobe";
  bool force = false;
};

// Both take the session of `options`, and its `output_path`; their errors are not yet printed.
// The first also answers llo_load.
Result<int> CreateEventsDb(const AgentCommandOptions& options);
Result<int> GetXspaceProto(const AgentCommandOptions& options);

// What to print instead, and the exit code.
Result<int> RunGetXspaceProto(const AgentCommandOptions& options);
Result<int> RunUploadTrace(const AgentFileOptions& options);
Result<int> RunInstallSkills(const AgentFileOptions& options);

// The texts that install_skills writes.
std::string SkillText();
std::string SkillToolsText();  // every tool with its options

}  // namespace strobe::cli
