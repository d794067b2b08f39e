// Counters as curves, steps and modules as marks, and events as a file.
#include <fmt/format.h>

#include <algorithm>

#include "src/api/app.h"
#include "src/api/json_answers.h"
#include "src/base/log.h"

namespace strobe::api {
namespace {

using Context = std::shared_ptr<AppContext>;
using SessionPtr = std::shared_ptr<engine::OpenedSession>;

constexpr int64_t kDefaultBuckets = 1000;
constexpr int64_t kDefaultMarks = 500;
constexpr int64_t kMaxMarks = 5000;

Result<SessionPtr> OpenSession(const Context& context, const Request& request) {
  return context->engine->Open(std::string(request.Param("id")));
}

std::string PlaneId(uint32_t host, uint32_t plane) { return fmt::format("{}.{}", host, plane); }

std::string_view PlaneName(const std::vector<analysis::HostInput>& hosts, uint32_t host,
                           uint32_t plane) {
  if (host >= hosts.size() || hosts[host].file == nullptr) return {};
  const std::vector<xplane::Plane>& planes = hosts[host].file->planes();
  return plane < planes.size() ? planes[plane].name : std::string_view();
}

void WriteCounter(JsonWriter& json, const engine::CounterInfo& counter,
                  const std::vector<analysis::HostInput>& hosts) {
  json.BeginObject();
  json.Key("id").String(counter.id);
  json.Key("name").String(counter.name);
  WriteTextOrNull(json, "group", counter.group);
  json.Key("host").String(counter.host < hosts.size() ? hosts[counter.host].host : "");
  json.Key("plane").String(PlaneId(counter.host, counter.plane));
  json.Key("plane_name").String(PlaneName(hosts, counter.host, counter.plane));
  WriteTextOrNull(json, "line",
                  counter.line ? LineId({counter.host, counter.plane, *counter.line}) : "");
  WriteTextOrNull(json, "unit", counter.unit);
  json.Key("kind").String(timeline::SeriesKindName(counter.kind));
  json.Key("samples").SafeUint(counter.samples);
  json.Key("start_ps").Int(counter.start_ps);
  json.Key("end_ps").Int(counter.end_ps);
  json.Key("min").Double(counter.min);
  json.Key("max").Double(counter.max);
  json.EndObject();
}

Result<Response> GetCounters(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  STROBE_ASSIGN_OR_RETURN(const engine::CounterList list, session->Counters(request.cancel));
  const std::vector<analysis::HostInput> hosts = session->hosts();
  JsonWriter json;
  json.BeginObject();
  json.Key("truncated").Bool(list.truncated);
  json.Key("counters").BeginArray();
  for (const engine::CounterInfo& counter : list.counters) WriteCounter(json, counter, hosts);
  json.EndArray();
  json.EndObject();
  return JsonResponse(json.TakeText());
}

void WriteValues(JsonWriter& json, std::string_view key, const std::vector<double>& values,
                 const std::vector<uint64_t>& count) {
  json.Key(key).BeginArray();
  for (size_t i = 0; i < values.size(); ++i) {
    if (count[i] == 0) {
      json.Null();
    } else {
      json.Double(values[i]);
    }
  }
  json.EndArray();
}

Result<Response> GetCounter(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  const engine::CounterQuery query{
      .id = std::string(request.Param("counter")),
      .from_ps = request.QueryInt("from_ps"),
      .to_ps = request.QueryInt("to_ps"),
      .buckets = static_cast<size_t>(request.QueryInt("buckets").value_or(kDefaultBuckets))};
  STROBE_ASSIGN_OR_RETURN(const engine::CounterCurve curve,
                          session->Counter(query, request.cancel));
  const timeline::SeriesBuckets& shown = curve.buckets;
  JsonWriter json;
  json.BeginObject();
  json.Key("id").String(curve.id);
  json.Key("from_ps").Int(shown.from_ps);
  json.Key("to_ps").Int(shown.to_ps);
  json.Key("bucket_count").Uint(shown.count.size());
  json.Key("samples").SafeUint(shown.samples);
  json.Key("before");
  if (shown.before) {
    json.BeginObject();
    json.Key("time_ps").Int(shown.before->time_ps);
    json.Key("value").Double(shown.before->value);
    json.EndObject();
  } else {
    json.Null();
  }
  WriteValues(json, "min", shown.min, shown.count);
  WriteValues(json, "mean", shown.mean, shown.count);
  WriteValues(json, "max", shown.max, shown.count);
  WriteValues(json, "last", shown.last, shown.count);
  json.Key("count").BeginArray();
  for (const uint64_t count : shown.count) json.SafeUint(count);
  json.EndArray();
  json.EndObject();
  return JsonResponse(json.TakeText());
}

void WriteMarks(JsonWriter& json, const engine::SessionMarks::List& list) {
  json.Key("total").SafeUint(list.total);
  json.Key("items").BeginArray();
  for (const engine::SessionMarks::Item& item : list.items) {
    json.BeginObject();
    json.Key("name").String(item.name);
    json.Key("start_ps").Int(item.start_ps);
    json.Key("duration_ps").Int(item.duration_ps);
    json.Key("event").String(EventId(item.event));
    json.EndObject();
  }
  json.EndArray();
}

Result<Response> GetMarks(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  const engine::MarksQuery query{
      .from_ps = request.QueryInt("from_ps"),
      .to_ps = request.QueryInt("to_ps"),
      .limit = static_cast<size_t>(request.QueryInt("limit").value_or(kDefaultMarks))};
  STROBE_ASSIGN_OR_RETURN(const engine::SessionMarks marks, session->Marks(query, request.cancel));
  const std::vector<analysis::HostInput> hosts = session->hosts();
  JsonWriter json;
  json.BeginObject();
  json.Key("steps");
  if (marks.steps_source.empty()) {
    json.Null();
  } else {
    json.BeginObject();
    json.Key("source").String(marks.steps_source);
    WriteTextOrNull(json, "line", marks.steps_line ? LineId(*marks.steps_line) : "");
    WriteMarks(json, marks.steps);
    json.EndObject();
  }
  WriteTextOrNull(json, "steps_reason", marks.steps_reason);
  json.Key("modules").BeginArray();
  for (const engine::SessionMarks::Modules& modules : marks.modules) {
    json.BeginObject();
    json.Key("plane").String(PlaneId(modules.line.host, modules.line.plane));
    json.Key("plane_name").String(PlaneName(hosts, modules.line.host, modules.line.plane));
    json.Key("line").String(LineId(modules.line));
    WriteMarks(json, modules.list);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(json.TakeText());
}

Result<bool> ParseTruth(const Request& request, std::string_view name) {
  const std::string_view text = request.Query(name).value_or("true");
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return InvalidArgumentError("PARAMETER_MALFORMED", "Expected true or false.")
      .Where(std::string(name) + "=" + std::string(text.substr(0, 64)));
}

Result<engine::ExportQuery> ParseExport(const Request& request) {
  engine::ExportQuery query;
  const std::string_view format = request.Query("format").value_or("chrome");
  if (format == "perfetto") {
    query.format = engine::ExportFormat::kPerfetto;
  } else if (format != "chrome") {
    return InvalidArgumentError("EXPORT_FORMAT_UNKNOWN", "There is no such format.")
        .Where(std::string(format.substr(0, 64)))
        .Hint("Expected chrome or perfetto.");
  }
  STROBE_ASSIGN_OR_RETURN(query.lines, ParseLineIds(request.Query("lines").value_or("")));
  query.from_ps = request.QueryInt("from_ps");
  query.to_ps = request.QueryInt("to_ps");
  STROBE_ASSIGN_OR_RETURN(query.stats, ParseTruth(request, "stats"));
  STROBE_ASSIGN_OR_RETURN(query.flows, ParseTruth(request, "flows"));
  return query;
}

Result<Response> Export(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(engine::ExportQuery query, ParseExport(request));
  STROBE_ASSIGN_OR_RETURN(const SessionPtr session, OpenSession(context, request));
  const std::optional<std::string_view> asked_version = request.Query("v");
  if (asked_version && *asked_version != session->version()) {
    return Status(StatusCode::kAborted, "VERSION_CHANGED",
                  "The session has changed since this address was made.")
        .Where("v=" + std::string(asked_version->substr(0, 64)))
        .Hint("Ask for the lines again; the version now is " + session->version() + ".");
  }
  STROBE_RETURN_IF_ERROR(session->CheckExport(query));
  const bool chrome = query.format == engine::ExportFormat::kChrome;
  const std::string name =
      session->entry().xprof_run().substr(0, 128) + (chrome ? ".trace.json" : ".perfetto-trace");
  Response response = StreamResponse(
      chrome ? "application/json" : "application/x-protobuf",
      [session, query = std::move(query)](StreamWriter& out) {
        const Result<engine::ExportSummary> done = session->Export(
            query, [&out](std::string piece) { return out.Write(std::move(piece)); }, out.cancel());
        if (done.ok()) return;
        out.Fail();
        if (done.status().code() == StatusCode::kCancelled) return;
        LogWarning("export.failed",
                   {{"session", session->entry().id}, {"error", done.status().ToString()}});
      });
  NameDownload(name, &response);
  return response;
}

std::vector<QueryParam> WithSpan(std::vector<QueryParam> more) {
  more.push_back({.name = "from_ps",
                  .type = ParamType::kInteger,
                  .description = "Begin of the span in session time; absent: of the session."});
  more.push_back({.name = "to_ps",
                  .type = ParamType::kInteger,
                  .description = "End of the span in session time; absent: of the session."});
  return more;
}

}  // namespace

void AddCurveRoutes(const Context& context, std::vector<Route>* routes) {
  routes->push_back({.pattern = "/api/v1/sessions/{id}/counters",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "getCounters",
                     .tag = "timeline",
                     .summary = "What can be drawn as a curve: counters, and memory by allocator.",
                     .response_schema = "Counters",
                     .handler = [context](const Request& r) { return GetCounters(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/counters/{counter}",
       .access = {Need::kView, Object::kSession},
       .operation_id = "getCounter",
       .tag = "timeline",
       .summary = "One counter over a span: least, mean, most and last value of each part.",
       .query = WithSpan({{.name = "buckets",
                           .type = ParamType::kInteger,
                           .description = "Parts of the span (default 1000).",
                           .minimum = 1,
                           .maximum = timeline::SeriesBuckets::kMaxBuckets}}),
       .response_schema = "Counter",
       .handler = [context](const Request& r) { return GetCounter(context, r); }});
  routes->push_back({.pattern = "/api/v1/sessions/{id}/marks",
                     .access = {Need::kView, Object::kSession},
                     .operation_id = "getMarks",
                     .tag = "timeline",
                     .summary = "Steps and modules of a span, for the ruler.",
                     .query = WithSpan({{.name = "limit",
                                         .type = ParamType::kInteger,
                                         .description = "Of each list (default 500).",
                                         .minimum = 0,
                                         .maximum = kMaxMarks}}),
                     .response_schema = "Marks",
                     .handler = [context](const Request& r) { return GetMarks(context, r); }});
  routes->push_back(
      {.pattern = "/api/v1/sessions/{id}/export",
       .access = {Need::kView, Object::kSession},
       .operation_id = "exportSession",
       .tag = "timeline",
       .summary = "Events as a trace for other programs, streamed without a limit.",
       .query =
           WithSpan({{.name = "format", .description = "chrome (default) or perfetto."},
                     {.name = "lines", .description = "Only these lines, ids with commas between."},
                     {.name = "stats", .description = "false leaves arguments out."},
                     {.name = "flows", .description = "false leaves flows out."},
                     {.name = "v", .description = "Only of this version of the session."}}),
       .response_type = "application/octet-stream",
       .handler = [context](const Request& r) { return Export(context, r); }});
}

}  // namespace strobe::api
