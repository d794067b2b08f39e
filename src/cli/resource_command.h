// strobe runs|targets|sessions|monitored-events|operations: the catalogue of a server from the command line.
//
//   ResourceOptions options{.kind = ResourceKind::kRun, .verb = "list", .server = "http://h:8080"};
//   return RunResource(options);
//
// Talks the ML Diagnostics API of a server. Errors: those of the API, SERVER_UNREACHABLE,
// FORMAT_MALFORMED.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"

namespace strobe::cli {

enum class ResourceKind : uint8_t { kRun, kTarget, kSession, kEvent, kOperation };

struct ResourceOptions {
  ResourceKind kind = ResourceKind::kRun;
  std::string verb;  // list, describe, create, update, delete, cancel
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
};

Result<int> RunResource(const ResourceOptions& options);

// Lists as text, for tests: `items` is a JSON array. Formats: yaml, json, table, csv, value, the
// last three with columns in brackets such as csv[no-heading](name.basename(),state).
Result<std::string> FormatResources(const std::string& items_json, const std::string& format,
                                    bool one);

}  // namespace strobe::cli
