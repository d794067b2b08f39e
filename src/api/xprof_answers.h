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
// Tools whose XProf address opens a page here, in XProf's order.
std::vector<std::string> ServedXprofTools();

}  // namespace strobe::api
