// The one table of routes: what exists, who may use it, what it takes and gives. OpenAPI is
// generated from it, metrics are counted by it, and a test walks it.
//
//   Router router(MakeRoutes(context));
//   const Match match = router.Find(request);       // 404 and 405 are matches too
//   Response response = router.Run(match, request); // checks parameters, calls the handler
//
// Patterns: "/api/v1/sessions/{id}/tiles/{host}.{plane}.{chunk}/{level}/{index}": a {name} takes
// one or more characters of its segment, text between names stands for itself. The pattern with the
// most literal text wins. Cost: a scan over some 40 patterns, below 2 us. Immutable, so
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/request.h"
#include "src/api/response.h"
#include "src/base/status.h"

namespace strobe::api {

// The pattern of the one route that takes whatever GET no other takes, except below /api.
inline constexpr std::string_view kAnyPath = "/*";

enum class AuthClass : uint8_t {
  kPublic,   // health and the console's files
  kRead,     // looks at profiles
  kCapture,  // makes other processes work
  kWrite,    // changes runs and what is below them
};
std::string_view AuthClassName(AuthClass auth);

enum class RunOn : uint8_t {
  kIoThread,  // never blocks and takes microseconds; answers even when the pool is busy
  kPool,
};

enum class ParamType : uint8_t { kString, kInteger };

struct QueryParam {
  std::string name = {};
  ParamType type = ParamType::kString;
  std::string description = {};
  bool required = false;
  std::optional<int64_t> minimum = {};
  std::optional<int64_t> maximum = {};
};

struct Route {
  Method method = Method::kGet;
  std::string pattern = {};
  std::string operation_id = {};
  std::string tag = {};
  std::string summary = {};
  std::vector<QueryParam> query = {};
  std::string request_schema = {};   // name below components/schemas, empty: no body
  std::string response_schema = {};  // same, empty: not JSON of ours
  std::string response_type = "application/json";
  int success_status = 200;
  AuthClass auth = AuthClass::kRead;
  RunOn run_on = RunOn::kPool;
  bool documented = true;  // in OpenAPI
  std::function<Result<Response>(const Request&)> handler = {};
};

struct Match {
  const Route* route = nullptr;  // null: none
  std::vector<std::pair<std::string, std::string>> params;
  std::string allowed_methods;  // when the path exists but not with this method
};

class Router {
 public:
  explicit Router(std::vector<Route> routes);

  const std::vector<Route>& routes() const { return routes_; }
  // GET also answers HEAD.
  Match Find(const Request& request) const;
  // Sets request.params. Errors become the one error shape.
  Response Run(const Match& match, Request& request) const;
  size_t IndexOf(const Route* route) const { return static_cast<size_t>(route - routes_.data()); }

 private:
  struct Pattern {
    std::vector<std::string> segments;
    size_t literal_bytes = 0;
  };
  std::vector<Route> routes_;
  std::vector<Pattern> patterns_;
};

// Whether `text` fits a segment pattern such as "{id}:cancel"; appends the values found.
bool MatchSegment(std::string_view pattern, std::string_view text,
                  std::vector<std::pair<std::string, std::string>>* params);

}  // namespace strobe::api
