// The graph of a module around a node: what the graph pages draw and what DOT text says.
//
//   GraphOptions options;
//   options.radius = 2;
//   STROBE_ASSIGN_OR_RETURN(const HloGraph graph, MakeGraph(module, "fusion.3", options));
//   for (const GraphEdge& edge : graph.edges) Draw(graph.nodes[edge.from], graph.nodes[edge.to]);
//   DotText(graph)                                   // for Graphviz, equal in content to XProf's
//
// A name is an instruction (its neighbourhood is shown) or a computation (all of it). Fusions and
// called computations are drawn as clusters around their instructions, or fusions as one node.
// Constants, get-tuple-elements and the like are written into the nodes that use them.
//
// Cost: linear in what is shown; neighbourhoods of a module of 37,026 instructions in milliseconds.
// Limits: kMaxGraphNodes (HLO_GRAPH_TOO_LARGE), clusters nested kMaxClusterDepth deep (deeper ones
// are left out), radius up to kMaxRadius. Errors: HLO_NODE_UNKNOWN, HLO_NODE_MISSING.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/hlo/hlo_module.h"

namespace strobe::hlo {

inline constexpr int kMaxRadius = 1000;            // more than any path worth a look
inline constexpr size_t kMaxGraphNodes = 200'000;  // no drawing shows more
inline constexpr int kMaxClusterDepth = 100;       // real programs nest some ten deep

struct GraphOptions {
  int radius = 3;
  bool merge_fusions = false;        // fusions as one node
  bool backend_configs = false;      // in the labels
  bool groups_as_reference = false;  // PrintOptions has what it means
  size_t max_nodes = kMaxGraphNodes;
};

enum class NodeColor : uint8_t {
  kBrown,
  kDarkBlue,
  kDarkGreen,
  kDarkOrange,
  kDarkRed,
  kGray,
  kGreen,
  kOrange,
  kPurple,
  kRed,
  kWhite,
  kYellow,
  kDashed,
};

struct GraphNode {
  uint32_t instruction = kNone;  // kNone: the tag that marks the root
  uint32_t cluster = kNone;
  std::string label;    // lines between <br/>, with <b>
  std::string tooltip;  // op name and source frames
  std::string_view shape = "rect";
  NodeColor color = NodeColor::kWhite;
  bool highlighted = false;
};

struct GraphCluster {
  uint32_t computation = kNone;
  uint32_t caller = kNone;  // instruction
  uint32_t parent = kNone;  // cluster
  std::string label;
  bool is_fusion = false;
  bool highlighted = false;
};

enum class EdgeKind : uint8_t { kOperand, kControl, kCall, kRoot };

struct GraphEdge {
  uint32_t from = 0;  // nodes
  uint32_t to = 0;
  EdgeKind kind = EdgeKind::kOperand;
  int operand = -1;          // its number, when the user has several
  bool small = false;        // the value has fewer than 4,096 elements
  uint32_t cluster = kNone;  // of kCall: where it comes from
  std::string tooltip;
};

struct HloGraph {
  std::string title;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  std::vector<GraphCluster> clusters;
};

Result<HloGraph> MakeGraph(const HloModule& module, std::string_view name,
                           const GraphOptions& options);
std::string DotText(const HloGraph& graph);

// Names of what feeds an instruction and of what uses it, each once, in the order of operands and
// of the file; get-tuple-elements are looked through.
struct Neighbours {
  std::vector<std::string> operands;
  std::vector<std::string> consumers;
};
Result<Neighbours> NeighboursOf(const HloModule& module, std::string_view name);

// The kind of work as op tables call it: "loop fusion", "convolution", "data formatting" ...
std::string CategoryOf(const HloModule& module, uint32_t instruction);

}  // namespace strobe::hlo
