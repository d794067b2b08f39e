#include "src/tools/agent_llo.h"

#include <algorithm>

namespace strobe::tools {
namespace {

constexpr std::string_view kFlags =
    "LIBTPU_INIT_ARGS=\"--xla_xprof_register_llo_debug_info=true\" before the program imports jax; "
    "--xla_xprof_enable_custom_call_tracing=true records what ran as well, in larger traces.";

// Entries of metadata planes that carry an LLO module.
Result<Value> LloModules(const ToolQuestion& question, ToolInput& input,
                         const CancelToken& cancel) {
  Value modules = Value::List();
  for (const size_t index : question.hosts) {
    const xplane::ProfileFile* file = input.hosts()[index].file;
    if (file == nullptr) continue;
    for (size_t p = 0; p < file->planes().size(); ++p) {
      STROBE_RETURN_IF_ERROR(cancel.Check());
      const xplane::Plane& plane = file->planes()[p];
      const bool known = std::ranges::any_of(
          plane.stat_metadata,
          [](const xplane::StatMetadata& stat) { return stat.name == "llo_proto"; });
      if (!known) continue;
      for (uint32_t e = 0; e < plane.event_metadata.size(); ++e) {
        for (const xplane::Stat& stat : file->MetadataStats(p, e)) {
          if (stat.name != "llo_proto") continue;
          Value& one = modules.Add(Value::Object());
          one.Set("name", Value::String(plane.event_metadata[e].name));
          one.Set("size_bytes", Value::Int64(static_cast<int64_t>(stat.text.size())));
          one.Set("host", Value::String(input.hosts()[index].name));
        }
      }
    }
  }
  return modules;
}

Result<ToolResult> RunLlo(const ToolQuestion& question, ToolInput& input,
                          const CancelToken& cancel) {
  STROBE_ASSIGN_OR_RETURN(Value modules, LloModules(question, input, cancel));
  const bool absent = modules.items().empty();
  Value document = Value::Object();
  document.Set("status", Value::String("UNAVAILABLE"));
  document.Set("reason", Value::String(absent ? "LLO_DATA_ABSENT" : "LLO_NOT_DECODED"));
  document.Set("error",
               Value::String(absent ? "The session has no LLO modules."
                                    : "The session has LLO modules; what is inside them is "
                                      "not decoded."));
  document.Set("remediation", Value::String("Run with " + std::string(kFlags)));
  if (!absent) document.Set("llo_modules", std::move(modules));
  return DocumentResult(std::move(document));
}

ToolDescriptor LloTool(std::string_view id, std::string_view title, std::string_view question) {
  ToolDescriptor tool = AgentTool(id, title, question, {});
  tool.cost = CostClass::kMetadata;
  tool.run = RunLlo;
  return tool;
}

}  // namespace

ToolDescriptor MakeGetLloAnalysisTool() {
  return LloTool("get_llo_analysis", "LLO modules", "Which LLO modules does the session have?");
}

ToolDescriptor MakeGetLloDebugStringTool() {
  return LloTool("get_llo_debug_string", "LLO text", "What does the LLO of a kernel look like?");
}

ToolDescriptor MakeGetLloStaticAnalysisTool() {
  ToolDescriptor tool = LloTool("get_llo_static_analysis", "LLO schedule",
                                "What did the compiler schedule for a kernel?");
  tool.aliases = {"get_llo_dump_analysis"};
  return tool;
}

}  // namespace strobe::tools
