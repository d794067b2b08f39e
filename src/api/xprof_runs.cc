#include "src/api/xprof_runs.h"

#include <algorithm>
#include <filesystem>

#include "src/api/caller.h"

namespace strobe::api {
namespace {

namespace fs = std::filesystem;

std::string NameOf(const fs::path& path) { return path.filename().string(); }

// Sessions whose directory is `directory`, or lies directly in it. Only those whose last parts fit
// are looked up on disk.
std::vector<XprofRun> SessionsAt(engine::Engine& engine, const fs::path& directory, bool inside) {
  std::vector<XprofRun> runs;
  for (engine::SessionSummary& summary : engine.Sessions()) {
    const fs::path path(summary.entry.path);
    const fs::path place = inside ? path.parent_path() : path;
    if (NameOf(place) != NameOf(directory)) continue;
    std::error_code error;
    if (fs::canonical(place, error) != directory || error) continue;
    if (inside && summary.entry.files.empty()) continue;
    runs.push_back({NameOf(path), std::move(summary.entry)});
  }
  return runs;
}

// Directories of profiles that are no sessions of the list.
std::vector<XprofRun> LooseRunsAt(engine::Engine& engine, const fs::path& directory, bool inside) {
  std::vector<fs::path> directories;
  std::error_code error;
  if (!inside) {
    directories.push_back(directory);
  } else {
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
      std::error_code ignored;
      if (at->is_directory(ignored)) directories.push_back(at->path());
    }
  }
  std::vector<XprofRun> runs;
  for (const fs::path& place : directories) {
    Result<std::vector<xplane::SessionEntry>> entries = xplane::ListSessions(place.string(), {});
    if (!entries.ok()) continue;
    for (xplane::SessionEntry& entry : *entries) {
      if (fs::canonical(entry.path, error) != place || error) continue;
      if (inside && entry.files.empty()) continue;
      engine.Adopt(entry);
      runs.push_back({NameOf(place), std::move(entry)});
    }
  }
  return runs;
}

}  // namespace

namespace {

// `path` is real.
bool IsInsideRoots(const engine::Engine& engine, const fs::path& path) {
  for (const std::string& root : engine.options().roots) {
    std::error_code error;
    const fs::path real_root = fs::canonical(root, error);
    if (error) continue;
    const auto [end, unused] =
        std::mismatch(real_root.begin(), real_root.end(), path.begin(), path.end());
    if (end == real_root.end()) return true;
  }
  return false;
}

}  // namespace

std::string InsideRoots(const engine::Engine& engine, std::string_view path) {
  std::error_code error;
  const fs::path real = fs::canonical(fs::path(path), error);
  if (error || !fs::is_directory(real, error)) return "";
  return IsInsideRoots(engine, real) ? real.string() : "";
}

Status CheckInsideRoots(const engine::Engine& engine, const Request& request) {
  for (const char* name : {"session_path", "run_path"}) {
    const std::string_view path = request.Query(name).value_or("");
    if (path.empty()) continue;
    std::error_code error;
    // Of what is not there, the part that is.
    const fs::path real = fs::weakly_canonical(fs::absolute(fs::path(path), error), error);
    if (!error && IsInsideRoots(engine, real)) continue;
    return PermissionDeniedError("PATH_OUTSIDE_ROOTS",
                                 "The directory lies outside of what this server shows.")
        .Where(name)
        .Hint("Name a directory below one that `strobe serve` was given.");
  }
  return OkStatus();
}

std::vector<XprofRun> XprofRuns(engine::Engine& engine, const Request& request) {
  const std::string_view session_path = request.Query("session_path").value_or("");
  const std::string_view run_path = request.Query("run_path").value_or("");
  std::vector<XprofRun> runs;
  if (session_path.empty() && run_path.empty()) {
    for (engine::SessionSummary& summary : engine.Sessions()) {
      if (!MaySee(request, summary.entry)) continue;
      std::string run = summary.entry.xprof_run();
      runs.push_back({std::move(run), std::move(summary.entry)});
    }
    return runs;
  }
  const bool one = !session_path.empty();
  const std::string directory = InsideRoots(engine, one ? session_path : run_path);
  if (directory.empty()) return runs;
  runs = SessionsAt(engine, directory, /*inside=*/!one);
  if (runs.empty()) runs = LooseRunsAt(engine, directory, /*inside=*/!one);
  std::erase_if(runs, [&request](const XprofRun& run) { return !MaySee(request, run.entry); });
  return runs;
}

std::optional<xplane::SessionEntry> FindXprofRun(engine::Engine& engine, const Request& request,
                                                 std::string_view run) {
  // Among what the caller may see: another project's run of the same name must not hide it.
  if (request.caller == nullptr && request.Query("session_path").value_or("").empty() &&
      request.Query("run_path").value_or("").empty()) {
    Result<xplane::SessionEntry> entry = engine.FindByXprofRun(std::string(run));
    return entry.ok() ? std::optional(std::move(entry).value()) : std::nullopt;
  }
  for (XprofRun& known : XprofRuns(engine, request)) {
    if (known.run == run) return std::move(known.entry);
  }
  return std::nullopt;
}

Response XprofAnswer(std::string bytes, std::string_view content_type, int status) {
  Response response;
  response.status = status;
  response.content_type = std::string(content_type);
  response.body = std::make_shared<const std::string>(std::move(bytes));
  response.compression = Compression::kAlways;
  response.revalidate = status == 200;
  return response;
}

}  // namespace strobe::api
