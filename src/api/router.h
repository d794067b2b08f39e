// The one table of routes: what exists, who may use it, what it takes and gives. OpenAPI is
// generated from it, metrics are counted by it, and a test walks it.
//
//   Router router(MakeRoutes(context), gate);
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

// What a caller must be allowed to do.
enum class Need : uint8_t {
  kPublic,    // nothing: health, the console's files, signing in
  kAnyone,    // signed in, or holding a share link
  kSignedIn,  // signed in; the handler answers with what the caller may see
  kView,
  kEdit,
  kCapture,
  kReadAnalysis,
  kAdmin,
};
std::string_view NeedName(Need need);

// Whose right it is: where the project of what is asked for comes from.
enum class Object : uint8_t {
  kNone,            // there is no project in it
  kServer,          // the right must hold in all projects
  kSession,         // {id} is a session
  kSessions,        // `sessions` of the query
  kXprofRun,        // looked up by the handler among what the caller may see
  kProject,         // {project}
  kDefaultProject,  // the one of clients that know of no projects
  kOperation,       // {id} is an operation
  kInBody,          // the right somewhere is enough to come in; the handler looks at the rest
};
std::string_view ObjectName(Object object);

// Denials are always recorded.
enum class Audit : uint8_t { kDenials, kAlways };

// No default, so that no route can be made without saying it.
struct Access {
  constexpr Access(Need need_in, Object object_in, Audit audit_in = Audit::kDenials)
      : need(need_in), object(object_in), audit(audit_in) {}
  Need need;
  Object object;
  Audit audit;
};
inline constexpr Access kPublicAccess{Need::kPublic, Object::kNone};

enum class RunOn : uint8_t {
  kIoThread,  // never blocks and takes microseconds; answers even when the pool is busy
  kPool,      // what a page waits for: tiles, lines, events, search, lists
  kWorkPool,  // may compute for seconds: tools, comparisons, what looks at every event
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
  Access access;
  std::string operation_id = {};
  std::string tag = {};
  std::string summary = {};
  std::vector<QueryParam> query = {};
  std::string request_schema = {};   // name below components/schemas, empty: no body
  std::string response_schema = {};  // same, empty: not JSON of ours
  std::string response_type = "application/json";
  int success_status = 200;
  RunOn run_on = RunOn::kPool;
  bool documented = true;  // in OpenAPI
  std::function<Result<Response>(const Request&)> handler = {};
};

struct Match {
  const Route* route = nullptr;  // null: none
  std::vector<std::pair<std::string, std::string>> params;
  std::string allowed_methods;  // when the path exists but not with this method
};

// Stands before and behind every handler. Thread-safe.
class Gate {
 public:
  virtual ~Gate() = default;
  // Sets request.caller and returns nothing, or the whole answer that says no.
  virtual std::optional<Response> Enter(const Route& route, Request& request) = 0;
  virtual void Leave(const Route& route, const Request& request, const Response& response) = 0;
  // Whose share of the threads the request is taken from, before anybody has looked whether it may
  // come in: a subject only when that is proved, and never waits.
  virtual std::string UserOf(const Request& request) const { return request.peer; }
};

class Router {
 public:
  // Without a gate everybody may do everything. Routes on io threads are public: the gate may wait.
  explicit Router(std::vector<Route> routes, Gate* gate = nullptr);

  const std::vector<Route>& routes() const { return routes_; }
  // GET also answers HEAD.
  Match Find(const Request& request) const;
  // Sets request.params. Errors become the one error shape.
  Response Run(const Match& match, Request& request) const;
  // As Gate::UserOf; without a gate the address of the other side.
  std::string UserOf(const Request& request) const;
  size_t IndexOf(const Route* route) const { return static_cast<size_t>(route - routes_.data()); }

 private:
  static Response Handle(const Route& route, Request& request);

  struct Pattern {
    std::vector<std::string> segments;
    size_t literal_bytes = 0;
  };
  std::vector<Route> routes_;
  std::vector<Pattern> patterns_;
  Gate* const gate_;
};

// Whether `text` fits a segment pattern such as "{id}:cancel"; appends the values found.
bool MatchSegment(std::string_view pattern, std::string_view text,
                  std::vector<std::pair<std::string, std::string>>* params);

}  // namespace strobe::api
