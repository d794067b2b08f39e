#include "src/tools/agent_llo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "src/tools/llo_module.h"
#include "src/tools/llo_static.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kRequiredFlag = "--xla_xprof_register_llo_debug_info=true";
constexpr std::string_view kOptionalFlag = "--xla_xprof_enable_custom_call_tracing=true";
constexpr std::string_view kSemantics = "static_modelled_schedule";
constexpr std::array<std::string_view, 9> kModes = {
    "list_ops", "region_tree", "bundle_util", "opcodes",          "register_pressure",
    "spills",   "bdi_stalls",  "target_info", "source_for_bundle"};

struct Kernel {
  std::string name;
  LloModule module;
};

bool IsLloStat(std::string_view name) { return name == "llo_proto" || name == "LLO Proto"; }

Status AddKernel(std::string_view name, std::string_view bytes, std::vector<Kernel>* kernels) {
  Result<LloModule> module = LloModule::Parse(bytes);
  if (!module.ok()) return module.status().Where(std::string(name));
  kernels->push_back({std::string(name), *std::move(module)});
  return OkStatus();
}

Status AddKernels(std::string_view name, const std::vector<xplane::Stat>& stats,
                  std::vector<Kernel>* kernels) {
  for (const xplane::Stat& stat : stats) {
    if (!IsLloStat(stat.name) || stat.type != xplane::StatType::kBytes) continue;
    STROBE_RETURN_IF_ERROR(AddKernel(name, stat.text, kernels));
  }
  return OkStatus();
}

// Planes, and descriptions of events, that carry a module; then the files of dumps.
Result<std::vector<Kernel>> KernelsOf(const AgentContext& context) {
  std::vector<Kernel> kernels;
  for (const size_t index : context.question.hosts) {
    const xplane::ProfileFile* file = context.input.hosts()[index].file;
    if (file == nullptr) continue;
    for (size_t p = 0; p < file->planes().size(); ++p) {
      const xplane::Plane& plane = file->planes()[p];
      if (std::ranges::none_of(plane.stat_metadata, IsLloStat, &xplane::StatMetadata::name)) {
        continue;
      }
      STROBE_RETURN_IF_ERROR(AddKernels(plane.name, file->PlaneStats(p), &kernels));
      for (uint32_t e = 0; e < plane.event_metadata.size(); ++e) {
        STROBE_RETURN_IF_ERROR(context.cancel.Check());
        STROBE_RETURN_IF_ERROR(
            AddKernels(plane.event_metadata[e].name, file->MetadataStats(p, e), &kernels));
      }
    }
  }
  for (const hlo::ModuleSet::LloFile& dumped : context.input.Modules()->llo_files()) {
    STROBE_RETURN_IF_ERROR(context.cancel.Check());
    STROBE_RETURN_IF_ERROR(AddKernel(dumped.name, dumped.bytes, &kernels));
  }
  return kernels;
}

Value Absent(std::string_view status) {
  Value document = Value::Object();
  document.Set("status", Value::String(status));
  document.Set("reason", Value::String("LLO_DATA_ABSENT"));
  document.Set("error", Value::String("The session has no LLO modules."));
  Value& required = document.Set("required_flags", Value::List());
  required.Add(Value::String(kRequiredFlag));
  Value& optional = document.Set("optional_flags", Value::List());
  optional.Add(Value::String(kOptionalFlag));
  document.Set("remediation",
               Value::String(fmt::format("Run with LIBTPU_INIT_ARGS=\"{}\" set before the program "
                                         "imports jax; {} records what ran as well, in larger "
                                         "traces.",
                                         kRequiredFlag, kOptionalFlag)));
  return document;
}

struct Counts {
  std::map<std::string, int64_t> opcodes;
  std::map<std::string, int64_t> units;
  std::set<int32_t> registers;
  int64_t instructions = 0;
};

// XProf's analysis passes over what decides about loops and predicated parts.
void Count(const LloModule& module, bool as_xprof, Counts* counts) {
  for (const LloInstruction& instruction : module.instructions) {
    if (as_xprof && module.regions[instruction.region].control) continue;
    ++counts->opcodes[LloOpcodeName(instruction.opcode)];
    ++counts->units[std::string(LloUnitOf(instruction.opcode))];
    ++counts->instructions;
    if (instruction.register_id != 0) counts->registers.insert(instruction.register_id);
  }
}

Value MapValue(const std::map<std::string, int64_t>& counts) {
  Value value = Value::Object();
  for (const auto& [name, count] : counts) value.AddMember(name, Value::Int64(count));
  return value;
}

void SetCounts(const Counts& counts, Value* value) {
  value->Set("total_instructions", Value::Int64(counts.instructions));
  value->Set("unique_registers", Value::Int64(static_cast<int64_t>(counts.registers.size())));
  value->Set("opcode_histogram", MapValue(counts.opcodes));
  value->Set("execution_unit_summary", MapValue(counts.units));
}

// The innermost place of each instruction that the compiler knows one of, by ordinal.
Value SourceMapValue(const LloModule& module) {
  std::map<int32_t, std::string> places;
  for (const LloSource& source : module.sources) {
    if (source.frames.empty()) continue;
    const std::string place = LloFrameText(source.frames.back());
    for (const int32_t ordinal : source.ordinals) places[ordinal] = place;
  }
  Value value = Value::Object();
  for (const auto& [ordinal, place] : places) {
    value.AddMember(std::to_string(ordinal), Value::String(place));
  }
  return value;
}

Result<ToolResult> RunAnalysis(const ToolQuestion& question, ToolInput& input,
                               const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const std::vector<Kernel> kernels, KernelsOf(context));
  if (kernels.empty()) return DocumentResult(Absent("UNAVAILABLE"));
  Counts all;
  Value modules = Value::List();
  const std::string& wanted = question.options.Text("kernel");
  int64_t chosen = 0;
  for (const Kernel& kernel : kernels) {
    if (kernel.name.find(wanted) == std::string::npos &&
        kernel.module.hlo_instruction_name.find(wanted) == std::string::npos) {
      continue;
    }
    ++chosen;
    Counts counts;
    Count(kernel.module, question.as_xprof, &counts);
    Count(kernel.module, question.as_xprof, &all);
    Value& value = modules.Add(Value::Object());
    value.Set("kernel_name", Value::String(kernel.name));
    value.Set("hlo_instruction_name", Value::String(kernel.module.hlo_instruction_name));
    SetCounts(counts, &value);
    value.Set("source_map", SourceMapValue(kernel.module));
  }
  Value document = Value::Object();
  document.Set("success", Value::Bool(true));
  document.Set("semantics", Value::String(kSemantics));
  document.Set("total_modules", Value::Int64(chosen));
  SetCounts(all, &document);
  document.Set("modules", std::move(modules));
  return DocumentResult(std::move(document));
}

void AppendRegion(const LloModule& module, uint32_t index, int depth,
                  const std::vector<std::vector<uint32_t>>& by_region, std::string* text) {
  const LloRegion& region = module.regions[index];
  const std::string indent(static_cast<size_t>(2 * depth), ' ');
  *text += fmt::format("{}{} #{} bundles {}..{}\n", indent, region.name, region.ordinal,
                       region.start_bundle, region.limit_bundle);
  for (const uint32_t i : by_region[index]) {
    if (text->size() > kMaxLloTextBytes) return;
    const LloInstruction& instruction = module.instructions[i];
    *text += fmt::format("{}  {:5} {} r{}\n", indent, instruction.bundle,
                         LloOpcodeName(instruction.opcode), instruction.register_id);
  }
  for (const uint32_t child : region.children) {
    AppendRegion(module, child, depth + 1, by_region, text);
  }
}

Result<ToolResult> RunDebugString(const ToolQuestion& question, ToolInput& input,
                                  const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const std::vector<Kernel> kernels, KernelsOf(context));
  if (kernels.empty()) return DocumentResult(Absent("UNAVAILABLE"));
  std::string text;
  for (const Kernel& kernel : kernels) {
    if (kernel.name.find(question.options.Text("kernel_name")) == std::string::npos) continue;
    text += "kernel " + kernel.name + "\n";
    std::vector<std::vector<uint32_t>> by_region(kernel.module.regions.size());
    for (uint32_t i = 0; i < kernel.module.instructions.size(); ++i) {
      by_region[kernel.module.instructions[i].region].push_back(i);
    }
    AppendRegion(kernel.module, 0, 1, by_region, &text);
  }
  const bool cut = text.size() > kMaxLloTextBytes;
  if (cut) text.resize(kMaxLloTextBytes);
  Value document = Value::Object();
  document.Set("status", Value::String("OK"));
  document.Set("semantics", Value::String(kSemantics));
  document.Set("truncated", Value::Bool(cut));
  document.Set("debug_string", Value::String(text));
  return DocumentResult(std::move(document));
}

Result<Value> StaticData(const std::vector<Kernel>& kernels, const ToolOptions& options,
                         bool as_xprof) {
  const std::string& mode = options.Text("mode");
  const std::string& op = options.Text("hlo_op");
  std::set<std::string> names;
  const LloModule* chosen = nullptr;
  for (const Kernel& kernel : kernels) {
    const std::string& name = kernel.module.hlo_instruction_name;
    if (!name.empty()) names.insert(name);
    // The exact name before one that contains it.
    if (name.empty() || name.find(op) == std::string::npos) continue;
    if (chosen == nullptr || name == op) chosen = &kernel.module;
  }
  if (mode == "list_ops") {
    Value data = Value::Object();
    Value& ops = data.Set("ops", Value::List());
    for (const std::string& name : names) ops.Add(Value::String(name));
    return data;
  }
  if (chosen == nullptr) {
    return NotFoundError("LLO_OP_UNKNOWN", "No kernel of the session has this in its name.")
        .Where(op)
        .Hint("--mode=list_ops names them.");
  }
  if (mode == "region_tree") return RegionTreeData(*chosen);
  if (mode == "opcodes") return OpcodesData(*chosen);
  if (mode == "bundle_util") return BundleData(*chosen, options.Integer("limit"));
  if (mode == "register_pressure") return RegisterPressureData(*chosen, as_xprof);
  if (mode == "spills") return SpillsData(*chosen);
  if (mode == "bdi_stalls") return BdiStallsData(*chosen);
  if (mode == "target_info") return TargetData(*chosen);
  return SourceData(*chosen, options.Integer("bundle"));
}

std::string ModeNames() {
  std::string names;
  for (const std::string_view mode : kModes) {
    names += names.empty() ? "" : mode == kModes.back() ? " or " : ", ";
    names += mode;
  }
  return names;
}

Result<ToolResult> RunStatic(const ToolQuestion& question, ToolInput& input,
                             const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  const std::string& mode = question.options.Text("mode");
  if (std::ranges::find(kModes, mode) == kModes.end()) {
    return InvalidArgumentError("LLO_MODE_UNKNOWN", "There is no such mode.")
        .Where(mode.substr(0, 100))
        .Hint("--mode is " + ModeNames() + ".");
  }
  STROBE_ASSIGN_OR_RETURN(const std::vector<Kernel> kernels, KernelsOf(context));
  Value document = kernels.empty() ? Absent("ERROR") : Value::Object();
  if (!kernels.empty()) document.Set("status", Value::String("OK"));
  document.Set("semantics", Value::String(kSemantics));
  document.Set("semantics_note",
               Value::String("What the compiler planned; the hardware was not measured."));
  document.Set("mode", Value::String(mode));
  if (!kernels.empty()) {
    STROBE_ASSIGN_OR_RETURN(Value data, StaticData(kernels, question.options, question.as_xprof));
    document.Set("data", std::move(data));
  }
  return DocumentResult(std::move(document));
}

}  // namespace

ToolDescriptor MakeGetLloAnalysisTool() {
  ToolDescriptor tool = AgentTool("get_llo_analysis", "LLO modules",
                                  "Which instructions did the compiler make for each kernel?",
                                  {{.name = "kernel", .description = "Part of its name."}});
  tool.cost = CostClass::kModules;
  tool.run = RunAnalysis;
  return tool;
}

ToolDescriptor MakeGetLloDebugStringTool() {
  ToolDescriptor tool = AgentTool(
      "get_llo_debug_string", "LLO text", "What does the LLO of a kernel look like?",
      {{.name = "kernel_name", .description = "Part of the name of a kernel; none: all."}});
  tool.cost = CostClass::kModules;
  tool.run = RunDebugString;
  return tool;
}

ToolDescriptor MakeGetLloStaticAnalysisTool() {
  ToolDescriptor tool = AgentTool(
      "get_llo_static_analysis", "LLO schedule", "What did the compiler schedule for a kernel?",
      {{.name = "mode", .default_value = "region_tree", .description = ModeNames() + "."},
       {.name = "hlo_op", .description = "The kernel: part of its HLO name."},
       {.name = "limit",
        .type = OptionType::kInteger,
        .default_value = "30",
        .description = "Bundles to list (bundle_util); 0 and less: all."},
       {.name = "bundle",
        .type = OptionType::kInteger,
        .default_value = "0",
        .description = "The bundle (source_for_bundle)."}});
  tool.aliases = {"get_llo_dump_analysis"};
  tool.cost = CostClass::kModules;
  tool.run = RunStatic;
  return tool;
}

}  // namespace strobe::tools
