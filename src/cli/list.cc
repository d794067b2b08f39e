// strobe ls: the sessions below a directory.
#include "src/api/json_answers.h"
#include "src/cli/command.h"
#include "src/cli/text.h"
#include "src/xplane/bucket_sessions.h"
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

Result<std::vector<xplane::SessionEntry>> ListPlace(const std::string& path) {
  if (!storage::IsBucketPlace(path)) return xplane::ListSessions(path, {});
  storage::PlaceOpener places(storage::SystemCloudContext());
  STROBE_ASSIGN_OR_RETURN(const storage::Place place, places.Open(path));
  // Nothing is fetched here, only listed.
  STROBE_ASSIGN_OR_RETURN(xplane::BucketListing listing,
                          xplane::ListBucketSessions(place, nullptr, {}, SystemClock(), {}));
  return std::move(listing.sessions);
}

std::string HostsText(const xplane::SessionEntry& entry) {
  if (entry.files.empty()) return "none";
  std::string text = Printable(entry.files[0].host, 40);
  if (entry.files.size() > 1) text += " +" + std::to_string(entry.files.size() - 1);
  return text;
}

}  // namespace

Result<int> RunList(const ListCommandOptions& options) {
  STROBE_ASSIGN_OR_RETURN(std::vector<xplane::SessionEntry> entries, ListPlace(options.path));
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
