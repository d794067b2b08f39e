// strobe export: events of a session as Chrome trace JSON or a Perfetto trace.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "src/cli/api_client.h"
#include "src/cli/command.h"
#include "src/cli/text.h"
#include "src/storage/atomic_file.h"

namespace strobe::cli {
namespace {

bool IsPerfettoName(std::string_view name) {
  return name.ends_with(".pftrace") || name.ends_with(".perfetto-trace") ||
         name.ends_with(".perfetto");
}

Result<std::string> TargetOf(const ExportCommandOptions& options, const std::string& session) {
  std::string format = options.format;
  if (format.empty()) format = IsPerfettoName(options.output) ? "perfetto" : "chrome";
  std::string target = "/api/v1/sessions/" + PercentEncode(session) + "/export?format=" + format;
  std::string lines;
  for (const std::string& line : options.lines) lines += (lines.empty() ? "" : ",") + line;
  if (!lines.empty()) target += "&lines=" + PercentEncode(lines);
  if (!options.from.empty()) {
    STROBE_ASSIGN_OR_RETURN(const int64_t from_ps, ParseTimePs(options.from));
    target += "&from_ps=" + std::to_string(from_ps);
  }
  if (!options.to.empty()) {
    STROBE_ASSIGN_OR_RETURN(const int64_t to_ps, ParseTimePs(options.to));
    target += "&to_ps=" + std::to_string(to_ps);
  }
  if (options.no_stats) target += "&stats=false";
  if (options.no_flows) target += "&flows=false";
  return target;
}

}  // namespace

Result<int> RunExport(const ExportCommandOptions& options) {
  const bool to_file = !options.output.empty() && options.output != "-";
  if (!to_file && isatty(STDOUT_FILENO) != 0) {
    return InvalidArgumentError("OUTPUT_MISSING", "A trace is no text for a terminal.")
        .Hint("Name a file with -o, or send the output into one.");
  }
  if (to_file && !options.force && std::filesystem::exists(options.output)) {
    return InvalidArgumentError("FILE_EXISTS", "There is a file of that name.")
        .Where(options.output)
        .Hint("Give another name, or --force to replace it.");
  }
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> client,
                          OpenApiClient(options.place, {}));
  STROBE_ASSIGN_OR_RETURN(const std::string target, TargetOf(options, client->session()));
  if (!to_file) {
    STROBE_RETURN_IF_ERROR(client->Download(target, [](std::string_view part) {
      PrintOut(part);
      return OutIsWritten()
                 ? OkStatus()
                 : UnavailableError("OUTPUT_NOT_WRITTEN", "Standard output took not everything.");
    }));
    return int{kExitOk};
  }
  // Only what is whole gets the name.
  STROBE_ASSIGN_OR_RETURN(
      storage::AtomicFile file,
      storage::AtomicFile::Create(options.output, {.replace = options.force, .durable = false}));
  STROBE_RETURN_IF_ERROR(
      client->Download(target, [&file](std::string_view part) { return file.Append(part); }));
  const uint64_t size_bytes = file.size_bytes();
  STROBE_RETURN_IF_ERROR(std::move(file).Commit());
  PrintError(fmt::format("{}: {}\n", Printable(options.output), FormatBytes(size_bytes)));
  return int{kExitOk};
}

}  // namespace strobe::cli
