// What `strobe serve` makes of its settings, apart from starting anything.
//
//   STROBE_ASSIGN_OR_RETURN(ListenAddress listen, ParseListen("127.0.0.1:8080",
//   Protection::kNone));
//
// Errors: LISTEN_MALFORMED; LISTEN_NOT_LOOPBACK when the address is reachable from other machines
// and there is neither access control nor --insecure-no-auth.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/project_map.h"
#include "src/base/status.h"

namespace strobe::cli {

struct ListenAddress {
  std::string host;
  uint16_t port = 0;
};

// Who may come in, as far as the address to listen on is concerned.
enum class Protection : uint8_t { kNone, kAccessControl, kInsecureByWish };
Result<ListenAddress> ParseListen(std::string_view text, Protection protection);
// "vision=/logs/vision" of --project; the folder must be there. Errors: PROJECT_MALFORMED.
Result<std::vector<api::ProjectMap::Folder>> ParseProjects(const std::vector<std::string>& given);
// A variable of the environment; "" when it is not set.
std::string Environment(const char* name);
// $XDG_CACHE_HOME/strobe, else $HOME/.cache/strobe, else "" (no cache).
std::string DefaultCacheDirectory(const std::string& xdg_cache_home, const std::string& home);
// Where runs are kept when nobody says: $XDG_STATE_HOME/strobe/catalog.db, else
// $HOME/.local/state/strobe/catalog.db, else in memory.
std::string DefaultCatalogPlace(const std::string& xdg_state_home, const std::string& home);
// The names given and the machine's own name.
std::vector<std::string> AllowedHosts(std::vector<std::string> given);

// Memory that the process may use: the machine's, or less when a container's limits (cgroup v2 at
// `cgroup_root`, for the group that `self_cgroup` names, and v1) allow less. Groups above count
// too.
uint64_t UsableMemoryBytes(uint64_t machine_bytes, const std::string& cgroup_root,
                           const std::string& self_cgroup);
// Of this process.
uint64_t UsableMemoryBytes();

}  // namespace strobe::cli
