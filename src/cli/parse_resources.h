// Options and commands of a server's runs, beside parse.cc; see resource_command.h for what they
// do.
//
//   ResourceOptions options;
//   AddResources(app, options, action);
#pragma once

#include <functional>

#include "src/cli/resource_command.h"

namespace CLI {
class App;
}

namespace strobe::cli {

void AddResources(CLI::App& app, ResourceOptions& options, std::function<Result<int>()>& action);

}  // namespace strobe::cli
