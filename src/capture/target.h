// What a person may name as a capture target, and which names may become files: `host:port` and
// nothing else.
//
//   STROBE_ASSIGN_OR_RETURN(Target target, ParseTarget("node0.example.com:9012"));
//   target.grpc_address;   // "dns:///node0.example.com:9012"
//   target.file_host();    // "node0.example.com"
//
// A target decides whom this program connects to, so it is read narrowly: a DNS name, a dotted IPv4
// address or a bracketed IPv6 address, and a decimal port. No scheme, path, user, socket file or
// resolver syntax gets through, and gRPC is handed an address with an explicit scheme so that it
// never reads the text in another way. Names that become files or travel to the job as ids are
// [A-Za-z0-9._-]+ and begin with neither dot nor dash, so no name can leave its directory.
// Cost: linear in the text. Limits: kMaxTargetBytes, kMaxNameBytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace strobe::capture {

// A DNS name has at most 253 characters; brackets, colon and port come on top.
inline constexpr size_t kMaxTargetBytes = 270;
// File names end at 255 bytes; what is appended (port, extension, temporary part) needs the rest.
inline constexpr size_t kMaxNameBytes = 200;
// Folders below a root, as in "team/project/run".
inline constexpr size_t kMaxRunDepth = 8;

struct Target {
  std::string text;  // as given
  std::string host;  // without brackets, lower case
  uint16_t port = 0;
  bool is_name = false;      // a DNS name, not an address
  bool is_loopback = false;  // localhost, 127.0.0.0/8, ::1: says nothing about which machine it is
  std::string grpc_address;
  std::string authority;  // canonical "host:port"

  // The host as a file name, and with the port: ':' becomes '_'.
  std::string file_host() const;
  std::string file_host_port() const;
};

// Error: CAPTURE_BAD_TARGET.
Result<Target> ParseTarget(std::string_view text);

// Errors: CAPTURE_NO_TARGET, CAPTURE_BAD_TARGET (also for the same target twice),
// CAPTURE_TOO_MANY_TARGETS.
Result<std::vector<Target>> ParseTargets(const std::vector<std::string>& texts);

// [A-Za-z0-9._-]+, at most kMaxNameBytes, beginning with neither '.' nor '-'.
bool IsSafeName(std::string_view name);

// Error: CAPTURE_BAD_NAME; `what` is "session" or the like.
Status CheckName(std::string_view what, std::string_view name);

// "" or safe names joined by '/'. Error: CAPTURE_BAD_NAME.
Status CheckRun(std::string_view run);

// Text from a peer, fit to be shown: valid UTF-8, no control characters, at most `max_bytes`.
std::string CleanText(std::string_view text, size_t max_bytes = 300);

}  // namespace strobe::capture
