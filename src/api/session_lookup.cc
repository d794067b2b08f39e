#include "src/api/session_lookup.h"

#include <filesystem>

#include "src/base/log.h"

namespace strobe::api {

std::string FindSessionId(engine::Engine& engine, const std::string& session_path) {
  if (const Status marked = engine.MarkWhole(session_path); !marked.ok()) {
    LogWarning("capture.mark_failed", {{"reason", marked.ToString()}});
  }
  if (const Status refreshed = engine.Refresh(); !refreshed.ok()) {
    LogWarning("capture.refresh_failed", {{"reason", refreshed.ToString()}});
  }
  std::error_code error;
  const std::filesystem::path wanted = std::filesystem::weakly_canonical(session_path, error);
  for (const engine::SessionSummary& summary : engine.Sessions()) {
    if (summary.entry.path == session_path) return summary.entry.id;
    if (!error && std::filesystem::weakly_canonical(summary.entry.path, error) == wanted) {
      return summary.entry.id;
    }
  }
  return "";
}

}  // namespace strobe::api
