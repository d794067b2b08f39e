#include "src/api/project_map.h"

#include <algorithm>

#include "src/catalog/access_rules.h"

namespace strobe::api {

ProjectMap::ProjectMap(std::vector<Folder> folders) : folders_(std::move(folders)) {
  for (auto& [path, project] : folders_) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  }
  std::sort(folders_.begin(), folders_.end(), [](const Folder& a, const Folder& b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a < b;
  });
}

std::string_view ProjectMap::OfPath(std::string_view path) const {
  for (const auto& [folder, project] : folders_) {
    if (!path.starts_with(folder)) continue;
    if (path.size() == folder.size() || folder == "/" || path[folder.size()] == '/') return project;
  }
  return catalog::kDefaultProject;
}

std::optional<std::string> ProjectMap::OfSession(engine::Engine& engine,
                                                 std::string_view id) const {
  std::shared_ptr<const Table> table;
  // Asked before the list, so that a change in between is seen the next time.
  const uint64_t version = engine.list_version();
  {
    const std::lock_guard lock(mutex_);
    if (version == version_) table = table_;
  }
  if (table == nullptr) {
    auto made = std::make_shared<Table>();
    for (const engine::SessionSummary& summary : engine.Sessions()) {
      made->emplace(summary.entry.id, OfPath(summary.entry.path));
    }
    table = made;
    const std::lock_guard lock(mutex_);
    table_ = table;
    version_ = version;
  }
  const auto found = table->find(std::string(id));
  if (found == table->end()) return std::nullopt;
  return found->second;
}

}  // namespace strobe::api
