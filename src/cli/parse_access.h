// Options and commands of access control, beside parse.cc; see access_command.h for what they do.
//
//   AddServeAccess(*serve_command, serve_options);
//   AddAccessCommands(app, access_options, action);
#pragma once

#include <functional>

#include "src/cli/access_command.h"
#include "src/cli/command.h"

namespace CLI {
class App;
}

namespace strobe::cli {

void AddServeAccess(CLI::App& serve, ServeOptions& options);
void AddAccessCommands(CLI::App& app, AccessOptions& options, std::function<Result<int>()>& action);

}  // namespace strobe::cli
