// What is below a run in the ML Diagnostics API: profiler targets, profiler sessions (and their
// deprecated form), monitored events.
#include <fmt/format.h>

#include "src/api/ml_children.h"
#include "src/api/run_captures.h"
#include "src/api/v1alpha_support.h"
#include "src/base/json_writer.h"
#include "src/catalog/time_text.h"

namespace strobe::api {
namespace {

using catalog::Key;
using catalog::MonitoredEvent;
using catalog::Operation;
using catalog::ProfilerSession;
using catalog::ProfilerTarget;
using catalog::Run;
using catalog::Transaction;
using Context = std::shared_ptr<AppContext>;

const std::string kRun =
    "/v1alpha/projects/{project}/locations/{location}/machineLearningRuns/{run}";

Key RunKeyOf(const Key& child) { return {child.project, child.location, "", child.run}; }

// "-" lists the children of all runs; such sessions know their run's path only when found.
Result<ChildContext> ChildContextOf(Transaction& transaction, const Request& request,
                                    const Key& key) {
  ChildContext child;
  child.base_url = BaseUrlOf(request);
  if (key.run == "-") return child;
  STROBE_ASSIGN_OR_RETURN(const Run run, transaction.Get<Run>(RunKeyOf(key)));
  child.storage_path = run.storage_path;
  return child;
}

// ---- what differs between the three

template <typename T>
struct Kind;

template <>
struct Kind<ProfilerTarget> {
  static constexpr std::string_view kCollection = "profilerTargets";
  static constexpr std::string_view kMessage = "ProfilerTarget";
  static constexpr std::string_view kIdQuery = "profilerTargetId";
  static constexpr bool kMustHaveRun = true;
  static std::string Json(const ProfilerTarget& target, const ChildContext&) {
    return TargetJson(target);
  }
  static auto Make(const Request& request, const Key& key, std::string etag, int64_t now) {
    return MakeTarget(request.body, key, std::move(etag), now);
  }
};

template <>
struct Kind<ProfilerSession> {
  static constexpr std::string_view kCollection = "profilerSessions";
  static constexpr std::string_view kMessage = "ProfilerSession";
  static constexpr std::string_view kIdQuery = "profilerSessionId";
  static constexpr bool kMustHaveRun = true;
  static std::string Json(const ProfilerSession& session, const ChildContext& context) {
    return SessionJson(session, context);
  }
  static auto Make(const Request& request, const Key& key, std::string etag, int64_t now) {
    return MakeSession(request.body, key, std::move(etag), now);
  }
  static auto Change(const Request& request, std::string etag, int64_t now,
                     ProfilerSession* session) {
    return UpdateSession(request.body, QueryEither(request, "updateMask"), std::move(etag), now,
                         session);
  }
};

template <>
struct Kind<MonitoredEvent> {
  static constexpr std::string_view kCollection = "monitoredEvents";
  static constexpr std::string_view kMessage = "MonitoredEvent";
  static constexpr std::string_view kIdQuery = "monitoredEventId";
  static constexpr bool kMustHaveRun = false;  // for lists: Google answers {}
  static std::string Json(const MonitoredEvent& event, const ChildContext&) {
    return EventJson(event);
  }
  static auto Make(const Request& request, const Key& key, std::string etag, int64_t now) {
    return MakeEvent(request.body, key, std::move(etag), now);
  }
  static auto Change(const Request& request, std::string etag, int64_t now, MonitoredEvent* event) {
    return UpdateEvent(request.body, QueryEither(request, "updateMask"), std::move(etag), now,
                       event);
  }
};

// ---- what is the same

template <typename T>
Result<Response> GetChild(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  const Key key = KeyOf(request);
  std::string json;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const ChildContext child, ChildContextOf(transaction, request, key));
    STROBE_ASSIGN_OR_RETURN(const T record, transaction.Get<T>(key));
    json = Kind<T>::Json(record, child);
    return OkStatus();
  }));
  return MlResponse(std::move(json));
}

template <typename T>
Result<Response> ListChildren(const Context& context, const Request& request,
                              int64_t default_page_size) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  const Key key = KeyOf(request);
  STROBE_ASSIGN_OR_RETURN(const catalog::ListQuery query,
                          ListQueryOf(request, key, default_page_size));
  std::vector<std::string> items;
  std::string next_page_token;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    items.clear();
    const Result<ChildContext> child = ChildContextOf(transaction, request, key);
    if (!child.ok()) {
      return Kind<T>::kMustHaveRun || child.status().code() != StatusCode::kNotFound
                 ? child.status()
                 : OkStatus();
    }
    STROBE_ASSIGN_OR_RETURN(const catalog::Page<T> page, transaction.List<T>(query));
    for (const T& record : page.items) items.push_back(Kind<T>::Json(record, *child));
    next_page_token = page.next_page_token;
    return OkStatus();
  }));
  return MlResponse(ListJson(Kind<T>::kCollection, items, next_page_token));
}

// A session that the scan found before its client announced it becomes the client's.
Result<bool> AdoptScanned(Transaction& transaction, ProfilerSession* session) {
  STROBE_ASSIGN_OR_RETURN(const std::optional<ProfilerSession> found,
                          transaction.Find<ProfilerSession>(session->key()));
  if (!found || found->kind != "SCANNED") return false;
  ProfilerSession adopted = *found;
  adopted.kind = session->kind;
  adopted.state = session->state;
  adopted.body = session->body;
  adopted.etag = session->etag;
  adopted.start_unix_ns = session->start_unix_ns;
  adopted.end_unix_ns = session->end_unix_ns;
  adopted.update_unix_ns = session->update_unix_ns;
  STROBE_RETURN_IF_ERROR(transaction.Update(adopted));
  *session = adopted;
  return true;
}

template <typename T>
Status InsertChild(Transaction& transaction, T* record) {
  if constexpr (std::is_same_v<T, ProfilerSession>) {
    STROBE_ASSIGN_OR_RETURN(const bool adopted, AdoptScanned(transaction, record));
    if (adopted) return OkStatus();
  }
  if constexpr (std::is_same_v<T, ProfilerTarget>) {
    // What a run brought by itself gives way to what somebody makes by hand.
    STROBE_ASSIGN_OR_RETURN(const std::optional<T> there, transaction.Find<T>(record->key()));
    if (there && there->automatic != 0) return transaction.Update(*record);
  }
  return NamingResource(transaction.Insert(*record),
                        catalog::ChildName(record->key(), Kind<T>::kCollection));
}

template <typename T>
Result<Response> CreateChild(const Context& context, const Request& request) {
  Key key = KeyOf(request);
  key.id = QueryEither(request, Kind<T>::kIdQuery);
  if (!key.id.empty()) STROBE_RETURN_IF_ERROR(catalog::CheckId(Kind<T>::kMessage, key.id));
  return Mutate(*context, request, key, "create",
                [&](Transaction& transaction, Operation* operation) -> Result<std::string> {
                  STROBE_ASSIGN_OR_RETURN(const ChildContext child,
                                          ChildContextOf(transaction, request, key));
                  Key named = key;
                  if (named.id.empty() && !std::is_same_v<T, ProfilerTarget>) {
                    named.id = catalog::MakeUuid(transaction.random());
                  }
                  STROBE_ASSIGN_OR_RETURN(
                      T record,
                      Kind<T>::Make(request, named, catalog::MakeUuid(transaction.random()),
                                    transaction.clock().NowUnixNanos()));
                  STROBE_RETURN_IF_ERROR(InsertChild(transaction, &record));
                  operation->target = catalog::ChildName(record.key(), Kind<T>::kCollection);
                  return TypedJson(Kind<T>::Json(record, child), Kind<T>::kMessage);
                });
}

Result<Response> CreateSession(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(const std::string kind, SessionKindOf(request.body));
  if (!IsCaptureKind(kind)) return CreateChild<ProfilerSession>(context, request);
  Key key = KeyOf(request);
  key.id = QueryEither(request, Kind<ProfilerSession>::kIdQuery);
  if (!key.id.empty()) {
    STROBE_RETURN_IF_ERROR(catalog::CheckId(Kind<ProfilerSession>::kMessage, key.id));
  }
  return StartRunCapture(*context, request, key);
}

// The SDK may change a session whose creation never arrived: sessions come into being by it.
template <typename T>
Result<Response> PatchChild(const Context& context, const Request& request) {
  const Key key = KeyOf(request);
  return Mutate(*context, request, key, "update",
                [&](Transaction& transaction, Operation* operation) -> Result<std::string> {
                  STROBE_ASSIGN_OR_RETURN(const ChildContext child,
                                          ChildContextOf(transaction, request, key));
                  const int64_t now = transaction.clock().NowUnixNanos();
                  std::string etag = catalog::MakeUuid(transaction.random());
                  STROBE_ASSIGN_OR_RETURN(std::optional<T> found, transaction.Find<T>(key));
                  if (!found && std::is_same_v<T, ProfilerSession>) {
                    STROBE_RETURN_IF_ERROR(catalog::CheckId(Kind<T>::kMessage, key.id));
                    STROBE_ASSIGN_OR_RETURN(T made,
                                            Kind<T>::Make(request, key, std::move(etag), now));
                    STROBE_RETURN_IF_ERROR(transaction.Insert(made));
                    found = std::move(made);
                  } else {
                    STROBE_ASSIGN_OR_RETURN(found, transaction.Get<T>(key));
                    STROBE_RETURN_IF_ERROR(Kind<T>::Change(request, std::move(etag), now, &*found));
                    STROBE_RETURN_IF_ERROR(transaction.Update(*found));
                  }
                  operation->target = catalog::ChildName(key, Kind<T>::kCollection);
                  return TypedJson(Kind<T>::Json(*found, child), Kind<T>::kMessage);
                });
}

Status CheckNotCapturing(Transaction& transaction, const Key& key) {
  STROBE_ASSIGN_OR_RETURN(const auto session, transaction.Get<ProfilerSession>(key));
  if (session.operation.empty()) return OkStatus();
  STROBE_ASSIGN_OR_RETURN(
      const std::optional<Operation> operation,
      transaction.Find<Operation>({key.project, key.location, "", session.operation}));
  if (!operation || operation->done != 0) return OkStatus();
  return FailedPreconditionError("SESSION_CAPTURING", "The session is being captured.")
      .Where(catalog::OperationName(operation->key()))
      .Hint("Cancel the operation and wait until it is done.");
}

// Targets and sessions go without an operation, events with one: so Google's API has it.
template <typename T>
Result<Response> DeleteChild(const Context& context, const Request& request) {
  const Key key = KeyOf(request);
  Result<Response> done =
      Mutate(*context, request, key, "delete",
             [&](Transaction& transaction, Operation* operation) -> Result<std::string> {
               if constexpr (std::is_same_v<T, ProfilerSession>) {
                 STROBE_RETURN_IF_ERROR(CheckNotCapturing(transaction, key));
               }
               STROBE_RETURN_IF_ERROR(transaction.Delete<T>(key));
               operation->target = catalog::ChildName(key, Kind<T>::kCollection);
               return EmptyTypedJson();
             });
  if (!done.ok() || std::is_same_v<T, MonitoredEvent>) return done;
  return MlResponse("{}");
}

Result<Response> ListSessions(const Context& context, const Request& request) {
  if (QueryEither(request, "refresh") == "true" && context->scan_run) {
    STROBE_RETURN_IF_ERROR(context->scan_run(RunKeyOf(KeyOf(request))));
  }
  return ListChildren<ProfilerSession>(context, request, kDefaultPageSizeRuns);
}

// ---- the deprecated form of sessions

std::string OldSessionJson(const ProfilerSession& session, const ChildContext& context) {
  JsonWriter json;
  json.BeginObject();
  json.Key("name").String(catalog::ChildName(session.key(), "profileSessions"));
  json.Key("createTime").String(catalog::FormatTimestamp(session.create_unix_ns));
  if (!session.found_path.empty()) json.Key("gcsPath").String(session.found_path);
  if (!session.viewer_id.empty()) {
    json.Key("dashboardUrl").String(context.base_url + "/s/" + session.viewer_id);
  }
  json.EndObject();
  return json.TakeText();
}

Result<Response> GetOldSession(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  const Key key = KeyOf(request);
  std::string json;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    STROBE_ASSIGN_OR_RETURN(const ChildContext child, ChildContextOf(transaction, request, key));
    STROBE_ASSIGN_OR_RETURN(const auto session, transaction.Get<ProfilerSession>(key));
    json = OldSessionJson(session, child);
    return OkStatus();
  }));
  return MlResponse(std::move(json));
}

Result<Response> ListOldSessions(const Context& context, const Request& request) {
  STROBE_ASSIGN_OR_RETURN(catalog::Catalog * catalog, CatalogOf(*context));
  const Key key = KeyOf(request);
  STROBE_ASSIGN_OR_RETURN(const catalog::ListQuery query,
                          ListQueryOf(request, key, kDefaultPageSizeEvents));
  std::vector<std::string> items;
  std::string next_page_token;
  STROBE_RETURN_IF_ERROR(catalog->Read([&](Transaction& transaction) -> Status {
    items.clear();
    STROBE_ASSIGN_OR_RETURN(const ChildContext child, ChildContextOf(transaction, request, key));
    STROBE_ASSIGN_OR_RETURN(const auto page, transaction.List<ProfilerSession>(query));
    for (const auto& session : page.items) items.push_back(OldSessionJson(session, child));
    next_page_token = page.next_page_token;
    return OkStatus();
  }));
  return MlResponse(ListJson("profileSessions", items, next_page_token));
}

void Add(const Context& context, std::vector<Route>* routes, Method method, std::string pattern,
         std::string operation_id, std::string summary,
         Result<Response> (*handler)(const Context&, const Request&),
         std::vector<QueryParam> query = {}) {
  const bool body = method == Method::kPost || method == Method::kPatch;
  routes->push_back(MlRoute(
      {.method = method,
       .pattern = std::move(pattern),
       .access = method == Method::kGet ? Access{Need::kView, Object::kProject}
                                        : Access{Need::kEdit, Object::kProject, Audit::kAlways},
       .operation_id = std::move(operation_id),
       .summary = std::move(summary),
       .query = std::move(query),
       .request_schema = body ? "MlMessage" : "",
       .response_schema = "MlMessage"},
      [context, handler](const Request& r) { return handler(context, r); }));
}

template <typename T>
void AddKind(const Context& context, std::vector<Route>* routes, const std::string& what,
             Result<Response> (*create)(const Context&, const Request&) = CreateChild<T>) {
  const std::string collection = kRun + "/" + std::string(Kind<T>::kCollection);
  const std::string name(Kind<T>::kMessage);
  Add(context, routes, Method::kPost, collection, "mlCreate" + name, "Make a " + what + ".", create,
      {{.name = std::string(Kind<T>::kIdQuery), .description = "Its id; left out, one is made."},
       {.name = "requestId", .description = "UUID of this request."}});
  Add(context, routes, Method::kGet, collection + "/{id}", "mlGet" + name, "One " + what + ".",
      GetChild<T>);
  Add(context, routes, Method::kDelete, collection + "/{id}", "mlDelete" + name,
      "Forget a " + what + ".", DeleteChild<T>);
}

}  // namespace

void AddV1alphaChildRoutes(const Context& context, std::vector<Route>* routes) {
  const std::vector<QueryParam> mask = {
      {.name = "updateMask", .description = "Fields, or * for all."}};
  AddKind<ProfilerTarget>(context, routes, "profiler target");
  Add(
      context, routes, Method::kGet, kRun + "/profilerTargets", "mlListProfilerTargets",
      "Profiler targets of a run.",
      [](const Context& c, const Request& r) {
        return ListChildren<ProfilerTarget>(c, r, kDefaultPageSizeRuns);
      },
      MlListQueries());
  AddKind<ProfilerSession>(context, routes, "profiler session", CreateSession);
  std::vector<QueryParam> session_queries = MlListQueries();
  session_queries.push_back(
      {.name = "refresh", .description = "true: look into the storage first."});
  Add(context, routes, Method::kGet, kRun + "/profilerSessions", "mlListProfilerSessions",
      "Profiler sessions of a run (\"-\": of all).", ListSessions, session_queries);
  Add(context, routes, Method::kPatch, kRun + "/profilerSessions/{id}", "mlUpdateProfilerSession",
      "Change a session, or make it.", PatchChild<ProfilerSession>, mask);
  AddKind<MonitoredEvent>(context, routes, "monitored event");
  Add(
      context, routes, Method::kGet, kRun + "/monitoredEvents", "mlListMonitoredEvents",
      "Monitored events of a run.",
      [](const Context& c, const Request& r) {
        return ListChildren<MonitoredEvent>(c, r, kDefaultPageSizeEvents);
      },
      MlListQueries());
  Add(context, routes, Method::kPatch, kRun + "/monitoredEvents/{id}", "mlUpdateMonitoredEvent",
      "Change an event.", PatchChild<MonitoredEvent>, mask);
  Add(context, routes, Method::kGet, kRun + "/profileSessions", "mlListProfileSessions",
      "Deprecated form of profilerSessions.", ListOldSessions, MlListQueries());
  Add(context, routes, Method::kGet, kRun + "/profileSessions/{id}", "mlGetProfileSession",
      "Deprecated form of a profiler session.", GetOldSession);
}

}  // namespace strobe::api
