#include "src/api/router.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/api/caller.h"
#include "src/base/work_owner.h"

namespace strobe::api {
namespace {

std::vector<std::string> SplitPattern(std::string_view pattern) {
  std::vector<std::string> segments;
  pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const size_t slash = std::min(pattern.find('/'), pattern.size());
    segments.emplace_back(pattern.substr(0, slash));
    pattern.remove_prefix(std::min(slash + 1, pattern.size()));
  }
  return segments;
}

size_t LiteralBytes(const std::vector<std::string>& segments) {
  size_t literal = 0;
  for (const std::string& segment : segments) {
    bool inside = false;
    for (const char c : segment) {
      if (c == '{') inside = true;
      if (!inside) ++literal;
      if (c == '}') inside = false;
    }
  }
  return literal;
}

Status CheckRange(const Route& route, const Request& request) {
  const bool takes_range = std::ranges::any_of(
      route.query, [](const QueryParam& param) { return param.name == "from_ps"; });
  const std::optional<int64_t> from_ps = request.QueryInt("from_ps");
  const std::optional<int64_t> to_ps = request.QueryInt("to_ps");
  if (!takes_range || !from_ps || !to_ps || *from_ps <= *to_ps) return OkStatus();
  return InvalidArgumentError("TIME_RANGE_REVERSED", "The range ends before it begins.")
      .Where(fmt::format("from_ps={}, to_ps={}", *from_ps, *to_ps))
      .Hint("Give from_ps at or before to_ps.");
}

Status CheckQuery(const Route& route, const Request& request) {
  for (const QueryParam& param : route.query) {
    const std::optional<std::string_view> text = request.Query(param.name);
    if (!text) {
      if (!param.required) continue;
      return InvalidArgumentError("PARAMETER_MISSING",
                                  fmt::format("The query parameter \"{}\" is missing.", param.name))
          .Hint(param.description);
    }
    if (param.type != ParamType::kInteger) continue;
    const std::optional<int64_t> value = ParseInt64(*text);
    if (value && (!param.minimum || *value >= *param.minimum) &&
        (!param.maximum || *value <= *param.maximum)) {
      continue;
    }
    std::string expected = "Expected an integer";
    if (param.minimum) expected += fmt::format(" from {}", *param.minimum);
    if (param.maximum) expected += fmt::format(" to {}", *param.maximum);
    return InvalidArgumentError(
               "PARAMETER_MALFORMED",
               fmt::format("The query parameter \"{}\" is not what it must be.", param.name))
        .Where(fmt::format("{}={}", param.name, text->substr(0, 64)))
        .Hint(expected + ". " + param.description);
  }
  return CheckRange(route, request);
}

}  // namespace

std::string_view NeedName(Need need) {
  switch (need) {
    case Need::kPublic:
      return "public";
    case Need::kAnyone:
      return "anyone";
    case Need::kSignedIn:
      return "signed-in";
    case Need::kView:
      return "view";
    case Need::kEdit:
      return "edit";
    case Need::kCapture:
      return "capture";
    case Need::kReadAnalysis:
      return "analysis.read";
    case Need::kAdmin:
      return "admin";
  }
  return "unknown";
}

std::string_view ObjectName(Object object) {
  switch (object) {
    case Object::kNone:
      return "none";
    case Object::kServer:
      return "server";
    case Object::kSession:
      return "session";
    case Object::kSessions:
      return "sessions";
    case Object::kXprofRun:
      return "run";
    case Object::kProject:
      return "project";
    case Object::kDefaultProject:
      return "default project";
    case Object::kOperation:
      return "operation";
    case Object::kInBody:
      return "named in the body";
  }
  return "unknown";
}

bool MatchSegment(std::string_view pattern, std::string_view text,
                  std::vector<std::pair<std::string, std::string>>* params) {
  const size_t open = pattern.find('{');
  if (open == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, open))) return false;
  text.remove_prefix(open);
  const size_t close = pattern.find('}', open);
  STROBE_CHECK(close != std::string_view::npos);
  const std::string_view name = pattern.substr(open + 1, close - open - 1);
  const std::string_view rest = pattern.substr(close + 1);
  if (rest.empty()) {
    if (text.empty()) return false;
    params->emplace_back(name, text);
    return true;
  }
  // The literal that follows a name ends it at its first place: no backtracking, so that no address
  // is slow to match.
  const std::string_view stop = rest.substr(0, rest.find('{'));
  const size_t end = text.find(stop, 1);
  if (end == std::string_view::npos) return false;
  params->emplace_back(name, text.substr(0, end));
  return MatchSegment(rest, text.substr(end), params);
}

Router::Router(std::vector<Route> routes, Gate* gate) : routes_(std::move(routes)), gate_(gate) {
  for (const Route& route : routes_) {
    STROBE_CHECK(!route.pattern.empty() && route.pattern.front() == '/');
    STROBE_CHECK(route.run_on != RunOn::kIoThread || route.access.need == Need::kPublic);
    Pattern pattern;
    pattern.segments = SplitPattern(route.pattern);
    pattern.literal_bytes = LiteralBytes(pattern.segments);
    patterns_.push_back(std::move(pattern));
  }
}

Match Router::Find(const Request& request) const {
  Match best;
  size_t best_literal = 0;
  const Method method = request.method == Method::kHead ? Method::kGet : request.method;
  for (size_t i = 0; i < routes_.size(); ++i) {
    const Pattern& pattern = patterns_[i];
    if (routes_[i].pattern == kAnyPath) continue;
    if (pattern.segments.size() != request.segments.size()) continue;
    std::vector<std::pair<std::string, std::string>> params;
    bool fits = true;
    for (size_t s = 0; fits && s < pattern.segments.size(); ++s) {
      fits = MatchSegment(pattern.segments[s], request.segments[s], &params);
    }
    if (!fits) continue;
    if (routes_[i].method != method) {
      const std::string_view name = MethodName(routes_[i].method);
      if (best.allowed_methods.find(name) == std::string::npos) {
        if (!best.allowed_methods.empty()) best.allowed_methods += ", ";
        best.allowed_methods += routes_[i].method == Method::kGet ? "GET, HEAD" : name;
      }
      continue;
    }
    if (best.route == nullptr || pattern.literal_bytes > best_literal) {
      best.route = &routes_[i];
      best.params = std::move(params);
      best_literal = pattern.literal_bytes;
    }
  }
  if (best.route != nullptr || !best.allowed_methods.empty() || method != Method::kGet ||
      (!request.segments.empty() && request.segments[0] == "api")) {
    return best;
  }
  for (const Route& route : routes_) {
    if (route.pattern == kAnyPath) best.route = &route;
  }
  return best;
}

Response Router::Run(const Match& match, Request& request) const {
  if (match.route == nullptr) {
    if (!match.allowed_methods.empty()) {
      Response response = ErrorResponse(
          InvalidArgumentError("METHOD_NOT_ALLOWED", "This address does not take this method.")
              .Where(request.path)
              .Hint("Allowed: " + match.allowed_methods + "."),
          request.request_id, 405);
      response.headers.emplace_back("Allow", match.allowed_methods);
      return response;
    }
    return ErrorResponse(NotFoundError("ROUTE_UNKNOWN", "Nothing is served at this address.")
                             .Where(request.path.substr(0, 256))
                             .Hint("Open /api/v1/openapi.json for all addresses."),
                         request.request_id);
  }
  request.params = match.params;
  if (gate_ == nullptr) return Handle(*match.route, request);
  if (std::optional<Response> refusal = gate_->Enter(*match.route, request)) {
    return std::move(*refusal);
  }
  // Now it is proved who asks.
  const bool known = request.caller != nullptr && request.caller->signed_in();
  const WorkOwner::Scope scope(known ? request.caller->subject : WorkOwner::Current());
  Response response = Handle(*match.route, request);
  gate_->Leave(*match.route, request, response);
  return response;
}

std::string Router::UserOf(const Request& request) const {
  return gate_ == nullptr ? request.peer : gate_->UserOf(request);
}

Response Router::Handle(const Route& route, Request& request) {
  if (const Status status = CheckQuery(route, request); !status.ok()) {
    return ErrorResponse(status, request.request_id);
  }
  Result<Response> result = route.handler(request);
  if (!result.ok()) return ErrorResponse(result.status(), request.request_id);
  return std::move(result).value();
}

}  // namespace strobe::api
