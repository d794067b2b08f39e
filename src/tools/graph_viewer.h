// The graph viewer: an HLO module as a drawing, as text, as protobuf, or one node's neighbours.
//
//   type=graph & node_name & format=dot|html   the neighbourhood (or a whole computation)
//   type=short_txt | long_txt | custom_call    HLO text (custom_call: long, with metadata)
//   type=pb | pbtxt                            the module as it is, and as protobuf text
//   type=adj_nodes & node_name                 names of operands and consumers, as JSON
//
// The module is chosen as ChooseModule says (module_choice.h). The answer is a text with its
// content type. XProf answers each failure with status 500 and the text given here; every one has a
// name of its own, and `message()` is XProf's text, but for HLO_MODULE_UNKNOWN, where XProf says
// "<folder of the session>/<module_name>.hlo_proto.pb; No such file or directory" (where() is the
// name):
//
//   HLO_MODULE_NOT_NAMED       Can not load hlo proto from options.
//   HLO_MODULE_UNKNOWN         (see above)
//   GRAPH_TYPE_MISSING         Graph viewer must provide a type option.
//   GRAPH_TYPE_UNKNOWN         Unknown graph viewer type option: X
//   GRAPH_JSON_UNSUPPORTED     Not implemented
//   GRAPH_NO_MODULE            No HLO module found in the HLO proto
//   GRAPH_NODE_MISSING         node_name should not be empty
//   GRAPH_URL_UNSUPPORTED      Can't render as URL; no URL renderer was registered.
//   HLO_NODE_UNKNOWN           Couldn't find HloInstruction or HloComputation named X.
//   GRAPH_COMPUTATION_ADJACENT GetAdjacentNodes is not implemented for HloComputation.
//   HLO_GRAPH_TOO_LARGE        (ours: the bound and the option that lowers the radius)
//
// Cost: that of the module's text or of what is shown; a page (format=html) draws the graph itself,
// without anything from the network, up to kMaxDrawnNodes nodes.
#pragma once

#include "src/tools/tool.h"

namespace strobe::tools {

ToolDescriptor MakeGraphViewerTool();

}  // namespace strobe::tools
