#include "src/tools/utilization_viewer.h"

#include "src/tools/tpu_utilization.h"

namespace strobe::tools {
namespace {

Table MakeTable() {
  Table table("utilization", "Utilization");
  const auto number = [&](const char* id, const char* label, const char* description) {
    table.AddColumn({.id = id, .label = label, .description = description});
  };
  number("host", "Host", "Index of the host.");
  number("device", "Device", "Id of the device on its host.");
  number("sample", "Sample", "Id of the counter sample, one a profiled kernel.");
  number("node", "Node", "TensorCore or SparseCore of the device.");
  table.AddColumn({.id = "name",
                   .label = "Name",
                   .type = ColumnType::kString,
                   .description = "Unit of the chip, or what it did."});
  number("achieved", "Achieved", "What the counters say was done, in the row's unit.");
  number("peak", "Peak", "What could have been done in the same cycles, in the row's unit.");
  table.AddColumn({.id = "unit",
                   .label = "Unit",
                   .type = ColumnType::kString,
                   .description = "Of achieved and peak."});
  return table;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  ToolResult result;
  result.shape = ToolResult::Shape::kTable;
  Table table = MakeTable();
  for (size_t i = 0; i < question.hosts.size(); ++i) {
    STROBE_ASSIGN_OR_RETURN(const xplane::ProfileFile* const file,
                            FileOfHost(input, question.hosts[i]));
    if (file == nullptr) continue;
    STROBE_ASSIGN_OR_RETURN(const std::vector<TpuSample> samples, ReadTpuSamples(*file, cancel));
    const int64_t host = question.as_xprof ? 0 : static_cast<int64_t>(question.hosts[i]);
    for (const TpuSample& sample : samples) {
      for (const UtilizationRow& row : UtilizationOf(sample)) {
        table.AddRow(
            {host, sample.device_id, sample.sample, row.node, row.name, row.achieved, row.peak,
             row.unit},
            {.op_name = {}, .framework_op = {}, .host = input.hosts()[question.hosts[i]].name});
      }
    }
  }
  if (table.rows().empty()) AddCounterNotice(input.facts(), &result);
  result.tables.push_back(std::move(table));
  return result;
}

}  // namespace

Result<const xplane::ProfileFile*> FileOfHost(const ToolInput& input, size_t host) {
  const ToolHost& known = input.hosts()[host];
  if (known.file != nullptr) return known.file;
  if (known.error && known.error->name() == "XPLANE_EMPTY") return nullptr;
  if (known.error) return *known.error;
  return FailedPreconditionError("HOST_UNREADABLE", "The host's profile could not be opened.")
      .Where(known.name);
}

Applicability CounterApplicability(const SessionFacts& facts) {
  if (facts.has_tpu_plane && facts.has_counters) return {};
  if (!facts.has_tpu_plane) {
    return {false, "The profile has no TPU plane; these counters are those of TPUs.",
            "Capture on a TPU host with device tracing on."};
  }
  return {false, "The TPU planes carry no hardware counters.",
          "Capture with hardware counters on: the advanced options of the profiler select them on "
          "TPU v6e and v7x."};
}

void AddCounterNotice(const SessionFacts& facts, ToolResult* result) {
  Applicability why = CounterApplicability(facts);
  if (why.applies) {
    why.reason = "The counters are of a device whose formulas are not known, or name no device.";
    why.hint = "Known are TPU v6 Lite and TPU v7x; perf_counters shows the plain values.";
  }
  result->notices.push_back(
      {Notice::Severity::kInfo, "NO_COUNTERS", std::move(why.reason), std::move(why.hint)});
}

ToolDescriptor MakeUtilizationViewerTool() {
  ToolDescriptor tool;
  tool.id = "utilization_viewer";
  tool.title = "Utilization";
  tool.question = "How busy were the units of the chip, by its own counters?";
  tool.applies = CounterApplicability;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
