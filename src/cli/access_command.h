// strobe access|users|groups|roles|service-accounts|tokens|links|audit: who may use a server.
//
//   AccessOptions options{.noun = "users", .verb = "create", .id = "ada", .catalog = "c.db"};
//   return RunAccess(options);
//
// Asks a server (--server, with a token of an administrator in STROBE_TOKEN) or, when a catalogue
// is named or nothing at all, the catalogue itself: whoever may open it may do everything, which is
// how the first administrator comes in. Errors: those of the API, CATALOG_*, SERVER_UNREACHABLE.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/status.h"

namespace strobe::cli {

struct AccessOptions {
  std::string noun;
  std::string verb;
  std::string id;
  std::string server;   // empty: the catalogue
  std::string catalog;  // empty: STROBE_CATALOG, else the usual place
  std::string project = "default";
  std::string subject;
  std::string role;
  std::string display_name;
  std::string email;
  std::string rights;
  std::string session;
  std::string run;
  std::string view;
  std::string audience;
  std::string out;   // file of a key
  std::string head;  // of the audit chain, as kept elsewhere
  std::string filter;
  std::string format;
  uint64_t limit = 0;
  int64_t days = 0;  // 0: as the server has it
};

Result<int> RunAccess(const AccessOptions& options);

}  // namespace strobe::cli
