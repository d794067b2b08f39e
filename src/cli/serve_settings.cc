#include "src/cli/serve_settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "src/api/guard.h"
#include "src/api/request.h"
#include "src/catalog/rules.h"
#include "src/storage/place.h"

namespace strobe::cli {

Result<ListenAddress> ParseListen(std::string_view text, Protection protection) {
  const Status malformed =
      InvalidArgumentError("LISTEN_MALFORMED", "The address to listen on is not ADDRESS:PORT.")
          .Where(std::string(text.substr(0, 128)))
          .Hint("Write for example 127.0.0.1:8080 or [::1]:8080; port 0 takes any free one.");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return malformed;
  }
  const std::optional<uint32_t> port = api::ParseUint32(text.substr(colon + 1));
  if (!port || *port > 65535) return malformed;
  if (host != "localhost" && !api::IsIpLiteral(host)) return malformed;
  if (!api::IsLoopbackHost(host) && protection == Protection::kNone) {
    return InvalidArgumentError("LISTEN_NOT_LOOPBACK",
                                "Other machines could reach this address, and there is no "
                                "access control: whoever reaches it sees every profile.")
        .Where(std::string(text))
        .Hint(
            "Add --access (see strobe help access), listen on 127.0.0.1 and forward the port "
            "(ssh -L), or say --insecure-no-auth on a network that you trust.");
  }
  return ListenAddress{std::string(host), static_cast<uint16_t>(*port)};
}

Result<std::vector<api::ProjectMap::Folder>> ParseProjects(const std::vector<std::string>& given) {
  std::vector<api::ProjectMap::Folder> folders;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    const Status malformed =
        InvalidArgumentError("PROJECT_MALFORMED", "A project's folder is NAME=DIR.")
            .Where(text.substr(0, 200))
            .Hint("Write for example --project vision=/logs/vision, with a folder that is there.");
    if (equals == std::string::npos) return malformed;
    const std::string name = text.substr(0, equals);
    if (!catalog::CheckId("project", name).ok()) return malformed;
    if (storage::IsBucketPlace(text.substr(equals + 1))) {
      folders.emplace_back(text.substr(equals + 1), name);
      continue;
    }
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::canonical(text.substr(equals + 1), error);
    if (error) return malformed;
    folders.emplace_back(folder.string(), name);
  }
  return folders;
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string DefaultCacheDirectory(const std::string& xdg_cache_home, const std::string& home) {
  // Relative ones are to be ignored, says the XDG base directory specification.
  if (xdg_cache_home.starts_with('/')) return xdg_cache_home + "/strobe";
  if (home.starts_with('/')) return home + "/.cache/strobe";
  return "";
}

std::string DefaultCatalogPlace(const std::string& xdg_state_home, const std::string& home) {
  if (xdg_state_home.starts_with('/')) return xdg_state_home + "/strobe/catalog.db";
  if (home.starts_with('/')) return home + "/.local/state/strobe/catalog.db";
  return ":memory:";
}

std::vector<std::string> AllowedHosts(std::vector<std::string> given) {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0') {
    given.emplace_back(name.data());
  }
  return given;
}

namespace {

// The number in a file of a control group; nullopt for "max", or when there is none.
std::optional<uint64_t> LimitIn(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0::/system.slice/strobe.service" -> "/system.slice/strobe.service"; "" when there is no v2
// group.
std::string UnifiedGroup(const std::string& self_cgroup) {
  std::istringstream lines(self_cgroup);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return "";
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

uint64_t UsableMemoryBytes(uint64_t machine_bytes, const std::string& cgroup_root,
                           const std::string& self_cgroup) {
  uint64_t usable = machine_bytes;
  std::string group = UnifiedGroup(self_cgroup);
  while (true) {
    const std::optional<uint64_t> limit = LimitIn(cgroup_root + group + "/memory.max");
    usable = std::min(usable, limit.value_or(usable));
    const size_t slash = group.rfind('/');
    if (group.empty() || slash == std::string::npos) break;
    group.resize(slash);
  }
  const std::optional<uint64_t> old = LimitIn(cgroup_root + "/memory/memory.limit_in_bytes");
  return std::min(usable, old.value_or(usable));
}

uint64_t UsableMemoryBytes() {
  const auto machine_bytes =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return UsableMemoryBytes(machine_bytes, "/sys/fs/cgroup", ReadText("/proc/self/cgroup"));
}

}  // namespace strobe::cli
