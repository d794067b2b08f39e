#include "src/cli/agent_files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/cli/api_client.h"
#include "src/cli/command.h"
#include "src/cli/text.h"
#include "src/storage/atomic_file.h"
#include "src/xplane/host_source.h"
#include "src/xplane/session.h"

namespace strobe::cli {
namespace {

using Json = nlohmann::ordered_json;

void PrintDocument(const Json& document) {
  PrintOut(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<std::string> TemporaryPath(std::string_view stem, std::string_view ending) {
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory == nullptr ? "/tmp" : directory) + "/strobe_" +
                     std::string(stem) + "_XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return ErrnoError("FILE_NOT_WRITABLE", "make a directory for the file", errno).Where(path);
  }
  return path + "/" + std::string(stem) + std::string(ending);
}

// Of a session on disk the file of the one host that is meant.
Result<xplane::SessionFile> OneFile(const AgentCommandOptions& options) {
  const std::string place = SessionPlace(options.place, options.logdir);
  if (IsServerAddress(place)) {
    return InvalidArgumentError("NEEDS_FILES", "A server does not hand out whole profiles.")
        .Where(place)
        .Hint("Give the path of the session on disk.");
  }
  STROBE_ASSIGN_OR_RETURN(const std::vector<xplane::SessionEntry> entries,
                          xplane::ListSessions(place, {}));
  if (entries.empty()) {
    return NotFoundError("SESSION_NOT_FOUND", "There is no profile at this path.").Where(place);
  }
  std::vector<xplane::SessionFile> files;
  std::string names;
  for (const xplane::SessionFile& file : entries.front().files) {
    names += (names.empty() ? "" : ", ") + file.host;
    if (options.hosts.empty() || std::ranges::find(options.hosts, file.host) != options.hosts.end())
      files.push_back(file);
  }
  if (entries.size() == 1 && files.size() == 1) return files.front();
  return InvalidArgumentError("HOST_AMBIGUOUS", "The profile of exactly one host can be written; " +
                                                    std::to_string(files.size()) + " are meant.")
      .Where(place)
      .Hint("--host is one of: " + names);
}

// A name below plugins/profile, not a way out of it.
Status CheckRunName(const std::string& name) {
  const bool plain = !name.empty() && name.front() != '.' && name.size() <= 200 &&
                     name.find_first_of("/\\") == std::string::npos &&
                     std::ranges::none_of(name, [](char c) { return c >= 0 && c < ' '; });
  if (plain) return OkStatus();
  return InvalidArgumentError("RUN_NAME_INVALID", "A run is named by one plain file name.")
      .Where(Printable(name, 100))
      .Hint("--run_name=my_run");
}

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return OkStatus();
  return ErrnoError("FILE_NOT_WRITABLE", "make the directory", error.value()).Where(path);
}

Result<int> UploadTrace(const AgentFileOptions& options) {
  if (options.logdir.empty()) {
    return InvalidArgumentError("USAGE", "The log directory to copy into is not named.")
        .Hint("strobe upload_trace FILE --logdir DIRECTORY --run_name NAME");
  }
  STROBE_RETURN_IF_ERROR(CheckRunName(options.run_name));
  STROBE_ASSIGN_OR_RETURN(const std::vector<xplane::SessionEntry> entries,
                          xplane::ListSessions(options.file, {}));
  if (entries.size() != 1 || entries[0].files.size() != 1 ||
      std::filesystem::is_directory(options.file)) {
    return InvalidArgumentError("XPLANE_NOT_A_PROFILE", "This is not one profile file.")
        .Where(options.file)
        .Hint("Expected HOST.xplane.pb, also .gz, .zst or .xz, or HOST.xplane.riegeli.");
  }
  const xplane::SessionFile& file = entries[0].files[0];
  // Reading its skeleton keeps anything else out of the log directory.
  STROBE_ASSIGN_OR_RETURN(
      const xplane::HostSource source,
      xplane::OpenHostSource(file, std::filesystem::temp_directory_path(), CancelToken()));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<xplane::ProfileFile> profile,
                          xplane::ProfileFile::Open(source.source, {}));
  STROBE_ASSIGN_OR_RETURN(const std::shared_ptr<const storage::ByteSource> bytes,
                          storage::OpenMappedFile(file.path));
  const std::filesystem::path run =
      std::filesystem::absolute(options.logdir) / "plugins" / "profile" / options.run_name;
  STROBE_RETURN_IF_ERROR(MakeDirectories(run.string()));
  const std::string target = (run / std::filesystem::path(file.path).filename()).string();
  STROBE_RETURN_IF_ERROR(
      storage::WriteFileAtomically(target, bytes->bytes(), {.replace = options.force}));
  Json document;
  document["status"] = "SUCCESS";
  document["session_id"] = options.run_name;
  document["run_name"] = options.run_name;
  document["logdir"] = std::filesystem::absolute(options.logdir).string();
  document["path"] = target;
  document["size_bytes"] = bytes->bytes().size();
  document["planes"] = profile->planes().size();
  PrintDocument(document);
  return int{kExitOk};
}

Result<int> InstallSkills(const AgentFileOptions& options) {
  const std::filesystem::path target(options.target_directory);
  STROBE_RETURN_IF_ERROR(MakeDirectories((target / "references").string()));
  Json installed = Json::array();
  Json kept = Json::array();
  const std::pair<std::string_view, std::string> files[] = {
      {"SKILL.md", SkillText()}, {"references/tools.md", SkillToolsText()}};
  for (const auto& [name, text] : files) {
    const std::string path = (target / name).string();
    const Status written = storage::WriteFileAtomically(path, text, {.replace = options.force});
    if (!written.ok() && written.name() != "FILE_EXISTS") return written;
    (written.ok() ? installed : kept).push_back(path);
  }
  Json document;
  document["status"] = "SUCCESS";
  document["target_dir"] = std::filesystem::absolute(target).string();
  document["installed_files"] = installed;
  document["skipped_files"] = kept;
  if (!kept.empty()) document["message"] = "Files that were there are kept; --force replaces them.";
  PrintDocument(document);
  return int{kExitOk};
}

int Printed(const Result<int>& done) {
  return done.ok() ? *done : ReportAgentFailure(done.status());
}

}  // namespace

Result<int> CreateEventsDb(const AgentCommandOptions& options) {
  const bool llo = options.tool == "llo_load";
  STROBE_ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> client,
                          OpenApiClient(SessionPlace(options.place, options.logdir), {}));
  std::string hosts;
  for (const std::string& host : options.hosts) hosts += (hosts.empty() ? "" : ",") + host;
  std::string query = "?format=raw";
  if (!hosts.empty()) query += "&hosts=" + PercentEncode(hosts);
  STROBE_ASSIGN_OR_RETURN(const ApiReply reply,
                          client->Get("/api/v1/sessions/" + PercentEncode(client->session()) +
                                      "/tools/" + options.tool + query));
  std::string path = options.output_path;
  if (path.empty()) {
    STROBE_ASSIGN_OR_RETURN(path, TemporaryPath(llo ? "llo" : "events", ".sqlite"));
  }
  STROBE_RETURN_IF_ERROR(storage::WriteFileAtomically(path, reply.body, {.replace = false}));
  Json document;
  document["path"] = path;
  document["skipped"] = false;
  document["table"] = llo ? "llo_events" : "Events";
  document["size_bytes"] = reply.body.size();
  PrintDocument(document);
  return int{kExitOk};
}

Result<int> GetXspaceProto(const AgentCommandOptions& options) {
  STROBE_ASSIGN_OR_RETURN(const xplane::SessionFile file, OneFile(options));
  STROBE_ASSIGN_OR_RETURN(
      const xplane::HostSource source,
      xplane::OpenHostSource(file, std::filesystem::temp_directory_path(), CancelToken()));
  const std::string_view bytes = source.source->bytes();
  if (options.output_path.empty()) {
    if (::isatty(STDOUT_FILENO) != 0) {
      return InvalidArgumentError("OUTPUT_MISSING", "A profile is not text for a terminal.")
          .Hint("--output_path FILE, or redirect the output.");
    }
    PrintOut(bytes);
    return int{kExitOk};
  }
  STROBE_RETURN_IF_ERROR(
      storage::WriteFileAtomically(options.output_path, bytes, {.replace = false}));
  Json document;
  document["status"] = "SUCCESS";
  document["host"] = file.host;
  document["path"] = options.output_path;
  document["size_bytes"] = bytes.size();
  PrintDocument(document);
  return int{kExitOk};
}

Result<int> RunGetXspaceProto(const AgentCommandOptions& options) {
  return Printed(GetXspaceProto(options));
}

Result<int> RunUploadTrace(const AgentFileOptions& options) {
  return Printed(UploadTrace(options));
}

Result<int> RunInstallSkills(const AgentFileOptions& options) {
  return Printed(InstallSkills(options));
}

}  // namespace strobe::cli
