#include "src/tools/graph_viewer.h"

#include <algorithm>
#include <charconv>

#include "src/hlo/hlo_graph.h"
#include "src/hlo/hlo_printer.h"
#include "src/hlo/proto_text.h"
#include "src/tools/graph_page.h"
#include "src/tools/module_choice.h"

namespace strobe::tools {
namespace {

constexpr int kDefaultRadius = 3;  // XProf's

constexpr std::string_view kTypes[] = {"graph",    "custom_call", "adj_nodes", "short_txt",
                                       "long_txt", "pb",          "pbtxt",     "json"};

Status NoModule() {
  return NotFoundError("GRAPH_NO_MODULE", "No HLO module found in the HLO proto")
      .Hint("The profile carries no HLO modules; capture with enable_hlo_proto on.");
}

Status NodeMissing() {
  return InvalidArgumentError("GRAPH_NODE_MISSING", "node_name should not be empty")
      .Hint("Give the name of an instruction or of a computation.");
}

Result<ToolResult> Text(std::string text, std::string_view content_type) {
  ToolResult result;
  result.shape = ToolResult::Shape::kText;
  result.text = std::move(text);
  result.content_type = content_type;
  return result;
}

// As XProf reads numbers: what is none is the default.
int RadiusOf(const ToolOptions& options) {
  const int64_t radius = options.Integer("graph_width", kDefaultRadius);
  return static_cast<int>(std::clamp<int64_t>(radius, 0, hlo::kMaxRadius));
}

Result<ToolResult> Graph(const ToolQuestion& question, const ModuleChoice& choice) {
  const ToolOptions& options = question.options;
  const std::string& node = options.Text("node_name");
  if (node.empty()) return NodeMissing();
  const std::string& format = options.Text("format");
  if (format != "dot" && format != "html") {
    return UnimplementedError("GRAPH_URL_UNSUPPORTED",
                              "Can't render as URL; no URL renderer was registered.")
        .Where("format=" + format.substr(0, 100))
        .Hint("Ask for format=dot or format=html.");
  }
  hlo::GraphOptions graph_options;
  graph_options.radius = RadiusOf(options);
  graph_options.merge_fusions = options.Flag("merge_fusion");
  graph_options.backend_configs = options.Flag("show_metadata");
  graph_options.groups_as_reference = question.as_xprof;
  STROBE_ASSIGN_OR_RETURN(const hlo::HloGraph graph,
                          hlo::MakeGraph(*choice.module, node, graph_options));
  if (format == "dot") return Text(hlo::DotText(graph), "text/html");
  return Text(GraphPage(graph), "text/html");
}

Value ListOf(const std::vector<std::string>& names) {
  Value list = Value::List();
  for (const std::string& name : names) list.Add(Value::String(name));
  return list;
}

Result<ToolResult> Adjacent(const ToolQuestion& question, const ModuleChoice& choice) {
  const std::string& node = question.options.Text("node_name");
  if (node.empty()) return NodeMissing();
  if (choice.module->FindInstruction(node) == hlo::kNone &&
      choice.module->FindComputation(node) != hlo::kNone) {
    return UnimplementedError("GRAPH_COMPUTATION_ADJACENT",
                              "GetAdjacentNodes is not implemented for HloComputation.")
        .Where(node.substr(0, 200))
        .Hint("Give the name of an instruction; only these have operands and consumers.");
  }
  STROBE_ASSIGN_OR_RETURN(const hlo::Neighbours neighbours,
                          hlo::NeighboursOf(*choice.module, node));
  ToolResult result;
  result.shape = ToolResult::Shape::kDocument;
  result.content_type = "text/plain";
  result.document = Value::Object();
  result.document.Set("consumer_names", ListOf(neighbours.consumers));
  result.document.Set("operand_names", ListOf(neighbours.operands));
  return result;
}

Result<ToolResult> HloText(const ToolQuestion& question, const ModuleChoice& choice,
                           std::string_view type) {
  hlo::PrintOptions print =
      type == "short_txt" ? hlo::PrintOptions::Short() : hlo::PrintOptions::Long();
  print.metadata = type == "custom_call" || question.options.Flag("show_metadata");
  print.groups_as_reference = question.as_xprof;
  return Text(hlo::ModuleText(*choice.module, print),
              type == "custom_call" ? "text/plain" : "application/octet-stream");
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(const ModuleChoice choice,
                          ChooseModule(question.options, *input.Modules(), true, cancel));
  const std::string& type = question.options.Text("type");
  if (type.empty()) {
    return InvalidArgumentError("GRAPH_TYPE_MISSING", "Graph viewer must provide a type option.")
        .Hint("One of graph, custom_call, adj_nodes, short_txt, long_txt, pb, pbtxt.");
  }
  if (std::ranges::find(kTypes, type) == std::end(kTypes)) {
    return InvalidArgumentError("GRAPH_TYPE_UNKNOWN",
                                "Unknown graph viewer type option: " + type.substr(0, 200))
        .Hint("One of graph, custom_call, adj_nodes, short_txt, long_txt, pb, pbtxt.");
  }
  if (type == "json") {
    return UnimplementedError("GRAPH_JSON_UNSUPPORTED", "Not implemented")
        .Hint("The tool hlo_graph gives a graph as nodes and edges.");
  }
  if (type == "pb" || type == "pbtxt") {
    // Without any module both are empty.
    const std::string_view bytes =
        choice.no_modules ? std::string_view() : choice.module->hlo_proto();
    if (type == "pb") return Text(std::string(bytes), "application/octet-stream");
    STROBE_ASSIGN_OR_RETURN(std::string text, hlo::HloProtoText(bytes, !question.as_xprof));
    return Text(std::move(text), "application/octet-stream");
  }
  if (choice.no_modules) return NoModule();
  if (type == "graph") return Graph(question, choice);
  if (type == "adj_nodes") return Adjacent(question, choice);
  return HloText(question, choice, type);
}

}  // namespace

ToolDescriptor MakeGraphViewerTool() {
  ToolDescriptor tool;
  tool.id = "graph_viewer";
  tool.title = "Graph viewer";
  tool.question = "What does the compiled program look like around an operation?";
  tool.options = ModuleOptions();
  tool.options.push_back({.name = "type", .description = "What is wanted of the module."});
  tool.options.push_back(
      {.name = "node_name", .description = "An instruction or a computation, with or without %."});
  tool.options.push_back({.name = "graph_width",
                          .type = OptionType::kInteger,
                          .default_value = "3",
                          .description = "Steps along operands and users that are shown."});
  tool.options.push_back({.name = "show_metadata",
                          .type = OptionType::kBoolean,
                          .default_value = "false",
                          .description = "Op names and source lines, backend settings in graphs."});
  tool.options.push_back({.name = "merge_fusion",
                          .type = OptionType::kBoolean,
                          .default_value = "false",
                          .description = "Draw a fusion as one node."});
  tool.options.push_back({.name = "format",
                          .default_value = "url",
                          .description = "Of a graph: dot (text for Graphviz) or html (a page)."});
  tool.scope = HostScope::kAllHosts;
  tool.stored = false;
  tool.cost = CostClass::kModules;
  tool.applies = HaveModules;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
