// A page that shows an HLO graph by itself: the drawing as SVG, laid out here, and its DOT text.
//
//   result.text = GraphPage(graph);      // text/html, nothing is loaded from anywhere
//
// Layers are longest paths, the order within a layer follows clusters and then the middle of the
// operands. Cost: linear in nodes and edges, and a sort a layer. Limits: kMaxDrawnNodes; a larger
// graph has its DOT text and says that it is not drawn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/hlo/hlo_graph.h"

namespace strobe::tools {

inline constexpr size_t kMaxDrawnNodes = 2'000;  // beyond it no one finds anything in a drawing

std::string GraphPage(const hlo::HloGraph& graph);

// `description` (DOT, either kind of graph) in a page with a body; what pages of this kind have in
// common. The description stands between backticks in a script element that is not run.
std::string DescriptionPage(std::string_view title, std::string_view body,
                            std::string_view description);

}  // namespace strobe::tools
