// The strobe command: parsing in parse.cc, one function for each subcommand.
//
//   return RunStrobe(argc, argv);
//
// Exit codes are part of the interface (docs in `strobe --help`): scripts branch on them. Results
// go to standard output, everything else to standard error. Errors are one line "error: NAME:
// message (where)" and one line with what to do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/base/status.h"

namespace strobe::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitNotFound = 3,
  kExitPartial = 4,  // done, but the profile or the capture is damaged or not whole
};

struct ServeOptions {
  std::vector<std::string> roots;
  std::string listen = "127.0.0.1:8080";
  std::string otlp_listen;  // ADDRESS:PORT for exporters that speak gRPC; empty: none
  bool insecure_no_auth = false;
  bool access = false;                     // sign-in, roles, tokens: kept in the catalogue
  std::string access_contact;              // whom to ask, shown to those who may not
  std::vector<std::string> projects;       // NAME=DIR
  std::vector<std::string> allow_targets;  // ranges and names that captures may go to
  std::string tls_certificate;
  std::string tls_key;
  std::vector<std::string> trusted_proxies;
  std::string oidc_issuer;
  std::string oidc_client_id;
  std::string oidc_client_secret_file;
  std::string oidc_name = "your provider";
  std::string public_url;  // under which browsers reach the server; for OIDC
  std::vector<std::string> allow_hosts;
  std::string cache_directory;  // empty: below the user's cache directory
  bool no_cache = false;
  std::string catalog;  // empty: below the user's state directory; with --no-cache in memory
  std::string cache_size = "20G";
  std::string memory;  // empty: half of the machine's
  int threads = 0;     // 0: one a core
  std::string log_level = "info";
  std::string console_directory;
  std::string capture_target;
  bool sample = false;
  std::string uploads;  // empty: the first root that may be written to
  std::vector<std::string> xla_dump_directories;
  int64_t tool_timeout_seconds = 600;
};

struct UploadCommandOptions {
  std::string path;
  std::string server = "http://127.0.0.1:8080";
  std::string run;
  std::string session;
  std::string resume;  // id of an upload; empty: a new one
  bool json = false;
};

struct ListCommandOptions {
  std::string path;
  bool json = false;
};

struct InspectOptions {
  std::string path;
  bool json = false;
};

enum class EventFormat : uint8_t { kTable, kJson, kCsv };

struct EventsOptions {
  std::string path;
  std::string host;
  std::string plane;
  std::string line;
  std::string name;
  std::string from;
  std::string to;
  uint64_t limit = 100;  // 0: all
  EventFormat format = EventFormat::kTable;
};

struct CaptureOptions {
  std::vector<std::string> targets;
  std::string duration = "2s";
  std::string into;
  std::string run;
  std::string session;
  uint32_t host_tracer_level = 2;
  uint32_t device_tracer_level = 1;
  uint32_t python_tracer_level = 0;
  std::vector<std::string> options;  // key=value
  bool json = false;
};

enum class ToolFormat : uint8_t { kTable, kJson, kCsv, kMarkdown, kXprof, kRaw };

struct ToolsOptions {
  std::string place;  // empty: all tools there are
  ToolFormat format = ToolFormat::kTable;
};

struct ToolCommandOptions {
  std::string tool;   // id
  std::string place;  // path, or address of a server
  std::vector<std::string> hosts;
  std::map<std::string, std::string> tool_options;
  std::string table;
  std::vector<std::string> columns;
  std::vector<std::string> sort;
  std::vector<std::string> filters;
  uint64_t offset = 0;
  std::optional<uint64_t> limit;
  bool as_xprof = false;
  ToolFormat format = ToolFormat::kTable;
  std::vector<std::string> xla_dump_directories;
};

// Each prints its result and returns the exit code, or the error to print.
Result<int> RunServe(const ServeOptions& options);
Result<int> RunList(const ListCommandOptions& options);
Result<int> RunInspect(const InspectOptions& options);
Result<int> RunEvents(const EventsOptions& options);
Result<int> RunCaptureCommand(const CaptureOptions& options);
Result<int> RunUpload(const UploadCommandOptions& options);
Result<int> RunTools(const ToolsOptions& options);
// Exit codes are those of XProf's command line: 1 internal, 2 usage, 3 path, 4 invalid value.
Result<int> RunTool(const ToolCommandOptions& options);
Result<int> RunOpenApi();

// The whole program.
int RunStrobe(int argc, char** argv);
int ExitCodeOf(const Status& status);

}  // namespace strobe::cli
