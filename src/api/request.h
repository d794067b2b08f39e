// One HTTP request as the handlers see it: no sockets, no library types.
//
//   STROBE_ASSIGN_OR_RETURN(Request request, MakeRequest("GET", "/api/v1/sessions?q=llama"));
//   request.Query("q")          // "llama", percent-decoded
//   request.HeaderValue("host") // names are lower case
//
// The path is split into segments before it is decoded, so an encoded slash stays inside its
// segment. Limits are named below and are refused with a named error, never cut off silently.
// Plain data: copying copies the body.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/cancel.h"
#include "src/base/status.h"

namespace strobe::api {

// Far longer than any address of ours (a search text is the longest part); longer ones are attacks
// or mistakes.
inline constexpr size_t kMaxTargetBytes = 8 * 1024;
// What browsers and proxies add stays below 8 KiB; twice that is room for cookies of others.
inline constexpr size_t kMaxHeaderBytes = 16 * 1024;
// The largest body we take is a capture request with kMaxTargets targets, about 70 KB.
inline constexpr size_t kMaxBodyBytes = 1024 * 1024;
inline constexpr size_t kMaxQueryParameters = 64;

struct Caller;  // caller.h
}  // namespace strobe::api
namespace strobe::catalog {
struct AuditTrail;  // audit.h
}  // namespace strobe::catalog
namespace strobe::api {

enum class Method : uint8_t { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions, kOther };
std::string_view MethodName(Method method);
Method ParseMethod(std::string_view name);

struct Header {
  std::string name;  // lower case
  std::string value;
};

struct Request {
  Method method = Method::kGet;
  std::string target;                 // as sent: path and query
  std::string path;                   // as sent, without the query and the XProf prefix
  bool below_xprof_prefix = false;    // came below /data/plugin/profile
  std::vector<std::string> segments;  // of the path, decoded
  std::vector<std::pair<std::string, std::string>> query;   // decoded, in order
  std::vector<std::pair<std::string, std::string>> params;  // of the matched route
  std::vector<Header> headers;
  std::string body;
  bool http_1_0 = false;
  std::string peer;     // address of the other side
  bool secure = false;  // came by TLS, here or at the proxy in front
  // Who asks, set by the gate; null: nobody is told apart, and everything is allowed.
  std::shared_ptr<const Caller> caller;
  // What the audit chain will say of it, written with what it changes (WriteAudited); null: no
  // record is kept of such requests.
  std::shared_ptr<catalog::AuditTrail> trail;
  std::string request_id;
  CancelToken cancel;  // set when the client goes away or the deadline passes

  // First value of a header, or "". `lower_case_name` must be lower case.
  std::string_view HeaderValue(std::string_view lower_case_name) const;
  size_t HeaderCount(std::string_view lower_case_name) const;
  // First value of a query parameter; nullopt when it is not there.
  std::optional<std::string_view> Query(std::string_view name) const;
  std::string_view Param(std::string_view name) const;
  // Integer query parameter whose form the router has checked already; nullopt when absent.
  std::optional<int64_t> QueryInt(std::string_view name) const;
};

// Sets target, path, segments and query. Errors: TARGET_TOO_LONG, TARGET_MALFORMED.
Status SetTarget(std::string_view target, Request* request);
// For tests and tools: a request without headers.
Result<Request> MakeRequest(std::string_view method, std::string_view target);

// "%41" -> "A"; false on a broken escape, a NUL byte or other control characters.
bool PercentDecode(std::string_view text, bool plus_is_space, std::string* out);
// Whole text as a decimal integer; nullopt otherwise.
std::optional<int64_t> ParseInt64(std::string_view text);
std::optional<uint32_t> ParseUint32(std::string_view text);
bool EqualsIgnoreCase(std::string_view a, std::string_view b);
std::string ToLowerAscii(std::string_view text);
std::string_view TrimSpaces(std::string_view text);

}  // namespace strobe::api
