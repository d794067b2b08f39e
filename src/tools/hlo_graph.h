// The graph of an HLO module around a node, as nodes and edges that a console lays out.
//
//   module_name | program_id     which module (module_choice.h)
//   node_name                    an instruction (its neighbourhood) or a computation (all of it);
//                                empty: the root of the entry computation
//   radius, merge_fusion, max_nodes
//
// Document: module {key, name, programId}, node, radius; nodes [{name, opcode, category, shape,
// shapeBytes, computation, cluster, fusedComputation, opName, source {file, line, frames}, cost
// {flops, bytes, transcendentals, known}, parameter, root, centre, partial}], edges [{from, to,
// kind, operand, small}], clusters [{computation, caller, parent, isFusion}]. Indices count within
// the document. `cost` is an estimate from shapes (hlo/cost.h), for sessions with a GPU in the
// cycles of a GPU.
//
// Errors: those of ChooseModule and of hlo::MakeGraph (HLO_NODE_UNKNOWN, HLO_GRAPH_TOO_LARGE).
// Cost: a neighbourhood of a module of 37,026 instructions takes some 20 ms, most of it the
// estimates.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

// More than a browser lays out in a second; the option max_nodes goes up to hlo::kMaxGraphNodes.
inline constexpr int64_t kDefaultGraphNodes = 2'000;

ToolDescriptor MakeHloGraphTool();

}  // namespace strobe::tools
