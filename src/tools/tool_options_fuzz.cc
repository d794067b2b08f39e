// Every tool with any options, on a tiny session: an answer or an error with a name, in bounded
// time. The first byte chooses the tool, the second the hosts and how strictly options are read;
// then `name=value` lines. A line without `=` is the value of the tool's next option.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "src/tools/registry.h"
#include "src/tools/session_for_fuzz.h"

namespace strobe::tools {
namespace {

// A question whose limits anybody may raise would rightly take minutes.
bool IsLimit(std::string_view name) { return name.starts_with("max_"); }

std::map<std::string, std::string> Given(const ToolDescriptor& tool, std::string_view text) {
  std::map<std::string, std::string> given;
  size_t next = 0;
  while (!text.empty() && given.size() < 20) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      given[std::string(line.substr(0, equals))] = std::string(line.substr(equals + 1));
    } else if (next < tool.options.size()) {
      given[tool.options[next++].name] = std::string(line);
    }
  }
  std::erase_if(given, [](const auto& option) { return IsLimit(option.first); });
  for (const OptionSpec& spec : tool.options) {
    if (spec.name == "max_steps") given[spec.name] = "100000";
  }
  return given;
}

void CheckNamed(const Status& status) {
  STROBE_CHECK(!status.name().empty() && !status.message().empty());
}

void Ask(uint8_t choice, uint8_t how, std::string_view text) {
  static const std::shared_ptr<SessionInput> session = TinySession();
  const ToolDescriptor& tool = AllTools()[choice % AllTools().size()];
  const auto policy = (how & 1) != 0 ? ToolOptions::Policy::kStrict : ToolOptions::Policy::kLenient;
  Result<ToolOptions> options = ToolOptions::Parse(tool.options, Given(tool, text), policy);
  if (!options.ok()) return CheckNamed(options.status());
  ToolQuestion question{.options = *std::move(options), .as_xprof = (how & 2) != 0};
  if (tool.scope == HostScope::kOneHost) {
    question.hosts = {size_t{(how & 4) != 0}};
  } else if (tool.scope == HostScope::kAllHosts || (how & 8) == 0) {
    question.hosts = {0, 1};
  } else {
    question.hosts = {size_t{(how & 4) != 0}};
  }
  const Result<ToolResult> result = tool.run(question, *session, CancelToken());
  if (!result.ok()) return CheckNamed(result.status());
  STROBE_CHECK(result->ApproximateBytes() < uint64_t{64} << 20);
}

}  // namespace
}  // namespace strobe::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  strobe::tools::Ask(data[0], data[1],
                     std::string_view(reinterpret_cast<const char*>(data) + 2, size - 2));
  return 0;
}
