#include "src/tools/megascale_stats.h"

#include <cstdio>
#include <limits>

#include "src/tools/megascale_perfetto.h"
#include "src/tools/megascale_slack.h"
#include "src/tools/utilization_viewer.h"
#include "src/wire/compress.h"

namespace strobe::tools {
namespace {

Table MakeTable() {
  Table table("megascale", "Collectives over the data centre network");
  const auto text = [&](const char* id, const char* label, const char* description) {
    table.AddColumn(
        {.id = id, .label = label, .type = ColumnType::kString, .description = description});
  };
  const auto number = [&](const char* id, const char* label, const char* unit,
                          const char* description) {
    table.AddColumn({.id = id, .label = label, .unit = unit, .description = description});
  };
  text("rendezvous_name", "Rendezvous Name", "What sends and receives belong together by.");
  text("recv_op_name", "Recv Op Name", "The operation that waited for the data last.");
  text("send_op_name", "Send Op Name", "The operation that sent last.");
  text("transfer_type", "Transfer Type", "Kind of collective.");
  number("slack_time", "Slack Time (ms)", "ms",
         "Time to transfer without anyone waiting: from send to recv-done, less other transfers.");
  text("host_stall", "Host Stall (ms)", "Not measured.");
  number("observed_duration", "Observed Duration (ms)", "ms", "From send to the end of recv-done.");
  number("send_stall", "Send Stall (ms)", "ms", "Duration of send.");
  number("send_done_stall", "SendDone Stall (ms)", "ms", "Duration of send-done.");
  number("recv_stall", "Recv Stall (ms)", "ms", "Duration of recv.");
  number("recv_done_stall", "RecvDone Stall (ms)", "ms", "Duration of recv-done.");
  number("stall_duration", "Stall Duration (ms)", "ms", "All four together.");
  number("total_stall", "Aggregated Total Stall (ms)", "ms", "Stall of all occurrences.");
  number("occurrences", "Occurrences", "count", "Transfers seen.");
  number("net_tx_bytes", "Data Transmitted Size", "bytes", "Bytes over the network, each time.");
  number("required_bandwidth", "Required Bandwidth (Gbps)", "Gbit/s",
         "Rate at which the transfer fits into the slack.");
  return table;
}

// "1.5KiB" as XProf writes sizes.
std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + "B";
  constexpr std::string_view kUnits = "KMGTPE";
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.2f%ciB", size, kUnits[unit]);
  return buffer;
}

std::vector<Cell> RowOf(const SlackSummary& slack) {
  const auto ms = [](uint64_t us) { return Cell(static_cast<double>(us) / 1000); };
  constexpr double kGigabitsPerByteUs = 8e-9 / 1e-6;
  const double bandwidth = slack.slack_us == 0
                               ? static_cast<double>(std::numeric_limits<int32_t>::max())
                               : static_cast<double>(slack.transmitted_bytes) /
                                     static_cast<double>(slack.slack_us) * kGigabitsPerByteUs;
  return {slack.rendezvous,
          slack.recv_op,
          slack.send_op,
          slack.transfer_type,
          ms(slack.slack_us),
          "-",
          ms(slack.observed_us),
          ms(slack.send_us),
          ms(slack.send_done_us),
          ms(slack.recv_us),
          ms(slack.recv_done_us),
          ms(slack.stall_us),
          ms(slack.stall_us * slack.occurrences),
          slack.occurrences,
          Cell(slack.transmitted_bytes).Format(HumanBytes(slack.transmitted_bytes)),
          bandwidth};
}

Result<ToolResult> Perfetto(const ToolQuestion& question, ToolInput& input,
                            const CancelToken& cancel) {
  ToolResult result;
  result.shape = ToolResult::Shape::kText;
  result.content_type = "application/octet-stream";
  if (question.hosts.size() != 1) {
    return InvalidArgumentError(
               "MEGASCALE_TRACE_ONE_HOST",
               "Expected one host, found " + std::to_string(question.hosts.size()) + ".")
        .Hint("Name one host; a trace has the cores of one.");
  }
  STROBE_ASSIGN_OR_RETURN(const xplane::ProfileFile* const file,
                          FileOfHost(input, question.hosts[0]));
  if (file == nullptr) {
    result.text = wire::GzipCompress("");
    return result;
  }
  STROBE_ASSIGN_OR_RETURN(result.text, MegascalePerfetto(*file, question.as_xprof, cancel));
  return result;
}

Result<ToolResult> Run(const ToolQuestion& question, ToolInput& input, const CancelToken& cancel) {
  const bool perfetto = question.options.Flag("perfetto");
  // Of several hosts XProf gives the table, as a download.
  const bool download = perfetto && question.as_xprof && question.hosts.size() > 1;
  if (perfetto && !download) return Perfetto(question, input, cancel);
  ToolResult result;
  if (download) result.content_type = "application/octet-stream";
  Table table = MakeTable();
  bool all_have = true;
  std::vector<std::vector<SlackSummary>> hosts;
  // One host without network events makes XProf answer nothing for any.
  for (const ToolHost& host : input.hosts()) {
    all_have = all_have && host.file != nullptr && HasMegascaleEvents(*host.file);
  }
  for (const size_t host : question.hosts) {
    const ToolHost& known = input.hosts()[host];
    if (known.file == nullptr || (question.as_xprof && !all_have)) continue;
    if (!HasMegascaleEvents(*known.file)) continue;
    STROBE_ASSIGN_OR_RETURN(std::vector<SlackSummary> slack,
                            SlackOfHost(*known.file, *input.Modules(), question.as_xprof, cancel));
    hosts.push_back(std::move(slack));
  }
  for (const SlackSummary& slack : CombineSlack(hosts)) {
    table.AddRow(RowOf(slack), {.op_name = slack.recv_op, .framework_op = {}, .host = {}});
  }
  if (table.rows().empty()) {
    result.notices.push_back({Notice::Severity::kInfo, "NO_DCN_TRANSFERS",
                              "The profile has no transfers between slices.",
                              "Only jobs on several TPU slices have them; capture on every host "
                              "with host tracer level 1 or more."});
  }
  result.tables.push_back(std::move(table));
  return result;
}

Applicability Applies(const SessionFacts& facts) {
  if (facts.has_dcn_events) return {};
  return {false, "The profile has no transfers between slices (no MegaScale events).",
          "Only jobs on several TPU slices have them; capture on every host with host tracer level "
          "1 or more."};
}

}  // namespace

ToolDescriptor MakeMegascaleStatsTool() {
  ToolDescriptor tool;
  tool.id = "megascale_stats";
  tool.title = "Megascale";
  tool.question =
      "Do transfers between slices hold the cores up, and what bandwidth would they need?";
  tool.options = {{.name = "perfetto",
                   .type = OptionType::kBoolean,
                   .default_value = "false",
                   .description = "A trace for ui.perfetto.dev instead of the table."}};
  tool.offers_all_hosts = true;
  tool.applies = Applies;
  tool.run = Run;
  return tool;
}

}  // namespace strobe::tools
