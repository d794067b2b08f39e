// What the catalogue keeps, as plain records: one struct a table, one member a column.
//
// `project`, `location`, `run`, `id` name a record; a name in Google's form is
// "projects/P/locations/L/machineLearningRuns/R/profilerSessions/S". Times are Unix nanoseconds, 0
// when unset. Enum columns hold the bare word ("ACTIVE", "GKE"). `body` is the JSON object of what
// clients set themselves, in one spelling (src/api writes and reads it); whatever is searched or
// sorted by has a column of its own beside it. Booleans are 0 and 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strobe::catalog {

struct Key {
  std::string project = {};
  std::string location = {};
  std::string run = {};  // empty for what is no child of a run
  std::string id = {};
};

struct Run {
  std::string project;
  std::string location;
  std::string id;
  std::string etag;
  int64_t create_unix_ns = 0;
  int64_t update_unix_ns = 0;
  int64_t end_unix_ns = 0;
  std::string display_name;
  std::string run_set;
  std::string state;          // ACTIVE, COMPLETED, FAILED
  std::string phase;          // as clients set it
  std::string orchestrator;   // GCE, GKE, SLURM, CUSTOM or empty
  std::string storage_path;   // where its profiles are
  std::string logical_id;     // of self-hosted clients: the same job again
  int64_t existing_only = 0;  // lists what is there and takes no update
  int64_t scan_due_unix_ns = 0;
  int64_t scan_done_unix_ns = 0;
  int64_t scan_interval_ns = 0;
  std::string scan_error;
  std::string body;

  Key key() const { return {project, location, "", id}; }
};

struct ProfilerTarget {
  std::string project;
  std::string location;
  std::string run;
  std::string id;
  std::string etag;
  int64_t create_unix_ns = 0;
  std::string hostname;
  int64_t node_index = 0;
  int64_t is_master = 0;
  int64_t automatic = 0;  // came with the run's workload, and goes with it

  Key key() const { return {project, location, run, id}; }
};

struct ProfilerSession {
  std::string project;
  std::string location;
  std::string run;
  std::string id;
  std::string etag;
  int64_t create_unix_ns = 0;
  int64_t update_unix_ns = 0;
  int64_t start_unix_ns = 0;
  int64_t end_unix_ns = 0;
  std::string kind;       // ON_DEMAND, PROGRAMMATIC, SCANNED, SNAPSHOT or empty
  std::string state;      // ACTIVE, SUCCEEDED, FAILED, CANCELLED
  std::string operation;  // id of the operation that captures it
  // Found in storage; empty until then.
  std::string found_path;
  std::string viewer_id;  // under which the server shows it; empty: it does not
  std::string hosts;      // JSON array of names
  int64_t host_count = 0;
  int64_t size_bytes = 0;
  std::string completeness;  // as the engine judges it
  int64_t found_modified_unix_ns = 0;
  std::string body;

  Key key() const { return {project, location, run, id}; }
};

struct MonitoredEvent {
  std::string project;
  std::string location;
  std::string run;
  std::string id;
  std::string etag;
  int64_t create_unix_ns = 0;
  int64_t update_unix_ns = 0;
  std::string display_name;
  std::string type;
  int64_t start_unix_ns = 0;
  int64_t end_unix_ns = 0;
  int64_t insight_found = 0;
  std::string body;

  Key key() const { return {project, location, run, id}; }
};

struct Operation {
  std::string project;
  std::string location;
  std::string id;
  int64_t create_unix_ns = 0;
  int64_t end_unix_ns = 0;
  int64_t done = 0;
  std::string verb;
  std::string target;  // full resource name
  std::string run;     // of the target, so that it goes with its run's list
  int64_t cancel_requested = 0;
  int64_t error_code = 0;  // google.rpc.Code
  std::string error_message;
  std::string response;  // JSON with @type, when done and well
  // Until when the server that works on it vouches for it; 0: nobody works on it.
  int64_t lease_unix_ns = 0;
  std::string progress;  // JSON object, while it goes on

  Key key() const { return {project, location, "", id}; }
};

// A request id that was answered, so that the same request again gets the same answer.
struct AnsweredRequest {
  std::string project;
  std::string location;
  std::string id;
  int64_t create_unix_ns = 0;
  std::string fingerprint;  // of method, address and body
  std::string operation;    // id

  Key key() const { return {project, location, "", id}; }
};

}  // namespace strobe::catalog
