#include "src/tools/agent_modules.h"

#include <algorithm>
#include <map>

#include "src/hlo/hlo_printer.h"
#include "src/tools/agent_neighborhood.h"

namespace strobe::tools {
namespace {

using ModulePointer = std::shared_ptr<const hlo::HloModule>;

Status NoModules() {
  return NotFoundError("NO_MODULES", "The session has no HLO modules.")
      .Hint(
          "Capture with the compiled program, put *.hlo_proto.pb beside the profile, or run "
          "with XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_proto.");
}

// "jit_f" of "jit_f(3)".
std::string_view BaseName(std::string_view key) { return key.substr(0, key.find('(')); }

std::string KeyList(const hlo::ModuleSet& set, const std::vector<size_t>& indices) {
  constexpr size_t kMostNamed = 20;
  std::string names;
  for (size_t i = 0; i < std::min(indices.size(), kMostNamed); ++i) {
    names += (i == 0 ? "" : ", ") + set.entries()[indices[i]].key;
  }
  if (indices.size() > kMostNamed) names += ", ...";
  return names;
}

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string FirstLines(const std::vector<std::string_view>& lines, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += '\n';
    text += lines[i];
  }
  return text;
}

Result<ToolResult> RunListHloModules(const ToolQuestion& question, ToolInput& input,
                                     const CancelToken& cancel) {
  const std::shared_ptr<const hlo::ModuleSet> set = input.Modules();
  const bool details = question.options.Flag("details");
  Value modules = Value::List();
  Value all = Value::List();
  for (size_t i = 0; i < set->entries().size(); ++i) {
    STROBE_RETURN_IF_ERROR(cancel.Check());
    const hlo::ModuleSet::Entry& entry = set->entries()[i];
    modules.Add(Value::String(entry.key));
    if (!details) continue;
    Value& one = all.Add(Value::Object());
    one.Set("key", Value::String(entry.key));
    one.Set("name", Value::String(entry.name));
    one.Set("program_id", Value::Uint64(entry.program_id));
    one.Set("from_file", Value::Bool(entry.from_file));
    one.Set("size_bytes", Value::Int64(static_cast<int64_t>(entry.hlo_proto.size())));
    const Result<ModulePointer> module = set->Module(i);
    if (!module.ok()) {
      one.Set("error", Value::String(module.status().ToString()));
      continue;
    }
    const hlo::HloModule& read = **module;
    one.Set("entry_computation",
            Value::String(read.entry() == hlo::kNone ? std::string_view()
                                                     : read.computation(read.entry()).name));
    one.Set("instruction_count", Value::Int64(static_cast<int64_t>(read.instructions().size())));
    one.Set("computation_count", Value::Int64(static_cast<int64_t>(read.computations().size())));
  }
  Value document = Value::Object();
  document.Set("status", Value::String("SUCCESS"));
  document.Set("count", Value::Int64(static_cast<int64_t>(set->entries().size())));
  document.Set("modules", std::move(modules));
  if (details) document.Set("details", std::move(all));
  if (set->empty()) {
    document.Set("code", Value::String("NO_HLO_PROTO_IN_PROFILE"));
    document.Set("remediation", Value::String(NoModules().hint()));
  }
  return DocumentResult(std::move(document));
}

Result<ToolResult> RunGetHloModuleContent(const ToolQuestion& question, ToolInput& input,
                                          const CancelToken& cancel) {
  STROBE_RETURN_IF_ERROR(cancel.Check());
  const std::shared_ptr<const hlo::ModuleSet> set = input.Modules();
  STROBE_ASSIGN_OR_RETURN(const size_t index,
                          ResolveModule(*set, question.options.Text("module_name")));
  if (const std::string& format = question.options.Text("fmt"); format != "text") {
    return InvalidArgumentError("OPTION_INVALID", "The option fmt must be text.").Where(format);
  }
  STROBE_ASSIGN_OR_RETURN(const ModulePointer module, set->Module(index));
  hlo::PrintOptions print = HloTextOptions(question.options.Flag("print_metadata"));
  print.groups_as_reference = question.as_xprof;
  std::string text = hlo::ModuleText(*module, print);
  const std::vector<std::string_view> lines = LinesOf(text);
  const size_t shown = LimitOf(question.options.Integer("max_lines"), lines.size());
  const size_t total = lines.size();
  if (shown < total) {
    text = FirstLines(lines, shown) + "\n... (" + std::to_string(shown) + " of " +
           std::to_string(total) + " lines; max_lines=-1 shows all)";
  }
  Value document = Value::Object();
  document.Set("status", Value::String("SUCCESS"));
  document.Set("module_name", Value::String(set->entries()[index].key));
  document.Set("line_count", Value::Int64(static_cast<int64_t>(total)));
  document.Set("truncated", Value::Bool(shown < total));
  document.Set("content", Value::String(text));
  return DocumentResult(std::move(document));
}

Result<ToolResult> RunGetHloText(const ToolQuestion& question, ToolInput& input,
                                 const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  const std::shared_ptr<const hlo::ModuleSet> set = input.Modules();
  const std::string& op = question.options.Text("op_name");
  STROBE_ASSIGN_OR_RETURN(const size_t index,
                          ResolveModule(*set, question.options.Text("module_name")));
  std::string text;
  if (op.empty()) {
    STROBE_ASSIGN_OR_RETURN(const ModulePointer module, set->Module(index));
    text = hlo::ModuleText(*module, HloTextOptions(false));
  } else {
    STROBE_ASSIGN_OR_RETURN(ToolResult around, NeighbourhoodAnswer(context, op, "text"));
    text = std::move(around.text);
  }
  const size_t bytes = text.size();
  const std::vector<std::string_view> lines = LinesOf(text);
  const size_t total = lines.size();
  const size_t shown = LimitOf(question.options.Integer("max_lines"), total);
  if (shown < total) {
    text = FirstLines(lines, shown) + "\n... [" + std::to_string(shown) + " of " +
           std::to_string(total) + " lines; max_lines=-1 shows all]";
  }
  Value document = Value::Object();
  document.Set("status", Value::String("SUCCESS"));
  document.Set("module_name", Value::String(set->entries()[index].key));
  document.Set("op_name", op.empty() ? Value::Null() : Value::String(op));
  document.Set("saved_to_path", Value::Null());
  document.Set("truncated", Value::Bool(shown < total));
  document.Set("line_count", Value::Int64(static_cast<int64_t>(total)));
  document.Set("returned_line_count", Value::Int64(static_cast<int64_t>(shown)));
  document.Set("byte_count", Value::Int64(static_cast<int64_t>(bytes)));
  document.Set("content", Value::String(text));
  return DocumentResult(std::move(document));
}

Result<ToolResult> RunGetGraphViewer(const ToolQuestion& question, ToolInput& input,
                                     const CancelToken& cancel) {
  const AgentContext context{question, input, cancel};
  const std::shared_ptr<const hlo::ModuleSet> set = input.Modules();
  STROBE_ASSIGN_OR_RETURN(const size_t index,
                          ResolveModule(*set, question.options.Text("module_name")));
  const std::string& type = question.options.Text("output_type");
  if (type == "module_list") {
    std::string names;
    for (const hlo::ModuleSet::Entry& entry : set->entries()) {
      names += (names.empty() ? "" : ",") + entry.key;
    }
    return TextResult(std::move(names));
  }
  std::map<std::string, std::string> options = {
      {"type", type},
      {"graph_type", question.options.Text("graph_type")},
      {"module_name", set->entries()[index].key},
      {"show_metadata", question.options.Text("show_metadata")},
      {"graph_width", question.options.Text("graph_width")},
      {"merge_fusion", question.options.Text("merge_fusion")}};
  if (const std::string& node = question.options.Text("node_name"); !node.empty()) {
    options["node_name"] = node;
  }
  if (type == "graph") options["format"] = "dot";
  STROBE_ASSIGN_OR_RETURN(ToolResult graph, context.Ask("graph_viewer", options));
  const std::vector<std::string_view> lines = LinesOf(graph.text);
  const size_t total = lines.size();
  const size_t shown = LimitOf(question.options.Integer("max_lines"), total);
  if (shown < total) {
    graph.text = FirstLines(lines, shown) + "\n... [" + std::to_string(shown) + " of " +
                 std::to_string(total) + " lines]";
  }
  return graph;
}

const OptionSpec kModuleOption = {.name = "module_name",
                                  .description = "The module's key, name or the beginning of it."};

}  // namespace

Result<size_t> ResolveModule(const hlo::ModuleSet& set, std::string_view name) {
  if (set.empty()) return NoModules();
  if (name.empty()) return size_t{0};
  if (const std::optional<size_t> exact = set.FindKey(name)) return *exact;
  std::vector<size_t> same;
  std::vector<size_t> beginning;
  std::vector<size_t> all;
  for (size_t i = 0; i < set.entries().size(); ++i) {
    const std::string& key = set.entries()[i].key;
    if (BaseName(key) == name) same.push_back(i);
    if (key.starts_with(name)) beginning.push_back(i);
    all.push_back(i);
  }
  const std::vector<size_t>& found = same.empty() ? beginning : same;
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return InvalidArgumentError("MODULE_UNKNOWN", "The session has no HLO module of that name.")
        .Where(std::string(name.substr(0, 200)))
        .Hint("It has: " + KeyList(set, all) + ".");
  }
  return InvalidArgumentError("MODULE_AMBIGUOUS", "Several HLO modules have that name.")
      .Where(std::string(name.substr(0, 200)))
      .Hint("Name one of: " + KeyList(set, found) + ".");
}

hlo::PrintOptions HloTextOptions(bool metadata) {
  if (!metadata) return hlo::PrintOptions::Short();
  hlo::PrintOptions options = hlo::PrintOptions::Long();
  options.metadata = true;
  return options;
}

ToolDescriptor MakeListHloModulesTool() {
  ToolDescriptor tool =
      AgentTool("list_hlo_modules", "HLO modules", "Which compiled programs does the session have?",
                {{.name = "details",
                  .type = OptionType::kBoolean,
                  .default_value = "false",
                  .description = "Also sizes and entry computations."}});
  tool.cost = CostClass::kMetadata;
  tool.run = RunListHloModules;
  return tool;
}

ToolDescriptor MakeGetHloModuleContentTool() {
  ToolDescriptor tool =
      AgentTool("get_hlo_module_content", "HLO text of a module", "What does the program do?",
                {{.name = "fmt", .default_value = "text", .description = "text only."},
                 kModuleOption,
                 {.name = "max_lines",
                  .type = OptionType::kInteger,
                  .default_value = "2000",
                  .description = "Lines of text; -1: all."},
                 {.name = "print_metadata",
                  .type = OptionType::kBoolean,
                  .default_value = "false",
                  .description = "The long form."}});
  tool.cost = CostClass::kModules;
  tool.stored = false;
  tool.run = RunGetHloModuleContent;
  return tool;
}

ToolDescriptor MakeGetHloTextTool() {
  std::vector<OptionSpec> options = NeighbourhoodSpecs();
  options.push_back({.name = "op_name", .description = "Only what is around this instruction."});
  options.push_back({.name = "max_lines",
                     .type = OptionType::kInteger,
                     .default_value = "2000",
                     .description = "Lines of text to show; 0 and less: all."});
  ToolDescriptor tool = AgentTool("get_hlo_text", "HLO text",
                                  "What does the program, or the code "
                                  "around an op, look like?",
                                  std::move(options));
  tool.cost = CostClass::kModules;
  tool.stored = false;
  tool.run = RunGetHloText;
  return tool;
}

ToolDescriptor MakeGetGraphViewerTool() {
  ToolDescriptor tool = AgentTool(
      "get_graph_viewer", "Graphs for agents", "What does the graph of a module look like?",
      {kModuleOption,
       {.name = "output_type",
        .default_value = "short_txt",
        .description = "short_txt, long_txt, graph, adj_nodes, pbtxt, module_list ..."},
       {.name = "graph_type",
        .default_value = "xla",
        .description = "xla: the graph as it was compiled."},
       {.name = "show_metadata",
        .type = OptionType::kBoolean,
        .default_value = "true",
        .description = "With op names and source lines."},
       {.name = "node_name", .description = "Of output_type graph and adj_nodes."},
       {.name = "graph_width",
        .type = OptionType::kInteger,
        .default_value = "1",
        .description = "Steps around the node."},
       {.name = "merge_fusion",
        .type = OptionType::kBoolean,
        .default_value = "false",
        .description = "Fusions as one node each."},
       {.name = "max_lines",
        .type = OptionType::kInteger,
        .default_value = "-1",
        .description = "Lines of text to show; 0 and less: all."}});
  tool.cost = CostClass::kModules;
  tool.stored = false;
  tool.run = RunGetGraphViewer;
  return tool;
}

}  // namespace strobe::tools
