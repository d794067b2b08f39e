// Tools whose answers are known exactly, for tests of the ways in.
#pragma once

#include <string>
#include <vector>

#include "src/tools/tool.h"

namespace strobe::api {

// A table of three rows; the option "factor" multiplies the time; "fail" answers with an error.
inline Result<tools::ToolResult> RunPlantedStats(const tools::ToolQuestion& question,
                                                 tools::ToolInput& input, const CancelToken&) {
  if (question.options.Flag("fail")) {
    return FailedPreconditionError("PLANTED_FAILURE", "It fails because it was told to.");
  }
  const double factor = question.options.Number("factor", 1);
  tools::Table table("ops", "Operations");
  table.AddColumn({.id = "category", .label = "Category", .type = tools::ColumnType::kString});
  table.AddColumn({.id = "hlo_op_name", .label = "Op", .type = tools::ColumnType::kString});
  table.AddColumn({.id = "total_self_time",
                   .label = "Self time (us)",
                   .unit = "us",
                   .properties = {{"role", "value"}},
                   .description = "Time without that of its children."});
  table.AddColumn({.id = "eager", .label = "Eager", .type = tools::ColumnType::kBoolean});
  table.AddRow({"fusion", "fusion.3", 12.5 * factor, true},
               {.hlo_module_id = 7716253410928341207ULL, .op_name = "fusion.3"});
  table.AddRow({"copy", "copy.1", tools::Cell(31).Format("0x1f"), false}, {.op_name = "copy.1"});
  table.AddRow({"fusion", "fusion.10", tools::Cell(), false});
  table.SetProperty("hosts", std::to_string(question.hosts.size()) + " of " +
                                 std::to_string(input.hosts().size()));
  table.SetProperty("as", question.as_xprof ? "xprof" : "own");
  tools::ToolResult result;
  result.shape = tools::ToolResult::Shape::kTable;
  result.tables.push_back(std::move(table));
  result.notices.push_back({tools::Notice::Severity::kWarning, "NO_STEPS", "No steps.", "Mark."});
  return result;
}

inline Result<tools::ToolResult> RunPlantedOverview(const tools::ToolQuestion&, tools::ToolInput&,
                                                    const CancelToken&) {
  tools::ToolResult result;
  tools::Table first("numbers", "Numbers");
  first.AddColumn({.id = "n", .label = "N"});
  first.AddRow({1});
  first.AddRow({0.1});
  result.tables = {first, tools::Table(), tools::Table("none", "None")};
  result.partial = true;
  return result;
}

inline Result<tools::ToolResult> RunPlantedTree(const tools::ToolQuestion&, tools::ToolInput&,
                                                const CancelToken&) {
  tools::ToolResult result;
  result.shape = tools::ToolResult::Shape::kDocument;
  result.document = tools::Value::Object();
  result.document.Set("deviceType", tools::Value::String("TPU <v6>"));
  result.document.Set("rawTime", tools::Value::Uint64(uint64_t{1} << 60));
  tools::Value& children = result.document.Set("children", tools::Value::List());
  children.Add(tools::Value::Double(0.5));
  children.Add(tools::Value::Int32(3));
  return result;
}

inline Result<tools::ToolResult> RunPlantedText(const tools::ToolQuestion& question,
                                                tools::ToolInput&, const CancelToken&) {
  if (question.options.Text("format") == "none") {
    return InvalidArgumentError("PLANTED_NO_MODULE", "Can not load hlo proto from options.");
  }
  tools::ToolResult result;
  result.shape = tools::ToolResult::Shape::kText;
  result.text = "digraph {}";
  result.content_type = "text/html";
  return result;
}

inline const std::vector<tools::ToolDescriptor>& PlantedTools() {
  static const std::vector<tools::ToolDescriptor> tools = [] {
    std::vector<tools::ToolDescriptor> made;
    made.push_back({.id = "overview_page",
                    .title = "Overview",
                    .question = "What is the matter?",
                    .scope = tools::HostScope::kAllHosts,
                    .run = RunPlantedOverview});
    made.push_back({.id = "hlo_stats",
                    .aliases = {"hlo_op_stats"},
                    .title = "HLO op stats",
                    .question = "Which ops take the time?",
                    .version = 3,
                    .options = {{.name = "factor",
                                 .type = tools::OptionType::kNumber,
                                 .default_value = "1",
                                 .description = "Multiplies."},
                                {.name = "fail",
                                 .type = tools::OptionType::kBoolean,
                                 .default_value = "false"}},
                    .run = RunPlantedStats});
    made.push_back({.id = "op_profile",
                    .title = "Op profile",
                    .question = "Where?",
                    .options = {{.name = "group_by",
                                 .default_value = "program",
                                 .choices = {"program", "category"}}},
                    .applies =
                        [](const tools::SessionFacts& facts) {
                          if (facts.has_tpu_plane) return tools::Applicability{};
                          return tools::Applicability{false, "No device was recorded.",
                                                      "Record one."};
                        },
                    .run = RunPlantedTree});
    made.push_back({.id = "graph_viewer",
                    .title = "Graph",
                    .question = "What does it look like?",
                    .options = {{.name = "format", .default_value = "dot"}},
                    .scope = tools::HostScope::kOneHost,
                    .cost = tools::CostClass::kModules,
                    .run = RunPlantedText});
    return made;
  }();
  return tools;
}

}  // namespace strobe::api
