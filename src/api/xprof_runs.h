// Runs as XProf's routes name them: by run name, or below a session_path or run_path inside the
// roots.
//
//   for (const XprofRun& run : XprofRuns(engine, request)) ...
//   const std::optional<xplane::SessionEntry> entry = FindXprofRun(engine, request, "demo/s1");
//
// With session_path the one directory is the only run, named by its last part; with run_path each
// session directly inside is, also those that no list has. Paths outside the roots reach nothing, as
// if they did not exist; CheckInsideRoots says so by name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/request.h"
#include "src/api/response.h"
#include "src/engine/engine.h"

namespace strobe::api {

struct XprofRun {
  std::string run;
  xplane::SessionEntry entry;
};

std::vector<XprofRun> XprofRuns(engine::Engine& engine, const Request& request);
std::optional<xplane::SessionEntry> FindXprofRun(engine::Engine& engine, const Request& request,
                                                 std::string_view run);
// The real path of a directory when it is inside one of the roots, else "".
std::string InsideRoots(const engine::Engine& engine, std::string_view path);

// PATH_OUTSIDE_ROOTS for a session_path or run_path that lies elsewhere, whether it exists or not.
Status CheckInsideRoots(const engine::Engine& engine, const Request& request);

// An answer as XProf sends it: gzip whatever the client accepts.
Response XprofAnswer(std::string bytes, std::string_view content_type, int status = 200);

}  // namespace strobe::api
