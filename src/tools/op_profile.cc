#include "src/tools/op_profile.h"

#include <string>
#include <string_view>

#include "src/tools/op_profile_tree.h"
#include "src/tools/op_tool_input.h"

namespace strobe::tools {
namespace {

using analysis::kIdle;
using analysis::OpMetrics;
using analysis::OpMetricsDb;
using analysis::OpStats;

struct Grouping {
  OpGrouping grouping;
  std::string_view field;
};

// Any other word means by program, as in XProf.
Grouping GroupingOf(std::string_view name) {
  if (name == "category") return {OpGrouping::kByCategory, "byCategory"};
  if (name == "provenance") return {OpGrouping::kByProvenance, "byProvenance"};
  return {OpGrouping::kByProgram, "byProgram"};
}

std::string_view DeviceTypeOf(const OpStats& stats) {
  const std::string_view type = stats.run.device_type;
  if (type.find("GPU") != std::string_view::npos) return "GPU";
  if (type == "CPU") return "CPU_ONLY";
  if (type.find("TPU") != std::string_view::npos) return "TPU";
  return "UNKNOWN_HARDWARE";
}

Value Tree(const OpStats& stats, const OpMetricsDb& db, OpGrouping grouping, bool with_idle) {
  OpProfileTree tree(grouping, &stats.program_names);
  for (const OpMetrics& op : db.ops) {
    // Computations that stand for nothing a reader knows.
    if (op.name.starts_with("region")) continue;
    if (!with_idle && op.category == kIdle) continue;
    tree.Add(op);
  }
  return tree.Finish(stats.perf, with_idle ? db.total_time_ps : db.total_op_time_ps);
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(OpToolInput ops,
                          ReadOpToolInput(question, input, OpToolNeeds::kOps, cancel));
  const OpStats& stats = *ops.stats;
  const OpMetricsDb& db = ops.device_ops();
  const Grouping grouping = GroupingOf(question.options.Text("group_by"));
  ToolResult result;
  result.shape = ToolResult::Shape::kDocument;
  result.document = Value::Object();
  result.document.Set(grouping.field, Tree(stats, db, grouping.grouping, true));
  result.document.Set("deviceType", Value::String(DeviceTypeOf(stats)));
  result.document.Set(std::string(grouping.field) + "ExcludeIdle",
                      Tree(stats, db, grouping.grouping, false));
  result.document.Set(
      "aggDvfsTimeScaleMultiplier",
      Value::Double(analysis::SafeDivide(static_cast<double>(db.normalized_total_op_time_ps),
                                         static_cast<double>(db.total_op_time_ps))));
  NoteNoDeviceOps(stats, &ops.notices);
  result.notices = std::move(ops.notices);
  result.partial = ops.partial;
  return result;
}

}  // namespace

ToolDescriptor MakeOpProfileTool() {
  ToolDescriptor tool;
  tool.id = "op_profile";
  tool.version = 2;
  tool.aliases = {"hlo_op_profile"};
  tool.title = "Op profile";
  tool.question = "Where does the time of the devices go, from program to instruction?";
  tool.options = {{.name = "group_by",
                   .type = OptionType::kString,
                   .default_value = "program",
                   .choices = {"program", "category", "provenance"},
                   .description = "What the first level of the tree is."}};
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
