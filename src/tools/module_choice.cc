#include "src/tools/module_choice.h"

#include <optional>

namespace strobe::tools {
namespace {

std::optional<size_t> ModuleWithNode(const hlo::ModuleSet& modules, std::string_view node,
                                     const CancelToken& cancel) {
  for (size_t i = 0; i < modules.entries().size() && cancel.Check().ok(); ++i) {
    const auto module = modules.Module(i);
    if (!module.ok()) continue;
    if ((*module)->FindInstruction(node) != hlo::kNone ||
        (*module)->FindComputation(node) != hlo::kNone) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

Applicability HaveModules(const SessionFacts& facts) {
  if (facts.has_hlo_modules || facts.has_sidecar_modules) return {};
  return {false, "The profile has no HLO modules.",
          "Capture with enable_hlo_proto on, or put *.hlo_proto.pb files beside the profile."};
}

std::vector<OptionSpec> ModuleOptions() {
  return {{.name = "module_name",
           .description = "The module by its key, as the list of modules names it: jit_f(3)."},
          {.name = "program_id",
           .description = "Or by its program id, or any part of its key; the first that fits."}};
}

constexpr const char* kNoModulesHint =
    "The profile carries no HLO modules; capture with enable_hlo_proto on, or put *.hlo_proto.pb "
    "files beside it.";

Result<ModuleChoice> ChooseModule(const ToolOptions& options, const hlo::ModuleSet& modules,
                                  bool by_node, const CancelToken& cancel) {
  const std::string& name = options.Text("module_name");
  const std::string& program = options.Text("program_id");
  const std::string& node = options.Text("node_name");
  ModuleChoice choice;
  std::optional<size_t> index;
  std::string asked = name;
  if (!name.empty()) {
    index = modules.FindKey(name);
    choice.no_modules = !index && modules.empty() && name == kNoModuleKey;
  } else if (!program.empty()) {
    asked = program;
    index = modules.FindKeyContaining(program);
    choice.no_modules =
        !index && modules.empty() && kNoModuleKey.find(program) != std::string_view::npos;
  } else if (by_node && !node.empty()) {
    asked = node;
    index = ModuleWithNode(modules, node, cancel);
    STROBE_RETURN_IF_ERROR(cancel.Check());
  } else {
    return InvalidArgumentError("HLO_MODULE_NOT_NAMED", "Can not load hlo proto from options.")
        .Hint(modules.empty() ? kNoModulesHint
                              : "Give module_name or program_id; the list of modules has their "
                                "names.");
  }
  if (choice.no_modules) return choice;
  if (!index) {
    return NotFoundError("HLO_MODULE_UNKNOWN", "The session has no such HLO module.")
        .Where(asked.substr(0, 200))
        .Hint(modules.empty() ? kNoModulesHint
                              : "The list of modules has the names that can be asked for.");
  }
  STROBE_ASSIGN_OR_RETURN(choice.module, modules.Module(*index));
  choice.key = modules.entries()[*index].key;
  choice.program_id = modules.entries()[*index].program_id;
  return choice;
}

std::string FrameText(const hlo::HloModule& module, const hlo::OpMetadata& metadata) {
  std::string text;
  for (const hlo::SourceFrame& frame : module.Frames(metadata.stack_frame_id)) {
    if (!text.empty()) text.push_back('\n');
    text.append(frame.file).append(":").append(std::to_string(frame.line));
    text.append(":").append(std::to_string(frame.column));
  }
  return text;
}

}  // namespace strobe::tools
