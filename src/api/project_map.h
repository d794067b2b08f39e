// To which project the sessions found below the roots belong.
//
//   ProjectMap projects({{"/logs/vision", "vision"}});
//   projects.OfPath("/logs/vision/run1/plugins/profile/s1")   // "vision"
//   projects.OfPath("/logs/other")                            // "default"
//   projects.OfSession(engine, "3f2k...")                     // nullopt: there is no such session
//
// The longest folder wins. Projects of sessions are looked up in a table that is made anew when the
// engine's list changes. Cost: below a microsecond. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/engine/engine.h"

namespace strobe::api {

class ProjectMap {
 public:
  using Folder = std::pair<std::string, std::string>;  // real path, project
  explicit ProjectMap(std::vector<Folder> folders = {});

  std::string_view OfPath(std::string_view path) const;
  std::optional<std::string> OfSession(engine::Engine& engine, std::string_view id) const;

 private:
  using Table = std::unordered_map<std::string, std::string>;
  std::vector<Folder> folders_;  // longest first
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Table> table_;
  mutable uint64_t version_ = 0;
};

}  // namespace strobe::api
