#include "src/cli/open_session.h"

#include <algorithm>
#include <thread>

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/cli/command.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

constexpr size_t kNamedAtMost = 5;

Status Ambiguous(const std::string& path, const std::vector<engine::SessionSummary>& sessions) {
  std::string hint = "Give one of them:";
  for (size_t i = 0; i < std::min(sessions.size(), kNamedAtMost); ++i) {
    hint += (i > 0 ? ", " : " ") + sessions[i].entry.path;
  }
  if (sessions.size() > kNamedAtMost) hint += " ... (strobe ls lists all)";
  return InvalidArgumentError("SESSION_AMBIGUOUS", "There are " + std::to_string(sessions.size()) +
                                                       " sessions below this path.")
      .Where(path)
      .Hint(hint);
}

}  // namespace

Result<CommandSession> OpenCommandSession(const std::string& path,
                                          const std::vector<std::string>& xla_dump_directories) {
  engine::EngineOptions options;
  options.xla_dump_directories = xla_dump_directories;
  options.roots = {path};
  options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // The file is looked at once, as it is now.
  options.settle_ms = 0;
  options.rescan_interval_ms = 24 * 60 * 60 * 1000;
  // What the engine would log, the command prints itself, in words.
  SetLogLevel("error");
  CommandSession session;
  session.engine = engine::Engine::Create(std::move(options), SystemClock());
  STROBE_RETURN_IF_ERROR(session.engine->Refresh());
  const std::vector<engine::SessionSummary> sessions = session.engine->Sessions();
  if (sessions.empty()) {
    return NotFoundError("SESSION_NOT_FOUND", "There is no profile at this path.")
        .Where(path)
        .Hint("Expected a session directory with <host>.xplane.pb, or one profile file.");
  }
  if (sessions.size() > 1) return Ambiguous(path, sessions);
  const std::string id = sessions[0].entry.id;
  Result<std::shared_ptr<engine::OpenedSession>> opened = session.engine->Open(id);
  session.summary = session.engine->Sessions().at(0);
  if (opened.ok()) {
    session.opened = std::move(opened).value();
  } else {
    session.open_error = opened.status();
  }
  return session;
}

int ReportUnreadable(const Status& error, bool json) {
  PrintError(ErrorText(error));
  if (json) PrintErrorJson(error);
  const int exit_code = ExitCodeOf(error);
  return exit_code == kExitUsage ? int{kExitFailed} : exit_code;
}

}  // namespace strobe::cli
