// The HLO modules that a profile carries in its metadata plane.
//
//   for (const ModuleEntry& entry : ModulesOf(*file))
//     STROBE_ASSIGN_OR_RETURN(const HloModule module, HloModule::Read(entry.hlo_proto, {}));
//
// A module is known by "<name>(<program id>)". The id is the stat `program_id` of its entry, else
// the number in brackets at the end of the entry's name, else the entry's own id. `hlo_proto` is a
// view into the profile's bytes and lives as long as the file does.
//
// Cost: the stats of one record a module; the modules themselves are not decoded, but for their
// name. Limits: kMaxModules of one file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/xplane/profile_file.h"

namespace strobe::hlo {

// The name that the plane of modules has.
inline constexpr std::string_view kMetadataPlane = "/host:metadata";
// Far above what a job compiles within one capture.
inline constexpr size_t kMaxModules = 100'000;

struct ModuleEntry {
  std::string name;  // of the module, "jit_train_step"
  uint64_t program_id = 0;
  std::string_view hlo_proto;
  // "jit_train_step(12)": the key that XProf's routes and file names use.
  std::string Key() const;
};

// In the order of the file; of two with one key the first counts.
std::vector<ModuleEntry> ModulesOf(const xplane::ProfileFile& file);
// One list for all hosts: of two with one key that of the earlier host counts. Sorted by key.
std::vector<ModuleEntry> MergeModules(const std::vector<std::vector<ModuleEntry>>& hosts);

// The number of a name like "jit_f(42)"; false when it does not end so.
bool ProgramIdOfName(std::string_view name, uint64_t* program_id);
// The name an HloProto gives its module, without reading the rest of it. Empty when damaged.
std::string_view ModuleNameOf(std::string_view hlo_proto);

}  // namespace strobe::hlo
