// strobe inspect: what a session has and what it lacks.
#include <fmt/format.h>

#include "src/api/json_answers.h"
#include "src/cli/command.h"
#include "src/cli/open_session.h"
#include "src/cli/text.h"

namespace strobe::cli {
namespace {

using xplane::CompletenessState;

std::string PrintableReason(const std::string& reason) { return "  - " + Printable(reason) + "\n"; }

void PrintHosts(const xplane::Completeness& record) {
  Table table({"HOST", "FILE", "SIZE", "READABLE", "STATE", "PLANES", "LINES", "EVENTS"},
              {false, false, true, true, false, true, true, true});
  for (const xplane::HostCompleteness& host : record.hosts) {
    const bool known = !host.open_error.has_value();
    const auto count = [&](uint64_t value) { return known ? FormatCount(value) : "-"; };
    table.AddRow({Printable(host.host, 40), Printable(host.file, 60), FormatBytes(host.size_bytes),
                  FormatBytes(host.readable_bytes),
                  std::string(xplane::CompletenessStateName(host.state)), count(host.planes),
                  count(host.lines), count(host.events)});
  }
  PrintOut("\n" + table.ToText());
}

// When each host recorded, by what this is known, and the hash of its bytes.
void PrintWindows(const xplane::Completeness& record) {
  Table table({"HOST", "RECORDED FROM", "TO", "KNOWN BY", "CLOCK OFFSET", "CONTENT"},
              {false, true, true, false, true, false});
  for (const xplane::HostCompleteness& host : record.hosts) {
    table.AddRow({Printable(host.host, 40),
                  host.window ? FormatDurationPs(host.window->start_ps) : "-",
                  host.window ? FormatDurationPs(host.window->end_ps) : "-",
                  host.window_source.empty() ? "-" : host.window_source,
                  host.clock_offset_ps ? FormatDurationPs(*host.clock_offset_ps) : "-",
                  host.content_hash.empty() ? "-" : host.content_hash});
  }
  if (!record.hosts.empty()) PrintOut("\n" + table.ToText());
}

void PrintFindings(const xplane::HostCompleteness& host) {
  std::string text;
  const auto count = [&](uint64_t value, std::string_view one, std::string_view many,
                         std::string_view what) {
    if (value > 0) text += fmt::format("  {} {}\n", FormatCounted(value, one, many), what);
  };
  const auto events = [&](uint64_t value, std::string_view what) {
    count(value, "event", "events", what);
  };
  events(host.events_out_of_order, "out of order");
  events(host.events_beyond_window, "beyond the window");
  count(host.events_overlapping, "event that overlaps", "events that overlap", "impossibly");
  events(host.events_negative, "with a negative duration, taken as 0");
  events(host.events_saturated, "beyond the range of time, clamped");
  count(host.events_aggregated, "aggregated event", "aggregated events", "without a place in time");
  events(host.missing_metadata, "without metadata");
  for (const std::string& plane : host.empty_planes) {
    text += "  empty plane " + Printable(plane, 80) + "\n";
  }
  for (const std::string& error : host.errors) text += "  error: " + Printable(error, 200) + "\n";
  for (const std::string& warning : host.warnings) {
    text += "  warning: " + Printable(warning, 200) + "\n";
  }
  if (host.open_error) text += "  " + Printable(host.open_error->ToString()) + "\n";
  for (const xplane::Damage& damage : host.damage) {
    text += fmt::format("  damage at byte {}: {}\n", FormatCount(damage.offset_bytes),
                        Printable(damage.status.ToString()));
  }
  if (!text.empty()) PrintOut("\n" + Printable(host.host, 80) + ":\n" + text);
}

void PrintLines(const engine::LineTree& tree) {
  Table table({"ID", "HOST", "PLANE", "LINE", "KIND", "EVENTS", "ROWS", "START", "END"},
              {false, false, false, false, false, true, true, true, true});
  for (const engine::HostInfo& host : tree.hosts) {
    for (const engine::PlaneInfo& plane : host.planes) {
      for (const engine::LineInfo& line : plane.lines) {
        const bool any = line.event_count.value_or(0) > 0;
        const std::string& label = line.display_name.empty() ? line.name : line.display_name;
        table.AddRow({fmt::format("{}.{}.{}", host.host, plane.plane, line.line),
                      Printable(host.name, 24), Printable(plane.name, 32), Printable(label, 40),
                      std::string(analysis::LineKindName(line.kind)),
                      line.event_count ? FormatCount(*line.event_count) : "-",
                      line.row_count ? FormatCount(*line.row_count) : "-",
                      any ? FormatDurationPs(line.start_ps) : "-",
                      any ? FormatDurationPs(line.end_ps) : "-"});
      }
    }
  }
  PrintOut("\n" + table.ToText());
}

int ExitCodeOf(CompletenessState state) {
  return state == CompletenessState::kPartial || state == CompletenessState::kDamaged ||
                 state == CompletenessState::kEmpty
             ? kExitPartial
             : kExitOk;
}

void PrintText(const CommandSession& session, const xplane::Completeness& record,
               const engine::LineTree& tree) {
  const xplane::SessionEntry& entry = session.summary.entry;
  std::string head =
      fmt::format("Session   {}\nPath      {}\nState     {}\n", Printable(entry.xprof_run()),
                  Printable(entry.path), xplane::CompletenessStateName(record.state));
  for (const std::string& reason : record.reasons) head += PrintableReason(reason);
  if (const std::optional<int64_t> origin = session.opened->origin_unix_ns()) {
    head +=
        fmt::format("Origin    {} UTC ({} ns)\n", FormatUnixMillis(*origin / 1'000'000), *origin);
  } else {
    head += "Origin    not known: the profile has only relative times\n";
  }
  head += fmt::format("Window    {} to {} ({})\n", FormatDurationPs(tree.window_start_ps),
                      FormatDurationPs(tree.window_end_ps),
                      FormatDurationPs(tree.window_end_ps - tree.window_start_ps));
  head += fmt::format("Hosts     {} of {}\n", record.hosts.size(),
                      record.hosts_expected
                          ? std::to_string(*record.hosts_expected)
                          : "unknown (" + Printable(record.hosts_expected_reason) + ")");
  PrintOut(head);
  PrintHosts(record);
  PrintWindows(record);
  for (const xplane::HostCompleteness& host : record.hosts) PrintFindings(host);
  PrintLines(tree);
}

void PrintJson(const CommandSession& session, const xplane::Completeness& record,
               const engine::LineTree& tree) {
  JsonWriter json;
  json.BeginObject();
  json.Key("session");
  api::WriteSessionSummary(json, session.summary);
  json.Key("version").String(session.opened->version());
  json.Key("origin_unix_ns");
  if (const std::optional<int64_t> origin = session.opened->origin_unix_ns()) {
    json.String(std::to_string(*origin));
  } else {
    json.Null();
  }
  json.Key("completeness");
  api::WriteCompleteness(json, record);
  json.Key("lines");
  api::WriteLineTree(json, tree, session.opened->version());
  json.EndObject();
  PrintOut(json.TakeText() + "\n");
}

}  // namespace

Result<int> RunInspect(const InspectOptions& options) {
  STROBE_ASSIGN_OR_RETURN(CommandSession session, OpenCommandSession(options.path));
  if (session.opened == nullptr) return ReportUnreadable(session.open_error, options.json);
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const xplane::Completeness> record,
                          session.opened->CompletenessRecord(CancelToken()));
  // The record decoded everything, so there is nothing left to wait for.
  const engine::LineTree tree = session.opened->Lines(60'000);
  session.summary.state = record->state;
  if (!record->reasons.empty()) session.summary.state_reason = record->reasons.front();
  if (options.json) {
    PrintJson(session, *record, tree);
  } else {
    PrintText(session, *record, tree);
  }
  return ExitCodeOf(record->state);
}

}  // namespace strobe::cli
