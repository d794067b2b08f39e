// strobe tools, strobe <tool>: what the tools of the registry answer, on files or on a server.
#include <algorithm>
#include <optional>

#include "src/api/table_query.h"
#include "src/api/tool_json.h"
#include "src/cli/api_client.h"
#include "src/cli/command.h"
#include "src/cli/text.h"
#include "src/cli/tool_rows.h"
#include "src/cli/tool_text.h"
#include "src/tools/registry.h"

namespace strobe::cli {
namespace {

// XProf's own command line's codes.
enum ToolExitCode : int {
  kToolInternal = 1,
  kToolUsage = 2,
  kToolPath = 3,
  kToolInvalid = 4,
};

// Rows of a table on a terminal; more are asked for by --limit.
constexpr uint64_t kShownRows = 50;

bool IsPathError(const Status& error) {
  static constexpr std::string_view kNames[] = {
      "SESSION_NOT_FOUND", "SESSION_UNKNOWN",    "SESSION_AMBIGUOUS", "SESSION_EMPTY",
      "FILE_NOT_FOUND",    "SERVER_UNREACHABLE", "URL_MALFORMED",     "LOG_DIRECTORY_NOT_FOUND"};
  return std::ranges::find(kNames, error.name()) != std::end(kNames);
}

int ToolExitCodeOf(const Status& error) {
  if (IsPathError(error)) return kToolPath;
  if (error.name() == "OPTION_UNKNOWN" || error.name() == "USAGE") return kToolUsage;
  switch (error.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kOutOfRange:
    case StatusCode::kNotFound:
    case StatusCode::kFailedPrecondition:
      return kToolInvalid;
    case StatusCode::kDataLoss:
      return kToolPath;  // there is no profile at this place
    default:
      return kToolInternal;
  }
}

int Report(const Status& error) {
  PrintError(ErrorText(error));
  return ToolExitCodeOf(error);
}

void AddPair(std::string_view name, std::string_view value, std::string* query) {
  *query += (query->empty() ? "?" : "&") + PercentEncode(name) + "=" + PercentEncode(value);
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : ",") + part;
  return joined;
}

std::string ToolTarget(const ToolCommandOptions& options, const std::string& session) {
  std::string query;
  if (!options.hosts.empty()) AddPair("hosts", Joined(options.hosts), &query);
  for (const auto& [name, value] : options.tool_options) AddPair("option." + name, value, &query);
  if (!options.table.empty()) AddPair("table", options.table, &query);
  if (!options.columns.empty()) AddPair("columns", Joined(options.columns), &query);
  if (!options.sort.empty()) AddPair("sort", Joined(options.sort), &query);
  for (const std::string& filter : options.filters) AddPair("filter", filter, &query);
  if (options.offset > 0) AddPair("offset", std::to_string(options.offset), &query);
  std::optional<uint64_t> limit = options.limit;
  const bool for_people =
      options.format == ToolFormat::kTable || options.format == ToolFormat::kMarkdown;
  if (!limit && for_people) limit = kShownRows;
  if (limit) AddPair("limit", std::to_string(*limit), &query);
  if (options.as_xprof) AddPair("as_xprof", "true", &query);
  if (options.format == ToolFormat::kCsv) AddPair("format", "csv", &query);
  if (options.format == ToolFormat::kRaw) AddPair("format", "raw", &query);
  return "/api/v1/sessions/" + PercentEncode(session) + "/tools/" + PercentEncode(options.tool) +
         query;
}

// XProf's own address, so that the text is XProf's.
std::string XprofTarget(const ToolCommandOptions& options, const std::string& run) {
  std::string query;
  AddPair("run", run, &query);
  AddPair("tag", options.tool, &query);
  if (options.hosts.size() == 1) AddPair("host", options.hosts.front(), &query);
  if (options.hosts.size() > 1) AddPair("hosts", Joined(options.hosts), &query);
  if (options.hosts.empty() && options.tool == "megascale_stats") {
    AddPair("host", "ALL_HOSTS", &query);
  }
  for (const auto& [name, value] : options.tool_options) AddPair(name, value, &query);
  return "/data" + query;
}

Result<int> PrintWhole(ApiClient* client, const std::string& target) {
  STROBE_ASSIGN_OR_RETURN(const RowsPrinted printed,
                          PrintAllRows(client, target, PrintOut, api::kMaxPageRows));
  if (printed.left_out > 0) {
    PrintError("note: " + FormatCounted(printed.left_out, "row is", "rows are") +
               " left out; at most " + FormatCount(kMaxPrintedRows) +
               " of a table are printed. --offset, --filter or --format csv give the others.\n");
  }
  return int{kExitOk};
}

Result<int> PrintTool(const ToolCommandOptions& options) {
  STROBE_ASSIGN_OR_RETURN(
      const std::unique_ptr<ApiClient> client,
      OpenApiClient(options.place, {.xla_dump_directories = options.xla_dump_directories}));
  if (options.format == ToolFormat::kXprof) {
    STROBE_ASSIGN_OR_RETURN(const ApiReply reply,
                            client->Get(XprofTarget(options, client->xprof_run())));
    PrintOut(reply.body);
    return int{kExitOk};
  }
  if (options.format == ToolFormat::kJson && !options.limit && options.offset == 0) {
    return PrintWhole(client.get(), ToolTarget(options, client->session()));
  }
  STROBE_ASSIGN_OR_RETURN(const ApiReply reply,
                          client->Get(ToolTarget(options, client->session())));
  switch (options.format) {
    case ToolFormat::kTable:
    case ToolFormat::kMarkdown: {
      const TextStyle style =
          options.format == ToolFormat::kTable ? TextStyle::kTable : TextStyle::kMarkdown;
      STROBE_ASSIGN_OR_RETURN(const ToolText text, ToolAnswerText(reply.body, style));
      PrintOut(text.out);
      PrintError(text.remarks);
      return int{kExitOk};
    }
    case ToolFormat::kJson:
      PrintOut(reply.body + "\n");
      return int{kExitOk};
    case ToolFormat::kCsv:
    case ToolFormat::kRaw:
    case ToolFormat::kXprof:
      PrintOut(reply.body);
      return int{kExitOk};
  }
  return int{kExitOk};
}

Result<int> PrintTools(const ToolsOptions& options) {
  std::string body;
  if (options.place.empty()) {
    body = api::ToolListJson(tools::AllTools());
  } else {
    STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> client,
                            OpenApiClient(options.place, {}));
    STROBE_ASSIGN_OR_RETURN(
        ApiReply reply,
        client->Get("/api/v1/sessions/" + PercentEncode(client->session()) + "/tools"));
    body = std::move(reply.body);
  }
  if (options.format == ToolFormat::kJson) {
    PrintOut(body + "\n");
    return int{kExitOk};
  }
  STROBE_ASSIGN_OR_RETURN(
      const std::string text,
      ToolListText(body, options.format == ToolFormat::kMarkdown ? TextStyle::kMarkdown
                                                                 : TextStyle::kTable));
  PrintOut(text);
  return int{kExitOk};
}

}  // namespace

Result<int> RunTool(const ToolCommandOptions& options) {
  const Result<int> printed = PrintTool(options);
  return printed.ok() ? *printed : Report(printed.status());
}

Result<int> RunTools(const ToolsOptions& options) {
  const Result<int> printed = PrintTools(options);
  return printed.ok() ? *printed : Report(printed.status());
}

}  // namespace strobe::cli
