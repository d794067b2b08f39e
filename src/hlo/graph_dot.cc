// HloGraph as DOT text, and the categories of operations.
#include "src/hlo/hlo_graph.h"
#include "src/hlo/message.h"

namespace strobe::hlo {
namespace {

struct Colors {
  std::string_view style;
  std::string_view fill;
  std::string_view line;
  std::string_view text;
};

Colors ColorsOf(NodeColor color) {
  switch (color) {
    case NodeColor::kBrown:
      return {"filled", "#bcaaa4", "#8c7b75", "black"};
    case NodeColor::kDarkBlue:
      return {"filled", "#1565c0", "#003c8f", "white"};
    case NodeColor::kDarkGreen:
      return {"filled", "#2e7d32", "#005005", "white"};
    case NodeColor::kDarkOrange:
      return {"filled", "#ffb74d", "#c88719", "black"};
    case NodeColor::kDarkRed:
      return {"filled", "#b71c1c", "#7f0000", "white"};
    case NodeColor::kGray:
      return {"filled", "#cfd8dc", "#9ea7aa", "black"};
    case NodeColor::kGreen:
      return {"filled", "#c8e6c9", "#97b498", "black"};
    case NodeColor::kOrange:
      return {"filled", "#ffe0b2", "#cbae82", "black"};
    case NodeColor::kPurple:
      return {"filled", "#e1bee7", "#af8eb5", "black"};
    case NodeColor::kRed:
      return {"filled", "#ffcdd2", "#cb9ca1", "black"};
    case NodeColor::kWhite:
      return {"filled", "white", "#9e9e9e", "black"};
    case NodeColor::kYellow:
      return {"filled", "#fff9c4", "#cbc693", "black"};
    case NodeColor::kDashed:
      break;
  }
  return {"filled,dashed", "white", "#757575", "#757575"};
}

void AppendNode(const HloGraph& graph, uint32_t index, std::string* out) {
  const GraphNode& node = graph.nodes[index];
  const Colors colors = ColorsOf(node.color);
  out->append("n").append(std::to_string(index)).append(" [label=<").append(node.label);
  out->append(">, shape=").append(node.shape).append(", tooltip=\"").append(node.tooltip);
  out->append("\", style=\"").append(colors.style).append("\", fontcolor=\"");
  out->append(colors.text).append("\", color=\"").append(colors.line);
  out->append("\", fillcolor=\"").append(colors.fill).append("\"];\n");
}

// Nodes and clusters within a cluster (kNone: the graph itself).
struct Members {
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> clusters;
};

void AppendMembers(const HloGraph& graph, const std::vector<Members>& members, uint32_t cluster,
                   std::string* out) {
  const Members& own = cluster == kNone ? members.back() : members[cluster];
  for (const uint32_t node : own.nodes) AppendNode(graph, node, out);
  // Nesting is bounded by kMaxClusterDepth.
  for (const uint32_t inner : own.clusters) {
    const GraphCluster& child = graph.clusters[inner];
    const std::string id = "cluster_" + std::to_string(inner);
    out->append("subgraph ").append(id).append(" {\n");
    if (child.is_fusion) {
      out->append("style=\"rounded,filled,bold\"; fillcolor=\"");
      out->append(child.highlighted ? "#ffcdd2" : "#f5f5f5").append("\"; color=\"");
      out->append(child.highlighted ? "#b71c1c" : "#c2c2c2").append(";\"\n");
    } else {
      out->append("style=rounded; color=black;\n");
    }
    out->append("label = <").append(child.label).append(">;\nlabelloc = t;\ntooltip = \" \";\n");
    AppendMembers(graph, members, inner, out);
    out->append("}\n\n");
  }
}

void AppendEdge(const GraphEdge& edge, std::string* out) {
  out->append("n").append(std::to_string(edge.from)).append(" -> n");
  out->append(std::to_string(edge.to)).append(" [");
  switch (edge.kind) {
    case EdgeKind::kCall:
      out->append("ltail=\"cluster_").append(std::to_string(edge.cluster));
      out->append("\", style=\"dashed\" tooltip=\"").append(edge.tooltip).append("\"];\n");
      return;
    case EdgeKind::kRoot:
      out->append("tooltip=\" \"];\n");
      return;
    default:
      break;
  }
  out->append("arrowhead=").append(edge.small ? "empty" : "normal");
  out->append(" tooltip=\"").append(edge.tooltip).append("\" ");
  if (edge.kind == EdgeKind::kControl) {
    out->append("style=\"dotted\" color=\"gray\" label=\"ctrl\"");
  } else if (edge.operand >= 0) {
    out->append(" headlabel=\"").append(std::to_string(edge.operand));
    out->append("\", labeldistance=2");
  }
  out->append("];\n");
}

}  // namespace

std::string DotText(const HloGraph& graph) {
  std::vector<Members> members(graph.clusters.size() + 1);
  const auto of = [&members](uint32_t cluster) -> Members& {
    return cluster == kNone ? members.back() : members[cluster];
  };
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) of(graph.nodes[n].cluster).nodes.push_back(n);
  for (uint32_t c = 0; c < graph.clusters.size(); ++c) {
    of(graph.clusters[c].parent).clusters.push_back(c);
  }
  std::string out = "digraph G {\nrankdir = TB;\ncompound = true;\nlabel = <<b>" + graph.title +
                    "</b>>;\nlabelloc = t;\ntooltip = \" \";\n";
  AppendMembers(graph, members, kNone, &out);
  for (const GraphEdge& edge : graph.edges) AppendEdge(edge, &out);
  out.append("}");
  return out;
}

std::string CategoryOf(const HloModule& module, uint32_t index) {
  const Instruction& instruction = module.instruction(index);
  switch (instruction.opcode) {
    case Opcode::kFusion: {
      const std::string_view kind = Message(instruction.record).Bytes(11);
      if (kind == "kLoop") return "loop fusion";
      if (kind == "kInput") return "input fusion";
      if (kind == "kOutput") return "output fusion";
      return "custom fusion";
    }
    case Opcode::kTranspose:
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kDynamicReshape:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kReverse:
    case Opcode::kBitcast:
      return "data formatting";
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kRaggedDot:
      return "convolution";
    default:
      return std::string(instruction.opcode_text);
  }
}

}  // namespace strobe::hlo
