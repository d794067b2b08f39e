// Modules that lie in files: beside a profile, and in a folder that --xla_dump_to or
// --xla_jf_dump_to filled.
//
//   hlo::ModuleSet set;
//   const std::string mark = AddSidecarModules("/logs/plugins/profile/s1", &set);
//   const std::string dumped = AddDumpedModules("/tmp/xla_dump", &set);
//   set.Finish();
//
// Beside a profile: `<module>(<program id>).hlo_proto.pb`, and schedules of TPU kernels
// (`<op>.llo_module.pb`). In a dump folder: the same, and `*after_optimizations*.hlo.pb` under the
// name and number that the module gives itself; instead of a folder it may be one such file. Files
// are mapped, not read, but for the name. Empty files (XProf's mark of "no module") are left out.
// What cannot be opened is logged and left out. The mark that is returned changes with the files.
// Limits: kMaxSidecarFiles and kMaxSidecarBytes of one folder; beyond them the rest is left out and
// logged.
#pragma once

#include <cstdint>
#include <string>

#include "src/hlo/module_set.h"

namespace strobe::engine {

// Jobs compile some hundred modules; a dump of a long test run has thousands.
inline constexpr size_t kMaxSidecarFiles = 10'000;
// Mapped, so only address space: far above the largest dumps seen.
inline constexpr uint64_t kMaxSidecarBytes = uint64_t{64} << 30;

std::string AddSidecarModules(const std::string& directory, hlo::ModuleSet* modules);
std::string AddDumpedModules(const std::string& directory, hlo::ModuleSet* modules);

}  // namespace strobe::engine
