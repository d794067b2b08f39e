// The timeline: lines, tiles, events, search.
#include <fmt/format.h>

#include <array>

#include "src/api/app.h"
#include "src/api/json_answers.h"
#include "src/timeline/tile.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using SessionPtr = std::shared_ptr<engine::OpenedSession>;

// What a page waits for lines before it shows what there is.
constexpr int64_t kDefaultLinesWaitMs = 200;
constexpr int64_t kMaxLinesWaitMs = 10'000;
constexpr int64_t kDefaultSearchLimit = 1000;
constexpr int64_t kMaxSearchLimit = 10'000;

Result<SessionPtr> OpenSession(const Context& context, const Request& request) {
  return context->engine->Open(std::string(request.Param("id")));
}

Result<uint32_t> IndexParam(const Request& request, std::string_view name) {
  const std::optional<uint32_t> value = ParseUint32(request.Param(name));
  if (value) return *value;
  return InvalidArgumentError("INDEX_MALFORMED",
                              fmt::format("The {} in the address is not a number.", name))
      .Where(std::string(request.Param(name).substr(0, 64)))
      .Hint("Take ids from /api/v1/sessions/{id}/lines.");
}

Result<Response> GetLines(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  const engine::LineTree tree =
      session->Lines(request.QueryInt("wait_ms").value_or(kDefaultLinesWaitMs));
  JsonWriter json;
  WriteLineTree(json, tree, session->version());
  return JsonResponse(json.TakeText());
}

Result<Response> GetTile(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const uint32_t host, IndexParam(request, "host"));
  STROBE_ASSIGN_OR_RETURN(const uint32_t plane, IndexParam(request, "plane"));
  STROBE_ASSIGN_OR_RETURN(const uint32_t chunk, IndexParam(request, "chunk"));
  const std::optional<int64_t> level = ParseInt64(request.Param("level"));
  const std::optional<int64_t> index = ParseInt64(request.Param("index"));
  if (!level || *level < timeline::kMinTileLevel || *level > timeline::kMaxTileLevel || !index) {
    return InvalidArgumentError("TILE_ADDRESS", "The level or the index of the tile is wrong.")
        .Where(request.path.substr(0, 256))
        .Hint("Expected a level from 10 to 62 and an integer index.");
  }
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  const std::string_view asked_version = request.Query("v").value_or("");
  if (asked_version != session->version()) {
    return Status(StatusCode::kAborted, "VERSION_CHANGED",
                  "The session has changed since this address was made.")
        .Where("v=" + std::string(asked_version.substr(0, 64)))
        .Hint("Ask for the lines again; the version now is " + session->version() + ".");
  }
  STROBE_ASSIGN_OR_RETURN(Body tile, session->Tile(host, plane, chunk, static_cast<int>(*level),
                                                   *index, request.cancel));
  const std::string etag =
      fmt::format("{}-{}.{}.{}-{}-{}", session->version(), host, plane, chunk, *level, *index);
  return ImmutableResponse("application/octet-stream", std::move(tile), etag);
}

Result<Response> GetEvent(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const analysis::EventRef ref, ParseEventId(request.Param("event")));
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  STROBE_ASSIGN_OR_RETURN(const engine::EventDetail event, session->Event(ref));
  JsonWriter json;
  WriteEventDetail(json, event);
  return JsonResponse(json.TakeText());
}

void WriteRef(JsonWriter& json, std::string_view key,
              const std::optional<analysis::EventRef>& ref) {
  WriteTextOrNull(json, key, ref ? EventId(*ref) : "");
}

Result<Response> FindEvent(const Context& context, const Request& request) {
  // A line's id is an event's without its last number.
  const std::string line(request.Query("line").value_or(""));
  const Result<analysis::EventRef> ref = ParseEventId(line + ".0");
  if (!ref.ok()) {
    return InvalidArgumentError("LINE_ID_MALFORMED", "This is not the id of a line.")
        .Where(line.substr(0, 64))
        .Hint("Expected host.plane.line, three numbers, such as 0.1.2.");
  }
  const std::optional<int64_t> at_ps = request.QueryInt("at_ps");
  const std::optional<int64_t> event = request.QueryInt("event");
  if (at_ps.has_value() == event.has_value()) {
    return InvalidArgumentError("AT_OR_EVENT", "Exactly one of at_ps and event is needed.")
        .Hint("Give at_ps for the nearest event, or event for the neighbours of one.");
  }
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  const Result<engine::Neighbours> found =
      at_ps ? session->NeighboursAt(ref->host, ref->plane, ref->line, *at_ps)
            : session->NeighboursOf(
                  {ref->host, ref->plane, ref->line, static_cast<uint32_t>(*event)});
  if (!found.ok()) return found.status();
  JsonWriter json;
  json.BeginObject();
  WriteRef(json, "event", found->event);
  WriteRef(json, "previous", found->previous);
  WriteRef(json, "next", found->next);
  json.EndObject();
  return JsonResponse(json.TakeText());
}

Result<engine::SearchQuery> ParseSearch(const Request& request) {
  const std::string text(request.Query("q").value_or(""));
  const std::string expression(request.Query("expression").value_or(""));
  if (text.empty() && expression.empty()) {
    return InvalidArgumentError("SEARCH_EMPTY", "There is nothing to search for.")
        .Hint("Give a part of a name in q, or /regex/; or an expression in expression.");
  }
  if (!text.empty() && !expression.empty()) {
    return InvalidArgumentError("SEARCH_TWICE", "Exactly one of q and expression is needed.");
  }
  engine::SearchQuery query{
      .text = text.empty() ? expression : text,
      .expression = text.empty(),
      .near_ps = request.QueryInt("near_ps"),
      .from_ps = request.QueryInt("from_ps"),
      .to_ps = request.QueryInt("to_ps"),
      .limit = static_cast<size_t>(request.QueryInt("limit").value_or(kDefaultSearchLimit))};
  if (const auto near = request.Query("near"); near && !near->empty()) {
    STROBE_ASSIGN_OR_RETURN(query.near, ParseEventId(*near));
  }
  return query;
}

Result<Response> Search(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const engine::SearchQuery query, ParseSearch(request));
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  STROBE_ASSIGN_OR_RETURN(const engine::SearchResult result,
                          session->Search(query, request.cancel));
  JsonWriter json;
  WriteSearchResult(json, result, query.text);
  return JsonResponse(json.TakeText());
}

}  // namespace

void AddTimelineRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/lines",
       .access = {Need::kView, Object::kSession},
       .operation_id = "getLines",
       .tag = "timeline",
       .summary = "All lines of all planes of all hosts, in display order.",
       .query = {{.name = "wait_ms",
                  .type = ParamType::kInteger,
                  .description = "How long to wait for decoding to finish (default 200).",
                  .minimum = 0,
                  .maximum = kMaxLinesWaitMs}},
       .response_schema = "Lines",
       .handler = [context](const Request& r) { return GetLines(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/tiles/{host}.{plane}.{chunk}/{level}/{index}",
       .access = {Need::kView, Object::kSession},
       .operation_id = "getTile",
       .tag = "timeline",
       .summary = "What a screen can show of up to 64 lines over a power-of-two span.",
       .query = {{.name = "v",
                  .description = "version of the session, from its lines.",
                  .required = true}},
       .response_type = "application/octet-stream",
       .handler = [context](const Request& r) { return GetTile(context, r); }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}/events/{event}",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "getEvent",
                     .tag = "timeline",
                     .summary = "One event with all its stats.",
                     .response_schema = "Event",
                     .handler = [context](const Request& r) { return GetEvent(context, r); }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}/events",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "findEvent",
                     .tag = "timeline",
                     .summary = "The event at or nearest to a time on a line, and its neighbours.",
                     .query = {{.name = "line",
                                .description = "Id of the line: host.plane.line.",
                                .required = true},
                               {.name = "at_ps",
                                .type = ParamType::kInteger,
                                .description = "Session time in picoseconds."},
                               {.name = "event",
                                .type = ParamType::kInteger,
                                .description = "Index of an event of the line, instead of at_ps.",
                                .minimum = 0,
                                .maximum = UINT32_MAX}},
                     .response_schema = "Neighbours",
                     .handler = [context](const Request& r) { return FindEvent(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/search",
       .access = {Need::kView, Object::kSession},
       .operation_id = "searchEvents",
       .tag = "timeline",
       .summary = "Events whose name holds a text, or fits a /regex/, or that fit an expression.",
       .query = {{.name = "q", .description = "Text in any case, or /regex/."},
                 {.name = "expression",
                  .description = "Terms over names, stats, durations and places; instead of q."},
                 {.name = "near", .description = "Id of an event: where it is among the hits."},
                 {.name = "near_ps",
                  .type = ParamType::kInteger,
                  .description = "A session time: where it is among the hits."},
                 {.name = "from_ps",
                  .type = ParamType::kInteger,
                  .description = "Only events that end at or after this session time."},
                 {.name = "to_ps",
                  .type = ParamType::kInteger,
                  .description = "Only events that begin before this session time."},
                 {.name = "limit",
                  .type = ParamType::kInteger,
                  .description = "Hits to list (default 1000).",
                  .minimum = 0,
                  .maximum = kMaxSearchLimit}},
       .response_schema = "SearchResult",
       .handler = [context](const Request& r) { return Search(context, r); }});
}

}  // namespace strobe::api
