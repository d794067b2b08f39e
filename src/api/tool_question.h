// A question to a tool as it comes over our own API: which tool, which hosts, which options.
//
//   STROBE_ASSIGN_OR_RETURN(AskedTool asked, ParseToolQuestion(tool, names_of_hosts,
//   request.query));
//
// Options come by their own names, or as `option.<name>` where the name is one that the routes use
// themselves. Unlike other parameters, an unknown option is an error: a mistyped one would silently
// answer another question. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/tools/tool.h"

namespace strobe::api {

using QueryPairs = std::vector<std::pair<std::string, std::string>>;

// Parameters of the routes around tools, not of the tools.
bool IsToolRouteParameter(std::string_view name);

// Errors: OPTION_UNKNOWN, OPTION_INVALID, HOST_UNKNOWN, SESSION_HAS_NO_HOSTS.
Result<tools::ToolQuestion> ParseToolQuestion(const tools::ToolDescriptor& tool,
                                              const std::vector<std::string>& hosts,
                                              const QueryPairs& query);

}  // namespace strobe::api
