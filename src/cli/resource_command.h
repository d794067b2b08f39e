// strobe runs|targets|sessions|monitored-events|operations: the catalogue of a server from the
// command line.
//
//   ResourceOptions options{.kind = ResourceKind::kRun, .verb = "list", .server = "http://h:8080"};
//   return RunResource(options);
//
// Talks the ML Diagnostics API of a server, as `gcloud alpha mldiagnostics` does: the same order of
// requests, the same words on standard error, the resource on standard output; a change that goes
// on (a capture) is waited for, at most kMaxWaitMs, unless `no_wait`. Errors: those of the API and
// of the operation, SERVER_UNREACHABLE, FORMAT_MALFORMED, FLAG_MALFORMED, OPERATION_STILL_RUNNING.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"

namespace strobe::cli {

// As long as gcloud waits.
inline constexpr int64_t kMaxWaitMs = 30 * 60 * 1000;

enum class ResourceKind : uint8_t { kRun, kTarget, kSession, kEvent, kOperation };

struct ResourceOptions {
  ResourceKind kind = ResourceKind::kRun;
  std::string verb;  // list, describe, create, update, delete, cancel, capture, wait
  std::string server = "http://127.0.0.1:8080";
  std::string project = "default";
  std::string location = "local";
  std::string run;
  std::string id;
  std::string format;  // empty: table for list, else yaml
  std::string filter;
  std::string order_by;
  uint64_t limit = 0;  // 0: all
  uint64_t page_size = 100;
  bool force = false;
  bool refresh = false;
  std::vector<std::string> fields;  // NAME=VALUE, dots for what is below
  std::string etag;
  std::string update_mask;
  bool no_wait = false;
  bool uri = false;  // a list of names only

  // Flags as gcloud has them; `fields` come after them.
  std::string display_name;
  std::string run_group;
  std::string gcs_path;
  std::string orchestrator;
  std::string run_phase;
  std::vector<std::string> labels;  // NAME=VALUE, commas between them allowed
  std::vector<std::string> tools;   // xprof, xprof:sessionId=X, smon
  std::vector<std::string> software;
  std::vector<std::string> hardware;
  std::vector<std::string> user;
  std::vector<std::string> targets;  // ids or whole names
  std::string duration;              // 5s, 5000ms, 2m
  std::string capture_kind;          // on-demand, snapshot
  std::string host_level;            // info or host-tracer-level-info ...
  std::string device_level;
  std::string python_level;
  int64_t xprof_server_port = 0;
  std::string hostname;
  int64_t node_index = 0;
  bool is_master = false;
};

Result<int> RunResource(const ResourceOptions& options);

// The JSON that a change sends (resource_body.cc). Errors: FIELD_MALFORMED, FLAG_MALFORMED.
Result<std::string> ResourceBody(const ResourceOptions& options);
// "5000ms", "5s", "2m", "1h" as protobuf's JSON has durations: "5s". Error: FLAG_MALFORMED.
Result<std::string> DurationText(std::string_view text);

// Lists as text, for tests: `items` is a JSON array. Formats: yaml, json, table, csv, value, the
// last three with columns in brackets such as csv[no-heading](name.basename(),state).
Result<std::string> FormatResources(const std::string& items_json, const std::string& format,
                                    bool one);

}  // namespace strobe::cli
