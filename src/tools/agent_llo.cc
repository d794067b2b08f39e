#include "src/tools/agent_llo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "src/tools/llo_module.h"

namespace strobe::tools {
namespace {

constexpr std::string_view kRequiredFlag = "--xla_xprof_register_llo_debug_info=true";
constexpr std::string_view kOptionalFlag = "--xla_xprof_enable_custom_call_tracing=true";
constexpr std::string_view kSemantics = "static_modelled_schedule";
constexpr std::array<std::string_view, 4> kModes = {"list_ops", "region_tree", "opcodes",
                                                    "bundle_util"};
constexpr size_t kTopOpcodes = 20;

struct Kernel {
  std::string name;
  LloModule module;
};

// The entries of metadata planes that carry a module.
Result<std::vector<Kernel>> KernelsOf(const AgentContext& context) {
  std::vector<Kernel> kernels;
  for (const size_t index : context.question.hosts) {
    const xplane::ProfileFile* file = context.input.hosts()[index].file;
    if (file == nullptr) continue;
    for (size_t p = 0; p < file->planes().size(); ++p) {
      const xplane::Plane& plane = file->planes()[p];
      const auto is_llo = [](std::string_view name) {
        return name == "llo_proto" || name == "LLO Proto";
      };
      if (std::ranges::none_of(plane.stat_metadata, is_llo, &xplane::StatMetadata::name)) continue;
      for (uint32_t e = 0; e < plane.event_metadata.size(); ++e) {
        STROBE_RETURN_IF_ERROR(context.cancel.Check());
        for (const xplane::Stat& stat : file->MetadataStats(p, e)) {
          if (!is_llo(stat.name) || stat.type != xplane::StatType::kBytes) continue;
          Result<LloModule> module = LloModule::Parse(stat.text);
          if (!module.ok()) {
            return module.status().Where(std::string(plane.event_metadata[e].name));
          }
          kernels.push_back({std::string(plane.event_metadata[e].name), *std::move(module)});
        }
      }
    }
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
  std::set<uint32_t> registers;
  int64_t instructions = 0;
};

// XProf's analysis passes over what decides about loops and predicated parts.
void Count(const LloModule& module, bool as_xprof, Counts* counts) {
  for (const LloInstruction& instruction : module.instructions) {
    if (as_xprof && module.regions[instruction.region].control) continue;
    const std::string name = LloOpcodeName(instruction.opcode);
    ++counts->opcodes[name];
    ++counts->units[std::string(LloUnitOf(name))];
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

Result<ToolResult> RunAnalysis(const ToolQuestion& question, ToolInput& input,
                               const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  STROBE_ASSIGN_OR_RETURN(const std::vector<Kernel> kernels, KernelsOf(context));
  if (kernels.empty()) return DocumentResult(Absent("UNAVAILABLE"));
  Counts all;
  Value modules = Value::List();
  for (const Kernel& kernel : kernels) {
    Counts counts;
    Count(kernel.module, question.as_xprof, &counts);
    Count(kernel.module, question.as_xprof, &all);
    Value& value = modules.Add(Value::Object());
    value.Set("kernel_name", Value::String(kernel.name));
    value.Set("hlo_instruction_name", Value::String(kernel.module.hlo_instruction_name));
    SetCounts(counts, &value);
  }
  Value document = Value::Object();
  document.Set("success", Value::Bool(true));
  document.Set("semantics", Value::String(kSemantics));
  document.Set("total_modules", Value::Int64(static_cast<int64_t>(kernels.size())));
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

Value RegionValue(const LloModule& module, uint32_t index) {
  const LloRegion& region = module.regions[index];
  Value value = Value::Object();
  value.Set("name", Value::String(region.name));
  value.Set("kind", Value::String(region.kind));
  value.Set("ordinal", Value::Int64(region.ordinal));
  value.Set("start_bundleno", Value::Int64(region.start_bundle));
  value.Set("limit_bundleno", Value::Int64(region.limit_bundle));
  value.Set("num_instructions", Value::Int64(region.instruction_count));
  Value& children = value.Set("children", Value::List());
  for (const uint32_t child : region.children) children.Add(RegionValue(module, child));
  return value;
}

Value ModuleNames(const LloModule& module) {
  Value data = Value::Object();
  data.Set("hlo_instruction_name", Value::String(module.hlo_instruction_name));
  data.Set("hlo_module_name", Value::String(module.hlo_module_name));
  data.Set("hlo_module_id", Value::Int64(module.hlo_module_id));
  return data;
}

// Most first, of equal counts by name.
std::vector<std::pair<std::string, int64_t>> Descending(
    const std::map<std::string, int64_t>& counts) {
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, int64_t>::second);
  return sorted;
}

Value OpcodesData(const LloModule& module) {
  Counts counts;
  Count(module, false, &counts);
  std::map<std::string, int64_t> categories;
  for (const auto& [name, count] : counts.opcodes) {
    categories[std::string(LloCategory(name))] += count;
  }
  Value data = ModuleNames(module);
  data.Set("total_instructions", Value::Int64(counts.instructions));
  Value& top = data.Set("top_opcodes", Value::List());
  for (const auto& [name, count] : Descending(counts.opcodes)) {
    if (top.items().size() >= kTopOpcodes) break;
    Value& value = top.Add(Value::Object());
    value.Set("opcode", Value::String(name));
    value.Set("count", Value::Int64(count));
    value.Set("category", Value::String(LloCategory(name)));
  }
  Value& list = data.Set("categories", Value::List());
  for (const auto& [name, count] : Descending(categories)) {
    Value& value = list.Add(Value::Object());
    value.Set("category", Value::String(name));
    value.Set("count", Value::Int64(count));
  }
  return data;
}

int64_t At(const std::vector<uint8_t>& counts, size_t bundle) {
  return bundle < counts.size() ? counts[bundle] : 0;
}

Value BundleData(const LloModule& module, int64_t limit) {
  size_t total = std::max(module.spills.size(), module.fills.size());
  for (const LloUnit& unit : module.units) total = std::max(total, unit.used.size());
  const size_t shown = LimitOf(limit, total);
  Value data = ModuleNames(module);
  data.Set("total_bundles", Value::Int64(static_cast<int64_t>(total)));
  data.Set("shown_bundles", Value::Int64(static_cast<int64_t>(shown)));
  data.Set("truncated", Value::Bool(shown < total));
  Value& totals = data.Set("whole_schedule", Value::Object());
  for (const LloUnit& unit : module.units) {
    int64_t used = 0;
    for (const uint8_t count : unit.used) used += count;
    const double slots = static_cast<double>(unit.available) * static_cast<double>(total);
    totals.Set(std::string(unit.name) + "_percent",
               Value::Double(slots > 0 ? RoundTo(100 * static_cast<double>(used) / slots, 2) : 0));
  }
  Value& bundles = data.Set("bundles", Value::List());
  for (size_t b = 0; b < shown; ++b) {
    Value& value = bundles.Add(Value::Object());
    value.Set("bundle", Value::Int64(static_cast<int64_t>(b)));
    value.Set("semantics", Value::String(kSemantics));
    int64_t used = 0;
    int64_t available = 0;
    for (const LloUnit& unit : module.units) {
      const std::string name(unit.name);
      value.Set(name + "_used", Value::Int64(At(unit.used, b)));
      value.Set(name + "_avail", Value::Int64(unit.available));
      used += At(unit.used, b);
      available += unit.available;
    }
    value.Set("spill", Value::Int64(At(module.spills, b)));
    value.Set("fill", Value::Int64(At(module.fills, b)));
    value.Set("util_pct", Value::Int64(available > 0 ? 100 * used / available : 0));
  }
  return data;
}

Result<Value> StaticData(const std::vector<Kernel>& kernels, const ToolOptions& options) {
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
  if (mode == "opcodes") return OpcodesData(*chosen);
  if (mode == "bundle_util") return BundleData(*chosen, options.Integer("limit"));
  Value data = ModuleNames(*chosen);
  data.Set("root", RegionValue(*chosen, 0));
  return data;
}

Result<ToolResult> RunStatic(const ToolQuestion& question, ToolInput& input,
                             const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  const std::string& mode = question.options.Text("mode");
  if (std::ranges::find(kModes, mode) == kModes.end()) {
    return InvalidArgumentError("LLO_MODE_UNKNOWN", "This mode is not answered.")
        .Where(mode.substr(0, 100))
        .Hint("--mode is list_ops, region_tree, opcodes or bundle_util.");
  }
  STROBE_ASSIGN_OR_RETURN(const std::vector<Kernel> kernels, KernelsOf(context));
  Value document = kernels.empty() ? Absent("ERROR") : Value::Object();
  if (!kernels.empty()) document.Set("status", Value::String("OK"));
  document.Set("semantics", Value::String(kSemantics));
  document.Set("semantics_note",
               Value::String("What the compiler planned; the hardware was not measured."));
  document.Set("mode", Value::String(mode));
  if (!kernels.empty()) {
    STROBE_ASSIGN_OR_RETURN(Value data, StaticData(kernels, question.options));
    document.Set("data", std::move(data));
  }
  return DocumentResult(std::move(document));
}

}  // namespace

ToolDescriptor MakeGetLloAnalysisTool() {
  ToolDescriptor tool = AgentTool("get_llo_analysis", "LLO modules",
                                  "Which instructions did the compiler make for each kernel?", {});
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
      {{.name = "mode",
        .default_value = "region_tree",
        .description = "list_ops, region_tree, opcodes or bundle_util."},
       {.name = "hlo_op", .description = "The kernel: part of its HLO name."},
       {.name = "limit",
        .type = OptionType::kInteger,
        .default_value = "30",
        .description = "Bundles to list; 0 and less: all."}});
  tool.aliases = {"get_llo_dump_analysis"};
  tool.cost = CostClass::kModules;
  tool.run = RunStatic;
  return tool;
}

}  // namespace strobe::tools
