// One session from a path given on the command line, through the same engine as the server, so that
// times and event ids are those of the console.
//
//   STROBE_ASSIGN_OR_RETURN(const CommandSession session, OpenCommandSession("run.xplane.pb"));
//   session.opened->Lines(0);
//
// Nothing is written: no column files, no cache. Errors: those of ListSessions, SESSION_NOT_FOUND,
// SESSION_AMBIGUOUS, and those of opening.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/engine/engine.h"

namespace strobe::cli {

struct CommandSession {
  std::unique_ptr<engine::Engine> engine;
  engine::SessionSummary summary;
  // Null when it could not be opened; `open_error` then says why.
  std::shared_ptr<engine::OpenedSession> opened;
  Status open_error;
};

Result<CommandSession> OpenCommandSession(
    const std::string& path, const std::vector<std::string>& xla_dump_directories = {});

// Prints why a session that is there could not be opened, and returns the exit code. Content that
// is not a profile is no wrong usage, whatever code the reader gave it. With `json` the error is on
// standard output too, as the API writes it.
int ReportUnreadable(const Status& error, bool json);

}  // namespace strobe::cli
