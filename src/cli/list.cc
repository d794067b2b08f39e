// strobe ls: the sessions below a directory.
#include "src/api/json_answers.h"
#include "src/cli/command.h"
#include "src/cli/text.h"
#include "src/xplane/session.h"

namespace strobe::cli {
namespace {

engine::SessionSummary Summarise(xplane::SessionEntry entry) {
  engine::SessionSummary summary;
  // Nothing is opened, so nothing is judged.
  summary.state =
      entry.files.empty() ? xplane::CompletenessState::kEmpty : xplane::CompletenessState::kUnread;
  if (entry.files.empty()) summary.state_reason = "The directory has no profile file.";
  summary.entry = std::move(entry);
  return summary;
}

std::string HostsText(const xplane::SessionEntry& entry) {
  if (entry.files.empty()) return "none";
  std::string text = Printable(entry.files[0].host, 40);
  if (entry.files.size() > 1) text += " +" + std::to_string(entry.files.size() - 1);
  return text;
}

}  // namespace

Result<int> RunList(const ListCommandOptions& options) {
  STROBE_ASSIGN_OR_RETURN(std::vector<xplane::SessionEntry> entries,
                          xplane::ListSessions(options.path, {}));
  if (options.json) {
    JsonWriter json;
    json.BeginObject();
    json.Key("sessions").BeginArray();
    for (xplane::SessionEntry& entry : entries) {
      api::WriteSessionSummary(json, Summarise(std::move(entry)));
    }
    json.EndArray();
    json.Key("total").Uint(entries.size());
    json.EndObject();
    PrintOut(json.TakeText() + "\n");
    return int{kExitOk};
  }
  Table table({"SESSION", "MODIFIED (UTC)", "SIZE", "HOSTS"}, {false, false, true, false});
  for (const xplane::SessionEntry& entry : entries) {
    table.AddRow({Printable(entry.xprof_run(), 80),
                  FormatUnixMillis(entry.modified_unix_ns / 1'000'000),
                  FormatBytes(entry.size_bytes), HostsText(entry)});
  }
  if (table.empty()) {
    PrintError("No sessions: no directory **/plugins/profile/* below " + Printable(options.path) +
               ".\n");
    return int{kExitOk};
  }
  PrintOut(table.ToText());
  return int{kExitOk};
}

}  // namespace strobe::cli
