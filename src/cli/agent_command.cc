#include "src/cli/agent_command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "src/cli/agent_files.h"
#include "src/cli/api_client.h"
#include "src/cli/command.h"
#include "src/cli/text.h"
#include "src/storage/atomic_file.h"
#include "src/tools/agent_diff.h"

namespace strobe::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Failure {
  int code;
  std::string_view reason;
};
constexpr Failure kInternal = {1, "INTERNAL_ERROR"};
constexpr Failure kUsage = {2, "USAGE_ERROR"};
constexpr Failure kPath = {3, "PATH_ERROR"};
constexpr Failure kInvalid = {4, "INVALID_VALUE"};

Failure FailureOf(const Status& error) {
  if (error.name() == "OPTION_UNKNOWN" || error.name() == "USAGE") return kUsage;
  if (error.name() == "SERVER_UNREACHABLE" || error.name() == "URL_MALFORMED") return kPath;
  switch (error.code()) {
    case StatusCode::kNotFound:
    case StatusCode::kDataLoss:
    case StatusCode::kPermissionDenied:
      return kPath;
    case StatusCode::kInvalidArgument:
    case StatusCode::kOutOfRange:
    case StatusCode::kFailedPrecondition:
    case StatusCode::kResourceExhausted:
    case StatusCode::kAlreadyExists:
      return kInvalid;
    default:
      return kInternal;
  }
}

// One answer, taken apart.
struct AgentAnswer {
  Json document;  // null: a text
  std::string text;
  std::vector<std::string> hosts;
  Json notices;
};

Result<AgentAnswer> AskTool(ApiClient* client, const AgentCommandOptions& options,
                            const std::string& tool,
                            const std::map<std::string, std::string>& tool_options) {
  std::string query = "?format=json";
  const auto add = [&](const std::string& name, const std::string& value) {
    query += "&" + PercentEncode(name) + "=" + PercentEncode(value);
  };
  for (const auto& [name, value] : tool_options) add("option." + name, value);
  std::string hosts;
  for (const std::string& host : options.hosts) hosts += (hosts.empty() ? "" : ",") + host;
  if (!hosts.empty()) add("hosts", hosts);
  if (options.as_xprof) add("as_xprof", "true");
  STROBE_ASSIGN_OR_RETURN(const ApiReply reply,
                          client->Get("/api/v1/sessions/" + PercentEncode(client->session()) +
                                      "/tools/" + PercentEncode(tool) + query));
  Json body = Json::parse(reply.body, nullptr, false);
  if (!body.is_object() || !body.contains("document")) {
    return InternalError("SERVER_ANSWER_BROKEN", "The answer of the tool cannot be read.")
        .Where(tool);
  }
  AgentAnswer answer;
  answer.document = std::move(body["document"]);
  if (body.contains("text") && body["text"].is_string())
    answer.text = body["text"].get<std::string>();
  if (body.contains("hosts")) answer.hosts = body["hosts"].get<std::vector<std::string>>();
  if (body.contains("notices")) answer.notices = std::move(body["notices"]);
  return answer;
}

Json CaptureOf(const AgentCommandOptions& options, const std::string& place, ApiClient* client,
               const AgentAnswer& answer) {
  std::vector<std::string> available = answer.hosts;
  if (!options.hosts.empty()) {
    AgentCommandOptions all = options;
    all.hosts.clear();
    if (const Result<AgentAnswer> hosts = AskTool(client, all, "get_hosts", {}); hosts.ok()) {
      available = hosts->hosts;
    }
  }
  Json capture;
  capture["input"] = options.place.empty() ? options.logdir : options.place;
  std::filesystem::path run = place;
  if (!run.has_filename()) run = run.parent_path();
  capture["run"] = run.filename().string();
  capture["files_used"] = answer.hosts;
  capture["files_available"] = available;
  capture["combined"] = answer.hosts.size() > 1;
  capture["warnings"] = Json::array();
  if (answer.hosts.size() > 1) {
    capture["warnings"].push_back("Several hosts are taken together; --host names one.");
  }
  if (answer.notices.is_array()) {
    for (const Json& notice : answer.notices) {
      if (notice.contains("message")) capture["warnings"].push_back(notice["message"]);
    }
  }
  return capture;
}

// Writes what is too long for a terminal to a file and returns what to print instead.
Result<std::string> Spilled(const std::string& tool, const std::string& text, bool is_json) {
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory == nullptr ? "/tmp" : directory) + "/strobe_spill_" +
                     tool + "_XXXXXX" + (is_json ? ".json" : ".txt");
  const int file = ::mkstemps(path.data(), is_json ? 5 : 4);
  if (file < 0) return ErrnoError("SPILL_FAILED", "write the answer to a file", errno).Where(path);
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file, text.data() + written, text.size() - written);
    if (count <= 0) {
      const int error = errno;
      ::close(file);
      return ErrnoError("SPILL_FAILED", "write the answer to a file", error).Where(path);
    }
    written += static_cast<size_t>(count);
  }
  ::close(file);
  constexpr double kBytesPerMib = 1024.0 * 1024.0;
  Json document;
  document["status"] = "SAVED_TO_FILE";
  document["size_bytes"] = text.size();
  document["size_mib"] = std::round(static_cast<double>(text.size()) / kBytesPerMib * 100) / 100;
  document["file_path"] = path;
  document["message"] = "The answer is over 10 MiB and stands in the file.";
  return document.dump(2);
}

Result<int> PrintAnswer(const std::string& tool, std::string text, bool is_json) {
  if (text.size() > kSpillBytes) {
    STROBE_ASSIGN_OR_RETURN(text, Spilled(tool, text, is_json));
  }
  PrintOut(text + "\n");
  return int{kExitOk};
}

std::string Pretty(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

constexpr std::string_view kLloEnding = ".llo_module.pb";

// A file of the compiler's dump of TPU kernels, or a folder of them without a profile.
bool IsLloDump(const std::string& place) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(place, error)) return place.ends_with(kLloEnding);
  bool any = false;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find(".xplane.") != std::string::npos || name == "plugins") return false;
    any |= name.ends_with(kLloEnding);
  }
  return any;
}

// A session without events, for questions about dumped modules alone; gone with the object.
class EmptySession {
 public:
  static Result<EmptySession> Make() {
    EmptySession session;
    session.path_ = (std::filesystem::temp_directory_path() / "strobe_dump_XXXXXX").string();
    if (::mkdtemp(session.path_.data()) == nullptr) {
      session.path_.clear();
      return ErrnoError("FILE_NOT_WRITABLE", "make a directory for the session", errno);
    }
    // An XSpace that only says that its host has no name.
    STROBE_RETURN_IF_ERROR(storage::WriteFileAtomically(
        session.path_ + "/dump.xplane.pb", std::string("\x22\x00", 2), {.replace = false}));
    return session;
  }
  EmptySession() = default;
  EmptySession(EmptySession&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  EmptySession& operator=(EmptySession&&) = delete;
  ~EmptySession() {
    std::error_code ignored;  // it lies in the temporary directory
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<int> RunOne(const AgentCommandOptions& options) {
  std::string place = SessionPlace(options.place, options.logdir);
  std::vector<std::string> dumps = options.xla_dump_directories;
  std::optional<EmptySession> empty;
  if (place.empty() || IsLloDump(place)) {
    if (!place.empty()) dumps.push_back(place);
    STROBE_ASSIGN_OR_RETURN(EmptySession made, EmptySession::Make());
    empty.emplace(std::move(made));
    place = empty->path();
  }
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> client,
                          OpenApiClient(place, {.xla_dump_directories = dumps}));
  STROBE_ASSIGN_OR_RETURN(AgentAnswer answer,
                          AskTool(client.get(), options, options.tool, options.tool_options));
  const Json capture = CaptureOf(options, place, client.get(), answer);
  if (answer.document.is_object()) {
    Json document;
    document["capture"] = capture;
    for (auto& [name, value] : answer.document.items()) document[name] = std::move(value);
    return PrintAnswer(options.tool, Pretty(document), true);
  }
  PrintError("xprof-capture: " + capture.dump() + "\n");
  if (answer.document.is_null()) return PrintAnswer(options.tool, answer.text, false);
  return PrintAnswer(options.tool, Pretty(answer.document), true);
}

tools::Value ValueOf(const Json& json) {
  using tools::Value;
  if (json.is_boolean()) return Value::Bool(json.get<bool>());
  if (json.is_number_unsigned()) return Value::Uint64(json.get<uint64_t>());
  if (json.is_number_integer()) return Value::Int64(json.get<int64_t>());
  if (json.is_number()) return Value::Double(json.get<double>());
  if (json.is_string()) return Value::String(json.get<std::string>());
  Value value = json.is_array() ? Value::List() : json.is_object() ? Value::Object() : Value();
  for (const auto& [name, item] : json.items()) {
    if (json.is_array()) value.Add(ValueOf(item));
    if (json.is_object()) value.Set(name, ValueOf(item));
  }
  return value;
}

Json JsonOf(const tools::Value& value) {
  using Kind = tools::Value::Kind;
  switch (value.kind()) {
    case Kind::kNull:
      return nullptr;
    case Kind::kBool:
      return value.bool_value();
    case Kind::kInt32:
    case Kind::kInt64:
      return value.int_value();
    case Kind::kUint64:
      return value.uint_value();
    case Kind::kDouble:
      return value.double_value();
    case Kind::kString:
      return value.string_value();
    case Kind::kList: {
      Json list = Json::array();
      for (const tools::Value& item : value.items()) list.push_back(JsonOf(item));
      return list;
    }
    case Kind::kObject: {
      Json object = Json::object();
      for (size_t i = 0; i < value.names().size(); ++i) {
        object[value.names()[i]] = JsonOf(value.items()[i]);
      }
      return object;
    }
  }
  return nullptr;
}

Result<tools::DiffSide> SideOf(const AgentCommandOptions& options, const std::string& place) {
  tools::DiffSide side;
  side.name = place;
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> client,
                          OpenApiClient(SessionPlace(place, options.logdir), {}));
  const std::map<std::string, std::string> all = {{"include_summary", "true"},
                                                  {"limit", options.as_xprof ? "10" : "0"}};
  STROBE_ASSIGN_OR_RETURN(const AgentAnswer kernels,
                          AskTool(client.get(), options, "get_kernel_stats", all));
  side.kernel_stats = ValueOf(kernels.document);
  const Result<AgentAnswer> kpi = AskTool(client.get(), options, "get_kpi_metrics", {});
  if (kpi.ok()) side.kpi = ValueOf(kpi->document);
  const Result<AgentAnswer> stats = AskTool(client.get(), options, "get_hlo_stats", {});
  if (stats.ok()) side.hlo_stats = ValueOf(stats->document);
  return side;
}

Result<int> RunDiff(const AgentCommandOptions& options) {
  if (options.place.empty() || options.second.empty()) {
    return InvalidArgumentError("USAGE", "diff_sessions needs two sessions.")
        .Hint("strobe diff_sessions --baseline_session_id A --optimized_session_id B");
  }
  STROBE_ASSIGN_OR_RETURN(tools::DiffSide baseline, SideOf(options, options.place));
  STROBE_ASSIGN_OR_RETURN(tools::DiffSide optimized, SideOf(options, options.second));
  return PrintAnswer(options.tool,
                     DocumentText(tools::DiffOfSides(std::move(baseline), std::move(optimized))),
                     true);
}

}  // namespace

int ReportAgentFailure(const Status& error) {
  const Failure failure = FailureOf(error);
  Json document;
  document["status"] = "ERROR";
  document["reason"] = failure.reason;
  document["error"] = error.message();
  document["code"] = error.name();
  if (!error.where().empty()) document["where"] = error.where();
  if (!error.hint().empty()) document["hint"] = error.hint();
  PrintOut(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  PrintError(std::string(failure.reason) + ": " + std::string(error.message()) + "\n");
  return failure.code;
}

std::string SessionPlace(const std::string& place, const std::string& logdir) {
  if (IsServerAddress(place)) return place;
  std::error_code error;
  const std::filesystem::path profiles =
      std::filesystem::path(logdir.empty() ? place : logdir) / "plugins" / "profile";
  if (!logdir.empty() && !place.empty() && place != logdir) {
    std::string run = place;
    // A run's name may come without its separators, as numbers do.
    if (run.size() == 14 && run.find_first_not_of("0123456789") == std::string::npos) {
      run = run.substr(0, 4) + "_" + run.substr(4, 2) + "_" + run.substr(6, 2) + "_" +
            run.substr(8, 2) + "_" + run.substr(10, 2) + "_" + run.substr(12, 2);
    }
    if (std::filesystem::is_directory(profiles / run, error)) return (profiles / run).string();
    return place;
  }
  std::string newest;
  for (std::filesystem::directory_iterator entry(profiles, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory(error)) newest = std::max(newest, entry->path().string());
  }
  return newest.empty() ? (place.empty() ? logdir : place) : newest;
}

std::string DocumentText(const tools::Value& document) { return Pretty(JsonOf(document)); }

Result<int> RunAgentTool(const AgentCommandOptions& options) {
  Result<int> printed = int{kExitOk};
  if (options.place.empty() && options.logdir.empty() && options.xla_dump_directories.empty()) {
    printed = InvalidArgumentError("USAGE", "No session is named.")
                  .Hint("strobe " + options.tool + " SESSION");
  } else {
    printed = options.tool == "diff_sessions" ? RunDiff(options)
              : options.tool == "create_events_db" || options.tool == "llo_load"
                  ? CreateEventsDb(options)
                  : RunOne(options);
  }
  return printed.ok() ? *printed : ReportAgentFailure(printed.status());
}

}  // namespace strobe::cli
