#include "src/tools/agent_neighborhood.h"

#include <algorithm>
#include <deque>
#include <map>

#include "src/base/text.h"
#include "src/tools/agent_modules.h"

namespace strobe::tools {
namespace {

using ModulePointer = std::shared_ptr<const hlo::HloModule>;

struct NeighbourhoodOptions {
  int64_t radius = 2;
  bool up = true;
  bool down = true;
  bool follow_calls = false;
  bool mark_blockers = false;
  bool metadata = false;
  std::string opcode;
  size_t max_nodes = 200;
};

Result<NeighbourhoodOptions> ReadOptions(const ToolOptions& options) {
  NeighbourhoodOptions read;
  const std::string direction = AsciiLower(Trimmed(options.Text("direction")));
  const auto among = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, direction) != names.end();
  };
  const bool both = among({"", "both", "all"});
  read.up = both || among({"parents", "up", "upstream", "operands", "producers", "inputs"});
  read.down = both || among({"children", "down", "downstream", "users", "consumers", "outputs"});
  if (!read.up && !read.down) {
    return InvalidArgumentError("OPTION_INVALID",
                                "The option direction must be both, upstream or downstream.")
        .Where(direction.substr(0, 100));
  }
  read.radius = std::clamp<int64_t>(options.Integer("radius", 2), 0, 1000);
  read.follow_calls = options.Flag("follow_calls");
  read.mark_blockers = options.Flag("detect_fusion_blockers");
  read.metadata = options.Flag("print_metadata");
  read.opcode = AsciiLower(options.Text("opcode_filter"));
  read.max_nodes = static_cast<size_t>(
      std::clamp<int64_t>(options.Integer("max_nodes", 200), 1, kMaxNeighbourhoodNodes));
  return read;
}

struct Neighbourhood {
  uint32_t center = 0;
  std::map<uint32_t, int64_t> distances;  // of those shown
  size_t found = 0;
};

Neighbourhood NeighbourhoodOf(const hlo::HloModule& module, uint32_t center,
                              const NeighbourhoodOptions& options) {
  Neighbourhood around{.center = center, .distances = {{center, 0}}, .found = 1};
  std::map<uint32_t, int64_t> seen = {{center, 0}};
  const auto show = [&](uint32_t instruction, int64_t distance) {
    const std::string opcode = AsciiLower(module.instruction(instruction).opcode_text);
    if (opcode.find(options.opcode) == std::string::npos) return;
    ++around.found;
    if (around.distances.size() < options.max_nodes) around.distances[instruction] = distance;
  };
  std::deque<uint32_t> queue = {center};
  while (!queue.empty()) {
    const uint32_t at = queue.front();
    queue.pop_front();
    const int64_t distance = seen[at];
    if (distance >= options.radius) continue;
    std::vector<uint32_t> next;
    if (options.up) std::ranges::copy(module.operands(at), std::back_inserter(next));
    if (options.down) std::ranges::copy(module.users(at), std::back_inserter(next));
    for (const uint32_t instruction : next) {
      if (!seen.emplace(instruction, distance + 1).second) continue;
      queue.push_back(instruction);
      show(instruction, distance + 1);
    }
  }
  if (!options.follow_calls) return around;
  std::vector<uint32_t> callers;
  for (const auto& [instruction, distance] : around.distances) callers.push_back(instruction);
  for (const uint32_t caller : callers) {
    for (const uint32_t called : module.calls(caller)) {
      const hlo::Range inside = module.computation(called).instructions;
      for (uint32_t i = inside.first; i < inside.first + inside.count; ++i) {
        if (seen.emplace(i, options.radius + 1).second) show(i, options.radius + 1);
      }
    }
  }
  return around;
}

std::string LineOf(const hlo::HloModule& module, uint32_t instruction,
                   const NeighbourhoodOptions& options) {
  const hlo::Instruction& record = module.instruction(instruction);
  std::string line;
  if (module.computation(record.computation).root == instruction) line = "ROOT ";
  hlo::AppendInstruction(module, instruction, HloTextOptions(options.metadata), &line);
  if (options.mark_blockers && !FusionBlockerReason(module, instruction).empty()) {
    line += " [FUSION_BLOCKER: " + std::string(record.opcode_text) + "]";
  }
  return line;
}

std::vector<uint32_t> InOrder(const hlo::HloModule& module, const Neighbourhood& around) {
  std::vector<uint32_t> order;
  for (const auto& [instruction, distance] : around.distances) order.push_back(instruction);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) {
    return std::pair(around.distances.at(i), module.instruction(i).name);
  });
  return order;
}

std::string NeighbourhoodText(const hlo::HloModule& module, const Neighbourhood& around,
                              const NeighbourhoodOptions& options, bool markdown) {
  const std::string head = "Neighborhood of '" +
                           std::string(module.instruction(around.center).name) +
                           "' (radius=" + std::to_string(options.radius) + "):";
  std::string text = markdown ? "### " + head : head;
  for (const uint32_t instruction : InOrder(module, around)) {
    const uint32_t computation = module.instruction(instruction).computation;
    text += (markdown ? "\n- [dist=" : "\n  [dist=") +
            std::to_string(around.distances.at(instruction)) + "] [" +
            std::string(module.computation(computation).name) + "] " +
            LineOf(module, instruction, options);
  }
  if (around.found > around.distances.size()) {
    text += "\n  ... [" + std::to_string(around.distances.size()) + " of " +
            std::to_string(around.found) +
            " nodes shown; max_nodes=" + std::to_string(options.max_nodes) + "]";
  }
  return text;
}

Value NodeValue(const hlo::HloModule& module, uint32_t instruction, int64_t distance,
                const NeighbourhoodOptions& options) {
  const hlo::Instruction& record = module.instruction(instruction);
  Value node = Value::Object();
  node.Set("name", Value::String(record.name));
  node.Set("opcode", Value::String(record.opcode_text));
  node.Set("computation", Value::String(module.computation(record.computation).name));
  node.Set("distance", Value::Int64(distance));
  node.Set("shape", Value::String(hlo::ShapeText(module.shape(record.shape))));
  const hlo::OpMetadata metadata = hlo::DecodeMetadata(record.metadata);
  if (!metadata.op_name.empty()) node.Set("op_name", Value::String(metadata.op_name));
  if (!metadata.source_file.empty()) {
    node.Set("source", Value::String(std::string(metadata.source_file) + ":" +
                                     std::to_string(metadata.source_line)));
  }
  if (const std::string_view reason = FusionBlockerReason(module, instruction); !reason.empty()) {
    node.Set("fusion_blocker", Value::String(reason));
  }
  node.Set("text", Value::String(LineOf(module, instruction, options)));
  return node;
}

Value NeighbourhoodValue(const hlo::HloModule& module, const std::string& key,
                         const Neighbourhood& around, const NeighbourhoodOptions& options) {
  Value document = Value::Object();
  document.Set("status", Value::String("SUCCESS"));
  document.Set("module_name", Value::String(key));
  document.Set("center", Value::String(module.instruction(around.center).name));
  document.Set("radius", Value::Int64(options.radius));
  Value nodes = Value::List();
  Value edges = Value::List();
  for (const uint32_t instruction : InOrder(module, around)) {
    nodes.Add(NodeValue(module, instruction, around.distances.at(instruction), options));
    for (const uint32_t operand : module.operands(instruction)) {
      if (!around.distances.contains(operand)) continue;
      Value& edge = edges.Add(Value::Object());
      edge.Set("from", Value::String(module.instruction(operand).name));
      edge.Set("to", Value::String(module.instruction(instruction).name));
    }
  }
  document.Set("nodes", std::move(nodes));
  document.Set("edges", std::move(edges));
  document.Set("total_found", Value::Int64(static_cast<int64_t>(around.found)));
  document.Set("truncated", Value::Bool(around.found > around.distances.size()));
  return document;
}

// The instruction as written, or with dots and underscores exchanged.
uint32_t FindLenient(const hlo::HloModule& module, const std::string& name) {
  std::string dots = name;
  std::string underscores = name;
  std::string last = name;
  std::ranges::replace(dots, '_', '.');
  std::ranges::replace(underscores, '.', '_');
  if (const size_t at = last.rfind('_'); at != std::string::npos) last[at] = '.';
  for (const std::string& candidate : {name, dots, last, underscores}) {
    if (const uint32_t found = module.FindInstruction(candidate); found != hlo::kNone) {
      return found;
    }
  }
  return hlo::kNone;
}

// Names that look like the one that was not found.
std::string Similar(const hlo::HloModule& module, const std::string& name) {
  constexpr size_t kMost = 10;
  const std::string base = name.substr(0, name.find_first_of(".0123456789"));
  std::string names;
  size_t count = 0;
  for (const hlo::Instruction& instruction : module.instructions()) {
    if (base.empty() || instruction.name.find(base) == std::string_view::npos) continue;
    if (++count > kMost) break;
    names += (names.empty() ? "" : ", ") + std::string(instruction.name);
  }
  return names;
}

struct FoundInstruction {
  size_t module_index = 0;
  ModulePointer module;
  uint32_t instruction = hlo::kNone;
};

Result<FoundInstruction> FindInstruction(const hlo::ModuleSet& set, const std::string& module_name,
                                         const std::string& name, bool first_module_only,
                                         const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const size_t first, ResolveModule(set, module_name));
  const bool search = module_name.empty() && !first_module_only;
  const size_t last = search ? set.entries().size() - 1 : first;
  std::string similar;
  for (size_t index = first; index <= last; ++index) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const Result<ModulePointer> module = set.Module(index);
    if (!module.ok()) {
      if (!search) return module.status();
      continue;
    }
    const uint32_t found = FindLenient(**module, name);
    if (found != hlo::kNone) return FoundInstruction{index, *module, found};
    if (similar.empty()) similar = Similar(**module, name);
  }
  Status missing =
      NotFoundError("INSTRUCTION_UNKNOWN", "No HLO module has an instruction of that name.")
          .Where(name.substr(0, 200));
  return similar.empty() ? missing : std::move(missing).Hint("Similar names: " + similar + ".");
}

Result<ToolResult> RunGetHloNeighborhood(const ToolQuestion& question, ToolInput& input,
                                         const CancelToken& cancel) {
  const std::string& instruction = question.options.Text("instruction_name");
  const std::string& op = question.options.Text("op_name");
  if (!instruction.empty() && !op.empty() && instruction != op) {
    return InvalidArgumentError("OPTION_INVALID",
                                "instruction_name and op_name name different instructions.");
  }
  return NeighbourhoodAnswer({question, input, cancel}, instruction.empty() ? op : instruction,
                             AsciiLower(question.options.Text("fmt")));
}

}  // namespace

hlo::PrintOptions TextOptions(bool metadata) {
  hlo::PrintOptions options = metadata ? hlo::PrintOptions::Long() : hlo::PrintOptions::Short();
  options.groups_as_reference = true;
  return options;
}

Result<ToolResult> NeighbourhoodAnswer(const AgentContext& context, const std::string& name,
                                       const std::string& format) {
  if (name.empty()) {
    return InvalidArgumentError("OPTION_INVALID", "instruction_name must name an instruction.")
        .Hint("get_top_hlo_ops and get_hlo_module_content show their names.");
  }
  STROBE_ASSIGN_OR_RETURN(const NeighbourhoodOptions options, ReadOptions(context.options()));
  const std::shared_ptr<const hlo::ModuleSet> set = context.input.Modules();
  const std::string clean = name.starts_with('%') ? name.substr(1) : name;
  STROBE_ASSIGN_OR_RETURN(const FoundInstruction found,
                          FindInstruction(*set, context.options().Text("module_name"), clean,
                                          context.question.as_xprof, context.cancel));
  const Neighbourhood around = NeighbourhoodOf(*found.module, found.instruction, options);
  if (format == "json") {
    return DocumentResult(
        NeighbourhoodValue(*found.module, set->entries()[found.module_index].key, around, options));
  }
  return TextResult(NeighbourhoodText(*found.module, around, options, format == "markdown"));
}

std::string_view FusionBlockerReason(const hlo::HloModule& module, uint32_t instruction) {
  static const std::vector<std::string_view> kCollectives = {
      "all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter"};
  const std::string_view opcode = module.instruction(instruction).opcode_text;
  if (opcode == "custom-call") return "runs a kernel that the compiler cannot look into";
  if (opcode == "copy" || opcode == "transpose" || opcode == "reshape") {
    return "may write its result out in another layout";
  }
  for (const std::string_view collective : kCollectives) {
    if (opcode.starts_with(collective)) return "waits for other devices";
  }
  if (opcode == "optimization-barrier" || opcode == "domain") return "is a barrier on purpose";
  if (opcode == "sort") return "takes several passes";
  if (opcode.starts_with("send") || opcode.starts_with("recv") || opcode == "infeed" ||
      opcode == "outfeed") {
    return "exchanges data with the host or another device";
  }
  return {};
}

std::vector<OptionSpec> NeighbourhoodSpecs() {
  return {{.name = "module_name", .description = "The module's key, name or the beginning of it."},
          {.name = "radius",
           .type = OptionType::kInteger,
           .default_value = "2",
           .description = "Steps to walk from the instruction."},
          {.name = "print_metadata",
           .type = OptionType::kBoolean,
           .default_value = "false",
           .description = "With op names and source lines."},
          {.name = "direction",
           .default_value = "both",
           .description = "both, upstream or downstream."},
          {.name = "follow_calls",
           .type = OptionType::kBoolean,
           .default_value = "false",
           .description = "Also what is inside fusions and calls."},
          {.name = "detect_fusion_blockers",
           .type = OptionType::kBoolean,
           .default_value = "false",
           .description = "Mark what the compiler cannot fuse past."},
          {.name = "opcode_filter", .description = "Show only opcodes that contain this."},
          {.name = "max_nodes",
           .type = OptionType::kInteger,
           .default_value = "200",
           .description = "Most instructions to list."}};
}

ToolDescriptor MakeGetHloNeighborhoodTool() {
  std::vector<OptionSpec> options = NeighbourhoodSpecs();
  options.push_back({.name = "instruction_name", .description = "With or without %."});
  options.push_back({.name = "op_name", .description = "The same under another name."});
  options.push_back({.name = "fmt",
                     .default_value = "text",
                     .description = "text, markdown or json (nodes and edges)."});
  ToolDescriptor tool =
      AgentTool("get_hlo_neighborhood", "Around an instruction",
                "What feeds an instruction, and what uses it?", std::move(options));
  tool.cost = CostClass::kModules;
  tool.stored = false;
  tool.run = RunGetHloNeighborhood;
  return tool;
}

}  // namespace strobe::tools
