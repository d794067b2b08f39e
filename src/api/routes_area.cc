// What a span of time holds: totals, gaps, flows.
#include <fmt/format.h>

#include "src/api/app.h"
#include "src/api/json_answers.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using SessionPtr = std::shared_ptr<engine::OpenedSession>;

constexpr int64_t kDefaultNames = 200;
constexpr int64_t kMaxNames = 10'000;
constexpr int64_t kDefaultGaps = 50;
constexpr int64_t kMaxGaps = 1000;
constexpr int64_t kDefaultFlows = 500;
constexpr int64_t kMaxFlows = 5000;

Result<engine::AreaSide> ParseSide(std::string_view text) {
  if (text.empty()) return engine::AreaSide::kAuto;
  if (text == "devices") return engine::AreaSide::kDevices;
  if (text == "hosts") return engine::AreaSide::kHosts;
  return InvalidArgumentError("SIDE_UNKNOWN", "There is no such side.")
      .Where(std::string(text.substr(0, 64)))
      .Hint("Expected devices or hosts; without one, devices if they ran something.");
}

void WriteSum(JsonWriter& json, const engine::AreaTotals::Sum& sum) {
  json.Key("count").SafeUint(sum.count);
  json.Key("total_ps").Int(sum.total_ps);
  json.Key("self_ps").Int(sum.self_ps);
}

void WriteNames(JsonWriter& json, const engine::AreaTotals& totals) {
  json.Key("name_count").SafeUint(totals.name_count);
  json.Key("names").BeginArray();
  for (const engine::AreaTotals::Name& name : totals.names) {
    json.BeginObject();
    json.Key("name").String(name.name);
    json.Key("category").String(analysis::OpCategoryName(name.category));
    WriteSum(json, name.sum);
    json.Key("longest").String(EventId(name.longest));
    json.Key("longest_ps").Int(name.longest_ps);
    json.EndObject();
  }
  json.EndArray();
  json.Key("other_names").BeginObject();
  WriteSum(json, totals.other_names);
  json.EndObject();
}

void WriteLinesAndPlanes(JsonWriter& json, const engine::AreaTotals& totals,
                         const std::vector<xplane::SessionFile>& files) {
  json.Key("line_count").SafeUint(totals.line_count);
  json.Key("lines").BeginArray();
  for (const engine::AreaTotals::Line& line : totals.lines) {
    json.BeginObject();
    json.Key("line").String(LineId(line.line));
    json.Key("name").String(line.name);
    json.Key("count").SafeUint(line.count);
    json.Key("busy_ps").Int(line.busy_ps);
    json.EndObject();
  }
  json.EndArray();
  json.Key("planes").BeginArray();
  for (const engine::AreaTotals::Plane& plane : totals.planes) {
    json.BeginObject();
    json.Key("plane").String(fmt::format("{}.{}", plane.host, plane.plane));
    json.Key("name").String(plane.name);
    json.Key("host").String(plane.host < files.size() ? files[plane.host].host : "");
    json.Key("count").SafeUint(plane.count);
    json.Key("busy_ps").Int(plane.busy_ps);
    json.EndObject();
  }
  json.EndArray();
  json.Key("lines_left_out").SafeUint(totals.lines_left_out);
}

void WriteTotals(JsonWriter& json, const engine::AreaTotals& totals,
                 const std::vector<xplane::SessionFile>& files) {
  const bool devices = totals.side == engine::AreaSide::kDevices;
  const bool hosts = totals.side == engine::AreaSide::kHosts;
  json.BeginObject();
  json.Key("from_ps").Int(totals.from_ps);
  json.Key("to_ps").Int(totals.to_ps);
  WriteTextOrNull(json, "side", devices ? "devices" : hosts ? "hosts" : "");
  WriteSum(json, totals.sum);
  WriteNames(json, totals);
  json.Key("categories").BeginArray();
  for (const engine::AreaTotals::Category& category : totals.categories) {
    json.BeginObject();
    json.Key("category").String(analysis::OpCategoryName(category.category));
    WriteSum(json, category.sum);
    json.EndObject();
  }
  json.EndArray();
  WriteLinesAndPlanes(json, totals, files);
  json.EndObject();
}

size_t LimitOf(const Request& request, int64_t otherwise) {
  return static_cast<size_t>(request.QueryInt("limit").value_or(otherwise));
}

Result<Response> GetTotals(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const engine::AreaSide side,
                          ParseSide(request.Query("side").value_or("")));
  STROBE_ASSIGN_OR_RETURN(std::vector<engine::LineRef> lines,
                          ParseLineIds(request.Query("lines").value_or("")));
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session,
                          context->engine->Open(std::string(request.Param("id"))));
  const engine::TotalsQuery query{.from_ps = request.QueryInt("from_ps"),
                                  .to_ps = request.QueryInt("to_ps"),
                                  .side = side,
                                  .lines = std::move(lines),
                                  .limit = LimitOf(request, kDefaultNames)};
  STROBE_ASSIGN_OR_RETURN(const engine::AreaTotals totals, session->Totals(query, request.cancel));
  JsonWriter json;
  WriteTotals(json, totals, session->entry().files);
  return JsonResponse(json.TakeText());
}

void WriteGap(JsonWriter& json, const engine::AreaGaps::Item& gap) {
  json.BeginObject();
  json.Key("start_ps").Int(gap.start_ps);
  json.Key("duration_ps").Int(gap.end_ps - gap.start_ps);
  WriteTextOrNull(json, "before", gap.before ? EventId(*gap.before) : "");
  WriteTextOrNull(json, "before_name", gap.before_name);
  WriteTextOrNull(json, "after", gap.after ? EventId(*gap.after) : "");
  WriteTextOrNull(json, "after_name", gap.after_name);
  json.Key("meanwhile").BeginArray();
  for (const engine::AreaGaps::Meanwhile& what : gap.meanwhile) {
    json.BeginObject();
    json.Key("name").String(what.name);
    json.Key("thread").String(what.thread);
    json.Key("self_ps").Int(what.self_ps);
    json.Key("count").SafeUint(what.count);
    json.Key("longest").String(EventId(what.longest));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

Result<Response> GetGaps(const Context& context, const Request& request) {
  const std::string plane(request.Query("plane").value_or(""));
  const Result<analysis::EventRef> ref = ParseEventId(plane + ".0.0");
  if (!ref.ok()) {
    return InvalidArgumentError("PLANE_ID_MALFORMED", "This is not the id of a plane.")
        .Where(plane.substr(0, 64))
        .Hint("Expected host.plane, two numbers, such as 0.1.");
  }
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session,
                          context->engine->Open(std::string(request.Param("id"))));
  const engine::GapsQuery query{.host = ref->host,
                                .plane = ref->plane,
                                .from_ps = request.QueryInt("from_ps"),
                                .to_ps = request.QueryInt("to_ps"),
                                .limit = LimitOf(request, kDefaultGaps)};
  STROBE_ASSIGN_OR_RETURN(const engine::AreaGaps answer, session->Gaps(query, request.cancel));
  JsonWriter json;
  json.BeginObject();
  json.Key("from_ps").Int(answer.from_ps);
  json.Key("to_ps").Int(answer.to_ps);
  json.Key("plane_name").String(answer.plane_name);
  json.Key("count").SafeUint(answer.count);
  json.Key("total_ps").Int(answer.total_ps);
  json.Key("gaps").BeginArray();
  for (const engine::AreaGaps::Item& gap : answer.gaps) WriteGap(json, gap);
  json.EndArray();
  json.EndObject();
  return JsonResponse(json.TakeText());
}

void WriteFlowEnd(JsonWriter& json, std::string_view key, const engine::AreaFlows::End& end) {
  json.Key(key).BeginObject();
  json.Key("event").String(EventId(end.event));
  json.Key("line").String(LineId({end.event.host, end.event.plane, end.event.line}));
  json.Key("row").Int(end.row);
  json.Key("start_ps").Int(end.start_ps);
  json.Key("duration_ps").Int(end.duration_ps);
  json.Key("name").String(end.name);
  json.EndObject();
}

Result<Response> GetFlows(const Context& context, const Request& request) {
  engine::FlowsQuery query{.from_ps = request.QueryInt("from_ps"),
                           .to_ps = request.QueryInt("to_ps"),
                           .limit = LimitOf(request, kDefaultFlows)};
  if (const auto event = request.Query("event")) {
    STROBE_ASSIGN_OR_RETURN(query.event, ParseEventId(*event));
  }
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session,
                          context->engine->Open(std::string(request.Param("id"))));
  STROBE_ASSIGN_OR_RETURN(const engine::AreaFlows flows, session->Flows(query, request.cancel));
  JsonWriter json;
  json.BeginObject();
  json.Key("total").SafeUint(flows.total);
  json.Key("truncated").Bool(flows.total > flows.flows.size());
  json.Key("flows").BeginArray();
  for (const engine::AreaFlows::Item& flow : flows.flows) {
    json.BeginObject();
    WriteFlowEnd(json, "from", flow.from);
    WriteFlowEnd(json, "to", flow.to);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(json.TakeText());
}

std::vector<QueryParam> WithSpan(std::vector<QueryParam> more, int64_t max_limit) {
  more.push_back({.name = "from_ps",
                  .type = ParamType::kInteger,
                  .description = "Begin of the span in session time; absent: of the session."});
  more.push_back({.name = "to_ps",
                  .type = ParamType::kInteger,
                  .description = "End of the span in session time; absent: of the session."});
  more.push_back({.name = "limit",
                  .type = ParamType::kInteger,
                  .description = "Entries to list.",
                  .minimum = 0,
                  .maximum = max_limit});
  return more;
}

}  // namespace

void AddAreaRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/totals",
       .access = {Need::kView, Object::kSession},
       .operation_id = "getTotals",
       .tag = "timeline",
       .summary = "How a span of time divides over names, categories, lines and devices.",
       .query = WithSpan(
           {{.name = "side", .description = "devices or hosts."},
            {.name = "lines", .description = "Exactly these lines, ids with commas between."}},
           kMaxNames),
       .response_schema = "Totals",
       .handler = [context](const Request& r) { return GetTotals(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/gaps",
       .access = {Need::kView, Object::kSession},
       .operation_id = "getGaps",
       .tag = "timeline",
       .summary = "When a device did nothing, longest first, and what the host did meanwhile.",
       .query = WithSpan(
           {{.name = "plane", .description = "Id of the plane: host.plane.", .required = true}},
           kMaxGaps),
       .response_schema = "Gaps",
       .handler = [context](const Request& r) { return GetGaps(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/flows",
       .access = {Need::kView, Object::kSession},
       .operation_id = "getFlows",
       .tag = "timeline",
       .summary = "What caused what: flows of one event, or in a span of time.",
       .query =
           WithSpan({{.name = "event", .description = "Only those of this event."}}, kMaxFlows),
       .response_schema = "Flows",
       .handler = [context](const Request& r) { return GetFlows(context, r); }});
}

}  // namespace strobe::api
