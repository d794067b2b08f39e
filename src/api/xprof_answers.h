// What XProf's routes answer, apart from HTTP: text exactly as its Python server writes it.
//
//   PythonJsonStrings({"a", "b"})    -> ["a", "b"]
//   XprofHosts(entry, "overview_page") -> ALL_HOSTS for tools that only have it
//
// Pure functions, checked against recorded answers of XProf 2.24.2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/engine/engine.h"
#include "src/tools/tool.h"
#include "src/xplane/session.h"

namespace strobe::api {

inline constexpr std::string_view kAllHosts = "ALL_HOSTS";

// As json.dumps: ", " between items, everything beyond ASCII escaped.
std::string PythonJsonString(std::string_view text);
std::string PythonJsonStrings(const std::vector<std::string>& texts);
// [{"hostname": "a"}, ...]
std::string PythonJsonHosts(const std::vector<std::string>& hosts);

// Hosts to offer for a tool: the one host; or of several all of them, with ALL_HOSTS first or alone
// for the tools that combine hosts.
std::vector<std::string> XprofHosts(const xplane::SessionEntry& entry, std::string_view tool);
// What XProf would offer for a session with these facts, in its order, of the tools there are.
std::vector<std::string> XprofToolsFor(const tools::SessionFacts& facts,
                                       const std::vector<tools::ToolDescriptor>& tools);
// The same of an opened session: nothing when XProf could not read all of it.
std::vector<std::string> XprofToolsOf(engine::OpenedSession& session,
                                      const std::vector<tools::ToolDescriptor>& tools);
// Whether XProf would read the files of these hosts (all, when none are named): it takes a file
// whole or not at all, where we read what there is.
bool XprofReads(engine::OpenedSession& session, const std::vector<size_t>& hosts = {});
// Keys of all modules, comma separated and sorted; "NO_MODULE" when there is none.
std::string XprofModuleList(engine::OpenedSession& session);

}  // namespace strobe::api
