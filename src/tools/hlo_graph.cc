#include "src/tools/hlo_graph.h"

#include <algorithm>

#include "src/hlo/category.h"
#include "src/hlo/cost.h"
#include "src/hlo/hlo_graph.h"
#include "src/hlo/hlo_printer.h"
#include "src/tools/module_choice.h"

namespace strobe::tools {
namespace {

using hlo::HloModule;
using hlo::kNone;

std::string_view KindName(hlo::EdgeKind kind) {
  switch (kind) {
    case hlo::EdgeKind::kOperand:
      return "operand";
    case hlo::EdgeKind::kControl:
      return "control";
    case hlo::EdgeKind::kCall:
      return "call";
    case hlo::EdgeKind::kRoot:
      return "root";
  }
  return "";
}

Value IndexOrNull(uint32_t index) { return index == kNone ? Value::Null() : Value::Int32(index); }

class GraphDocument {
 public:
  GraphDocument(const HloModule& module, const hlo::HloGraph& graph, hlo::CostModel model)
      : module_(module), graph_(graph), cost_(hlo::CostOf(module, model)) {}

  void Write(Value* document) const {
    Value nodes = Value::List();
    for (const hlo::GraphNode& node : graph_.nodes) nodes.Add(Node(node));
    document->Set("nodes", std::move(nodes));
    Value edges = Value::List();
    for (const hlo::GraphEdge& edge : graph_.edges) edges.Add(Edge(edge));
    document->Set("edges", std::move(edges));
    Value clusters = Value::List();
    for (const hlo::GraphCluster& cluster : graph_.clusters) clusters.Add(Cluster(cluster));
    document->Set("clusters", std::move(clusters));
  }

 private:
  Value Node(const hlo::GraphNode& node) const {
    Value value = Value::Object();
    value.Set("cluster", IndexOrNull(node.cluster));
    value.Set("root", Value::Bool(node.instruction == kNone));
    if (node.instruction == kNone) return value;
    const hlo::Instruction& instruction = module_.instruction(node.instruction);
    value.Set("name", Value::String(instruction.name));
    value.Set("opcode", Value::String(hlo::ShownOpcode(module_, node.instruction)));
    value.Set("category", Value::String(hlo::HloCategoryOf(module_, node.instruction)));
    const hlo::Shape& shape = module_.shape_of(node.instruction);
    value.Set("shape", Value::String(hlo::ShapeText(shape)));
    value.Set("shapeBytes", Value::Int64(hlo::PaddedSizeBytes(shape)));
    value.Set("computation", Value::String(module_.computation(instruction.computation).name));
    value.Set("centre", Value::Bool(node.highlighted));
    value.Set("partial", Value::Bool(node.color == hlo::NodeColor::kDashed));
    if (instruction.opcode == hlo::Opcode::kFusion && !module_.calls(node.instruction).empty()) {
      value.Set("fusedComputation",
                Value::String(module_.computation(module_.calls(node.instruction)[0]).name));
    }
    if (instruction.opcode == hlo::Opcode::kParameter) {
      value.Set("parameter", Value::Int32(instruction.number));
    }
    AddSource(hlo::DecodeMetadata(instruction.metadata), &value);
    AddCost(node.instruction, &value);
    return value;
  }

  void AddSource(const hlo::OpMetadata& metadata, Value* value) const {
    if (!metadata.op_name.empty()) value->Set("opName", Value::String(metadata.op_name));
    const std::string frames = FrameText(module_, metadata);
    if (metadata.source_file.empty() && frames.empty()) return;
    Value source = Value::Object();
    if (!metadata.source_file.empty()) {
      source.Set("file", Value::String(metadata.source_file));
      source.Set("line", Value::Int32(metadata.source_line));
    } else {
      const hlo::SourceFrame first = module_.Frames(metadata.stack_frame_id).front();
      source.Set("file", Value::String(first.file));
      source.Set("line", Value::Int32(first.line));
    }
    source.Set("frames", Value::String(frames));
    value->Set("source", std::move(source));
  }

  void AddCost(uint32_t instruction, Value* value) const {
    const hlo::InstructionCost& cost = cost_.instructions[instruction];
    if (!cost.visited) return;
    Value object = Value::Object();
    object.Set("flops", Value::Double(cost.flops));
    object.Set("bytes", Value::Double(cost.bytes_accessed));
    object.Set("transcendentals", Value::Double(cost.transcendentals));
    object.Set("known", Value::Bool(cost.known));
    value->Set("cost", std::move(object));
  }

  static Value Edge(const hlo::GraphEdge& edge) {
    Value value = Value::Object();
    value.Set("from", Value::Int32(edge.from));
    value.Set("to", Value::Int32(edge.to));
    value.Set("kind", Value::String(KindName(edge.kind)));
    value.Set("operand", edge.operand < 0 ? Value::Null() : Value::Int32(edge.operand));
    value.Set("small", Value::Bool(edge.small));
    return value;
  }

  Value Cluster(const hlo::GraphCluster& cluster) const {
    Value value = Value::Object();
    value.Set("computation", Value::String(cluster.computation == kNone
                                               ? std::string_view()
                                               : module_.computation(cluster.computation).name));
    value.Set("caller",
              Value::String(cluster.caller == kNone ? std::string_view()
                                                    : module_.instruction(cluster.caller).name));
    value.Set("parent", IndexOrNull(cluster.parent));
    value.Set("isFusion", Value::Bool(cluster.is_fusion));
    return value;
  }

  const HloModule& module_;
  const hlo::HloGraph& graph_;
  const hlo::ModuleCost cost_;
};

// When nothing is named, the largest module: the one that most questions are about.
Result<ModuleChoice> NamedOrLargest(const ToolOptions& options, const hlo::ModuleSet& modules,
                                    const CancelToken& cancel) {
  const bool named = !options.Text("module_name").empty() || !options.Text("program_id").empty() ||
                     !options.Text("node_name").empty();
  if (named || modules.empty()) return ChooseModule(options, modules, true, cancel);
  const auto largest = std::ranges::max_element(
      modules.entries(), {},
      [](const hlo::ModuleSet::Entry& entry) { return entry.hlo_proto.size(); });
  ModuleChoice choice;
  choice.key = largest->key;
  choice.program_id = largest->program_id;
  STROBE_ASSIGN_OR_RETURN(choice.module,
                          modules.Module(static_cast<size_t>(largest - modules.entries().begin())));
  return choice;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  const ToolOptions& options = question.options;
  STROBE_ASSIGN_OR_RETURN(const ModuleChoice choice,
                          NamedOrLargest(options, *input.Modules(), cancel));
  if (choice.no_modules) {
    return NotFoundError("HLO_MODULE_UNKNOWN", "The session has no HLO modules.")
        .Hint("Capture with enable_hlo_proto on.");
  }
  const HloModule& module = *choice.module;
  std::string node = options.Text("node_name");
  if (node.empty()) node = module.instruction(module.computation(module.entry()).root).name;
  hlo::GraphOptions graph_options;
  graph_options.radius =
      static_cast<int>(std::clamp<int64_t>(options.Integer("radius", 2), 0, hlo::kMaxRadius));
  graph_options.merge_fusions = options.Flag("merge_fusion");
  graph_options.max_nodes =
      static_cast<size_t>(std::clamp<int64_t>(options.Integer("max_nodes", kDefaultGraphNodes), 1,
                                              static_cast<int64_t>(hlo::kMaxGraphNodes)));
  STROBE_ASSIGN_OR_RETURN(const hlo::HloGraph graph, hlo::MakeGraph(module, node, graph_options));
  ToolResult result;
  result.shape = ToolResult::Shape::kDocument;
  result.document = Value::Object();
  Value about = Value::Object();
  about.Set("key", Value::String(choice.key));
  about.Set("name", Value::String(module.name()));
  about.Set("programId", Value::String(std::to_string(choice.program_id)));
  result.document.Set("module", std::move(about));
  result.document.Set("node", Value::String(node));
  result.document.Set("radius", Value::Int32(graph_options.radius));
  const hlo::CostModel model =
      input.facts().has_gpu_plane ? hlo::CostModel::kGpu : hlo::CostModel::kGeneric;
  GraphDocument(module, graph, model).Write(&result.document);
  return result;
}

}  // namespace

ToolDescriptor MakeHloGraphTool() {
  ToolDescriptor tool;
  tool.id = "hlo_graph";
  tool.title = "HLO graph";
  tool.question = "What feeds an operation, and what uses it?";
  tool.options = ModuleOptions();
  tool.options.push_back({.name = "node_name",
                          .description = "An instruction or a computation; empty: the root of the "
                                         "entry computation."});
  tool.options.push_back({.name = "radius",
                          .type = OptionType::kInteger,
                          .default_value = "2",
                          .description = "Steps along operands and users that are shown."});
  tool.options.push_back({.name = "merge_fusion",
                          .type = OptionType::kBoolean,
                          .default_value = "false",
                          .description = "A fusion as one node."});
  tool.options.push_back({.name = "max_nodes",
                          .type = OptionType::kInteger,
                          .default_value = std::to_string(kDefaultGraphNodes),
                          .description = "More nodes are an error that says how many."});
  tool.scope = HostScope::kAllHosts;
  tool.listed_by_xprof = false;
  tool.stored = false;
  tool.cost = CostClass::kModules;
  tool.applies = HaveModules;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
