#include "src/api/tool_question.h"

#include <algorithm>
#include <map>

#include "src/api/request.h"
#include "src/api/table_query.h"

namespace strobe::api {
namespace {

constexpr std::string_view kOptionPrefix = "option.";
// Names in a hint; a session may have hundreds of hosts.
constexpr size_t kNamedAtMost = 10;

Status UnknownHost(std::string_view name, const std::vector<std::string>& hosts) {
  std::string hint = "It has:";
  for (size_t i = 0; i < std::min(hosts.size(), kNamedAtMost); ++i) {
    hint += (i > 0 ? ", " : " ") + hosts[i];
  }
  if (hosts.size() > kNamedAtMost)
    hint += " and " + std::to_string(hosts.size() - kNamedAtMost) + " more";
  return NotFoundError("HOST_UNKNOWN", "The session has no host of that name.")
      .Where(std::string(name.substr(0, 100)))
      .Hint(hint + ".");
}

}  // namespace

bool IsToolRouteParameter(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "hosts", "table",  "columns", "sort",     "filter", "q",        "offset",
      "limit", "format", "order",   "as_xprof", "tool",   "sessions", "keys"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

Result<tools::ToolQuestion> ParseToolQuestion(const tools::ToolDescriptor& tool,
                                              const std::vector<std::string>& hosts,
                                              const QueryPairs& query) {
  if (hosts.empty()) {
    return FailedPreconditionError("SESSION_HAS_NO_HOSTS", "The session has no profile file.");
  }
  tools::ToolQuestion question;
  std::map<std::string, std::string> given;
  std::vector<std::string> names;
  for (const auto& [name, value] : query) {
    if (name.starts_with(kOptionPrefix)) {
      given[name.substr(kOptionPrefix.size())] = value;
    } else if (name == "hosts") {
      names = SplitList(value);
    } else if (name == "as_xprof") {
      question.as_xprof = EqualsIgnoreCase(value, "true");
      if (!question.as_xprof && !EqualsIgnoreCase(value, "false")) {
        return InvalidArgumentError("PARAMETER_MALFORMED", "as_xprof is true or false.")
            .Where("as_xprof=" + value.substr(0, 64));
      }
    } else if (!IsToolRouteParameter(name)) {
      given[name] = value;
    }
  }
  STROBE_ASSIGN_OR_RETURN(
      question.options,
      tools::ToolOptions::Parse(tool.options, given, tools::ToolOptions::Policy::kStrict));
  for (const std::string& name : names) {
    const auto found = std::ranges::find(hosts, name);
    if (found == hosts.end()) return UnknownHost(name, hosts);
    const auto index = static_cast<size_t>(found - hosts.begin());
    if (std::ranges::find(question.hosts, index) == question.hosts.end()) {
      question.hosts.push_back(index);
    }
  }
  if (!names.empty()) return question;
  const size_t count = tool.scope == tools::HostScope::kOneHost ? 1 : hosts.size();
  for (size_t i = 0; i < count; ++i) question.hosts.push_back(i);
  return question;
}

}  // namespace strobe::api
