#include "src/engine/sidecar_modules.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/storage/byte_source.h"
#include "src/wire/wire_reader.h"

namespace strobe::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSidecarEnding = ".hlo_proto.pb";
constexpr std::string_view kDumpEnding = ".hlo.pb";
constexpr std::string_view kLloEnding = ".llo_module.pb";
constexpr std::string_view kDumpStage = "after_optimizations";

using NameTest = bool (*)(std::string_view name);

bool IsHloSidecar(std::string_view name) { return name.ends_with(kSidecarEnding); }
bool IsLlo(std::string_view name) { return name.ends_with(kLloEnding); }
bool IsSidecar(std::string_view name) { return IsHloSidecar(name) || IsLlo(name); }

bool IsDumped(std::string_view name) {
  return IsSidecar(name) ||
         (name.ends_with(kDumpEnding) && name.find(kDumpStage) != std::string_view::npos);
}

// Names of the files that fit, sorted, so that the answer does not depend on the directory's order.
std::vector<std::string> FilesOf(const std::string& directory, NameTest fits) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (!fits(name)) continue;
    if (names.size() == kMaxSidecarFiles) {
      LogWarning("engine.sidecars_left_out",
                 {{"directory", directory}, {"limit_files", kMaxSidecarFiles}});
      break;
    }
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

// HloModuleProto.id of an HloProto; 0 when it does not say.
uint64_t ModuleIdOf(std::string_view hlo_proto) {
  wire::WireReader outer(hlo_proto);
  wire::WireField field;
  while (outer.Next(&field)) {
    if (field.number != 1 || field.type != wire::WireType::kBytes) continue;
    wire::WireReader module(field.bytes);
    wire::WireField part;
    while (module.Next(&part)) {
      if (part.number == 5 && part.type == wire::WireType::kVarint) return part.value;
    }
  }
  return 0;
}

std::string KeyOf(const std::string& name, std::string_view bytes) {
  uint64_t program_id = 0;
  const std::string_view stem(
      name.data(), name.size() - (IsHloSidecar(name) ? kSidecarEnding.size() : kDumpEnding.size()));
  if (hlo::ProgramIdOfName(stem, &program_id) || IsHloSidecar(name)) return std::string(stem);
  const std::string_view module = hlo::ModuleNameOf(bytes);
  return std::string(module.empty() ? stem : module) + "(" + std::to_string(ModuleIdOf(bytes)) +
         ")";
}

std::string AddFiles(const std::string& directory, const std::vector<std::string>& names,
                     hlo::ModuleSet* modules) {
  Hasher mark;
  uint64_t total_bytes = 0;
  bool any = false;
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    Result<std::shared_ptr<const storage::ByteSource>> opened = storage::OpenMappedFile(path);
    if (!opened.ok()) {
      LogWarning("engine.sidecar_unreadable", {{"error", opened.status().ToString()}});
      continue;
    }
    const std::string_view bytes = (*opened)->bytes();
    if (bytes.empty()) continue;
    if (total_bytes + bytes.size() > kMaxSidecarBytes) {
      LogWarning("engine.sidecars_left_out",
                 {{"directory", directory}, {"limit_bytes", kMaxSidecarBytes}});
      break;
    }
    total_bytes += bytes.size();
    any = true;
    mark.Add(name + '\0' + std::to_string(bytes.size()) + '\0' +
             std::to_string((*opened)->identity().modified_unix_ns) + '\0');
    if (IsLlo(name)) {
      modules->AddLloFile(name, bytes, *opened);
    } else {
      modules->AddFile(KeyOf(name, bytes), bytes, *opened);
    }
  }
  return any ? mark.Digest128().ToHex() : "";
}

}  // namespace

std::string AddSidecarModules(const std::string& directory, hlo::ModuleSet* modules) {
  return AddFiles(directory, FilesOf(directory, IsSidecar), modules);
}

std::string AddDumpedModules(const std::string& directory, hlo::ModuleSet* modules) {
  std::error_code error;
  const fs::path path(directory);
  if (fs::is_regular_file(path, error) && IsDumped(path.filename().string())) {
    const std::string parent = path.parent_path().string();
    return AddFiles(parent.empty() ? "." : parent, {path.filename().string()}, modules);
  }
  return AddFiles(directory, FilesOf(directory, IsDumped), modules);
}

}  // namespace strobe::engine
