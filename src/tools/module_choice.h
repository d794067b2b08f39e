// Which HLO module a question is about: by key, by program id, or by a node that it contains.
//
//   STROBE_ASSIGN_OR_RETURN(const ModuleChoice choice, ChooseModule(options, *input.Modules(),
//   true)); if (choice.no_modules) ...   // asked for the marker that stands for "no module"
//
// Options read: module_name (a key "jit_f(3)" exactly), else program_id (a part of a key, as XProf
// has it), else node_name (the first module that has an instruction or computation of that name).
// Errors: HLO_MODULE_NOT_NAMED, HLO_MODULE_UNKNOWN, and those of HloModule::Read. Cost: none, but
// by node_name every module is decoded until one has the node.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"
#include "src/hlo/hlo_module.h"
#include "src/hlo/module_set.h"
#include "src/tools/tool.h"

namespace strobe::tools {

// The key under which XProf lists a session that has no module.
inline constexpr std::string_view kNoModuleKey = "NO_MODULE";

struct ModuleChoice {
  bool no_modules = false;  // the marker was asked for: there is nothing to read
  std::string key;
  uint64_t program_id = 0;
  std::shared_ptr<const hlo::HloModule> module;  // null when no_modules
};

Result<ModuleChoice> ChooseModule(const ToolOptions& options, const hlo::ModuleSet& modules,
                                  bool by_node, const CancelToken& cancel);

// What all tools on modules apply to: sessions that have some, embedded or in files beside.
Applicability HaveModules(const SessionFacts& facts);

// The options that ChooseModule reads, without node_name.
std::vector<OptionSpec> ModuleOptions();

// Source frames of an instruction, innermost first, one "file:line:column" a line.
std::string FrameText(const hlo::HloModule& module, const hlo::OpMetadata& metadata);

}  // namespace strobe::tools
