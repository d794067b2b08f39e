#include "src/hlo/hlo_graph.h"

#include <algorithm>
#include <unordered_map>

#include "src/hlo/graph_filter.h"
#include "src/hlo/graph_label.h"

namespace strobe::hlo {
namespace {

class GraphBuilder {
 public:
  GraphBuilder(const HloModule& module, uint32_t computation, GraphFilter filter,
               const GraphOptions& options)
      : module_(module), computation_(computation), filter_(std::move(filter)), options_(options) {}

  Result<HloGraph> Build(std::string title) {
    graph_.title = std::move(title);
    AddTitle();
    AddComputation(computation_, kNone, 0);
    if (too_large_) {
      return ResourceExhaustedError(
                 "HLO_GRAPH_TOO_LARGE",
                 "The graph has more than " + std::to_string(options_.max_nodes) + " nodes.")
          .Where(std::string(module_.computation(computation_).name))
          .Hint("Ask for a neighbourhood of one instruction, or for a smaller radius.");
    }
    AddRootTag();
    LinkPending();
    return std::move(graph_);
  }

 private:
  const Instruction& At(uint32_t i) const { return module_.instruction(i); }
  bool Shows(uint32_t i) const { return filter_.Shows(module_, i); }

  void AddTitle();
  void AddComputation(uint32_t computation, uint32_t cluster, int depth);
  void AddCluster(uint32_t computation, uint32_t caller, uint32_t parent, int depth);
  void AddInstruction(uint32_t index, uint32_t cluster);
  void AddRootTag();
  std::string InlinedOperands(uint32_t index) const;
  std::string InlinedOperand(uint32_t operand) const;
  void AddIncomingEdges(uint32_t index);
  NodeColor ColorOf(uint32_t index) const;

  bool ShowsComputation(uint32_t computation) const;
  bool ShowsFusionOpen(uint32_t fusion) const {
    const auto calls = module_.calls(fusion);
    return !calls.empty() && ShowsComputation(calls[0]);
  }
  bool MergesIntoUsers(uint32_t index) const;
  // The constant that a fusion's parameter always has; kNone when it has none.
  uint32_t ConstantOfParameter(uint32_t index) const;
  uint32_t FusionOperand(uint32_t parameter) const;
  bool IsRoot(uint32_t index) const {
    return module_.computation(At(index).computation).root == index;
  }
  bool IsFolded(uint32_t index) const {
    return At(index).opcode == Opcode::kConstant || IsFusedScalarBroadcast(module_, index);
  }
  uint32_t NodeForEdge(uint32_t index) const;

  // Edges name instructions until all nodes are there.
  struct PendingEdge {
    uint32_t from;
    uint32_t to;
    GraphEdge edge;
  };
  void LinkPending();

  const HloModule& module_;
  const uint32_t computation_;
  const GraphFilter filter_;
  const GraphOptions& options_;
  HloGraph graph_;
  std::vector<PendingEdge> pending_;
  std::unordered_map<uint32_t, uint32_t> node_of_;     // instruction -> node
  std::unordered_map<uint32_t, uint32_t> cluster_of_;  // computation -> cluster
  bool too_large_ = false;
};

void GraphBuilder::AddTitle() {
  const Computation& computation = module_.computation(computation_);
  graph_.title.append("<br/>Computation ").append(computation.name);
  if (computation.is_fusion && computation.caller != kNone) {
    graph_.title.append(" (in fusion instruction ").append(At(computation.caller).name).append(")");
  } else if (computation.caller != kNone) {
    graph_.title.append("<br/>Caller instructions: ");
    bool first = true;
    for (uint32_t i = 0; i < module_.instructions().size(); ++i) {
      const auto calls = module_.calls(i);
      if (std::find(calls.begin(), calls.end(), computation_) == calls.end()) continue;
      if (!first) graph_.title.append(", ");
      first = false;
      graph_.title.append(At(i).name);
    }
  }
  if (computation_ == module_.entry()) graph_.title.append("<br/>ENTRY computation");
}

bool GraphBuilder::ShowsComputation(uint32_t index) const {
  const Computation& computation = module_.computation(index);
  if (computation.is_fusion && computation.caller != kNone) {
    const NodeState state = filter_.Of(module_, computation.caller);
    if (state == NodeState::kHidden || state == NodeState::kSomeOperandsHidden ||
        state == NodeState::kAllOperandsHidden || options_.merge_fusions) {
      return false;
    }
  } else if (!TrivialComputation(module_, index).empty()) {
    return false;
  }
  for (uint32_t i = computation.instructions.first;
       i < computation.instructions.first + computation.instructions.count; ++i) {
    if (Shows(i)) return true;
  }
  return false;
}

void GraphBuilder::AddComputation(uint32_t index, uint32_t cluster, int depth) {
  const Range range = module_.computation(index).instructions;
  for (uint32_t i = range.first; i < range.first + range.count && !too_large_; ++i) {
    if (!Shows(i)) continue;
    for (const uint32_t called : module_.calls(i)) {
      if (ShowsComputation(called)) AddCluster(called, i, cluster, depth + 1);
    }
    AddInstruction(i, cluster);
  }
}

void GraphBuilder::AddCluster(uint32_t index, uint32_t caller, uint32_t parent, int depth) {
  if (depth > kMaxClusterDepth) return;
  const bool is_fusion = At(caller).opcode == Opcode::kFusion;
  const Computation& computation = module_.computation(index);
  const auto [at, added] =
      cluster_of_.try_emplace(index, static_cast<uint32_t>(graph_.clusters.size()));
  const uint32_t cluster_index = at->second;
  if (!is_fusion) {
    GraphEdge edge;
    edge.kind = EdgeKind::kCall;
    edge.cluster = cluster_index;
    edge.tooltip = std::string(computation.name) + " -> " + std::string(At(caller).name);
    pending_.push_back({NodeForEdge(computation.root), caller, std::move(edge)});
  }
  if (!added) return;
  GraphCluster cluster;
  cluster.computation = index;
  cluster.caller = caller;
  cluster.parent = parent;
  cluster.is_fusion = is_fusion;
  cluster.highlighted = filter_.Of(module_, caller) == NodeState::kHighlighted;
  if (is_fusion) {
    cluster.label = "Fused expression for <b>" + Sanitized(At(caller).name) + "</b><br/>" +
                    Sanitized(CategoryOf(module_, caller));
    for (const std::string& more :
         {NodeAttributes(module_, caller, !ShowsFusionOpen(caller), options_.groups_as_reference),
          NodeBackendConfig(module_, caller, options_.backend_configs)}) {
      if (!more.empty()) cluster.label.append("<br/>").append(more);
    }
  } else {
    cluster.label = "Subcomputation for <b>" + Sanitized(At(caller).name) + "</b><br/>" +
                    Sanitized(computation.name);
  }
  graph_.clusters.push_back(std::move(cluster));
  AddComputation(index, cluster_index, depth);
}

uint32_t GraphBuilder::FusionOperand(uint32_t parameter) const {
  if (At(parameter).opcode != Opcode::kParameter || !IsFused(module_, parameter)) return kNone;
  const uint32_t fusion = module_.computation(At(parameter).computation).caller;
  const auto operands = module_.operands(fusion);
  const int64_t number = At(parameter).number;
  if (number < 0 || number >= static_cast<int64_t>(operands.size())) return kNone;
  return operands[static_cast<size_t>(number)];
}

uint32_t GraphBuilder::ConstantOfParameter(uint32_t index) const {
  const uint32_t operand = FusionOperand(index);
  return operand != kNone && At(operand).opcode == Opcode::kConstant ? operand : kNone;
}

bool GraphBuilder::MergesIntoUsers(uint32_t index) const {
  if (At(index).opcode == Opcode::kGetTupleElement && !IsRoot(index)) return true;
  if (ConstantOfParameter(index) != kNone) return true;
  // A tuple of which only parts are used, and many: the usual parameter of a loop's body.
  constexpr int64_t kFewUsers = 3;
  if (At(index).opcode != Opcode::kParameter || !module_.shape_of(index).is_tuple() ||
      IsFused(module_, index)) {
    return false;
  }
  const auto users = module_.users(index);
  return std::count_if(users.begin(), users.end(), [&](uint32_t u) { return Shows(u); }) >
             kFewUsers &&
         std::all_of(users.begin(), users.end(), [&](uint32_t u) {
           return !Shows(u) || At(u).opcode == Opcode::kGetTupleElement;
         });
}

uint32_t GraphBuilder::NodeForEdge(uint32_t index) const {
  if (At(index).opcode == Opcode::kGetTupleElement && !module_.operands(index).empty()) {
    index = module_.operands(index)[0];
  }
  for (int depth = 0; depth < kMaxClusterDepth; ++depth) {
    if (At(index).opcode != Opcode::kFusion || !ShowsFusionOpen(index)) break;
    index = module_.computation(module_.calls(index)[0]).root;
  }
  return index;
}

NodeColor GraphBuilder::ColorOf(uint32_t index) const {
  for (const uint32_t operand : module_.operands(index)) {
    if (At(operand).opcode == Opcode::kParameter && MergesIntoUsers(operand) &&
        ConstantOfParameter(operand) == kNone) {
      return IsSmall(module_.shape_of(index)) ? NodeColor::kOrange : NodeColor::kDarkOrange;
    }
  }
  return OpcodeColor(module_, index);
}

std::string GraphBuilder::InlinedOperand(uint32_t operand) const {
  const Instruction& instruction = At(operand);
  if (instruction.opcode == Opcode::kConstant) {
    return ConstantText(module_, operand, module_.shape_of(operand));
  }
  if (IsFusedScalarBroadcast(module_, operand)) {
    return ConstantText(module_, module_.operands(operand)[0], module_.shape_of(operand));
  }
  if (!MergesIntoUsers(operand)) return {};
  if (instruction.opcode == Opcode::kParameter) {
    const uint32_t constant = ConstantOfParameter(operand);
    return constant != kNone ? ConstantText(module_, constant, module_.shape_of(constant))
                             : "Parameter " + std::to_string(instruction.number);
  }
  const auto of = module_.operands(operand);
  if (of.empty()) return std::string(instruction.name);
  return "tuple-element " + std::to_string(instruction.number) + " of " +
         std::string(At(of[0]).name) + " " + ShapeText(module_.shape_of(operand));
}

std::string GraphBuilder::InlinedOperands(uint32_t index) const {
  std::string text;
  const auto line = [&text](const std::string& part) {
    if (!text.empty()) text.append("<br/>");
    text.append(part);
  };
  const auto operands = module_.operands(index);
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string operand = InlinedOperand(operands[i]);
    if (operand.empty()) continue;
    line((operands.size() > 1 ? "<b>operand " + std::to_string(i) + "</b> = "
                              : std::string("<b>operand</b> = ")) +
         operand);
  }
  const uint32_t input = FusionOperand(index);
  if (input != kNone && At(input).opcode == Opcode::kGetTupleElement &&
      !module_.operands(input).empty()) {
    line("tuple-element " + std::to_string(At(input).number) + " of " +
         std::string(At(module_.operands(input)[0]).name) + " " +
         ShapeText(module_.shape_of(input)));
  }
  return text;
}

void GraphBuilder::AddInstruction(uint32_t index, uint32_t cluster) {
  if (IsFolded(index) && !IsRoot(index)) return;
  if (MergesIntoUsers(index)) return;
  if (At(index).opcode == Opcode::kFusion && ShowsFusionOpen(index)) return;
  if (graph_.nodes.size() >= options_.max_nodes) {
    too_large_ = true;
    return;
  }
  node_of_[index] = static_cast<uint32_t>(graph_.nodes.size());
  GraphNode node;
  node.instruction = index;
  node.cluster = cluster;
  node.label = NodeTitle(module_, index);
  for (const std::string& more :
       {TrivialCalls(module_, index),
        NodeAttributes(module_, index, true, options_.groups_as_reference), InlinedOperands(index),
        NodeBackendConfig(module_, index, options_.backend_configs)}) {
    if (!more.empty()) node.label.append("<br/>").append(more);
  }
  node.tooltip = NodeTooltip(module_, index);
  node.color = ColorOf(index);
  if (At(index).opcode == Opcode::kWhile) node.shape = "ellipse";
  switch (filter_.Of(module_, index)) {
    case NodeState::kSomeOperandsHidden:
    case NodeState::kAllOperandsHidden:
    case NodeState::kSomeUsersHidden:
      node.color = NodeColor::kDashed;
      break;
    case NodeState::kHighlighted:
      node.color = NodeColor::kDarkRed;
      node.shape = "diamond";
      node.highlighted = true;
      break;
    default:
      break;
  }
  graph_.nodes.push_back(std::move(node));
  AddIncomingEdges(index);
}

void GraphBuilder::AddIncomingEdges(uint32_t index) {
  const auto add = [&](uint32_t from, EdgeKind kind, int operand) {
    from = NodeForEdge(from);
    if (!Shows(from) || IsFolded(from) || MergesIntoUsers(from)) return;
    GraphEdge edge;
    edge.kind = kind;
    edge.operand = operand;
    edge.small = IsSmall(module_.shape_of(from));
    edge.tooltip = std::string(At(from).name) + " -> " + std::string(At(index).name);
    pending_.push_back({from, index, std::move(edge)});
  };
  if (At(index).opcode == Opcode::kParameter && IsFused(module_, index)) {
    const uint32_t operand = FusionOperand(index);
    if (At(index).computation != computation_ && operand != kNone) {
      add(operand, EdgeKind::kOperand, -1);
    }
    return;
  }
  const auto operands = module_.operands(index);
  for (size_t i = 0; i < operands.size(); ++i) {
    add(operands[i], EdgeKind::kOperand, operands.size() > 1 ? static_cast<int>(i) : -1);
  }
  for (const uint32_t before : module_.control_predecessors(index)) {
    add(before, EdgeKind::kControl, -1);
  }
}

void GraphBuilder::AddRootTag() {
  const uint32_t from = NodeForEdge(module_.computation(computation_).root);
  if (!Shows(from) || IsFolded(from)) return;
  GraphNode tag;
  tag.label = "ROOT";
  tag.tooltip = " ";
  tag.shape = "circle";
  tag.color = NodeColor::kBrown;
  GraphEdge edge;
  edge.kind = EdgeKind::kRoot;
  edge.tooltip = " ";
  const auto node = node_of_.find(from);
  if (node != node_of_.end()) {
    edge.from = node->second;
    edge.to = static_cast<uint32_t>(graph_.nodes.size());
    graph_.edges.push_back(std::move(edge));
  }
  graph_.nodes.push_back(std::move(tag));
}

void GraphBuilder::LinkPending() {
  for (PendingEdge& pending : pending_) {
    const auto from = node_of_.find(pending.from);
    const auto to = node_of_.find(pending.to);
    if (from == node_of_.end() || to == node_of_.end()) continue;
    pending.edge.from = from->second;
    pending.edge.to = to->second;
    graph_.edges.push_back(std::move(pending.edge));
  }
}

Status Unknown(std::string_view name) {
  return NotFoundError("HLO_NODE_UNKNOWN", "Couldn't find HloInstruction or HloComputation named " +
                                               std::string(name) + ".")
      .Hint("Names are those of the module's text, with or without %.");
}

}  // namespace

Result<HloGraph> MakeGraph(const HloModule& module, std::string_view name,
                           const GraphOptions& options) {
  if (name.empty()) {
    return InvalidArgumentError("HLO_NODE_MISSING", "node_name should not be empty")
        .Hint("Give the name of an instruction or of a computation.");
  }
  // A computation goes before an instruction of the same name.
  const uint32_t computation = module.FindComputation(name);
  if (computation != kNone) {
    return GraphBuilder(module, computation, GraphFilter::Everything(), options).Build("");
  }
  const uint32_t instruction = module.FindInstruction(name);
  if (instruction == kNone) return Unknown(name);
  const int radius = std::clamp(options.radius, 0, kMaxRadius);
  return GraphBuilder(module, module.instruction(instruction).computation,
                      GraphFilter::Around(module, instruction, radius), options)
      .Build("Neighborhood of " + std::to_string(radius) + " nodes around " +
             std::string(module.instruction(instruction).name));
}

Result<Neighbours> NeighboursOf(const HloModule& module, std::string_view name) {
  const uint32_t index = module.FindInstruction(name);
  if (index == kNone) return Unknown(name);
  Neighbours result;
  const auto add = [&](uint32_t i, std::vector<std::string>* names) {
    names->emplace_back(module.instruction(i).name);
  };
  for (uint32_t operand : module.operands(index)) {
    if (module.instruction(operand).opcode == Opcode::kGetTupleElement &&
        !module.operands(operand).empty()) {
      operand = module.operands(operand)[0];
    }
    add(operand, &result.operands);
  }
  for (const uint32_t user : module.users(index)) {
    if (module.instruction(user).opcode != Opcode::kGetTupleElement) {
      add(user, &result.consumers);
      continue;
    }
    for (const uint32_t next : module.users(user)) add(next, &result.consumers);
  }
  return result;
}

}  // namespace strobe::hlo
